"""The line a person types their next message on: several lines where they are wanted, history, search."""

import re
from collections.abc import Callable

from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.completion import DummyCompleter
from prompt_toolkit.filters import Condition, has_completions, has_focus, is_searching
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import (
    KeyBindings,
    KeyBindingsBase,
    KeyPressEvent,
    merge_key_bindings,
)
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import BufferControl, ConditionalContainer, Dimension, HSplit, Window
from prompt_toolkit.layout.menus import CompletionsMenuControl
from prompt_toolkit.layout.processors import (
    AppendAutoSuggestion,
    HighlightIncrementalSearchProcessor,
    TabsProcessor,
)
from prompt_toolkit.widgets import SearchToolbar

from terp_cli.completing import LineCompleter
from terp_cli.history import LockedHistory
from terp_cli.mentions import as_mentions
from terp_cli.talk import LineSettings, goes_on

_MENU_ROWS = 8


class MessageLine:
    """The input line. What is entered goes to `entered`; Ctrl-C and Ctrl-D to leave, to `leave`."""

    def __init__(
        self,
        talk: LineSettings,
        *,
        entered: Callable[[str], None],
        take_back: Callable[[], str],
        leave: Callable[[], None],
        mark: str,
    ) -> None:
        self.buffer = Buffer(
            history=LockedHistory(talk.history),
            auto_suggest=AutoSuggestFromHistory(),
            complete_while_typing=Condition(self._names_something),
            multiline=True,
            accept_handler=self._accept,
            tempfile_suffix=".md",
            enable_history_search=False,
        )
        self.leaving = False
        self.is_for(talk)
        self._entered = entered
        self._take_back = take_back
        self._leave = leave
        self._mark = mark
        self.buffer.on_text_changed += self._typed
        search = SearchToolbar()
        self.window = Window(
            BufferControl(
                self.buffer,
                input_processors=[
                    HighlightIncrementalSearchProcessor(),
                    TabsProcessor(char1=" ", char2=" "),
                    AppendAutoSuggestion(),
                ],
                search_buffer_control=search.control,
                key_bindings=self._bindings(),
                preview_search=True,
            ),
            wrap_lines=True,
            dont_extend_height=True,
            height=Dimension(min=1, max=12),
            get_line_prefix=self._prefix,
        )
        menu = Window(
            CompletionsMenuControl(), height=Dimension(min=1, max=_MENU_ROWS), dont_extend_width=True
        )
        self.layout = HSplit(
            [
                self.window,
                ConditionalContainer(menu, filter=has_completions & ~is_searching),
                search,
            ]
        )

    def is_for(self, talk: LineSettings) -> None:
        """Let the line, with what is on it, be for this conversation from now on."""
        self._talk = talk
        self.buffer.completer = LineCompleter(talk.sources) if talk.sources else DummyCompleter()

    def put(self, text: str) -> None:
        """Let the person go on from `text`."""
        self.buffer.text = text
        self.buffer.cursor_position = len(text)

    def _names_something(self) -> bool:
        before = self.buffer.document.text_before_cursor
        return before.startswith(("/", "%")) or re.search(r"(^|\s)@\S*$", before) is not None

    def _prefix(self, line: int, wrapped: int) -> StyleAndTextTuples:
        first = line == 0 and wrapped == 0
        return [("class:mark", self._mark)] if first else [("", " " * len(self._mark))]

    def _accept(self, buffer: Buffer) -> bool:
        self._entered(buffer.text)
        return False

    def _busy(self) -> bool:
        return self._talk.busy()

    def _typed(self, _: Buffer) -> None:
        self.leaving = False

    def _bindings(self) -> KeyBindingsBase:
        return merge_key_bindings([self._writing_keys(), self._leaving_keys()])

    def _writing_keys(self) -> KeyBindings:
        bindings = KeyBindings()
        typing = has_focus(self.buffer)

        @bindings.add("enter", filter=typing)
        def _enter(event: KeyPressEvent) -> None:
            buffer = event.current_buffer
            if buffer.complete_state and buffer.complete_state.current_completion:
                buffer.complete_state = None
            elif goes_on(buffer.document.text) and buffer.document.is_cursor_at_the_end:
                buffer.insert_text("\n")
            elif buffer.text.strip():
                buffer.validate_and_handle()

        @bindings.add("escape", "enter", filter=typing)
        @bindings.add("c-j", filter=typing)
        def _newline(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @bindings.add(Keys.BracketedPaste, filter=typing)
        def _paste(event: KeyPressEvent) -> None:
            text = event.data.replace("\r\n", "\n").replace("\r", "\n")
            event.current_buffer.insert_text(as_mentions(text) or text)

        @bindings.add("c-x", "c-e", filter=typing)
        def _editor(event: KeyPressEvent) -> None:
            event.current_buffer.open_in_editor(validate_and_handle=False)

        @bindings.add("c-z", filter=typing)
        def _suspend(event: KeyPressEvent) -> None:
            event.app.suspend_to_background()

        return bindings

    def _leaving_keys(self) -> KeyBindings:
        bindings = KeyBindings()
        typing = has_focus(self.buffer)
        empty = typing & Condition(lambda: not self.buffer.text)
        busy = Condition(self._busy)

        @bindings.add("c-c", filter=typing & busy)
        @bindings.add("escape", filter=empty & busy)
        def _interrupt(_: KeyPressEvent) -> None:
            self._talk.interrupt()

        @bindings.add("c-c", filter=typing & ~busy)
        def _clear(_: KeyPressEvent) -> None:
            if self._talk.one_more():
                return
            if self.leaving and not self.buffer.text:
                self._leave()
                return
            self.buffer.reset()
            self.leaving = True

        @bindings.add("c-d", filter=empty)
        def _end(_: KeyPressEvent) -> None:
            self._leave()

        @bindings.add("up", filter=empty & busy)
        def _take_back(event: KeyPressEvent) -> None:
            if taken := self._take_back():
                self.put(taken)
            else:
                event.current_buffer.auto_up()

        @bindings.add("escape", "escape", filter=empty & ~busy)
        def _rewind(_: KeyPressEvent) -> None:
            self._talk.rewind()

        return bindings
