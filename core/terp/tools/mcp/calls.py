"""Calls of MCP servers from a kernel: terp asks the user, then calls the server."""

import json
from collections.abc import Mapping
from typing import Any

from terp.errors import TerpError
from terp.person import Choice, Option
from terp.person.voice import Voice
from terp.tools.mcp.functions import Function
from terp.tools.mcp.servers import Servers, described
from terp.tools.offering import OffersServices

_SHOWN_CHARS = 2_000
_ANSWERS = (Option("y", "yes"), Option("n", "no"), Option("a", "always this function, in this session"))


class Declined(TerpError):
    """The user declined a call."""


def offer_servers(to: OffersServices, servers: Servers, voice: Voice) -> None:
    """Offer the services that the functions in a kernel call."""
    calls = ServerCalls(servers, voice)
    to.offer("mcp_functions", calls.functions)
    to.offer("mcp_call", calls.call)


class ServerCalls:
    """The services: each takes the arguments of a call and returns a JSON value.

    A TerpError is raised in the code that called.
    """

    def __init__(self, servers: Servers, voice: Voice) -> None:
        self._servers = servers
        self._voice = voice
        self._always: set[str] = set()

    async def functions(self, arguments: Mapping[str, Any]) -> Any:
        """Return a server's current functions.

        Raises:
            TerpError: the server cannot be reached.
        """
        connection = self._servers.named(str(arguments["server"]))
        await connection.ready(refresh=True)
        return described(connection)

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        """Return the result of a function, after consent of the user.

        Raises:
            TerpError: the user declined, or the server failed.
        """
        connection = self._servers.named(str(arguments["server"]))
        name, given = str(arguments["function"]), dict(arguments["given"])
        if name not in connection.functions:
            await connection.ready(refresh=True)
        function = connection.functions.get(name)
        if function is None:
            raise TerpError(f"MCP server {connection.name} has no {name[:80]!r}.")
        await self._agreed(function, given)
        return await connection.ask(function, given)

    async def _agreed(self, function: Function, given: Mapping[str, Any]) -> None:
        name = function.declared.name
        if name in self._always:
            return
        claim = "The server says that it only reads." if function.read_only else ""
        choice = Choice(f"Call {name}{_shown(given)}", _ANSWERS, claim, as_code="y")
        answer = await self._voice.choose(choice)
        if answer == "a":
            self._always.add(name)
        if answer not in ("y", "a"):
            raise Declined(f"The user declined to have {name} called.")


def _shown(given: Mapping[str, Any]) -> str:
    lines = [f"  {name} = {json.dumps(value, ensure_ascii=False)}" for name, value in given.items()]
    text = "\n".join(lines)
    if not text:
        return "()?"
    more = f"\n  … {len(text) - _SHOWN_CHARS:,} more characters" if len(text) > _SHOWN_CHARS else ""
    return f" with\n{text[:_SHOWN_CHARS]}{more}"
