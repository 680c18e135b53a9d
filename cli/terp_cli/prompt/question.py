"""Questions at the bottom of the screen: for a line, for an edited text, for one of several answers."""

import asyncio
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Protocol

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Window
from prompt_toolkit.layout.processors import (
    AfterInput,
    ConditionalProcessor,
    Processor,
    TabsProcessor,
    Transformation,
    TransformationInput,
)

from terp_cli.prompt.interface import CardLine, Typed, lettered
from terp_cli.terminal.rows import width_of
from terp_cli.terminal.sanitise import readable

if TYPE_CHECKING:
    from terp.person import Option

_KEY_ALONE_S = 0.25
"""Seconds without another key after which a key is an answer, and not the beginning of words."""
_FREE = "or say what to do instead"
_LONGEST_IN_A_ROW = 12


class Timer(Protocol):
    """A call that will be made later."""

    def cancel(self) -> None:
        """Do not call."""


Later = Callable[[float, Callable[[], None]], Timer]
"""Function that calls another one after some seconds, such as the event loop's `call_later`."""


class Question:
    """A question for one line, or with `text` for a text of several lines, edited.

    `answered` gets the answer, or `KeyboardInterrupt` for Ctrl-C and `EOFError` for Ctrl-D. `escape` is the
    answer of Esc on an empty line; without it the key does nothing.
    """

    def __init__(
        self, words: str, *, secret: bool = False, text: str | None = None, escape: str = ""
    ) -> None:
        self._words = words
        self._secret = secret
        self.opened = True
        """True if keys count as an answer."""
        self.edits = text is not None
        self.answered: asyncio.Future[Typed] = asyncio.get_running_loop().create_future()
        self._escape = escape
        self._pasted = False
        self._answer = ""
        self._buffer = Buffer(multiline=self.edits, document=Document(text or ""))
        # While the question is open, the blank line above the bottom stands before it.
        *above, self._label = words.removeprefix("\n").split("\n")
        self._above = above
        control = BufferControl(
            self._buffer,
            input_processors=[_Unseen() if secret else TabsProcessor(char1=" ", char2=" "), *self._hints()],
            key_bindings=self._bindings(),
            include_default_input_processors=not secret,
        )
        self.window = Window(control, wrap_lines=True, dont_extend_height=True, get_line_prefix=self._prefix)
        said = Window(FormattedTextControl(self._shown), wrap_lines=True, dont_extend_height=True)
        self.layout = HSplit([said, self.window] if self._shown() else [self.window])

    @property
    def said(self) -> str:
        """The question and its answer, for the screen."""
        return "" if self.edits else self._words + ("" if self._secret else self._answer)

    def _shown(self) -> StyleAndTextTuples:
        return [("", "\n".join(self._above))] if self._above else []

    def _hints(self) -> Sequence[Processor]:
        return ()

    def _prefix(self, line: int, wrapped: int) -> StyleAndTextTuples:
        return [("", self._label if line == 0 and wrapped == 0 else "")]

    def _enter(self) -> None:
        self._accept()

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
        ready = here & Condition(lambda: self.opened)
        one_line = ready & Condition(lambda: not self.edits)
        escapes = ready & Condition(lambda: bool(self._escape) and not self._buffer.text)

        @bindings.add(Keys.BracketedPaste, filter=here)
        def _paste(event: KeyPressEvent) -> None:
            self._pasted = True
            event.current_buffer.insert_text(event.data.replace("\r\n", "\n").replace("\r", "\n"))

        @bindings.add("enter", filter=one_line)
        def _enter(event: KeyPressEvent) -> None:
            # More keys in the same read: a paste of several lines into a terminal that does not mark pastes.
            self._pasted |= bool(event.app.key_processor.input_queue)
            self._enter()

        @bindings.add("escape", filter=escapes)
        def _give_up(_: KeyPressEvent) -> None:
            self._buffer.text = self._escape
            self._accept()

        @bindings.add("escape", "enter", filter=ready)
        def _done(_: KeyPressEvent) -> None:
            self._enter()

        @bindings.add("c-c", filter=here)
        def _interrupt(_: KeyPressEvent) -> None:
            self.fail(KeyboardInterrupt)

        @bindings.add("c-d", filter=here & Condition(lambda: not self._buffer.text))
        def _end(_: KeyPressEvent) -> None:
            self.fail(EOFError)

        return bindings


class ChoiceQuestion(Question):
    """A question with options, on a card that leaves the screen with the answer.

    The key of an option, or its number, answers once no other key has followed it for a moment; with another
    key it begins a message. Up and Down choose an option for Enter. Text that is pasted answers only as a
    message, and keys from before the card was drawn do not count.
    """

    def __init__(
        self,
        card: Sequence[CardLine],
        options: "Sequence[Option]",
        width: Callable[[], int],
        later: Later,
        *,
        escape: str = "",
        preset: str = "",
    ) -> None:
        self._card = card
        self._options = options
        self._width = width
        self._later = later
        self._keys = {option.letter for option in options} | {"?", *map(str, range(1, len(options) + 1))}
        letters = [option.letter for option in options]
        # Without a preset, Enter on an empty line chooses nothing: it may have been meant for something else.
        self._chosen = letters.index(preset) if preset in letters else -1
        self._timer: Timer | None = None
        super().__init__("› ", escape=escape)
        self.opened = False
        self._buffer.on_text_changed += lambda _: self._changed()

    @property
    def said(self) -> str:
        """An empty text: the asker writes the outcome."""
        return ""

    def open(self) -> str:
        """Let keys count as an answer; return the text of keys that did not count."""
        text = self._buffer.text
        self._buffer.reset()
        self.opened = True
        return text

    def pressed(self) -> None:
        """Let a key that another one follows begin a message."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _changed(self) -> None:
        text = self._buffer.text
        self._pasted = self._pasted and bool(text)
        if self.opened and not self._pasted and text.lower() in self._keys:
            self._timer = self._later(_KEY_ALONE_S, self._accept)

    def _enter(self) -> None:
        if not self._buffer.text and self._chosen >= 0:
            self._buffer.text = self._options[self._chosen].letter
        self._accept()

    def _accept(self) -> None:
        self.pressed()
        super()._accept()

    def _shown(self) -> StyleAndTextTuples:
        card: StyleAndTextTuples = [
            (f"class:{style}" if style else "", f"{line}\n") for style, line in self._card
        ]
        return [*card, *self._legend()]

    def _legend(self) -> Iterator[tuple[str, str]]:
        """Yield the options: words in a row, longer ones below each other, with their numbers."""
        column = any(len(option.does) > _LONGEST_IN_A_ROW for option in self._options)
        used = 0
        for at, option in enumerate((*self._options, None)):
            shown = readable(lettered([option])) if option else "[?]"
            if at and (column or used + len(" · ") + width_of(shown) > self._width()):
                yield "", "\n"
                used = 0
            elif at:
                yield "class:quiet", " · "
                used += len(" · ")
            if column and option:
                yield "class:quiet", f"{at + 1} "
            used += width_of(shown)
            key, rest = shown[:3], shown[3:]
            chosen = at == self._chosen
            yield "class:chosen" if chosen else "class:key", key
            yield "class:chosen" if chosen else "", rest

    def _hints(self) -> Sequence[Processor]:
        empty = Condition(lambda: not self._buffer.text)
        return [ConditionalProcessor(AfterInput(_FREE, "class:quiet"), empty)]

    def _bindings(self) -> KeyBindings:
        bindings = super()._bindings()
        empty = has_focus(self._buffer) & Condition(lambda: not self._buffer.text)

        @bindings.add("down", filter=empty)
        def _next(_: KeyPressEvent) -> None:
            self._chosen = min(self._chosen + 1, len(self._options) - 1)

        @bindings.add("up", filter=empty)
        def _previous(_: KeyPressEvent) -> None:
            self._chosen = max(self._chosen - 1, 0)

        return bindings


class _Unseen(Processor):
    """Processor that hides the text, and its length."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        return Transformation([], source_to_display=lambda _: 0, display_to_source=lambda _: 0)
