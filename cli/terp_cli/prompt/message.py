"""The input line for messages, of one or several lines, and its history on disk."""

import fcntl
import os
import re
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.buffer import Buffer, CompletionState
from prompt_toolkit.completion import CompleteEvent, DummyCompleter
from prompt_toolkit.filters import Condition, has_completions, has_focus, is_searching, vi_navigation_mode
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.history import History
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

from terp.text.files import size_text
from terp_cli.prompt.completing import LineCompleter
from terp_cli.prompt.interface import (
    INDENT,
    SHELL,
    PromptHost,
    at_indent,
    goes_on,
    indent_after,
    is_code,
    margin,
    pasted_code,
)
from terp_cli.prompt.mentions import as_mentions

_MENU_ROWS = 8


class MessageLine:
    """The input line. `entered` gets an entered message; Ctrl-C twice or Ctrl-D calls `leave`.

    In an entered message the names of `pasted` texts stand for them.
    """

    def __init__(
        self,
        host: PromptHost,
        *,
        entered: Callable[[str], None],
        take_back: Callable[[], str],
        leave: Callable[[], None],
        mark: str,
    ) -> None:
        self._history = LockedHistory(host.history)
        self.buffer = Buffer(
            history=self._history,
            auto_suggest=AutoSuggestFromHistory(),
            complete_while_typing=Condition(self._names_something),
            multiline=True,
            accept_handler=self._accept,
            tempfile_suffix=".md",
            enable_history_search=False,
        )
        self.leaving = False
        self.pasted = LongPastes()
        # Each line is a command of the shell, from `!` until Esc or an empty line.
        self._in_shell = False
        self.use_host(host)
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

    def use_host(self, host: PromptHost) -> None:
        """Serve `host` from now on; the text on the line stays."""
        self._host = host
        self._history.without_secrets = host.without_secrets
        self.buffer.completer = LineCompleter(host) if host.completes else DummyCompleter()

    def put(self, text: str) -> None:
        """Put `text` on the line, with the cursor at its end."""
        self.buffer.text = text
        self.buffer.cursor_position = len(text)

    def _names_something(self) -> bool:
        before = self.buffer.document.text_before_cursor
        return before.startswith(("/", "%")) or re.search(r"(^|\s)@\S*$", before) is not None

    def _prefix(self, line: int, wrapped: int) -> StyleAndTextTuples:
        mark = f"shell {self._mark}" if self._in_shell else self._mark
        if line == 0 and wrapped == 0:
            return [("class:mark", mark)]
        before = margin(self.buffer.text, mark)
        return [("class:mark", before if wrapped == 0 else " " * len(before))]

    def _accept(self, buffer: Buffer) -> bool:
        self._entered(buffer.text)
        # The history has the texts behind the names.
        buffer.text = self.pasted.whole(buffer.text)
        return False

    def _enter(self) -> None:
        """Enter the line, unless it goes on, a completion is chosen, or it begins or ends the shell."""
        buffer = self.buffer
        if buffer.complete_state and buffer.complete_state.current_completion:
            buffer.complete_state = None
        elif goes_on(buffer.text) and buffer.document.is_cursor_at_the_end:
            buffer.insert_text("\n" + (indent_after(buffer.text) if is_code(buffer.text) else ""))
        elif buffer.text.strip() == SHELL or (self._in_shell and not buffer.text.strip()):
            self._use_shell(not self._in_shell)
        elif buffer.text.strip():
            if is_code(buffer.text):
                # The empty line that ended the block is not part of it.
                buffer.text = buffer.text.rstrip()
            buffer.validate_and_handle()
            if self._in_shell:
                self.put(SHELL)

    def _is_empty(self) -> bool:
        return not self.buffer.text or (self._in_shell and self.buffer.text == SHELL)

    def _use_shell(self, on: bool) -> None:
        self._in_shell = on
        self.put(SHELL if on else "")

    def _busy(self) -> bool:
        return self._host.busy

    def _typed(self, _: Buffer) -> None:
        self.leaving = False

    async def _attach(self) -> None:
        """Mention the picture on the clipboard at the cursor."""
        if mention := await self._host.copied_picture():
            self.buffer.insert_text(f"{mention} ")

    async def _completed(self) -> None:
        """Insert the completion if there is only one; else open the menu at the first."""
        buffer, before = self.buffer, self.buffer.document
        asked = CompleteEvent(completion_requested=True)
        found = [word async for word in buffer.completer.get_completions_async(before, asked)]
        if not found or buffer.document != before:
            return
        # A menu that opens by itself may be pending; this one replaces it.
        buffer.complete_state = None
        if len(found) == 1:
            buffer.apply_completion(found[0])
        else:
            buffer.complete_state = CompletionState(before, found)
            buffer.go_to_completion(0)

    def _bindings(self) -> KeyBindingsBase:
        return merge_key_bindings(
            [
                self._writing_keys(),
                self._paste_keys(),
                self._tab_keys(),
                self._leaving_keys(),
                self._turn_keys(),
            ]
        )

    def _writing_keys(self) -> KeyBindings:
        bindings = KeyBindings()
        typing = has_focus(self.buffer)

        @bindings.add("enter", filter=typing)
        def _enter(_: KeyPressEvent) -> None:
            self._enter()

        @bindings.add("escape", "enter", filter=typing)
        @bindings.add("c-j", filter=typing)
        def _newline(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text("\n")

        @bindings.add("c-x", "c-e", filter=typing)
        def _editor(event: KeyPressEvent) -> None:
            event.current_buffer.open_in_editor(validate_and_handle=False)

        return bindings

    def _paste_keys(self) -> KeyBindings:
        bindings = KeyBindings()
        typing = has_focus(self.buffer)

        @bindings.add(Keys.BracketedPaste, filter=typing)
        def _paste(event: KeyPressEvent) -> None:
            text = event.data.replace("\r\n", "\n").replace("\r", "\n")
            before = event.current_buffer.document.text_before_cursor
            inserted = as_mentions(text) or self.pasted.shown(pasted_code(text, before))
            event.current_buffer.insert_text(inserted)

        @bindings.add("c-v", filter=typing & ~vi_navigation_mode)
        def _picture(event: KeyPressEvent) -> None:
            event.app.create_background_task(self._attach())

        @bindings.add("c-o", filter=typing)
        def _whole(_: KeyPressEvent) -> None:
            if (text := self.pasted.whole(self.buffer.text)) != self.buffer.text:
                self.put(text)
            elif command := self._host.whole_output():
                self._entered(command)

        return bindings

    def _tab_keys(self) -> KeyBindings:
        bindings = KeyBindings()
        indenting = has_focus(self.buffer) & Condition(
            lambda: at_indent(self.buffer.document.text_before_cursor)
        )
        indented = indenting & Condition(
            lambda: self.buffer.document.current_line_before_cursor.endswith(INDENT)
        )

        @bindings.add("tab", filter=has_focus(self.buffer))
        def _complete(event: KeyPressEvent) -> None:
            state = event.current_buffer.complete_state
            if state and state.current_completion:
                event.current_buffer.complete_next()
            else:
                event.app.create_background_task(self._completed())

        @bindings.add("tab", filter=indenting)
        def _indent(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text(INDENT)

        @bindings.add("s-tab", filter=indented)
        @bindings.add("backspace", filter=indented)
        def _dedent(event: KeyPressEvent) -> None:
            event.current_buffer.delete_before_cursor(len(INDENT))

        return bindings

    def _leaving_keys(self) -> KeyBindings:
        bindings = KeyBindings()
        typing = has_focus(self.buffer)
        empty = typing & Condition(self._is_empty)
        busy = Condition(self._busy)

        @bindings.add("c-c", filter=typing & ~busy)
        def _clear(_: KeyPressEvent) -> None:
            if self._host.is_repeated():
                return
            if self.leaving and not self.buffer.text:
                self._end()
                return
            self.buffer.reset()
            self._in_shell = False
            self.leaving = True

        @bindings.add("c-d", filter=empty)
        def _leave(_: KeyPressEvent) -> None:
            self._end()

        @bindings.add("escape", filter=empty & ~busy & Condition(lambda: self._in_shell), eager=True)
        def _leave_shell(_: KeyPressEvent) -> None:
            self._use_shell(False)

        @bindings.add("escape", "escape", filter=empty & ~busy)
        def _rewind(_: KeyPressEvent) -> None:
            self._entered("/rewind")

        return bindings

    def _turn_keys(self) -> KeyBindings:
        bindings = KeyBindings()
        busy = has_focus(self.buffer) & Condition(self._busy)
        empty = busy & Condition(self._is_empty)

        @bindings.add("c-c", filter=busy)
        @bindings.add("escape", filter=empty)
        def _interrupt(_: KeyPressEvent) -> None:
            self._host.interrupt()

        @bindings.add("c-b", filter=empty)
        def _background(_: KeyPressEvent) -> None:
            self._host.run_at_once("/bg")

        @bindings.add("up", filter=empty)
        def _take_back(event: KeyPressEvent) -> None:
            if taken := self._take_back():
                self.put(taken)
            else:
                event.current_buffer.auto_up()

        return bindings

    def _end(self) -> None:
        if self._host.may_leave():
            self._leave()


_MOST_PASTED_LINES = 12


class LongPastes:
    """Pasted texts of many lines, each with a short name that stands for it on the line."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def shown(self, text: str) -> str:
        """Return a name for a long text, which stands for it until it is `whole`; a short text unchanged."""
        lines = text.rstrip("\n").count("\n") + 1
        if lines <= _MOST_PASTED_LINES:
            return text
        name = f"[pasted {lines:,} lines, {size_text(len(text.encode()))}]"
        while self._texts.get(name, text) != text:
            name = f"{name[:-1]}, again]"
        self._texts[name] = text
        return name

    def whole(self, line: str) -> str:
        """Return the line with the texts in place of their names."""
        for name, text in self._texts.items():
            line = line.replace(name, text)
        return line


_READ_BYTES = 1_000_000
"""Bytes that are read from the end of the file: some ten thousand entries."""


class LockedHistory(History):
    """Entries in a file that only its owner can read, safe with several sessions at once.

    The format is prompt_toolkit's own: each line of an entry after a `+`, with a blank line before.
    If the file cannot be read or written, there is no history, and no error.
    """

    def __init__(self, path: Path, without_secrets: Callable[[str], str] = str) -> None:
        """Store entries in `path`, redacted by `without_secrets`; this session has the originals."""
        super().__init__()
        self._path = path
        self.without_secrets = without_secrets

    async def load(self) -> AsyncGenerator[str, None]:
        """Yield the entries, newest first; the file is read after the prompt is shown."""
        if not self._loaded:
            self._loaded_strings = list(self.load_history_strings())
            self._loaded = True
        for entry in self._loaded_strings:
            yield entry

    def load_history_strings(self) -> Iterable[str]:
        """Return the entries of the file, newest first."""
        try:
            with self._locked("rb", fcntl.LOCK_SH) as file:
                file.seek(max(0, file.seek(0, os.SEEK_END) - _READ_BYTES))
                text = file.read().decode("utf-8", "replace")
        except OSError:
            return []
        return list(reversed(list(_entries(text))))

    def store_string(self, string: str) -> None:
        """Append an entry in one write."""
        lines = self.without_secrets(string).split("\n")
        entry = "\n" + "".join(f"+{line}\n" for line in lines)
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with self._locked("ab", fcntl.LOCK_EX) as file:
                # Code of a model, which may be edited on the line, may contain lone surrogates.
                file.write(entry.encode("utf-8", "replace"))
        except OSError:
            return

    @contextmanager
    def _locked(self, mode: str, lock: int) -> Iterator[IO[bytes]]:
        flags = os.O_RDONLY if mode == "rb" else os.O_WRONLY | os.O_APPEND | os.O_CREAT
        descriptor = os.open(self._path, flags | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, mode) as file:
            fcntl.flock(file, lock)
            if lock == fcntl.LOCK_EX:
                # The file may have been copied from elsewhere, with another mode.
                os.fchmod(descriptor, 0o600)
            yield file


def _entries(text: str) -> Iterator[str]:
    lines: list[str] = []
    for line in text.split("\n"):
        if line.startswith("+"):
            lines.append(line[1:])
        elif lines:
            yield "\n".join(lines)
            lines = []
    if lines:
        yield "\n".join(lines)
