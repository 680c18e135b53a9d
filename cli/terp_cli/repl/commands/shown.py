"""A command on what runs have shown: pages and pictures, in a program that shows them whole."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from terp.errors import TerpError
from terp.events.outputs import Display
from terp.store.export.story import Run
from terp.store.export.telling import story_of
from terp.text.paths import typed_path
from terp_cli.repl.commands.table import misused
from terp_cli.repl.commands.talk import Talk
from terp_cli.terminal.opener import open_file
from terp_cli.terminal.sanitise import one_line


async def open_shown(talk: Talk, what: str) -> None:
    """The last page or picture, that of a run, or a file, opened in the program that shows it."""
    path = _file(talk, what) or _saved(talk, what)
    if path is None:
        talk.say("No run has shown a page or a picture yet. /open PATH opens a file.")
        return
    shown = one_line(str(path))
    try:
        await asyncio.to_thread(open_file, path, talk.environ)
    except TerpError as error:
        # The path is what is left to do it by hand.
        raise TerpError(f"{shown} is not opened. {error.message}", error.remedy) from error
    talk.say(f"Opened {shown}.")


def runs_with_pictures(talk: Talk, begun: str) -> list[str]:
    """The numbers of runs that have shown something, and begin like this."""
    return [str(run.count) for run in _runs(talk) if str(run.count).startswith(begun)]


def _file(talk: Talk, what: str) -> Path | None:
    """The file that is named; None for a number, or nothing."""
    if not what or what.isdecimal():
        return None
    kernels = talk.session.kernels
    path = Path(kernels.get(kernels.languages[0]).cwd) / typed_path(what)
    if not path.exists():
        raise misused("open", f"there is no file '{one_line(what)}'.")
    return path.absolute()


def _saved(talk: Talk, number: str) -> Path | None:
    runs = [run for run in _runs(talk) if not number or run.count == int(number)]
    if number and not runs:
        raise misused("open", f"run '{number}' has shown no page and no picture that is still there.")
    return _paths(runs[-1])[-1] if runs else None


def _runs(talk: Talk) -> list[Run]:
    parts = story_of(talk.session.log.since(0), talk.session.folder).parts
    return [part for part in parts if isinstance(part, Run) and _paths(part)]


def _paths(run: Run) -> Sequence[Path]:
    saved = [Path(output.path) for output in run.outputs if isinstance(output, Display) and output.path]
    return [path.absolute() for path in saved if path.exists()]
