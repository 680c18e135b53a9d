"""The files and variables that a message names with an `@`, and notices about other `@words`."""

import os
from collections.abc import Sequence
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

from terp.events.changes import shape_text
from terp.events.kernel import Variable
from terp.events.messages import Attachment
from terp.session.attachments import attach, attach_elsewhere, text_room
from terp.session.context.namespaces import Namespaces
from terp.text.paths import typed_path
from terp_cli.prompt.mentions import mentions
from terp_cli.repl.context import ReplContext

_MOST_NEAR = 5_000
# Names with these are files; of other words with a dot (`@app.route`, `@np.vectorize`) nobody knows.
_SUFFIXES = frozenset(
    """
    .csv .tsv .txt .md .rst .json .jsonl .yaml .yml .toml .ini .cfg .xml .html .css .js .ts .tsx .py
    .ipynb .r .jl .rb .sh .c .h .cpp .java .go .rs .sql .log .pdf .doc .docx .xls .xlsx .ods .pptx
    .parquet .feather .arrow .npy .npz .h5 .hdf5 .nc .pkl .db .sqlite .zip .gz .tar .png .jpg .jpeg
    .gif .webp .svg .bmp .tiff .wav .mp3 .mp4
    """.split()  # noqa: SIM905 - a table of names, to be read
)
# What prose about code calls by its sign.
_DECORATORS = frozenset(
    """
    abstractmethod cache cached_property classmethod contextmanager asynccontextmanager dataclass decorator
    final fixture jit lru_cache njit override overload profile property pytest route runtime_checkable
    setter singledispatch staticmethod task test tool total_ordering typechecked validator vectorize wraps
    """.split()  # noqa: SIM905 - see above
)


async def attached(
    line: str, cwd: Path, context: ReplContext, namespaces: Namespaces
) -> Sequence[Attachment]:
    """Return the attachments that a message names with `@`; report words that probably were meant as names.

    Raises:
        AttachmentError: a file cannot be read.
    """
    named = mentions(line, cwd)
    room = text_room(context.settings, context.environ, len(named.files))
    elsewhere = context.session.kernels.elsewhere
    files = attach_elsewhere(named.files) if elsewhere else attach(named.files, cwd, room, context.say)
    held = await namespaces.variables() if named.names else ()
    # Of one name the first is meant: the default language comes first.
    variables = {one.name: (one, language) for language, one in reversed(held)}
    known = [one.name for _, one in held]
    for word in (word for word in (*named.others, *named.names) if word not in known):
        if notice := missed(word, cwd, known, opens_line=word in named.openers):
            context.say(notice)
    return (*files, *(described(*variables[name]) for name in named.names if name in variables))


def described(variable: Variable, language: str) -> Attachment:
    """Return the description of a kernel's variable, for the model."""
    shape = f", {shape_text(variable.shape)}" if variable.shape else ""
    value = f": {variable.head}" if variable.head else ""
    note = f"[Variable {variable.name} in the {language.capitalize()} kernel: {variable.type}{shape}{value}]"
    return Attachment(variable.name, note, None)


def missed(word: str, cwd: Path, variables: Sequence[str], *, opens_line: bool) -> str:
    """Return a notice about `@word`, which names no file and no variable; "" if it probably is no mention.

    `opens_line`: it begins a line above another one, as decorators do.
    """
    if _is_directory(word, cwd):
        return f"Nothing is attached for @{word}: it is a directory. Name the files in it."
    near = _near(word, cwd, variables)
    path_like = word.startswith(("./", "../", "/", "~")) or Path(word).suffix.lower() in _SUFFIXES
    could_be = word.isidentifier() and word not in _DECORATORS and not opens_line
    if not (near or path_like or could_be):
        return ""
    what = "file" if path_like else "file or variable"
    hint = f" Did you mean @{near}?" if near else ""
    return f"Nothing is attached for @{word}: there is no such {what}.{hint}"


def _is_directory(word: str, cwd: Path) -> bool:
    with suppress(OSError, ValueError, RuntimeError):
        return (cwd / typed_path(word)).is_dir()
    return False


def _near(word: str, cwd: Path, variables: Sequence[str]) -> str:
    if word in _DECORATORS or len(word) < 2:
        return ""
    head, slash, name = word.rpartition("/")
    files: list[str] = []
    with suppress(OSError, ValueError, RuntimeError):
        files = os.listdir(cwd / typed_path(head + slash))[:_MOST_NEAR]  # noqa: PTH208 - names alone
    found = get_close_matches(name, [*files, *([] if slash else variables)], n=1, cutoff=0.75)
    return f"{head}{slash}{found[0]}" if found else ""
