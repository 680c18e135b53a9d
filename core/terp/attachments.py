"""Files that go with a prompt: described to the model where they are, or copied for it."""

import base64
import filecmp
import os
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from terp.errors import AttachmentError
from terp.messages import Attachment, Image
from terp.paths import typed_path, unused
from terp.peek import Peek, peek

_LINES = 5
# Providers refuse larger pictures; they are then described in words only.
_IMAGE_BYTES = 3_500_000
_PICTURES = {"PNG image": "image/png", "JPEG image": "image/jpeg", "GIF image": "image/gif"}
_CONFIRM = (
    "I have attached what is listed below. Confirm in one sentence that you have it; my request follows."
)


def attach(
    files: Sequence[str], cwd: Path, copied: Callable[[Path, Path], None] | None = None
) -> tuple[Attachment, ...]:
    """Describe `files`; relative names are those of terp's own directory.

    A file below `cwd` is named relative to it. Any other stays where it is and is named by its absolute
    path, which the kernel on this machine can read. With `copied` such a file is copied into `cwd` instead,
    never over an existing file: a name that is taken by a file of other content gets a number. `copied`
    hears where each that was not there yet was and is.

    Raises:
        AttachmentError: one of them is missing or unreadable. Nothing has been copied then.
    """
    sources = list(dict.fromkeys(map(typed_path, files)))
    if problems := [problem for source in sources if (problem := _problem(source))]:
        raise AttachmentError("\n".join(problems))
    return tuple(_attachment(source, cwd, copied) for source in sources)


def attach_elsewhere(files: Sequence[str]) -> tuple[Attachment, ...]:
    """Describe `files` for kernels of another machine, which are given them under their own names.

    Raises:
        AttachmentError: one of them is missing or unreadable.
    """
    sources = list(dict.fromkeys(Path(file).expanduser() for file in files))
    if problems := [problem for source in sources if (problem := _problem(source))]:
        raise AttachmentError("\n".join(problems))
    return tuple(_sent(source) for source in sources)


def with_attachments(prompt: str, attachments: Sequence[Attachment]) -> str:
    """The prompt to send: attachments without any words ask to be confirmed."""
    return _CONFIRM if attachments and not prompt.strip() else prompt


def copy_unused(source: Path, folder: Path) -> Path:
    """Copy `source` into `folder` under its own name, or a numbered one; where it is now.

    Nothing is copied when the same content is there under that name.
    """
    target = folder / source.name
    if target.is_file() and filecmp.cmp(source, target, shallow=False):
        return target
    while True:
        target = unused(target)
        try:
            # "x": another program may have taken the name just now.
            with source.open("rb") as read, target.open("xb") as write:
                shutil.copyfileobj(read, write)
        except FileExistsError:
            continue
        return target


def _problem(source: Path) -> str:
    if "://" in str(source) or str(source).startswith(("http:/", "https:/")):
        return f"cannot attach '{source}': download it first, and attach the file."
    try:
        if not source.exists():
            return f"there is no file '{source}' to attach."
        if source.is_dir():
            return f"'{source}' is a directory; attach the files in it."
        if not source.is_file():
            return f"'{source}' is not a file that can be copied."
        source.open("rb").close()
    except OSError as error:
        return f"cannot read '{source}': {error.strerror}."
    return ""


def _attachment(source: Path, cwd: Path, copied: Callable[[Path, Path], None] | None) -> Attachment:
    try:
        path = _below(source, cwd)
        if path is None and copied is not None:
            taken = (cwd / source.name).exists()
            path = copy_unused(source, cwd)
            if not (taken and path.name == source.name):
                copied(source, path)
        here = path or source.resolve()
        look = peek(here, max_lines=_LINES)
    except OSError as error:
        raise AttachmentError(f"cannot attach '{source}': {error.strerror}.") from error
    where = "It is in the working directory" if path else "It is at that path, outside the working directory"
    return _described(here, path.relative_to(cwd) if path else here, where, look)


def _sent(source: Path) -> Attachment:
    try:
        look = peek(source, max_lines=_LINES)
        told = _described(source, Path(source.name), "It is in the kernel's working directory", look)
    except OSError as error:
        raise AttachmentError(f"cannot attach '{source}': {error.strerror}.") from error
    return replace(told, source=str(source.absolute()))


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
    """The file as it is found below `cwd`; None when it is elsewhere."""
    path = source.absolute()
    # `..` may lead out of a directory that the path seems to be in.
    places = (path.resolve(),) if ".." in path.parts else (path, path.resolve())
    for place in places:
        for base in (cwd, cwd.resolve()):
            if place.is_relative_to(base):
                return cwd / place.relative_to(base)
    return None
