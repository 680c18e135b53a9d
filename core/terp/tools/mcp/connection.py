"""The connection to one MCP server: opened by its first use, and again by the next use after it broke."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from terp.errors import TerpError
from terp.settings.mcp_servers import McpServer, NoVariable, filled_in
from terp.tools.mcp.functions import Function, functions_of
from terp.tools.mcp.results import CallFailed, ServerDown, no_library, of_call, of_resource, of_resources, why
from terp.tools.mcp.transports import Answers, Programs, Statuses, opened

if TYPE_CHECKING:
    import mcp
    import mcp.types

T = TypeVar("T")
Elicit = Callable[[str, "mcp.types.ElicitRequestParams"], Awaitable["mcp.types.ElicitResult"]]
"""Answers a question (elicitation) of the server with this name."""
State = Literal["not started", "starting", "ready", "down"]

START_S = 60.0
"""Seconds for a server to start: its launcher may have to download it first."""
_MOST_PAGES = 50
# The library's error code for a closed connection.
_CLOSED = -32000


class ServerConnection:
    """A server and its connection. `name` is its name in Python, from its name in the settings.

    `functions` are those it listed last, also while it is down; `failure` is why it is down.
    """

    def __init__(self, name: str, declared: McpServer, programs: Programs, elicit: Elicit) -> None:
        self.name = name
        self.declared = declared
        self.functions: Mapping[str, Function] = {}
        self.failure: TerpError | None = None
        self.version = ""
        self._programs = programs
        self._elicit = elicit
        self._patience = Patience(declared.timeout_s)
        self._schemas: dict[str, Mapping[str, Any] | None] = {}
        self._client: mcp.Client | None = None
        self._task: asyncio.Task[None] | None = None
        self._up = asyncio.Event()
        self._leave = asyncio.Event()
        self._changed = False
        self._statuses = Statuses()

    @property
    def state(self) -> State:
        """The state of the connection."""
        if self._task is None:
            return "down" if self.failure else "not started"
        if self._task.done() or self._leave.is_set():
            return "down"
        return "ready" if self._client else "starting"

    def start(self) -> None:
        """Begin to connect, unless it is connected or starting."""
        if self._task is None or self._task.done():
            self.failure, self._client, self._statuses = None, None, Statuses()
            self._up, self._leave = asyncio.Event(), asyncio.Event()
            self._task = asyncio.create_task(self._live(), name=f"MCP server {self.name}")

    async def started(self) -> None:
        """Return when the start has succeeded or failed; at once if nobody has started it."""
        if self._task is not None:
            await self._up.wait()

    async def ready(self, *, refresh: bool = False) -> None:
        """Return when it is up; `refresh` lists its functions again.

        Raises:
            TerpError: it does not start.
        """
        self._changed = self._changed or refresh
        await self._connected()

    async def ask(self, function: Function, given: Mapping[str, Any]) -> dict[str, Any]:
        """Call a function and return the result as JSON for the kernel.

        Raises:
            TerpError: the server is down, does not answer in time, or answers with an error.
        """
        client = await self._connected()
        name = function.declared.name
        arguments = function.on_the_wire(given)
        match function.asks:
            case "tool":
                result = await self._answer(name, client.call_tool(function.tool, arguments))
                return of_call(name, result, self._schemas.get(function.tool))
            case "resource":
                uri = str(arguments.get("uri") or "")
                return of_resource(name, await self._answer(name, client.read_resource(uri)))
            case "resources":
                return of_resources(name, (await self._answer(name, client.list_resources())).resources)

    async def aclose(self) -> None:
        """Disconnect, however long that takes. Harmless if it is not connected."""
        if self._task is None:
            return
        if self.state == "starting":
            self._task.cancel()
        self._leave.set()
        await asyncio.wait({self._task})

    def abandon(self) -> None:
        """Cancel the connection without waiting."""
        if self._task is not None:
            self._task.cancel()

    async def _connected(self) -> "mcp.Client":
        if self._leave.is_set() and self._task is not None:
            # The previous connection must be closed first.
            await asyncio.wait({self._task})
        self.start()
        await self._up.wait()
        if self.failure is not None or self._client is None:
            raise self.failure or self._down("it ended.")
        if self._changed:
            self._changed = False
            await self._answer(f"mcp.{self.name}", self._list(self._client))
        return self._client

    async def _live(self) -> None:
        """Hold the connection open: the library must leave it in the task that entered it."""
        try:
            server = filled_in(self.declared, self._programs.environ)
            async with AsyncExitStack() as stack:
                answers = Answers(self._asked, self._note_change, self._statuses)
                try:
                    async with asyncio.timeout(START_S):
                        client = await opened(stack, self.name, server, self._programs, answers)
                        await self._list(client)
                except TimeoutError:
                    raise ServerDown(f"it did not start within {START_S:g} s.") from None
                self._client = client
                self._up.set()
                await self._leave.wait()
        except (NoVariable, ServerDown) as error:
            self.failure = self._down(error.message)
        except Exception as error:  # noqa: BLE001  # whatever ends a connection, the library's own errors too
            if isinstance(error, ModuleNotFoundError) and error.name == "mcp":
                self.failure = no_library()
            elif not self._leave.is_set():
                self.failure = self._down(self._reason(error))
        finally:
            self._client = None
            self._up.set()

    async def _list(self, client: "mcp.Client") -> None:
        tools: list[mcp.types.Tool] = []
        cursor: str | None = None
        for _ in range(_MOST_PAGES):
            page = await client.list_tools(cursor=cursor)
            tools += page.tools
            cursor = page.next_cursor
            if not cursor:
                break
        self._schemas = {tool.name: tool.output_schema for tool in tools}
        self.functions = functions_of(self.name, tools, resources=await _has_resources(client))
        info = client.server_info
        self.version = f"{info.name} {info.version}".strip() if info else ""

    async def _answer(self, name: str, call: Awaitable[T]) -> T:
        """Return the answer of the server.

        Raises:
            TerpError: the connection ended first, the time limit passed, or the library failed.
        """
        assert self._task is not None
        asked = asyncio.ensure_future(self._patience.within(call))
        try:
            await asyncio.wait({asked, self._task}, return_when=asyncio.FIRST_COMPLETED)
            if not asked.done():
                raise self.failure or self._down("it ended.")
            return asked.result()
        except TimeoutError:
            limit = f"{self._patience.limit_s:g} s"
            raise CallFailed(f"{name} took longer than {limit} (timeout_s of the server).") from None
        except TerpError:
            raise
        except Exception as error:  # whatever the library makes of what a server has sent
            raise self._call_failed(name, error) from error
        finally:
            asked.cancel()
            await asyncio.wait({asked})

    def _call_failed(self, name: str, error: Exception) -> TerpError:
        if getattr(error, "code", None) != _CLOSED:
            return CallFailed(f"{name}: {why(error, self.declared)}")
        down = self._down(self._reason(error))
        self.failure = down
        self._leave.set()
        return down

    def _down(self, reason: str) -> ServerDown:
        return ServerDown(
            f"MCP server {self.name}: {reason}",
            f"The next call connects again, and so does /mcp restart {self.name}.",
        )

    def _reason(self, error: Exception) -> str:
        if self._statuses.refused:
            return f"{self.declared.where} answered {self._statuses.refused}."
        if self.declared.url:
            return f"{self.declared.where} cannot be reached: {why(error, self.declared)}"
        closed = "connection closed" in why(error, self.declared).lower()
        reason = "it has ended." if closed else why(error, self.declared)
        said = self._programs.last_words(self.name) if closed else ""
        return f"{reason} It said last: {said}" if said else reason

    async def _asked(self, params: "mcp.types.ElicitRequestParams") -> "mcp.types.ElicitResult":
        return await self._patience.paused(self._elicit(self.name, params))

    def _note_change(self) -> None:
        self._changed = True


async def _has_resources(client: "mcp.Client") -> bool:
    """Return True if a server has resources; many declare the capability and have none."""
    if client.server_capabilities.resources is None:
        return False
    import mcp  # noqa: PLC0415  (connected, so it is installed)

    with suppress(mcp.MCPError):
        if (await client.list_resources()).resources:
            return True
        return bool((await client.list_resource_templates()).resource_templates)
    return False


R = TypeVar("R")


class Patience:
    """A time limit in seconds (0: none) for each call; it is paused while the user answers the server."""

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self._running: set[asyncio.Timeout] = set()
        self._questions = 0

    async def within(self, call: Awaitable[R]) -> R:
        """Return the result of a call.

        Raises:
            TimeoutError: the call took longer than the limit.
        """
        async with asyncio.timeout(None if self._questions else self.limit_s or None) as limit:
            self._running.add(limit)
            try:
                return await call
            finally:
                self._running.discard(limit)

    async def paused(self, question: Awaitable[R]) -> R:
        """Return the answer to a question. When no question is open, all calls get the whole limit again."""
        self._questions += 1
        self._move(None)
        try:
            return await question
        finally:
            self._questions -= 1
            if not self._questions and self.limit_s:
                self._move(asyncio.get_running_loop().time() + self.limit_s)

    def _move(self, when: float | None) -> None:
        for limit in self._running:
            # A limit that has just expired cannot be moved.
            with suppress(RuntimeError):
                limit.reschedule(when)
