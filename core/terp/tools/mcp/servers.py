"""The MCP servers of a session."""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from terp.errors import TerpError
from terp.settings.mcp_servers import McpServer
from terp.tools.files.declared import Tool
from terp.tools.mcp.connection import Connection, Elicit
from terp.tools.mcp.failures import ServerDown
from terp.tools.mcp.functions import Function
from terp.tools.mcp.naming import python_names
from terp.tools.mcp.programs import Programs
from terp.tools.mcp.telling import told

# How long servers may take to go by themselves, and then to be seen to be gone.
_FAREWELL_S = 1.5
_END_S = 1.0


class Servers:
    """All of them, by their names in Python. Nothing is connected before `start`, or a first call."""

    def __init__(self, declared: Mapping[str, McpServer], programs: Programs, elicit: Elicit) -> None:
        names = python_names(declared)
        self.programs = programs
        self.connections = {
            names[name]: Connection(names[name], one, programs, elicit) for name, one in declared.items()
        }
        self._told: dict[str, TerpError] = {}

    def start(self) -> None:
        """Begin to connect to all of them."""
        for connection in self.connections.values():
            connection.start()

    async def settled(self, patience_s: float) -> None:
        """Return when each is up or has failed, or after so long."""
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
        """The names of those that are on the way."""
        return [one.name for one in self.connections.values() if one.state == "starting"]

    def news(self) -> Iterator[TerpError]:
        """Why servers went down since the last time; what is the same for several is told once."""
        messages = set[str]()
        for name, connection in self.connections.items():
            failure = connection.failure
            if failure is None or self._told.get(name) is failure:
                continue
            self._told[name] = failure
            if failure.message not in messages:
                messages.add(failure.message)
                yield failure

    @property
    def functions(self) -> list[Function]:
        """The functions of all servers, as far as they are known."""
        return [one for connection in self.connections.values() for one in connection.functions.values()]

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The same as tools, with what each lacks to work."""
        return tuple(function.declared for function in self.functions)

    @property
    def calls(self) -> dict[str, str]:
        """Every name by which a model may call a function as a tool, and what that is in Python."""
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

    def told(self) -> str:
        """What the system prompt says of them."""
        down = [name for name, one in self.connections.items() if one.state == "down"]
        return told(self.functions, down)

    def named(self, name: str) -> Connection:
        """The server with this name in Python, or in the settings.

        Raises:
            ServerDown: there is none.
        """
        found = self.connections.get(name) or self.connections.get(name.replace("-", "_"))
        if found is None:
            known = ", ".join(self.connections)
            raise ServerDown(f"There is no MCP server {name[:80]!r}; there are: {known}.")
        return found

    def prelude(self) -> str:
        """Code that puts `mcp` into a Python kernel, with what is known by now; it binds no name there."""
        known = {name: described(connection) for name, connection in self.connections.items()}
        return f"__import__('terp_home.mcp').mcp.provide({known!r})\n" if known else ""

    async def restart(self, name: str) -> None:
        """Let a server go and start it anew.

        Raises:
            TerpError: there is none of that name, or it does not come up.
        """
        connection = self.named(name)
        await self._close([connection])
        await connection.ready()

    async def aclose(self) -> None:
        """Let all of them go; what does not go is ended. Takes less than three seconds."""
        await self._close(list(self.connections.values()))
        await self.programs.end()

    async def _close(self, connections: list[Connection]) -> None:
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


def described(connection: Connection) -> list[dict[str, Any]]:
    """The functions of a server, as the kernel makes them."""
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
