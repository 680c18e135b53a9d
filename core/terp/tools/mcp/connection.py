"""The connection to one server: made by the first use, and again by the next use after it broke."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, suppress
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from terp.errors import TerpError
from terp.settings.mcp_servers import McpServer
from terp.settings.variables import NoVariable, filled_in
from terp.tools.mcp.failures import ServerDown, no_library, why
from terp.tools.mcp.functions import Function, functions_of
from terp.tools.mcp.patience import Patience
from terp.tools.mcp.programs import Programs
from terp.tools.mcp.results import CallFailed, of_call, of_resource, of_resources
from terp.tools.mcp.transports import Answers, Statuses, opened

if TYPE_CHECKING:
    import mcp
    import mcp.types

T = TypeVar("T")
Elicit = Callable[[str, "mcp.types.ElicitRequestParams"], Awaitable["mcp.types.ElicitResult"]]
"""What the person answers to a question of the server with this name."""
State = Literal["not started", "starting", "ready", "down"]

START_S = 60.0
"""How long a server may take to come up: what starts it may have to fetch it first."""
_MOST_PAGES = 50
# The error code of the library for a connection that has ended.
_CLOSED = -32000


class Connection:
    """A server. `name` is what it is in Python, and in the settings where that can be written.

    `functions` are those that it had when it was last asked, also while it is down; `failure` is why it is.
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
        """What it is doing."""
        if self._task is None:
            return "down" if self.failure else "not started"
        if self._task.done() or self._leave.is_set():
            return "down"
        return "ready" if self._client else "starting"

    def start(self) -> None:
        """Begin to connect, unless it is connected or on the way."""
        if self._task is None or self._task.done():
            self.failure, self._client, self._statuses = None, None, Statuses()
            self._up, self._leave = asyncio.Event(), asyncio.Event()
            self._task = asyncio.create_task(self._live(), name=f"MCP server {self.name}")

    async def started(self) -> None:
        """Return when it is up, or will not be; at once when nobody has started it."""
        if self._task is not None:
            await self._up.wait()

    async def ready(self, *, anew: bool = False) -> None:
        """Return when it is up; with `anew` its functions are those that it has now, told of or not.

        Raises:
            TerpError: it does not come up.
        """
        self._changed = self._changed or anew
        await self._connected()

    async def ask(self, function: Function, given: Mapping[str, Any]) -> dict[str, Any]:
        """What the server answers to a call, as JSON for the kernel.

        Raises:
            TerpError: it is down, does not answer in time, or answers with an error.
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
        """Let the server go, as long as that takes; harmless when it is gone."""
        if self._task is None:
            return
        if self.state == "starting":
            self._task.cancel()
        self._leave.set()
        await asyncio.wait({self._task})

    def abandon(self) -> None:
        """Wait for the server no more."""
        if self._task is not None:
            self._task.cancel()

    async def _connected(self) -> "mcp.Client":
        if self._leave.is_set() and self._task is not None:
            # What is left of the connection before has to go first.
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
        """Hold the connection: the library wants it to be left in the task that entered it."""
        try:
            server = filled_in(self.declared, self._programs.environ)
            async with AsyncExitStack() as stack:
                answers = Answers(self._asked, self._note_change, self._statuses)
                try:
                    async with asyncio.timeout(START_S):
                        client = await opened(stack, self.name, server, self._programs, answers)
                        await self._list(client)
                except TimeoutError:
                    raise ServerDown(f"it was not up within {START_S:g} s.") from None
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
        told = client.server_info
        self.version = f"{told.name} {told.version}".strip() if told else ""

    async def _answer(self, name: str, call: Awaitable[T]) -> T:
        """What the server answers, unless the connection ends before."""
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
            f"The next call tries it again, and so does /mcp restart {self.name}.",
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
    """Whether a server has anything to be read; many say that they could, and have nothing."""
    if client.server_capabilities.resources is None:
        return False
    import mcp  # noqa: PLC0415  (who is here has it)

    with suppress(mcp.MCPError):
        if (await client.list_resources()).resources:
            return True
        return bool((await client.list_resource_templates()).resource_templates)
    return False
