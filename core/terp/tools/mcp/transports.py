"""How a server is reached: its program is started, or its address is spoken to."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from terp import __version__
from terp.settings.mcp_servers import McpServer
from terp.text.importing import import_slow
from terp.tools.mcp.programs import Programs

if TYPE_CHECKING:
    import mcp
    import mcp.types

# Between two pieces of an answer; a call has a limit of its own.
_SILENCE_S = 300.0
_CONNECT_S = 30.0


@dataclass(slots=True)
class Statuses:
    """`refused` is the status of the last answer if it is an error, with its words; "" otherwise.

    The library does not tell it.
    """

    refused: str = ""


@dataclass(frozen=True, slots=True)
class Answers:
    """What terp answers when a server asks it: a question to the person; and what is heard of it besides.

    Where terp works is told by `opened` itself; models are not lent to servers.
    """

    elicit: "Callable[[mcp.types.ElicitRequestParams], Awaitable[mcp.types.ElicitResult]]"
    tools_changed: Callable[[], None]
    statuses: Statuses


async def opened(
    stack: AsyncExitStack, name: str, server: McpServer, programs: Programs, answers: Answers
) -> "mcp.Client":
    """A client that is connected until `stack` is left, in the same task.

    Raises whatever the library or the system raises.
    """
    # Few sessions have a server, and the library takes a second to import.
    await asyncio.to_thread(import_slow, "mcp")
    import mcp  # noqa: PLC0415
    from mcp import types  # noqa: PLC0415

    # What it has to say comes as an error as well; without a place for it, it would be on the screen.
    logging.getLogger("mcp").addHandler(logging.NullHandler())

    async def elicit(context: Any, params: Any) -> "types.ElicitResult":  # noqa: ARG001  (as the library calls it)
        return await answers.elicit(params)

    async def roots(context: Any) -> "types.ListRootsResult":  # noqa: ARG001  (see above)
        return types.ListRootsResult(roots=[_root(programs.cwd)])

    async def heard(message: Any) -> None:
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
        message_handler=heard,
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
        # A server that writes another encoding is heard all the same.
        encoding_error_handler="replace",
    )
    return stdio_client(parameters, errlog=log)


def _at_home(path: str) -> str:
    """A path in which `~` is written out."""
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
