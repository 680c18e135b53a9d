"""The prompt of a new conversation, which is there before the conversation is.

A session takes twice as long to import and open as a line to type on. What is entered meanwhile is queued
as it is while a turn goes on.
"""

import asyncio

from terp.settings import Settings
from terp.text.importing import import_slow
from terp_cli.fronts.invocation import Invocation
from terp_cli.prompt.interface import PromptHost
from terp_cli.repl.terminal_ui import TerminalUI


def prompt_first(call: Invocation, settings: Settings) -> int:
    """Let the person type, open a new session behind the prompt, and talk there; the exit code."""
    return asyncio.run(_prompted(call, settings, TerminalUI(call, settings, once=False)))


class StartingHost(PromptHost):
    """The owner of the input line until the session is open."""

    def __init__(self, call: Invocation, settings: Settings) -> None:
        super().__init__(call.places.history, vi_mode=settings.vi_mode)
        self._model = settings.model or "starting"
        self._secrets = call.secrets

    def toolbar(self) -> str:
        """Return the last line of the screen."""
        return f"{self._model} · /help"

    def without_secrets(self, text: str) -> str:
        """Return an entered line as it is written to the history."""
        return self._secrets.redacted(text)


async def _prompted(call: Invocation, settings: Settings, ui: TerminalUI) -> int:
    if not (ui.desk and ui.redraws):
        # The lines of such a terminal stay as they were written: the prompt comes last.
        return await _opened(call, settings, ui)
    call.typed_ahead.hand_over()
    desk = ui.desk()
    async with desk.reading(StartingHost(call, settings)):
        call.above = desk.say
        try:
            return await _opened(call, settings, ui)
        finally:
            call.above = None


async def _opened(call: Invocation, settings: Settings, ui: TerminalUI) -> int:
    # In a thread, so that keys are shown as they are typed.
    await asyncio.to_thread(import_slow, "terp_cli.repl.repl")
    from terp_cli.repl.conversation import conversed, given_by  # noqa: PLC0415  (there is a prompt by now)

    with given_by(call, settings) as given:
        return await conversed(call, settings, given, ui)
