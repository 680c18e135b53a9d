"""Data that is piped in: read to its end as a prompt, or written to a file for the code."""

import os
import secrets
import select
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from terp.errors import SettingsError, TerpError
from terp.events.messages import Attachment
from terp.session.attachments import cut_line
from terp.text.dataclasses import dataclass
from terp.text.peek import Peek, Room, peek

PATIENCE_S = 2.0
LARGEST_DATA = 1024**3
LARGEST_PROMPT = 1024**2
_LINES = 20
_PIECE = 1024 * 1024

# IPython passes the code to callbacks of `pre_run_cell` before it runs, so the data is read into
# memory just before the first cell that names it, and is then a plain str or bytes. A name that is gone, as
# after `%reset -f`, is bound again for the next cell that names it.
_PRELUDE = """\
def _bind_stdin(path, encoding):
    import os

    shell, path = get_ipython(), os.path.abspath(path)

    def load(info):
        cell = info.raw_cell or ""
        if "stdin_path" in cell:
            shell.user_ns.setdefault("stdin_path", path)
        if "stdin_data" not in cell or "stdin_data" in shell.user_ns:
            return
        with open(path, "rb") as file:
            data = file.read()
        shell.user_ns["stdin_data"] = data.decode(encoding, "backslashreplace") if encoding else data

    shell.events.register("pre_run_cell", load)
    # Before the callback that lists variables: it must not count this one as the cell's.
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


class Says(Protocol):
    """Writer of messages to the user, never to stdout."""

    def report(self, text: str) -> None:
        """Write a fact about the data."""

    def warn(self, text: str) -> None:
        """Write a line that -q does not hide."""


@dataclass(frozen=True, slots=True)
class Piped:
    """Data from stdin: its file, the note for the model, and the code that defines it in the kernel."""

    path: Path
    attachment: Attachment
    prelude: str


def read_prompt(
    descriptor: int,
    waiting: Callable[[str], None],
    *,
    patience_s: float = PATIENCE_S,
    limit: int = LARGEST_PROMPT,
) -> str:
    """Read all of stdin as a prompt; remove a line end at its end.

    `waiting` is called with a line after `patience_s` without input.

    Raises:
        SettingsError: it is longer than `limit` bytes.
    """
    raw = bytearray()
    for piece in _pieces(descriptor, waiting, patience_s):
        raw += piece
        if len(raw) > limit:
            problem = f"the prompt on stdin is longer than {limit:,} bytes"
            raise SettingsError([f'{problem}; to pass it as data: … | terp "what to do with it"'])
    return raw.decode("utf-8-sig", errors="replace").removesuffix("\n").removesuffix("\r")


def take_data(
    descriptor: int,
    folder: Callable[[], Path],
    says: Says,
    *,
    room: Room | None = None,
    patience_s: float = PATIENCE_S,
    limit: int = LARGEST_DATA,
    elsewhere: bool = False,
) -> Piped:
    """Write stdin, read to its end, to a file in `folder`.

    If code runs `elsewhere`, its directory gets a copy, which the kernel removes when it ends. If no code
    can read the data, `room` limits the part that is sent to the model. Reports a cut, and warns once
    after `patience_s` without input.

    Raises:
        TerpError: the file cannot be written.
    """
    path = folder() / "stdin"
    if _spooled(_pieces(descriptor, says.warn, patience_s), path, limit):
        says.report(f"stdin is longer than {limit:,} bytes; the rest of it is left out.")
    look = peek(path, room or Room(lines=_LINES))
    if room and look.encoding and not look.whole:
        says.report(cut_line("stdin", look))
    note, encoding = _note(look, names=room is None), look.encoding if look.size else "utf-8"
    if not elsewhere:
        named = path.rename(path.with_suffix(_suffix(look)))
        return Piped(named, Attachment("stdin", note), prelude(str(named), encoding))
    # The name must be free in the other directory.
    named = path.rename(path.with_name(f"stdin-{secrets.token_hex(4)}{_suffix(look)}"))
    code = prelude(named.name, encoding) + _FORGOTTEN.format(path=named.name)
    return Piped(named, Attachment("stdin", note, source=str(named)), code)


def prelude(path: str, encoding: str) -> str:
    """Return Python code that binds `stdin_path`, and `stdin_data` as soon as a cell names it."""
    return _PRELUDE.format(path=path, encoding=encoding)


def _pieces(descriptor: int, waiting: Callable[[str], None], patience_s: float) -> Iterator[bytes]:
    """Yield pieces of stdin, to its end."""
    while select.select([descriptor], [], [], patience_s)[0]:
        if not (piece := os.read(descriptor, _PIECE)):
            return
        yield piece
    waiting("waiting for stdin (Ctrl-D ends it, -n does not read it)")
    while piece := os.read(descriptor, _PIECE):
        yield piece


def _spooled(pieces: Iterator[bytes], path: Path, limit: int) -> bool:
    """Write `pieces` to `path`; return True if they were cut at `limit` bytes.

    Raises:
        TerpError: the file cannot be written.
    """
    left = limit
    try:
        opened = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(opened, "wb") as file:  # noqa: PTH123  (a descriptor)
            for piece in pieces:
                file.write(piece[:left])
                left -= len(piece)
                if left < 0:
                    break
        return left < 0
    except OSError as error:
        path.unlink(missing_ok=True)
        raise TerpError(f"Cannot write stdin to {path}: {error.strerror}.") from error
    except BaseException:
        # Stopped by a signal: half of the data is of no use.
        path.unlink(missing_ok=True)
        raise


def _suffix(look: Peek) -> str:
    known = {
        "comma-separated values": ".csv",
        "tab-separated values": ".tsv",
        "JSON": ".json",
        "JSON lines": ".jsonl",
    }
    return known.get(look.kind, ".txt" if look.encoding else ".bin")


def _note(look: Peek, *, names: bool) -> str:
    """Return the note for the model; it mentions the variables if `names`."""
    facts = look.facts if look.size else "0 bytes"
    if not names:
        note = f"[Data was piped in: {facts}]"
        return f"{note} {look.beginning}" if look.lines else note
    kind = "str" if look.encoding or not look.size else "bytes"
    note = (
        f"[Data was piped in: {facts}] In Python, stdin_path is the path of a file with all of it, "
        f"and stdin_data its content as {kind}"
    )
    return f"{note}; {look.beginning}" if look.lines else f"{note}."
