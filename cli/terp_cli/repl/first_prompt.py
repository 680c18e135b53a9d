"""The terminal with its prompt, which a new conversation shows before its session exists.

A session takes twice as long to import and open as a line to type on. What is entered meanwhile is queued,
as during a turn.
"""

import asyncio
from dataclasses import replace
from functools import cache, partial
from typing import TYPE_CHECKING

from terp.settings import Settings
from terp.text.importing import import_slow
from terp_cli.fronts.invocation import STDIN, Invocation
from terp_cli.fronts.titles import Titles
from terp_cli.prompt.interface import PromptHost, ToolbarPart
from terp_cli.prompt.toolkit_parts import delay_toolkit_parts
from terp_cli.terminal import tty
from terp_cli.terminal.painter import Painter
from terp_cli.terminal.theme import Theme, theme_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import TextIO

    from terp_cli.prompt.interface import PromptReader
    from terp_cli.terminal.window import WindowFeatures


_REMEMBERED = 1000
"""Rows that a window gets which shows a session that outlives its terminal."""


class PromptTerminal:
    """The terminal behind stdout, with the keyboard of stdin or of the controlling terminal.

    `titles` sets the title of its window. `prompt` returns the one prompt; None if no key can be read.
    """

    def __init__(self, call: Invocation, settings: Settings, *, once: bool) -> None:
        """Open the terminal; with `once`, the keyboard is read only for questions."""
        self.once = once
        self.keyboard = STDIN if call.source == "terminal" else tty.controlling()
        self.painter = tty.painter_on(call.out, call.terminal_environ)
        self.redraws = _redraws(self.painter, settings)
        """True if the prompt stays at the bottom, and new output appears above it."""
        host = call.host
        report = (lambda state: host.report(state=state)) if host else (lambda _: None)
        self.titles = Titles(
            partial(_features, call, settings, once=once), self.painter.send, call.guard, report=report
        )
        if host:
            self.painter.remembers = _REMEMBERED
        self.prompt = (
            None
            if self.keyboard is None
            else prompt_on(self.keyboard, self.painter, call.out, call, settings, self.titles)
        )


def _features(call: Invocation, settings: Settings, *, once: bool) -> "WindowFeatures":
    from terp_cli.terminal.window import window_features  # noqa: PLC0415  (the first prompt comes before)

    found = window_features(
        call.terminal_environ,
        terminal=call.out.isatty(),
        notify=settings.notify,
        screen_reader=settings.screen_reader,
    )
    # Reports of the focus are read with the keys.
    return replace(found, focus=False) if once else found


def prompt_on(
    descriptor: int,
    painter: Painter,
    out: "TextIO",
    call: Invocation,
    settings: Settings,
    titles: Titles | None,
) -> "Callable[[], PromptReader]":
    """Return a function that opens the prompt at its first call; each later call returns the same prompt."""

    @cache
    def opened() -> "PromptReader":
        if not _redraws(painter, settings):
            from terp_cli.prompt.line_prompt import LinePrompt  # noqa: PLC0415  (most terminals redraw)

            return LinePrompt(descriptor, out, "You: " if settings.screen_reader else "> ")
        delay_toolkit_parts()
        from terp_cli.prompt.prompt_app import PromptApp  # noqa: PLC0415  (prompt_toolkit is half of a quick start)

        environ = call.terminal_environ

        def theme() -> Theme:
            # Suggestions from the history look like typed text unless they are dim.
            setting = "none" if environ.get("NO_COLOR") else settings.theme
            return theme_of(setting, painter.facts.background, environ)

        return PromptApp.on(descriptor, painter, theme=theme, listener=titles)

    return opened


def _redraws(painter: Painter, settings: Settings) -> bool:
    return painter.live and not settings.screen_reader


class StartingHost(PromptHost):
    """The object behind the input line until the session is open."""

    def __init__(self, call: Invocation, settings: Settings) -> None:
        super().__init__(call.places.history, vi_mode=settings.vi_mode)
        self._model = settings.model or "starting"
        self._secrets = call.secrets

    def toolbar(self) -> "Sequence[ToolbarPart]":
        """Return the last line of the screen."""
        return ToolbarPart(self._model), ToolbarPart("/help", 9)

    def without_secrets(self, text: str) -> str:
        """Return an entered line, redacted, as it is written to the history."""
        return self._secrets.redacted(text)


def prompt_first(call: Invocation, settings: Settings) -> int:
    """Show the prompt, open a new session behind it, and run the REPL; return the exit code."""
    return asyncio.run(_prompted(call, settings, PromptTerminal(call, settings, once=False)))


async def _prompted(call: Invocation, settings: Settings, terminal: PromptTerminal) -> int:
    if not (terminal.prompt and terminal.redraws):
        # The lines of such a terminal stay as they were written: the prompt comes last.
        return await _opened(call, settings, terminal)
    call.typed_ahead.hand_over()
    prompt = terminal.prompt()
    async with prompt.reading(StartingHost(call, settings)):
        call.above = prompt.say
        try:
            return await _opened(call, settings, terminal)
        finally:
            call.above = None


async def _opened(call: Invocation, settings: Settings, terminal: PromptTerminal) -> int:
    # In a thread, so that keys are shown as they are typed.
    await asyncio.to_thread(import_slow, "terp_cli.repl.repl")
    conversation = await asyncio.to_thread(import_slow, "terp_cli.repl.conversation")
    code: int = await conversation.converse_at(call, settings, terminal)
    return code
