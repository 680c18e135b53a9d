"""Commands on the places of code: its Python, packages, an attached kernel, MCP servers, the project."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from terp.errors import KernelStartFailed, TerpError
from terp.events.kernel import Kernel
from terp.kernels.attached.attachment import written
from terp.opening.mcp import LOGS
from terp.settings.interpreter import version_of
from terp.text.plain import counted
from terp_cli.fronts.listings import NO_SERVERS, function_rows, server_rows
from terp_cli.repl.commands.rows import columns
from terp_cli.repl.commands.switches import changed
from terp_cli.repl.commands.table import misused, unquoted
from terp_cli.repl.context import ReplContext
from terp_cli.terminal.sanitise import one_line

OWN = "own"
"""The word that stands for terp's own kernels."""
_MOST_NAMES = 20


async def python(context: ReplContext, argument: str) -> None:
    """Show the Python that runs the code; with an argument, change it."""
    pythons = context.session.resources.pythons
    if pythons is None:
        raise TerpError("The Python that runs the code is not chosen here.")
    before = pythons.current
    if not argument:
        context.say(
            f"{before.path}, {_version(before.path)}: {before.why}."
            if before
            else "It is decided with the first Python code."
        )
        return
    chosen = await pythons.use(argument)
    kernel = context.session.kernels.get("python")
    lost = " The kernel is new: its variables are gone." if kernel.generation else ""
    try:
        if kernel.generation:
            await context.session.restart_kernel(kernel)
    except KernelStartFailed:
        pythons.current = before
        raise
    context.say(f"Code runs in {one_line(chosen.path)}, {_version(chosen.path)}.{lost}")


async def trust(context: ReplContext, _: str) -> None:
    """Show the trust in this project's files; ask if it is undecided."""
    state, change = await context.trust()
    context.say(state)
    if change is not None and change.names:
        context.show(changed(change, context.width))
    if change is not None and change.later:
        context.say(f"Takes effect at the next start: {', '.join(change.later)}.")


def _version(path: str) -> str:
    version = version_of(path)
    return f"Python {version}" if version else "a Python of unknown version"


async def install(context: ReplContext, argument: str) -> None:
    """Install packages into the environment of the Python kernel."""
    names = argument.split()
    if not names:
        raise misused("install", "it needs the name of a package.")
    if context.session.resources.packages is None:
        raise TerpError("Packages cannot be installed into a kernel that runs elsewhere.")
    await context.session.resources.packages.install(names)
    context.say(f"Installed {', '.join(names)}.")


async def attach(context: ReplContext, target: str) -> None:
    """Show the ways to share this session's kernel; with a name, attach another kernel in its place."""
    attaching = context.session.resources.attaching
    if attaching is None:
        raise TerpError("The kernels of this session run elsewhere and cannot be exchanged.")
    if target == OWN:
        await attaching.detach()
        context.say(
            "Code runs again in kernels that terp starts, without the variables of the attached ones."
        )
    elif target:
        context.say(await attaching.attach(unquoted(target)))
    else:
        kernel = context.session.kernels.get(context.session.kernels.languages[0])
        context.say(*_shared(kernel))


async def detach(context: ReplContext, _: str) -> None:
    """Leave the window of a detached session, which continues."""
    if context.call.host is None:
        # Without a turn nothing is stored.
        named = f" -r {context.session.folder.name}" if context.session.turns else ""
        then = "continue it" if named else "start another one"
        raise TerpError(
            "This session belongs to its terminal, and ends with it.",
            f"Leave it with /exit, and {then} with terp --detach{named}.",
        )
    context.call.host.leave()


def attachable(context: ReplContext, begun: str) -> list[str]:
    """Return the names of kernels that may be running and begin with `begun`."""
    names = [file.name for file in written(context.environ)[:_MOST_NAMES]]
    return [name for name in (OWN, *names) if name.startswith(begun)]


def _shared(kernel: Kernel) -> Iterator[str]:
    """Yield the ways in which other programs of this machine use a kernel."""
    file = kernel.connection_file
    if not file:
        yield f"The {kernel.language} kernel has not started yet, or cannot be used by others."
        return
    yield f"Code runs in {kernel.place}." if kernel.place else "Other programs can also use this kernel:"
    yield f"  jupyter console --existing {file}"
    yield f"  jupyter qtconsole --existing {file}"
    if not kernel.place:
        yield "For JupyterLab, or VS Code with 'Existing Jupyter Server', start a server that finds it:"
        yield "  jupyter lab --ServerApp.allow_external_kernels=True \\"
        yield f"    --ServerApp.external_connection_dir={Path(file).parent}"
        yield "The kernel ends with this conversation. Code of others is neither approved nor shown here."


async def mcp(context: ReplContext, argument: str) -> None:
    """List the servers; with a name, list its functions; with `restart NAME`, restart it."""
    servers = context.session.resources.servers
    if servers is None:
        context.say(NO_SERVERS)
        return
    verb, _, name = argument.partition(" ")
    if verb == "restart" and (name.strip() or len(servers.connections) == 1):
        name = name.strip() or next(iter(servers.connections))
        await servers.restart(name)
        one = servers.named(name)
        context.say(f"MCP server {one.name} is up, with {counted(len(one.functions), 'function')}.")
        return
    if not argument:
        rows = server_rows(servers, context.session.resources.redacted)
        context.show(columns(rows, context.width, ("bold", "", "dim")))
        return
    if verb == "restart":
        raise TerpError(
            "/mcp restart needs the name of a server.", f"There are: {', '.join(server_names(context, ''))}."
        )
    one = servers.named(argument)
    rows = function_rows(one)
    context.show(columns(rows, context.width, ("bold", "", "dim")) if rows else [])
    if one.failure:
        context.say(one.failure.message)
    log = context.session.folder / LOGS / f"{one.name}.log"
    if log.is_file() and log.stat().st_size:
        context.say(f"Its stderr is in {log}")


def server_names(context: ReplContext, begun: str) -> Iterable[str]:
    """Return the servers whose names begin with `begun`."""
    servers = context.session.resources.servers
    return (name for name in (servers.connections if servers else ()) if name.startswith(begun))
