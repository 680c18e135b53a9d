"""The line a person types their next message on."""

import re
from collections.abc import Callable

from prompt_toolkit.application import run_in_terminal
from prompt_toolkit.application.current import set_app
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.enums import DEFAULT_BUFFER
from prompt_toolkit.filters import has_focus
from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.history import History
from prompt_toolkit.input import Input
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.output import Output
from prompt_toolkit.shortcuts import PromptSession
from prompt_toolkit.styles import Style

_CONTINUED = re.compile(r"(?<!\\)\\\n")
_LEAVING = "Ctrl-C again leaves; so does Ctrl-D."


class Prompt:
    """Reads messages: with history, suggestions, and several lines where they are wanted."""

    def __init__(
        self,
        history: History,
        source: Input,
        sink: Output,
        *,
        toolbar: Callable[[], str],
        painted: Callable[[], None],
    ) -> None:
        """`painted` is called once, when the first prompt is on the screen."""
        self._painted: Callable[[], None] | None = painted
        self._leaving = False
        self._session: PromptSession[str] = PromptSession(
            FormattedText([("", "\n"), ("bold ansigreen", "› ")]),
            history=history,
            auto_suggest=AutoSuggestFromHistory(),
            key_bindings=self._bindings(),
            multiline=True,
            prompt_continuation=FormattedText([("", "  ")]),
            bottom_toolbar=lambda: FormattedText([("", _LEAVING if self._leaving else toolbar())]),
            style=Style.from_dict({"bottom-toolbar": "noreverse fg:ansibrightblack"}),
            enable_open_in_editor=True,
            enable_suspend=True,
            input=source,
            output=sink,
        )
        self._session.default_buffer.on_text_changed += self._typed
        self._session.app.after_render += lambda _: self._first_paint()

    async def read(self) -> str:
        """The next message, without the marks that made it go on over several lines.

        Raises:
            EOFError: the person leaves.
        """
        self._leaving = False
        return unmarked(await self._session.prompt_async(handle_sigint=False, set_exception_handler=False))

    def above(self, draw: Callable[[], None]) -> None:
        """Let `draw` write above the prompt, which is painted again below it."""
        if not self._session.app.is_running:
            draw()
            return
        with set_app(self._session.app):
            run_in_terminal(draw)

    def _typed(self, _: Buffer) -> None:
        self._leaving = False

    def _first_paint(self) -> None:
        painted, self._painted = self._painted, None
        if painted is not None:
            painted()

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()

        typing = has_focus(DEFAULT_BUFFER)

        @bindings.add("enter", filter=typing)
        def _enter(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if goes_on(buffer.document.text) and buffer.document.is_cursor_at_the_end:
                buffer.insert_text("\n")
            else:
                buffer.validate_and_handle()

        @bindings.add("escape", "enter", filter=typing)
        @bindings.add("c-j", filter=typing)
        def _newline(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @bindings.add("c-c", filter=typing)
        def _clear(event: KeyPressEvent) -> None:
            if self._leaving and not event.current_buffer.text:
                event.app.exit(exception=EOFError, style="class:exiting")
                return
            event.current_buffer.reset()
            self._leaving = True

        return bindings


def goes_on(text: str) -> bool:
    '''Whether a message is not complete: an open """ block, or a backslash at its end.'''
    return text.count('"""') % 2 == 1 or _CONTINUED.search(text + "\n", len(text) - 1) is not None


def unmarked(text: str) -> str:
    '''A message without the backslashes at its line ends and the """ around it.'''
    text = text.strip()
    if len(text) >= 6 and text.startswith('"""') and text.endswith('"""'):
        return text[3:-3].strip("\n")
    return _CONTINUED.sub("\n", text)
