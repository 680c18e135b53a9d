"""The command on MCP servers."""

from collections.abc import Iterable

from terp.errors import TerpError
from terp.opening.mcp import LOGS
from terp_cli.fronts.listings import NO_SERVERS, function_rows, server_rows
from terp_cli.repl.commands.rows import columns, counted
from terp_cli.repl.commands.talk import Talk


async def mcp(talk: Talk, argument: str) -> None:
    """The servers; with a name what that one offers, with `restart` before it the server anew."""
    servers = talk.session.equipment.servers
    if servers is None:
        talk.say(NO_SERVERS)
        return
    verb, _, name = argument.partition(" ")
    if verb == "restart" and (name.strip() or len(servers.connections) == 1):
        name = name.strip() or next(iter(servers.connections))
        await servers.restart(name)
        one = servers.named(name)
        talk.say(f"MCP server {one.name} is up, with {counted(len(one.functions), 'function')}.")
        return
    if not argument:
        rows = server_rows(servers, talk.session.equipment.without_secrets)
        talk.show(columns(rows, talk.width, ("bold", "", "dim")))
        return
    if verb == "restart":
        raise TerpError(
            "/mcp restart needs the name of a server.", f"There are: {', '.join(names(talk, ''))}."
        )
    one = servers.named(argument)
    rows = function_rows(one)
    talk.show(columns(rows, talk.width, ("bold", "", "dim")) if rows else [])
    if one.failure:
        talk.say(one.failure.message)
    log = talk.session.folder / LOGS / f"{one.name}.log"
    if log.is_file() and log.stat().st_size:
        talk.say(f"What it writes to stderr is in {log}")


def names(talk: Talk, begun: str) -> Iterable[str]:
    """The servers whose names begin like this."""
    servers = talk.session.equipment.servers
    return (name for name in (servers.connections if servers else ()) if name.startswith(begun))
