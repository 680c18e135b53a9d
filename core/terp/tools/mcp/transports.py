"""Transports to MCP servers: programs that terp starts (stdio), and HTTP."""

import asyncio
import logging
import uuid
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from terp import __version__
from terp.kernels.jupyter.orphans import MARK, OrphanGuard, end_marked
from terp.secrets.environment import kernel_environment
from terp.settings.mcp_servers import McpServer
from terp.settings.profile_file import short_path
from terp.text.dataclasses import dataclass
from terp.text.files import make_private
from terp.text.importing import import_slow

if TYPE_CHECKING:
    import mcp
    import mcp.types

_LAST_WORDS, _LAST_LINES = 300, 3
_TAIL_BYTES = 4_000


class Programs:
    """The servers of a session that are programs: they run in `cwd`, with their stderr in `folder`.

    They write these logs themselves; `redacted` removes secrets from quotes, and from the files at the end.
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
        """Return a kernel's environment with the variables of the server's settings."""
        return {**kernel_environment(self.environ), **server.env, MARK: self._mark_of(name)}

    def log(self, name: str) -> Path:
        """Return the file for the stderr of a server that starts now, after making its folder."""
        path = self._path(name)
        make_private(path.parent)
        self._began_at[name] = path.stat().st_size if path.is_file() else 0
        return path

    def last_words(self, name: str) -> str:
        """Return the last lines of a server's stderr since its start, and the path of the rest; or ""."""
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
        """Have servers that start from now on killed if terp is killed."""
        # Not in a thread: servers start together, and a start can be cancelled; there is to be one guard.
        self._guard = self._guard or OrphanGuard(self._mark)

    async def end_one(self, name: str) -> None:
        """Kill a server and all its child processes."""
        await asyncio.to_thread(end_marked, self._mark_of(name))

    async def end(self) -> None:
        """Kill all servers that still run, with their child processes, and redact the logs."""
        for name in self._began_at:
            await self.end_one(name)
            await asyncio.to_thread(self._redact, self._path(name))
        if self._guard is not None:
            await asyncio.to_thread(self._guard.dismiss)
            self._guard = None

    def _redact(self, log: Path) -> None:
        """Remove secrets from a log; a file that cannot be read or written stays unchanged."""
        with suppress(OSError):
            said = log.read_bytes().decode(errors="surrogateescape")
            if (clean := self._redacted(said)) != said:
                log.write_bytes(clean.encode(errors="surrogateescape"))

    def _mark_of(self, name: str) -> str:
        # Begins with the mark of all servers, for which the guard looks.
        return f"{self._mark}-{name}"

    def _path(self, name: str) -> Path:
        return self._folder / f"{name}.log"


# Between two chunks of a response; calls have a separate limit.
_SILENCE_S = 300.0
_CONNECT_S = 30.0


@dataclass(slots=True)
class Statuses:
    """The last HTTP status: `refused` is code and reason phrase of an error, else "".

    The library's exceptions do not contain it.
    """

    refused: str = ""


@dataclass(frozen=True, slots=True)
class Answers:
    """Callbacks for requests and notifications of a server.

    `opened` itself answers the request for roots. Sampling is not offered.
    """

    elicit: "Callable[[mcp.types.ElicitRequestParams], Awaitable[mcp.types.ElicitResult]]"
    tools_changed: Callable[[], None]
    statuses: Statuses


async def opened(
    stack: AsyncExitStack, name: str, server: McpServer, programs: Programs, answers: Answers
) -> "mcp.Client":
    """Return a client that is connected until `stack` is closed, in the same task.

    Exceptions of the library and the system are raised unchanged.
    """
    # Few sessions have a server, and the library takes a second to import.
    await asyncio.to_thread(import_slow, "mcp")
    import mcp  # noqa: PLC0415
    from mcp import types  # noqa: PLC0415

    # Its errors are raised as well; without a handler logging would print them on the screen.
    logging.getLogger("mcp").addHandler(logging.NullHandler())

    async def elicit(context: Any, params: Any) -> "types.ElicitResult":  # noqa: ARG001  (as the library calls it)
        return await answers.elicit(params)

    async def roots(context: Any) -> "types.ListRootsResult":  # noqa: ARG001  (see above)
        return types.ListRootsResult(roots=[_root(programs.cwd)])

    async def received(message: Any) -> None:
        if isinstance(message, types.ToolListChangedNotification):
            answers.tools_changed()

    if server.url:
        transport = await _http(stack, server, answers.statuses)
    else:
        transport = await _program(stack, name, server, programs)
    client = mcp.Client(
        transport,
        client_info=types.Implementation(name="terp", version=__version__),
        elicitation_callback=elicit,
        list_roots_callback=roots,
        message_handler=received,
        cache=None,
    )
    return await stack.enter_async_context(client)


def _root(cwd: str) -> "mcp.types.Root":
    from mcp import types  # noqa: PLC0415  (see above)

    return types.Root.model_validate({"uri": Path(cwd).as_uri(), "name": Path(cwd).name})


async def _program(stack: AsyncExitStack, name: str, server: McpServer, programs: Programs) -> Any:
    from mcp.client.stdio import StdioServerParameters, stdio_client  # noqa: PLC0415  (see above)

    programs.guard()
    log = stack.enter_context(programs.log(name).open("a", encoding="utf-8"))
    parameters = StdioServerParameters(
        command=_at_home(server.command),
        args=list(server.args),
        env=programs.environment(name, server),
        cwd=Path(programs.cwd, _at_home(server.cwd)),
        # A server that writes another encoding still works.
        encoding_error_handler="replace",
    )
    return stdio_client(parameters, errlog=log)


def _at_home(path: str) -> str:
    """Return a path with `~` expanded."""
    return str(Path(path).expanduser())


async def _http(stack: AsyncExitStack, server: McpServer, statuses: Statuses) -> Any:
    import httpx2  # noqa: PLC0415  (comes with mcp)
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415  (see above)

    async def note(response: httpx2.Response) -> None:
        error = response.status_code >= 400
        statuses.refused = f"{response.status_code} {response.reason_phrase}".rstrip() if error else ""

    timeout = httpx2.Timeout(_CONNECT_S, read=_SILENCE_S)
    client = httpx2.AsyncClient(
        headers=dict(server.headers), timeout=timeout, event_hooks={"response": [note]}
    )
    return streamable_http_client(server.url, http_client=await stack.enter_async_context(client))
