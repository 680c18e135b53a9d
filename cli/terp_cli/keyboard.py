"""One line from the person, through prompt_toolkit: for approvals, consents and `input()`."""

import os
import shlex
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from prompt_toolkit.formatted_text import FormattedText
from prompt_toolkit.input import Input, create_input
from prompt_toolkit.input.typeahead import clear_typeahead
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout.processors import Processor, Transformation, TransformationInput
from prompt_toolkit.output import Output, create_output
from prompt_toolkit.shortcuts import PromptSession

from terp_cli import tty

_SUFFIXES = {"python": ".py", "shell": ".sh", "bash": ".sh", "javascript": ".js", "r": ".R", "html": ".html"}


@dataclass(frozen=True, slots=True)
class Typed:
    """A line as it was entered; `pasted` when any of it did not come from the keys."""

    text: str
    pasted: bool


class Keyboard:
    """Asks on a terminal. `descriptor` is that of the terminal, or None in a test."""

    def __init__(
        self, source: Input, sink: Output, descriptor: int | None, opened: Sequence[IO[str]] = ()
    ) -> None:
        """`opened` are the files that `close` closes."""
        self.source = source
        self.sink = sink
        self._descriptor = descriptor
        self._opened = opened

    @classmethod
    def on(cls, descriptor: int) -> "Keyboard":
        """The keyboard and screen of the terminal behind `descriptor`, whatever stdin and stdout are."""
        name = os.ttyname(descriptor)
        reads = open(name, encoding="utf-8", errors="replace")  # noqa: PTH123, SIM115
        writes = open(name, "w", encoding="utf-8")  # noqa: PTH123, SIM115
        return cls(create_input(reads), create_output(writes), descriptor, (reads, writes))

    async def line(self, question: str, *, secret: bool = False, fresh: bool = True) -> Typed:
        """The line entered after `question`; `fresh` forgets what was typed before it.

        Raises:
            KeyboardInterrupt: Ctrl-C.
            EOFError: Ctrl-D on an empty line, or the terminal is gone.
        """
        if fresh:
            tty.drop_typed(self._descriptor)
            clear_typeahead(self.source)
        pasted: list[bool] = []
        session: PromptSession[str] = PromptSession(
            input=self.source,
            output=self.sink,
            key_bindings=_watching_pastes(pasted.append),
            input_processors=[_Unseen()] if secret else [],
            enable_suspend=True,
        )
        text = await session.prompt_async(
            FormattedText([("", question)]), handle_sigint=False, set_exception_handler=False
        )
        return Typed(text, any(pasted))

    def close(self) -> None:
        """Give the terminal back."""
        for file in self._opened:
            file.close()

    def say(self, text: str) -> None:
        """Write plain text between two questions."""
        self.sink.write(text.replace("\n", "\r\n"))
        self.sink.flush()

    async def edited(self, text: str) -> str | None:
        """`text` as the person leaves it, typed here; None when they give up."""
        bindings = KeyBindings()

        @bindings.add("escape", "enter")
        def _accept(event: KeyPressEvent) -> None:
            event.current_buffer.validate_and_handle()

        session: PromptSession[str] = PromptSession(
            input=self.source, output=self.sink, key_bindings=bindings, multiline=True
        )
        try:
            return await session.prompt_async(
                "",
                default=text,
                bottom_toolbar="Alt+Enter or Esc, Enter: done · Ctrl-C: leave it as it was",
                handle_sigint=False,
                set_exception_handler=False,
            )
        except (KeyboardInterrupt, EOFError):
            return None

    def edited_with(self, editor: str, text: str, language: str) -> str | None:
        """`text` as the program `editor` leaves it; None when it fails."""
        with tempfile.TemporaryDirectory(prefix="terp-") as folder:
            path = Path(folder, "code" + _SUFFIXES.get(language, ".txt"))
            path.write_text(text, encoding="utf-8", newline="")
            terminal = self._descriptor
            try:
                ended = subprocess.run(
                    [*shlex.split(editor), str(path)], stdin=terminal, stdout=terminal, check=False
                )
                if ended.returncode:
                    return None
                with path.open(encoding="utf-8", newline="") as file:
                    return file.read()
            except (OSError, ValueError):
                return None


def _watching_pastes(pasted: Callable[[bool], None]) -> KeyBindings:
    bindings = KeyBindings()

    @bindings.add(Keys.BracketedPaste)
    def _paste(event: KeyPressEvent) -> None:
        pasted(True)
        event.current_buffer.insert_text(event.data.replace("\r\n", "\n").replace("\r", "\n"))

    @bindings.add("enter")
    def _enter(event: KeyPressEvent) -> None:
        # More keys in the same read: a paste of several lines into a terminal that does not mark them.
        pasted(bool(event.app.key_processor.input_queue))
        event.current_buffer.validate_and_handle()

    return bindings


class _Unseen(Processor):
    """Shows nothing of what is typed, not even how much."""

    def apply_transformation(self, transformation_input: TransformationInput) -> Transformation:
        return Transformation([], source_to_display=lambda _: 0, display_to_source=lambda _: 0)
