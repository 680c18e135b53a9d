"""The bottom lines of the screen and the keyboard: one prompt_toolkit application for both.

    prompt = PromptApp(create_input(terminal), painter, descriptor=0)
    typed = await prompt.line("Run this? › ")         # a question; the application runs while it is open
    async with prompt.reading(host):                  # a REPL: it runs all the time, also during turns
        message = await prompt.message()

Lines entered while a turn is running are queued, shown, and can be taken back with the Up key.
"""

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from typing import IO, TypeVar

from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.application.current import set_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    DynamicContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.layout.dummy import create_dummy_layout
from prompt_toolkit.layout.processors import Processor, TabsProcessor, Transformation, TransformationInput
from prompt_toolkit.styles import Style

from terp_cli.prompt.interface import (
    BAR,
    LEAVING,
    NOT_SENT,
    Pick,
    PromptHost,
    Typed,
    fitted,
    margin,
    unmarked,
)
from terp_cli.prompt.message import MessageLine
from terp_cli.prompt.picker import Picker
from terp_cli.terminal import tty
from terp_cli.terminal.bottom import Bottom, Measured
from terp_cli.terminal.desktop import run_editor
from terp_cli.terminal.guard import TerminalListener
from terp_cli.terminal.keys import FocusInput, TerminalKeys
from terp_cli.terminal.painter import Painter
from terp_cli.terminal.rows import Row, folded
from terp_cli.terminal.sanitise import one_line, readable
from terp_cli.terminal.terminal_facts import query

T = TypeVar("T")

_MARK = "› "
_TAB = 4
_ENDING = "Leaving after this turn; Ctrl-C stops it now."
_EDITING = "Alt+Enter or Esc, Enter: done · Ctrl-C: discard the edit"
# A user who is typing a message has not read the question yet.
_PAUSE_S = 0.5
_STYLE = {
    "mark": "bold ansigreen",
    "quiet": "ansibrightblack",
    "warning": "ansiyellow",
    "bad": "bold ansired",
    "auto-suggestion": "ansibrightblack",
    "completion-menu": "",
    "completion-menu.completion": "noreverse bg:default fg:default",
    "completion-menu.completion.current": "reverse bg:default fg:default",
    "completion-menu.meta.completion": "noreverse bg:default fg:ansibrightblack",
    "completion-menu.meta.completion.current": "noreverse bg:default fg:ansibrightblack",
    "search-toolbar": "",
    "incsearch": "noreverse underline fg:default bg:default",
    "incsearch.current": "reverse fg:default bg:default",
}


class Question:
    """A question for one line, or with `text` for a text of several lines, edited.

    `answered` gets the answer, or `KeyboardInterrupt` for Ctrl-C and `EOFError` for Ctrl-D. `escape` is the
    answer of Esc on an empty line; without it the key does nothing.
    """

    def __init__(
        self, words: str, *, secret: bool = False, text: str | None = None, escape: str = ""
    ) -> None:
        self.words = words
        self.secret = secret
        self.edits = text is not None
        self.answered: asyncio.Future[Typed] = asyncio.get_running_loop().create_future()
        self._escape = escape
        self._pasted = False
        self._answer = ""
        self._buffer = Buffer(multiline=self.edits, document=Document(text or ""))
        # While the question is open, the blank line above the bottom stands before it.
        *above, self._label = words.removeprefix("\n").split("\n")
        control = BufferControl(
            self._buffer,
            input_processors=[_Unseen() if secret else TabsProcessor(char1=" ", char2=" ")],
            key_bindings=self._bindings(),
            include_default_input_processors=not secret,
        )
        self.window = Window(control, wrap_lines=True, dont_extend_height=True, get_line_prefix=self._prefix)
        said = Window(
            FormattedTextControl([("", "\n".join(above))]), wrap_lines=True, dont_extend_height=True
        )
        self.layout = HSplit([said, self.window] if above else [self.window])

    @property
    def said(self) -> str:
        """The question and its answer, for the screen."""
        return self.words + ("" if self.secret or self.edits else self._answer)

    def _prefix(self, line: int, wrapped: int) -> StyleAndTextTuples:
        return [("", self._label if line == 0 and wrapped == 0 else "")]

    def _accept(self) -> None:
        if not self.answered.done():
            self._answer = self._buffer.text
            self.answered.set_result(Typed(self._answer, self._pasted))

    def fail(self, error: type[BaseException]) -> None:
        """End without an answer."""
        if not self.answered.done():
            self.answered.set_exception(error())

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()
        here = has_focus(self._buffer)
        one_line = here & Condition(lambda: not self.edits)
        escapes = here & Condition(lambda: bool(self._escape) and not self._buffer.text)

        @bindings.add(Keys.BracketedPaste, filter=here)
        def _paste(event: KeyPressEvent) -> None:
            self._pasted = True
            event.current_buffer.insert_text(event.data.replace("\r\n", "\n").replace("\r", "\n"))

        @bindings.add("enter", filter=one_line)
        def _enter(event: KeyPressEvent) -> None:
            # More keys in the same read: a paste of several lines into a terminal that does not mark pastes.
            self._pasted |= bool(event.app.key_processor.input_queue)
            self._accept()

        @bindings.add("escape", filter=escapes)
        def _give_up(_: KeyPressEvent) -> None:
            self._buffer.text = self._escape
            self._accept()

        @bindings.add("escape", "enter", filter=here)
        def _done(_: KeyPressEvent) -> None:
            self._accept()

        @bindings.add("c-c", filter=here)
        def _interrupt(_: KeyPressEvent) -> None:
            self.fail(KeyboardInterrupt)

        @bindings.add("c-d", filter=here & Condition(lambda: not self._buffer.text))
        def _end(_: KeyPressEvent) -> None:
            self.fail(EOFError)

        return bindings


class _Unseen(Processor):
    """Processor that hides the text, and its length."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        return Transformation([], source_to_display=lambda _: 0, display_to_source=lambda _: 0)


class _PaintedApplication(Application[None]):
    """Application whose screen is erased by the painter only, after a change of size too."""

    def _on_resize(self) -> None:
        self._redraw()


class PromptApp:
    """The prompt at the bottom of the screen: messages in a REPL, and answers to questions at any time."""

    def __init__(
        self,
        source: Input,
        painter: Painter,
        *,
        descriptor: int | None = None,
        colours: bool = True,
        opened: Sequence[IO[str]] = (),
        query: Callable[[], str] | None = None,
        listener: TerminalListener | None = None,
    ) -> None:
        """`descriptor` is that of the terminal, or None in a test; `opened` are files that `close` closes.

        `query` returns queries for the terminal; it is called when the first prompt of a REPL is on the
        screen. `listener` is notified of the use of the terminal.
        """
        self._painter = painter
        self._source = source
        self._descriptor = descriptor
        self._opened = opened
        self._query = query
        self._listener = listener or TerminalListener()
        self._bold, self._bar = ("1", "1;32") if colours else ("", "")
        self._message: MessageLine | None = None
        self._host: PromptHost | None = None
        self._question: Question | Picker | None = None
        self._asking = asyncio.Lock()
        self._queued: deque[str] = deque()
        self._more = asyncio.Event()
        self._left = False
        self._typed_at = -_PAUSE_S
        self._app = _PaintedApplication(
            create_dummy_layout(),
            style=Style.from_dict(_STYLE),
            input=source,
            output=Measured(painter),
            erase_when_done=True,
        )
        self._app.renderer = Bottom(self._app.renderer.style, painter, self._listener, colours=colours)
        self._app.layout = Layout(self._layout())
        self._app.ttimeoutlen, self._app.timeoutlen = 0.1, 0.4

    @property
    def width(self) -> int:
        """Cells of a row."""
        return self._painter.width

    @classmethod
    def on(
        cls,
        descriptor: int,
        painter: Painter,
        *,
        colours: bool = True,
        listener: TerminalListener | None = None,
    ) -> "PromptApp":
        """Return a prompt on the terminal behind `descriptor`, whatever stdin is."""
        reads = open(os.ttyname(descriptor), encoding="utf-8", errors="replace")  # noqa: PTH123, SIM115
        keys = TerminalKeys(reads, painter.pending.learn)
        return cls(
            FocusInput(keys, listener.focused) if listener else keys,
            painter,
            descriptor=descriptor,
            colours=colours,
            opened=(reads,),
            query=lambda: query(os.environ),
            listener=listener,
        )

    @asynccontextmanager
    async def reading(self, host: PromptHost) -> AsyncIterator[None]:
        """Read messages until the block is left, also while turns are running.

        Nested in another, it continues the same line for the new conversation, with its text.
        """
        self._host = host
        if self._message is not None:
            self._message.use_host(host)
            self.refresh()
            yield
            return
        self._message = MessageLine(
            host, entered=self._entered, take_back=self._taken_back, leave=self._leave, mark=_MARK
        )
        self._message.buffer.on_text_changed += lambda _: self._note_key()
        self._app.editing_mode = EditingMode.VI if host.vi_mode else EditingMode.EMACS
        try:
            async with self._running():
                if self._query is not None and (questions := self._query()):
                    self._painter.send(questions)
                    self._painter.pending.begin()
                yield
        finally:
            self._host = self._message = None

    async def message(self) -> str:
        """Return the next message, without the marks of continued lines.

        Raises:
            EOFError: the user leaves, or the terminal is gone.
        """
        while not self._queued:
            if self._left:
                raise EOFError
            self._more.clear()
            await self._more.wait()
        line = self._queued.popleft()
        self._commit(line)
        return unmarked(self._message.pasted.whole(line) if self._message else line)

    async def line(
        self, question: str, *, secret: bool = False, fresh: bool = True, escape: str = ""
    ) -> Typed:
        """Return the line entered after `question`; `fresh` discards keys typed before it.

        `escape` is the answer of the Esc key on an empty line.

        Raises:
            KeyboardInterrupt: Ctrl-C.
            EOFError: Ctrl-D on an empty line, or the terminal is gone.
        """
        return await self._ask(Question(question, secret=secret, escape=escape), fresh=fresh)

    async def pick(self, title: str, picks: Sequence[Pick], at: int = 0) -> int | None:
        """Return the position of the row that the user picks, beginning at row `at`; None if they leave."""
        try:
            taken = (await self._ask(Picker(title, picks, at), fresh=True)).text
        except (KeyboardInterrupt, EOFError):
            return None
        return int(taken) if taken else None

    async def edited(self, text: str) -> str | None:
        """Return `text` as the user edits it here; None if they give up."""
        # The cursor is at the end of the last line that is not empty.
        lines = text.rstrip("\n")
        try:
            return (await self._ask(Question("", text=lines), fresh=True)).text + text[len(lines) :]
        except (KeyboardInterrupt, EOFError):
            return None

    async def edited_with(self, editor: str, text: str, language: str) -> str | None:
        """Return `text` as edited with the program `editor`; None if it fails."""
        return await self.away(lambda: run_editor(editor, text, language, self._descriptor))

    async def away(self, do: Callable[[], T]) -> T:
        """Run `do`, which uses the terminal, in a thread; return its result."""
        if not self._app.is_running:
            return await asyncio.to_thread(do)
        with set_app(self._app):
            return await run_in_terminal(do, in_executor=True)

    def say(self, text: str) -> None:
        """Write plain lines of terp above the input line."""
        rows: list[Row] = [((line, ""),) if line else () for line in text.rstrip("\n").split("\n")]
        if not self._painter.aside(rows):
            self._painter.update(rows)

    def prefill(self, text: str) -> None:
        """Put `text` on the input line, for the user to edit."""
        if self._message is not None:
            self._message.put(text)

    def refresh(self) -> None:
        """Redraw the toolbar."""
        self._app.invalidate()

    def interrupted(self) -> None:
        """Do nothing: here Ctrl-C is a key, and the signal is for a turn."""

    def emit(self, sequence: str) -> None:
        """Write a sequence that draws nothing."""
        self._painter.send(sequence)

    def take_back(self) -> None:
        """Drop the queued messages: the user has interrupted the turn.

        The first one returns to the input line if that is empty; the others are listed, and are in the
        history.
        """
        queued = list(self._queued)
        self._queued.clear()
        if queued and self._message is not None and not self._message.buffer.text:
            self._message.put(queued.pop(0))
        for line in queued:
            self.say(f"{NOT_SENT}{one_line(line)}")

    def close(self) -> None:
        """Close the terminal."""
        for file in self._opened:
            file.close()

    async def _ask(self, question: Question | Picker, *, fresh: bool) -> Typed:
        async with self._asking:
            if fresh and not self._app.is_running:
                tty.drop_typed(self._descriptor)
                clear_typeahead(self._source)
            await self._hands_off()
            self._question = question
            try:
                async with self._running():
                    self._app.layout.focus(question.window)
                    self._app.invalidate()
                    return await question.answered
            finally:
                self._question = None
                self._focus()
                if question.said and not question.edits:
                    self.say(readable(question.said).expandtabs(_TAB))

    async def _hands_off(self) -> None:
        """Wait until the user pauses in typing a message."""
        now = asyncio.get_running_loop().time
        # There is no event for a key that is not pressed.
        while self._message and self._message.buffer.text and now() < self._typed_at + _PAUSE_S:  # noqa: ASYNC110
            await asyncio.sleep(self._typed_at + _PAUSE_S - now())

    @asynccontextmanager
    async def _running(self) -> AsyncIterator[None]:
        if self._app.is_running:
            yield
            return
        begun = asyncio.Event()
        self._focus()

        def begin() -> None:
            # The application reads the keyboard next.
            if self._host is not None:
                self._host.begin()
            begun.set()

        task = asyncio.create_task(
            self._app.run_async(begin, handle_sigint=False, set_exception_handler=False)
        )
        task.add_done_callback(self._ended)
        begins = asyncio.create_task(begun.wait())
        await asyncio.wait({task, begins}, return_when=asyncio.FIRST_COMPLETED)
        begins.cancel()
        try:
            yield
        finally:
            if self._app.is_running and not self._app.is_done:
                self._app.exit()
            with suppress(EOFError, OSError):
                await task
            self._painter.place((), None)
            self._painter.resume()
            self._listener.kept()

    def _ended(self, task: "asyncio.Task[None]") -> None:
        """Handle the end of the application; an error means that the terminal is gone."""
        if not task.cancelled() and task.exception() is not None:
            self._leave()
            if self._question is not None:
                self._question.fail(EOFError)

    def _focus(self) -> None:
        if self._question is not None:
            self._app.layout.focus(self._question.window)
        elif self._message is not None:
            self._app.layout.focus(self._message.window)

    def _layout(self) -> HSplit:
        asking = Condition(lambda: self._question is not None)
        queued = Condition(lambda: bool(self._queued))
        talking = Condition(lambda: self._host is not None)
        return HSplit(
            [
                Window(height=1),
                ConditionalContainer(
                    Window(FormattedTextControl(self._waiting), dont_extend_height=True), filter=queued
                ),
                DynamicContainer(self._input),
                ConditionalContainer(
                    Window(FormattedTextControl(self._toolbar), height=1),
                    filter=talking | asking,
                ),
            ]
        )

    def _input(self) -> HSplit | Window:
        if self._question is not None:
            return self._question.layout
        return self._message.layout if self._message is not None else Window(height=0)

    def _waiting(self) -> StyleAndTextTuples:
        rows = [f"  next: {one_line(line)}" for line in self._queued]
        return [("class:quiet", "\n".join(rows))]

    def _toolbar(self) -> StyleAndTextTuples:
        if self._question is not None and self._question.edits:
            return [("class:quiet", _EDITING)]
        if self._host is None:
            return []
        leaving = self._message is not None and self._message.leaving
        if self._left:
            return [("class:quiet", _ENDING)]
        if leaving:
            return [("class:quiet", LEAVING)]
        shown = fitted(self._host.toolbar(), self._painter.width)
        row: StyleAndTextTuples = []
        for part in shown:
            row += [("class:quiet", " · "), (f"class:{part.style}", part.text)]
        return row[1:]

    def _entered(self, line: str) -> None:
        if self._host is not None and self._host.run_at_once(line):
            return
        self._queued.append(line)
        self._more.set()

    def _taken_back(self) -> str:
        return self._queued.pop() if self._queued else ""

    def _leave(self) -> None:
        self._left = True
        self._more.set()

    def _note_key(self) -> None:
        self._typed_at = asyncio.get_running_loop().time()
        if self._host is not None:
            self._host.typed()

    def _commit(self, line: str) -> None:
        """Write an entered message; a bar before its rows shows it among what was said to it."""
        rows: list[Row] = [()]
        room = max(1, self._painter.width - len(BAR))
        for number, part in enumerate(readable(line).split("\n")):
            mark = margin(line, "") if number else ""
            said = folded(((mark, self._bold), (part.expandtabs(_TAB), "")), room)
            rows += [((BAR, self._bar), *row) for row in said]
        self._painter.update(rows)
