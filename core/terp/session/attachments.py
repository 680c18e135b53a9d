"""Files that are attached to a prompt, or named in it, and their descriptions for the model."""

import base64
import os
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from terp.analysis.effects.secret_names import secret_in
from terp.errors import AttachmentError
from terp.events.messages import Attachment, Image
from terp.settings import Settings
from terp.text.paths import typed_path
from terp.text.peek import Peek, Room, peek

ROOM = Room(lines=5)
_MOST_NAMED, _NAMED_ROOM, _LONGEST_PATH = 3, Room(lines=20, whole=2_048, cut=2_048), 300
# A path in quotation marks, or a word; then the marks that may surround it in a sentence.
_NAMED = re.compile(r"""(?<!\w)(?:"([^"\n]+)"|'([^'\n]+)'|`([^`\n]+)`)|(\S+)""")
_BEFORE, _BEHIND = "([{<\"'`*", ".,;:!?)]}>\"'`*"
# The context window of unknown models, in tokens; and the least bytes of a token in most texts.
_USUAL_WINDOW, _BYTES_OF_TOKEN = 32_000, 2
# Providers refuse larger pictures; they are then described in words only.
_IMAGE_BYTES = 3_500_000
_PICTURES = {"PNG image": "image/png", "JPEG image": "image/jpeg", "GIF image": "image/gif"}
_CONFIRM = (
    "I have attached what is listed below. Confirm in one sentence that you have it; my request follows."
)


def text_room(settings: Settings, environ: Mapping[str, str], parts: int = 1) -> Room:
    """Return how much of a text is attached: a few lines if code can read it, else what fits the window.

    The window is shared by `parts` texts.
    """
    if settings.code:
        return ROOM
    from terp.models.facts.lookup import windows  # noqa: PLC0415  (code reads most texts)

    tokens = windows(settings, environ)(settings.model).most or _USUAL_WINDOW
    return Room(lines=None, whole=tokens * _BYTES_OF_TOKEN // max(1, parts))


def attach(
    files: Sequence[str], cwd: Path, room: Room = ROOM, warn: Callable[[str], None] | None = None
) -> tuple[Attachment, ...]:
    """Describe `files`; relative names start at the working directory of this process.

    A file below `cwd` is named relative to it. Any other is named by its absolute path, which is its
    `source`. `warn` gets a line for each text that does not fit into `room`, if no code can read the rest.

    Raises:
        AttachmentError: one of them is missing or unreadable.
    """
    return tuple(_attachment(source, cwd, room, warn) for source in _sources(files))


def attach_elsewhere(files: Sequence[str]) -> tuple[Attachment, ...]:
    """Describe `files` for kernels on another machine, to which they are copied under their own names.

    Raises:
        AttachmentError: one of them is missing or unreadable.
    """
    return tuple(_sent(source) for source in _sources(files))


def with_attachments(prompt: str, attachments: Sequence[Attachment]) -> str:
    """Return the prompt to send; attachments without a prompt ask for a confirmation."""
    return _CONFIRM if attachments and not prompt.strip() else prompt


def named_files(
    prompt: str,
    cwd: Path,
    hides: Callable[[Path], bool],
    redacted: Callable[[str], str],
    without: Sequence[str] = (),
) -> tuple[Attachment, ...]:
    """Describe the first files below `cwd` that a prompt names by their paths, except those in `without`.

    The text of a file passes through `redacted`. Of a file that the sandbox `hides`, or whose name is known
    for secrets (such as .env), only the name and size are sent.
    """
    found: dict[str, Attachment] = {}
    for words in _NAMED.finditer(prompt):
        quoted, bare = next(filter(None, words.groups()[:3]), ""), words[4] or ""
        for name in filter(_is_path, (quoted,) if quoted else (bare, bare.lstrip(_BEFORE).rstrip(_BEHIND))):
            with suppress(OSError, ValueError, RuntimeError):
                path = _below(cwd / typed_path(name), cwd)
                real = path and path.resolve()
                if path and real and real.is_file() and real.is_relative_to(cwd.resolve()):
                    shown = str(path.relative_to(cwd))
                    if shown not in found and shown not in without:
                        secret = hides(real) or any(map(secret_in, (shown, str(real), real.name)))
                        found[shown] = _named(path, shown, None if secret else redacted)
                    break
        if len(found) == _MOST_NAMED:
            break
    return tuple(found.values())


def _is_path(word: str) -> bool:
    """Return True if a word looks like a path; a bare word may name a file by chance."""
    return 2 < len(word) < _LONGEST_PATH and not word.startswith("@") and ("." in word or "/" in word)


def _named(path: Path, shown: str, redacted: Callable[[str], str] | None) -> Attachment:
    name = os.fsencode(shown).decode(errors="replace")
    name = name if name.isprintable() else repr(name)
    if redacted is None:
        note = f"{path.stat().st_size:,} bytes; its name is one of secrets, so nothing of it is sent."
        return Attachment(name, f"[File: {name}] {note}", notice=f"Not sent: {name}, which may hold secrets.")
    look = peek(path, _NAMED_ROOM, redacted)
    note = f"[File: {name}] {look.facts}; {look.beginning}" if look.lines else f"[File: {name}] {look.facts}."
    which = f"all of {name}" if look.whole else f"lines 1-{len(look.lines)} of {name}"
    return Attachment(name, note, notice=f"Sent with the prompt: {which}." if look.lines else "")


def cut_line(name: str, look: Peek) -> str:
    """Return the line for the user about a text that is sent in part."""
    return f"{name} is cut: the model reads its first {len(look.lines):,} lines of {look.size:,} bytes."


def _sources(files: Sequence[str]) -> list[Path]:
    sources = list(dict.fromkeys(map(typed_path, files)))
    if problems := [problem for source in sources if (problem := _problem(source))]:
        raise AttachmentError("\n".join(problems))
    return sources


def _problem(source: Path) -> str:
    if "://" in str(source) or str(source).startswith(("http:/", "https:/")):
        return f"cannot attach '{source}': download it first, and attach the file."
    try:
        if not source.exists():
            return f"there is no file '{source}' to attach."
        if source.is_dir():
            return f"'{source}' is a directory; attach the files in it."
        if not source.is_file():
            return f"'{source}' is not a file that can be attached."
        source.open("rb").close()
    except OSError as error:
        return f"cannot read '{source}': {error.strerror}."
    return ""


def _attachment(source: Path, cwd: Path, room: Room, warn: Callable[[str], None] | None) -> Attachment:
    try:
        path = _below(source, cwd)
        here = path or source.resolve()
        look = peek(here, room)
    except OSError as error:
        raise AttachmentError(f"cannot attach '{source}': {error.strerror}.") from error
    if warn and look.encoding and room.lines is None and not look.whole:
        warn(cut_line(str(source), look))
    where = "It is in the working directory" if path else "It is at that path, outside the working directory"
    found = _described(here, path.relative_to(cwd) if path else here, where, look)
    return found if path else replace(found, source=str(here))


def _sent(source: Path) -> Attachment:
    try:
        look = peek(source, ROOM)
        found = _described(source, Path(source.name), "It is in the kernel's working directory", look)
    except OSError as error:
        raise AttachmentError(f"cannot attach '{source}': {error.strerror}.") from error
    return replace(found, source=str(source.absolute()))


def _described(here: Path, named: Path, where: str, look: Peek) -> Attachment:
    # A name that is not UTF-8 could not be sent, and a line break would end the line that names it.
    name = os.fsencode(named).decode(errors="replace")
    shown = name if name.isprintable() else repr(name)
    note = f"[Attachment: {shown}] {where}: {look.facts}"
    mime = _PICTURES.get(look.kind.partition(",")[0], "")
    image = None
    if mime and look.size <= _IMAGE_BYTES:
        image = Image(mime, base64.b64encode(here.read_bytes()).decode())
    return Attachment(name, f"{note}; {look.beginning}" if look.lines else f"{note}.", image)


def _below(source: Path, cwd: Path) -> Path | None:
    """Return the path of a file below `cwd`; None if it is elsewhere."""
    path = source.absolute()
    # `..` may lead out of a directory that the path seems to be in.
    places = (path.resolve(),) if ".." in path.parts else (path, path.resolve())
    for place in places:
        for base in (cwd, cwd.resolve()):
            if place.is_relative_to(base):
                return cwd / place.relative_to(base)
    return None
