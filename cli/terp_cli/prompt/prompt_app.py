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
from typing import IO, TYPE_CHECKING, TypeVar

from prompt_toolkit.application import Application, run_in_terminal
from prompt_toolkit.application.current import set_app
from prompt_toolkit.enums import EditingMode
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.input import Input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import (
    ConditionalContainer,
    DynamicContainer,
    FormattedTextControl,
    HSplit,
    Layout,
    Window,
)
from prompt_toolkit.styles import Style

from terp_cli.prompt.interface import (
    BAR,
    LEAVING,
    NOT_SENT,
    CardLine,
    Pick,
    PromptHost,
    Typed,
    fitted,
    margin,
    unmarked,
)
from terp_cli.prompt.message import MessageLine
from terp_cli.prompt.picker import Picker
from terp_cli.prompt.question import ChoiceQuestion, Later, Question
from terp_cli.terminal import tty
from terp_cli.terminal.bottom import Bottom, Measured
from terp_cli.terminal.desktop import run_editor
from terp_cli.terminal.guard import TerminalListener
from terp_cli.terminal.keys import TerminalKeys
from terp_cli.terminal.painter import Painter
from terp_cli.terminal.rows import Row, folded, width_of
from terp_cli.terminal.sanitise import one_line, readable
from terp_cli.terminal.terminal_facts import query
from terp_cli.terminal.theme import Theme, own_colours

if TYPE_CHECKING:
    from terp.person import Option

T = TypeVar("T")

_MARK = "› "
_TAB = 4
_ENDING = "Leaving after this turn; Ctrl-C stops it now."
_EDITING = "Alt+Enter or Esc, Enter: done · Ctrl-C: discard the edit"
# A user who is typing a message has not read the question yet.
_PAUSE_S = 0.5
STYLE = {
    "mark": "bold ansigreen",
    # Not a grey: with some palettes that is the colour of the background.
    "quiet": "dim",
    "warning": "ansiyellow",
    "bad": "bold ansired",
    "question": "bold",
    "key": "bold ansicyan",
    "chosen": "reverse",
    "auto-suggestion": "dim",
    "completion-menu": "",
    "completion-menu.completion": "noreverse bg:default fg:default",
    "completion-menu.completion.current": "reverse bg:default fg:default",
    "completion-menu.meta.completion": "noreverse dim bg:default fg:default",
    "completion-menu.meta.completion.current": "noreverse dim bg:default fg:default",
    "search-toolbar": "",
    "incsearch": "noreverse underline fg:default bg:default",
    "incsearch.current": "reverse fg:default bg:default",
}


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
        theme: Callable[[], Theme] = own_colours,
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
        self._message: MessageLine | None = None
        self._host: PromptHost | None = None
        self._question: Question | Picker | None = None
        self._asking = asyncio.Lock()
        self._queued: deque[str] = deque()
        self._more = asyncio.Event()
        self._left = False
        self._typed_at = -_PAUSE_S
        self.later: Later | None = None
        """The event loop's `call_later`. Can be set."""
        self._app = _PaintedApplication(
            Layout(Window()),
            style=Style.from_dict(STYLE),
            input=source,
            output=Measured(painter),
            erase_when_done=True,
            key_bindings=self._keys(),
        )
        self._app.renderer = self._bottom = Bottom(self._app.renderer.style, painter, self._listener, theme)
        self._app.layout = Layout(self._layout())
        self._app.before_render += lambda _: self._open_question()
        self._app.key_processor.before_key_press += lambda _: self._pressed()
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
        theme: Callable[[], Theme] = own_colours,
        listener: TerminalListener | None = None,
    ) -> "PromptApp":
        """Return a prompt on the terminal behind `descriptor`, whatever stdin is."""
        reads = open(os.ttyname(descriptor), encoding="utf-8", errors="replace")  # noqa: PTH123, SIM115
        listener = listener or TerminalListener()
        return cls(
            TerminalKeys(reads, painter.pending.learn, listener.focused),
            painter,
            descriptor=descriptor,
            theme=theme,
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

    async def choose(
        self, card: Sequence[CardLine], options: "Sequence[Option]", *, escape: str = "", preset: str = ""
    ) -> Typed:
        """Return the answer to the question on `card`: a key of the options, `?`, or an entered line.

        A key alone on the line answers, and the card leaves the screen. `escape` is the answer of the Esc
        key, `preset` that of Enter, on an empty line.

        Raises:
            KeyboardInterrupt: Ctrl-C.
            EOFError: Ctrl-D on an empty line, or the terminal is gone.
        """
        later = self.later or asyncio.get_running_loop().call_later
        question = ChoiceQuestion(card, options, lambda: self.width, later, escape=escape, preset=preset)
        return await self._ask(question, fresh=True)

    def settle(self, text: str) -> None:
        """Write the outcome of a question, whose card has left the screen."""
        self.say(text)

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

    def redraw(self) -> None:
        """Handle, while away, that the terminal is another one now: write the last rows again."""
        self._painter.redraw()

    def say(self, text: str) -> None:
        """Write plain lines of terp above the input line, broken between words."""
        lines = text.rstrip("\n").split("\n")
        if any(width_of(line) > self.width for line in lines):
            from terp_cli.render.fold import hanging  # noqa: PLC0415  (rich: only for a line that is too long)

            lines = [row.plain for line in lines for row in hanging(line, self.width)]
        rows: list[Row] = [((line, ""),) if line else () for line in lines]
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
                # A key alone answers after a moment, and nothing else may be drawn for long.
                self._app.invalidate()
                if question.said and not question.edits:
                    self.say(readable(question.said).expandtabs(_TAB))

    def _open_question(self) -> None:
        """Let the question that is about to be drawn take keys; earlier keys are part of the message."""
        if not isinstance(self._question, ChoiceQuestion) or self._question.opened:
            return
        # Also those that the terminal holds by now.
        self._app.key_processor.feed_multiple(self._source.read_keys())
        self._app.key_processor.process_keys()
        text = self._question.open()
        if self._message is not None:
            self._message.buffer.insert_text(text)

    def _pressed(self) -> None:
        if isinstance(self._question, ChoiceQuestion):
            self._question.pressed()

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

    def _keys(self) -> KeyBindings:
        """Return the keys that work on the message line and at questions."""
        bindings = KeyBindings()

        @bindings.add("c-z", filter=Condition(lambda: self._host is not None))
        def _suspend(event: KeyPressEvent) -> None:
            if self._host is not None and not self._host.suspends():
                event.app.suspend_to_background()

        return bindings

    def _ended(self, task: "asyncio.Task[None]") -> None:
        """Handle the end of the application; an error means that the terminal is gone."""
        if not task.cancelled() and task.exception() is not None:
            self._leave()
            if self._question is not None and not self._question.answered.done():
                self._question.answered.set_exception(EOFError())

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
            said = folded(((mark, self._bottom.sgr("bold")), (part.expandtabs(_TAB), "")), room)
            rows += [((BAR, self._bottom.sgr("class:mark")), *row) for row in said]
        self._painter.update(rows)
