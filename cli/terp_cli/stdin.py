"""What comes in on stdin: a prompt, data for the code, or nothing."""

import os
import select
import stat
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Literal

from terp.errors import SettingsError, TerpError

if TYPE_CHECKING:
    from terp.messages import Attachment
    from terp.peek import Peek

Source = Literal["terminal", "nothing", "data"]

PATIENCE_S = 2.0
LARGEST_DATA = 1024**3
LARGEST_PROMPT = 1024**2
_LINES = 20
_PIECE = 1024 * 1024

# IPython tells callbacks of `pre_run_cell` the code that is about to run, so the data is read into
# memory just before the first cell that names it, and is then a plain str or bytes.
_PRELUDE = """\
def _bind_stdin(path, encoding):
    import os

    shell, path = get_ipython(), os.path.abspath(path)

    def load(info):
        if "stdin_data" not in (info.raw_cell or "") or "stdin_data" in shell.user_ns:
            return
        shell.events.unregister("pre_run_cell", load)
        with open(path, "rb") as file:
            data = file.read()
        shell.user_ns["stdin_data"] = data.decode(encoding, "backslashreplace") if encoding else data

    shell.events.register("pre_run_cell", load)
    # Before what looks at the variables: the cell is not what binds it.
    hooks = shell.events.callbacks["pre_run_cell"]
    hooks.insert(0, hooks.pop())
    shell.user_ns["stdin_path"] = path


_bind_stdin({path!r}, {encoding!r})
del _bind_stdin
"""


# The data was copied for this kernel, and may be private.
_FORGOTTEN = """
def _forget_stdin(path):
    import atexit, contextlib, os

    path = os.path.abspath(path)

    @atexit.register
    def forget():
        with contextlib.suppress(OSError):
            os.unlink(path)


_forget_stdin({path!r})
del _forget_stdin
"""


@dataclass(frozen=True, slots=True)
class Piped:
    """Data from stdin: its file, what the model is told, and the code that makes it known in the kernel."""

    path: Path
    attachment: "Attachment"
    prelude: str


def source_of(descriptor: int) -> Source:
    """What stands behind stdin. A closed one, `/dev/null` and a directory are nothing."""
    try:
        status = os.fstat(descriptor)
        if os.isatty(descriptor):
            return "terminal"
        null = os.stat(os.devnull)  # noqa: PTH116  (compared with a descriptor's status)
    except OSError:
        return "nothing"
    is_null = stat.S_ISCHR(status.st_mode) and status.st_rdev == null.st_rdev
    return "nothing" if is_null or stat.S_ISDIR(status.st_mode) else "data"


def read_prompt(descriptor: int, limit: int = LARGEST_PROMPT) -> str:
    """All of stdin as a prompt, without the line end it ends with.

    Raises:
        SettingsError: it is too long for a prompt.
    """
    raw = bytearray()
    while piece := os.read(descriptor, _PIECE):
        raw += piece
        if len(raw) > limit:
            told = f"the prompt on stdin is longer than {limit:,} bytes"
            raise SettingsError([f'{told}; to pass it as data: … | terp "what to do with it"'])
    return raw.decode("utf-8-sig", errors="replace").removesuffix("\n").removesuffix("\r")


def take_data(
    descriptor: int,
    folder: Callable[[], Path],
    tell: Callable[[str], None],
    *,
    patience_s: float = PATIENCE_S,
    limit: int = LARGEST_DATA,
    elsewhere: bool = False,
) -> Piped | None:
    """Write stdin to a file in `folder`; None when nothing comes.

    Code that runs `elsewhere` is given a copy in its directory, which its kernel removes when it ends. `tell`
    gets a line when nothing at all comes within `patience_s`, or when the data is cut at `limit`.

    Raises:
        TerpError: the file cannot be written.
    """
    if not select.select([descriptor], [], [], patience_s)[0]:
        tell(f"nothing came on stdin within {patience_s:g} s; going on without it.")
        return None
    first = os.read(descriptor, _PIECE)
    if not first:
        return None
    path = folder() / "stdin"
    try:
        cut = _spool(descriptor, first, path, limit)
    except OSError as error:
        path.unlink(missing_ok=True)
        raise TerpError(f"What comes on stdin cannot be kept in {path}: {error.strerror}.") from error
    except BaseException:
        # Stopped by a signal: half of the data is of no use to anybody.
        path.unlink(missing_ok=True)
        raise
    if cut:
        tell(f"stdin is longer than {limit:,} bytes; the rest of it is left out.")
    from terp.messages import Attachment  # noqa: PLC0415  (nothing is piped to a prompt)
    from terp.peek import peek  # noqa: PLC0415

    look = peek(path, max_lines=_LINES)
    if not elsewhere:
        named = path.rename(path.with_suffix(_suffix(look)))
        return Piped(named, Attachment("stdin", _told(look)), prelude(str(named), look.encoding))
    # A name that nothing has there.
    named = path.rename(path.with_name(f"stdin-{token_hex(4)}{_suffix(look)}"))
    code = prelude(named.name, look.encoding) + _FORGOTTEN.format(path=named.name)
    return Piped(named, Attachment("stdin", _told(look), source=str(named)), code)


def prelude(path: str, encoding: str) -> str:
    """Python code that binds `stdin_path`, and `stdin_data` as soon as a cell names it."""
    return _PRELUDE.format(path=path, encoding=encoding)


def _spool(descriptor: int, first: bytes, path: Path, limit: int) -> bool:
    """Copy stdin to `path`; whether there was more than `limit`."""
    left, piece = limit, first
    opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(opened, "wb") as file:  # noqa: PTH123  (a descriptor)
        while piece:
            file.write(piece[:left])
            left -= len(piece)
            if left < 0:
                return True
            piece = os.read(descriptor, _PIECE)
    return False


def _suffix(look: "Peek") -> str:
    known = {
        "comma-separated values": ".csv",
        "tab-separated values": ".tsv",
        "JSON": ".json",
        "JSON lines": ".jsonl",
    }
    return known.get(look.kind, ".txt" if look.encoding else ".bin")


def _told(look: "Peek") -> str:
    kind = "str" if look.encoding else "bytes"
    note = (
        f"[Data was piped in: {look.facts}] In Python, stdin_path is the path of a file with all of it, "
        f"and stdin_data its content as {kind}"
    )
    return f"{note}; {look.beginning}" if look.lines else f"{note}."
