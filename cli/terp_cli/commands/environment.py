"""Commands on where code runs."""

from terp.errors import KernelStartFailed, TerpError
from terp.pythons.interpreter import version_of
from terp_cli.commands.table import misused
from terp_cli.commands.talk import Talk
from terp_cli.sanitise import one_line


async def python(talk: Talk, argument: str) -> None:
    """Which Python runs the code; with an argument, another one."""
    pythons = talk.session.equipment.pythons
    if pythons is None:
        raise TerpError("The Python that runs the code is not chosen here.")
    before = pythons.current
    if not argument:
        talk.say(
            f"{before.path}, {_version(before.path)}: {before.why}."
            if before
            else "It is decided with the first Python code."
        )
        return
    chosen = await pythons.use(argument)
    kernel = talk.session.kernels.get("python")
    lost = " The kernel is new: its variables are gone." if kernel.generation else ""
    try:
        if kernel.generation:
            await kernel.restart()
    except KernelStartFailed:
        pythons.current = before
        raise
    talk.say(f"Code runs in {one_line(chosen.path)}, {_version(chosen.path)}.{lost}")


async def trust(talk: Talk, _: str) -> None:
    """Whether the files of the project count; asked where nobody has decided."""
    talk.say(await talk.trust())


def _version(path: str) -> str:
    version = version_of(path)
    return f"Python {version}" if version else "a Python of unknown version"


async def install(talk: Talk, argument: str) -> None:
    """Packages into the environment of the Python kernel."""
    names = argument.split()
    if not names:
        raise misused("install", "it needs the name of a package.")
    if talk.session.equipment.packages is None:
        raise TerpError("Packages cannot be installed into a kernel that runs elsewhere.")
    await talk.session.equipment.packages.install(names)
    talk.say(f"Installed {', '.join(names)}.")
