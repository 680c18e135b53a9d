"""Sessions stored as lines in a store of your own: a table of a database, a list in Redis."""

import os
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from terp import __version__
from terp.errors import SessionError
from terp.secrets.known_secrets import Secrets
from terp.session.keeping import Keeping, LineStore
from terp.settings import Settings
from terp.store.forms import Header
from terp.store.keeping import Keeper
from terp.store.places import real_directory
from terp.store.reading import stored_of
from terp.text.dataclasses import dataclass
from terp.text.note_mark import new_word


def keep_lines(
    name: str,
    lines: LineStore,
    earlier: bytes = b"",
    *,
    cwd: str | Path = "",
    environ: Mapping[str, str] | None = None,
) -> Keeping:
    """Return a keeper of the session `name` in `lines`, for `terp.open(keep=…)` or `Session(keeper=…)`.

    `earlier` are all lines that were appended before, in order: the session is resumed, in a new
    kernel. Nothing is appended before the first turn. Keys in `environ`, and keys
    stored with terp, are redacted. When `lines` fails, the session continues in memory, with a notice.

    The caller must ensure that no two processes store one session at a time.

    Raises:
        SessionError: `earlier` is not a stored session.
    """
    started = round(time.time(), 3)
    header = Header(name, real_directory(cwd), started, __version__, note_word=new_word())
    secrets = Secrets(os.environ if environ is None else environ, Settings())
    stored = stored_of(earlier, Path(name)) if earlier else None
    if stored is not None and stored.end < len(earlier):
        raise SessionError(f"The session {name} cannot be resumed: its log is damaged.")
    return _LinesKeeper(
        Path(name),
        stored.header if stored else header,
        secrets.redactor,
        stored=stored,
        journal=_Failing(lines),
    )


class _LinesKeeper(Keeper):
    def copy(self) -> str:
        raise SessionError("This session is in a store that cannot copy sessions.")


@dataclass(frozen=True, slots=True)
class _Failing:
    """LineStore whose failures are `OSError`, which a session survives."""

    lines: LineStore

    def append(self, lines: bytes) -> None:
        self._do(lambda: self.lines.append(lines))

    def sync(self) -> None:
        self._do(self.lines.sync)

    def close(self) -> None:
        self._do(self.lines.close)

    def _do(self, what: Callable[[], None]) -> None:
        try:
            what()
        except OSError:
            raise
        except Exception as error:
            # Every database has other errors.
            raise OSError(f"{type(error).__name__}: {error}") from error
