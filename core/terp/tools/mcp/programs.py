"""The programs of servers: what they inherit, where they write their errors, and that they end with terp."""

import asyncio
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from terp.kernels.jupyter.orphans import MARK, OrphanGuard, end_marked
from terp.secrets.environment import kernel_environment
from terp.settings.mcp_servers import McpServer
from terp.settings.places import make_private
from terp.settings.profile_file import short_path

_LAST_WORDS, _LAST_LINES = 300, 3
_TAIL_BYTES = 4_000


class Programs:
    """Around the servers of a session that are programs: they work in `cwd` and log to `folder`.

    They write there themselves; `redacted` takes the secrets out of what is told of it, and out of the files
    when all have ended.
    """

    def __init__(
        self, environ: Mapping[str, str], cwd: str, folder: Path, redacted: Callable[[str], str] = str
    ) -> None:
        self.environ = environ
        self.cwd = cwd
        self._folder = folder
        self._redacted = redacted
        self._mark = uuid.uuid4().hex
        self._guard: OrphanGuard | None = None
        self._began_at: dict[str, int] = {}

    def environment(self, name: str, server: McpServer) -> dict[str, str]:
        """What a kernel has, and what the server's own settings add."""
        return {**kernel_environment(self.environ), **server.env, MARK: self._mark_of(name)}

    def log(self, name: str) -> Path:
        """The file for what a server that starts now writes to stderr; its folder is there."""
        path = self._path(name)
        make_private(path.parent)
        self._began_at[name] = path.stat().st_size if path.is_file() else 0
        return path

    def last_words(self, name: str) -> str:
        """The last lines that a server wrote to stderr since it started, and where more are; or ""."""
        path = self._path(name)
        if not path.is_file():
            return ""
        with path.open("rb") as file:
            file.seek(max(self._began_at.get(name, 0), path.stat().st_size - _TAIL_BYTES))
            text = self._redacted(file.read().decode(errors="replace"))
        lines = [line.strip()[:_LAST_WORDS] for line in text.splitlines() if line.strip()]
        more = f" (all of it: {short_path(path)})" if len(lines) > _LAST_LINES else ""
        return " · ".join(lines[-_LAST_LINES:]) + more

    def guard(self) -> None:
        """Have whatever is started from here on ended if terp is killed."""
        # Not in a thread: servers start together, and a start can be cancelled; there is to be one guard.
        self._guard = self._guard or OrphanGuard(self._mark)

    async def end_one(self, name: str) -> None:
        """End a server, and whatever it has started."""
        await asyncio.to_thread(end_marked, self._mark_of(name))

    async def end(self) -> None:
        """End those that are still there, and what they have left behind."""
        for name in self._began_at:
            await self.end_one(name)
            await asyncio.to_thread(self._redact, self._path(name))
        if self._guard is not None:
            await asyncio.to_thread(self._guard.dismiss)
            self._guard = None

    def _redact(self, log: Path) -> None:
        """Leave no secret in a log; one that cannot be read or written stays as it is."""
        with suppress(OSError):
            said = log.read_bytes().decode(errors="surrogateescape")
            if (clean := self._redacted(said)) != said:
                log.write_bytes(clean.encode(errors="surrogateescape"))

    def _mark_of(self, name: str) -> str:
        # It begins with that of all, for which the guard looks.
        return f"{self._mark}-{name}"

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.log"
