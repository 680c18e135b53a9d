"""The commands of `terp`: each is a function in a module that is imported when it is called."""

import asyncio
import os
from collections.abc import Callable, Mapping
from importlib import import_module

from terp.errors import SettingsError, TerpError
from terp.settings.installation import install_extra
from terp_cli.fronts.invocation import Invocation
from terp_cli.line import streams
from terp_cli.line.command_line import CommandLine
from terp_cli.line.stopping import EXIT_CODES, READER_LEFT, StoppedBySignal
from terp_cli.line.subcommands import lacking

COMMANDS: Mapping[str, str] = {
    "": "terp_cli.program:converse",
    "acp": "terp_cli.verbs.acp:acp",
    "attach": "terp_cli.verbs.detached:attach",
    "cost": "terp_cli.verbs.cost:cost",
    "demo": "terp_cli.verbs.demo.play:demo",
    "docs": "terp_cli.verbs.docs:docs",
    "doctor": "terp_cli.fronts.doctor:doctor",
    "export": "terp_cli.verbs.sessions:export_session",
    "keys": "terp_cli.verbs.keys:keys",
    "languages": "terp_cli.verbs.listings:list_languages",
    "mcp": "terp_cli.verbs.servers:check_servers",
    "mcp-server": "terp_cli.mcp_server.serving:serve_mcp",
    "profiles": "terp_cli.verbs.profiles:profiles",
    "ps": "terp_cli.verbs.detached:ps",
    "replay": "terp_cli.verbs.replaying:replay",
    "rules": "terp_cli.verbs.rules:rules",
    "run": "terp_cli.verbs.run_code:run_script",
    "serve": "terp_cli.server.serving:serve",
    "sessions": "terp_cli.verbs.sessions:sessions",
    "skills": "terp_cli.verbs.listings:skills",
    "solve": "terp_cli.verbs.solving:solve_problem",
    "tools": "terp_cli.verbs.listings:list_tools",
    "trust": "terp_cli.verbs.trust:trust",
}
"""Module and function of each command; a module is imported when its command is called."""

_EXTRAS = {
    **dict.fromkeys(("fastapi", "uvicorn", "websockets"), "server"),
    **dict.fromkeys(("mcp", "mcp_types"), "mcp"),
    "acp": "acp",
}
"""The optional part that each of its packages belongs to."""


def run(line: CommandLine) -> int:
    """Run the command of a command line; print an error as one line; return the exit code."""
    call = Invocation(line, os.environ)
    try:
        return _ended(call)
    except Exception as error:  # noqa: BLE001  # the interpreter's traceback may quote a key
        return call.crashed(error)


def _ended(call: Invocation) -> int:
    try:
        with call.stopping.armed(call.options.timeout), call.terminal():
            if problem := lacking(call.line.command, call.line.argument, call.line.arguments):
                raise SettingsError([problem])
            return command(call.line.command)(call)
    except StoppedBySignal as stopped:
        return call.stopped(stopped.code)
    except asyncio.CancelledError:
        # A second signal: its sender does not want another line.
        return call.stopping.code or EXIT_CODES["interrupted"]
    except TerpError as error:
        return call.failed(error)
    except BrokenPipeError:
        streams.let_go()
        return READER_LEFT
    except OSError as error:
        if error.errno not in streams.CANNOT_TAKE_MORE:
            raise
        return call.cannot_write(error)


def command(name: str) -> Callable[[Invocation], int]:
    """Import and return the function of a command.

    Raises:
        TerpError: packages of an optional part are not installed.
    """
    try:
        return _loaded(COMMANDS[name])
    except ModuleNotFoundError as missing:
        extra = _EXTRAS.get((missing.name or "").partition(".")[0])
        if extra is None:
            raise
        raise TerpError(
            f"terp {name} needs packages that are not installed: {install_extra(extra)}"
        ) from missing


def _loaded(name: str) -> Callable[..., int]:
    """Import and return a function, given as `module:function`."""
    module, _, function = name.partition(":")
    found: Callable[..., int] = getattr(import_module(module), function)
    return found


def converse(call: Invocation) -> int:
    """Answer the prompt of the command line, or prompt for one; return the exit code."""
    if call.options.detach and call.host is None:
        return _loaded("terp_cli.verbs.detached:detach")(call)
    if call.resumes and _loaded("terp_cli.repl.resuming:resumes_problem")(call):
        return command("solve")(call)
    settings = call.settings()
    prompts_first = call.stays and not call.resumes
    answer = (
        "terp_cli.repl.first_prompt:prompt_first" if prompts_first else "terp_cli.repl.conversation:converse"
    )
    code = _loaded(answer)(call, settings)
    return command("demo")(call) if call.wants_demo else code
