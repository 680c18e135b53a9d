"""The MCP servers of a session."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from terp.errors import TerpError
from terp.person import Choice, Option
from terp.person.dialog import UserDialog
from terp.settings.mcp_servers import McpServer
from terp.tools.files.declared import Tool
from terp.tools.mcp.connection import Elicit, ServerConnection
from terp.tools.mcp.functions import Function, functions_prompt, python_names
from terp.tools.mcp.results import ServerDown
from terp.tools.mcp.transports import Programs
from terp.tools.offering import OffersServices

# Seconds for servers to exit by themselves, and then to be killed.
_FAREWELL_S = 1.5
_END_S = 1.0
_SHOWN_CHARS = 2_000
_ANSWERS = (Option("y", "yes"), Option("n", "no"), Option("a", "always this function, in this session"))


class Servers:
    """All servers of a session, by their names in Python. They connect at `start`, or at the first call."""

    def __init__(self, declared: Mapping[str, McpServer], programs: Programs, elicit: Elicit) -> None:
        names = python_names(declared)
        self.programs = programs
        self.connections = {
            names[name]: ServerConnection(names[name], one, programs, elicit)
            for name, one in declared.items()
        }
        self._reported: dict[str, TerpError] = {}

    def start(self) -> None:
        """Begin to connect to all servers."""
        for connection in self.connections.values():
            connection.start()

    async def settled(self, patience_s: float) -> None:
        """Return when each server is up or has failed, or after `patience_s` seconds."""
        starting = [
            asyncio.ensure_future(one.started())
            for one in self.connections.values()
            if one.state == "starting"
        ]
        if starting:
            _, late = await asyncio.wait(starting, timeout=patience_s)
            for waiting in late:
                waiting.cancel()

    @property
    def starting(self) -> list[str]:
        """Names of the servers that are starting."""
        return [one.name for one in self.connections.values() if one.state == "starting"]

    def news(self) -> Iterator[TerpError]:
        """Yield the failures of servers since the last call; equal messages once."""
        messages = set[str]()
        for name, connection in self.connections.items():
            failure = connection.failure
            if failure is None or self._reported.get(name) is failure:
                continue
            self._reported[name] = failure
            if failure.message not in messages:
                messages.add(failure.message)
                yield failure

    @property
    def functions(self) -> list[Function]:
        """The known functions of all servers."""
        return [one for connection in self.connections.values() for one in connection.functions.values()]

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The same functions as tools."""
        return tuple(function.declared for function in self.functions)

    @property
    def calls(self) -> dict[str, str]:
        """Each name by which a model may call a function as a tool, and its name in Python."""
        last = [function.name for function in self.functions]
        found: dict[str, str] = {}
        for name, connection in self.connections.items():
            for function in connection.functions.values():
                python = function.declared.name
                spellings = {python, f"{name}.{function.name}", f"mcp__{name}__{function.name}"}
                if last.count(function.name) == 1:
                    spellings |= {function.name, function.tool}
                found |= dict.fromkeys(spellings, python)
        return found

    def for_model(self) -> str:
        """Return the part of the system prompt about servers."""
        down = [name for name, one in self.connections.items() if one.state == "down"]
        return functions_prompt(self.functions, down)

    def named(self, name: str) -> ServerConnection:
        """Return the server with this name, in Python or in the settings.

        Raises:
            ServerDown: no server has this name.
        """
        found = self.connections.get(name) or self.connections.get(name.replace("-", "_"))
        if found is None:
            known = ", ".join(self.connections)
            raise ServerDown(f"There is no MCP server {name[:80]!r}; there are: {known}.")
        return found

    def prelude(self) -> str:
        """Return code that defines `mcp` in a Python kernel, with the known functions; it binds no name."""
        known = {name: described(connection) for name, connection in self.connections.items()}
        return f"__import__('terp_home.mcp').mcp.provide({known!r})\n" if known else ""

    async def restart(self, name: str) -> None:
        """Stop a server and start it again.

        Raises:
            TerpError: no server has this name, or it does not start.
        """
        connection = self.named(name)
        await self._close([connection])
        await connection.ready()

    async def aclose(self) -> None:
        """Stop all servers, killing those that do not exit. Takes less than three seconds."""
        await self._close(list(self.connections.values()))
        await self.programs.end()

    async def _close(self, connections: list[ServerConnection]) -> None:
        closing = {asyncio.ensure_future(one.aclose()): one for one in connections}
        if not closing:
            return
        _, late = await asyncio.wait(closing, timeout=_FAREWELL_S)
        if not late:
            return
        for connection in (closing[one] for one in late):
            await self.programs.end_one(connection.name)
        _, late = await asyncio.wait(late, timeout=_END_S)
        for one in late:
            closing[one].abandon()
            one.cancel()


def described(connection: ServerConnection) -> list[dict[str, Any]]:
    """Return a server's functions in the form that the kernel package defines them from."""
    return [
        {
            "name": function.name,
            "description": function.declared.description,
            "signature": function.declared.signature,
            "returns": function.declared.returns,
            "wire": {there: here for here, there in function.wire.items()},
            "parameters": [asdict(one) for one in function.declared.parameters],
        }
        for function in connection.functions.values()
    ]


class Declined(TerpError):
    """The user declined a call."""


def offer_servers(to: OffersServices, servers: Servers, dialog: UserDialog) -> None:
    """Offer the services that the functions in a kernel call."""
    calls = ServerCalls(servers, dialog)
    to.offer("mcp_functions", calls.functions)
    to.offer("mcp_call", calls.call)


class ServerCalls:
    """The services: each takes the arguments of a call and returns a JSON value.

    A TerpError is raised in the code that called.
    """

    def __init__(self, servers: Servers, dialog: UserDialog) -> None:
        self._servers = servers
        self._dialog = dialog
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
        answer = await self._dialog.choose(choice)
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
