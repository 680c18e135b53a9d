"""`terp languages` and `terp tools`: list the languages that run here, and the tools of the model."""

import asyncio
from collections.abc import Sequence

from terp.errors import SettingsError
from terp.events.kernel import KnownLanguage
from terp.kernels.jupyter.local import LocalKernels
from terp.opening.environment import kernel_options
from terp.settings import Settings
from terp.settings.profile_file import short_path
from terp.store.places import Place
from terp.text.paths import typed_path
from terp.text.plain import counted
from terp.tools.files.declared import Tool
from terp.tools.files.reading import read_toolbox
from terp.tools.skills import find_skills, skills_below
from terp.tools.toolbox import Toolbox
from terp_cli.fronts.invocation import Invocation
from terp_cli.fronts.listings import language_rows, skill_rows, tool_rows
from terp_cli.repl.commands.rows import aligned, short_line

_MOST = 100
"""Characters of a skill's description in the list; the model reads all."""


def list_languages(call: Invocation) -> int:
    """Print the languages (`terp languages`); return the exit code."""
    settings = call.settings()
    if settings.gateway_url:
        known, _ = asyncio.run(_at_gateway(call, settings))
    else:
        known = LocalKernels(str(call.cwd), kernel_options(settings), environ=call.environ).known()
    call.out.writelines(aligned(language_rows(known)))
    return 0


def list_tools(call: Invocation) -> int:
    """Print the functions that the model can call (`terp tools`); return the exit code."""
    settings = call.settings()
    if settings.gateway_url:
        _, toolbox = asyncio.run(_at_gateway(call, settings))
    else:
        kernels = LocalKernels(str(call.cwd), kernel_options(settings), environ=call.environ)
        skills = find_skills(call.places, call.project)
        toolbox = read_toolbox(settings, call.environ, call.places, kernels, call.project.tools, skills)
    tools = (*toolbox.tools, *(_server_tools(call, settings) if toolbox.tools else ()))
    call.out.writelines(aligned(tool_rows(tools)))
    if not tools:
        call.note(
            "there are no tools: they are functions of the Python kernel, and Python does not run here."
        )
    for problem in toolbox.problems:
        call.note(problem)
    return 0


def skills(call: Invocation) -> int:
    """Run `terp skills`; return the exit code.

    Raises:
        SettingsError: `check` found mistakes, each with file and line.
    """
    folders = [typed_path(one).absolute() for one in call.line.arguments]
    known = find_skills(call.places, call.project)
    found = [skill for folder in folders for skill in skills_below(folder)]
    problems = [] if folders else [*known.problems]
    problems += [line for one in (found if folders else known.by_name.values()) for line in one.problems]
    if call.line.argument == "check":
        if folders and not found:
            named = ", ".join(map(short_path, folders))
            problems.append(f"there is no skill in {named}: a skill is a folder with a SKILL.md.")
        if problems:
            raise SettingsError(problems)
        call.note(f"{counted(len(found or known.by_name), 'skill')} without a mistake.")
        return 0
    rows = [(name, f"{short_line(about, _MOST)} [{where}]") for name, about, where in skill_rows(known)]
    call.out.writelines(aligned(rows))
    if not rows:
        call.note("there are no skills; `terp docs skills` says where they are read from.")
    for problem in (*problems, *call.project.notices):
        call.note(problem)
    return 0


async def _at_gateway(call: Invocation, settings: Settings) -> tuple[Sequence[KnownLanguage], Toolbox]:
    """Return the languages and the tools behind the gateway of this call; start no kernel."""
    from terp.opening.gateway_environment import gateway_environment  # noqa: PLC0415  (most code runs here)

    place = Place(call.places.sessions)
    environment = await gateway_environment(settings, project=call.project, environ=call.environ, place=place)
    try:
        return environment.kernels.known(), environment.toolbox
    finally:
        await environment.kernels.aclose()


def _server_tools(call: Invocation, settings: Settings) -> Sequence[Tool]:
    """Return the functions of all MCP servers that can be reached."""
    if not settings.mcp_servers:
        return ()
    from terp_cli.verbs.servers import server_tools  # noqa: PLC0415  (most calls have no server)

    return server_tools(call, settings)
