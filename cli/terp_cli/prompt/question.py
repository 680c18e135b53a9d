"""A question on the bottom lines: its words, the line for the answer, and its end."""

import asyncio

from prompt_toolkit.buffer import Buffer
from prompt_toolkit.document import Document
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import BufferControl, FormattedTextControl, HSplit, Window
from prompt_toolkit.layout.processors import (
    Processor,
    TabsProcessor,
    Transformation,
    TransformationInput,
)

from terp_cli.prompt.interface import Typed


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
