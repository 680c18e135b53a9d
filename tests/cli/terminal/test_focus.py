import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from prompt_toolkit import PromptSession
from prompt_toolkit.output import DummyOutput

from terp_cli.terminal.keys import TerminalKeys


@contextmanager
def keys_to(focused: Callable[[bool], None]) -> Iterator[tuple[TerminalKeys, Callable[[str], int]]]:
    """Yield the keys of a terminal, and a function that types."""
    read, write = os.pipe()
    with os.fdopen(read, encoding="utf-8") as terminal, os.fdopen(write, "wb"):
        yield TerminalKeys(terminal, lambda _: None, focused), lambda text: os.write(write, text.encode())


def test_what_the_terminal_tells_of_its_focus_is_no_key() -> None:
    told: list[bool] = []
    with keys_to(told.append) as (source, typed):
        typed("I \x1b[Oam\x1b[I\x1b[O here[I\r")
        session: PromptSession[str] = PromptSession(input=source, output=DummyOutput())
        line = asyncio.run(session.prompt_async())
    assert (line, told) == ("I am here[I", [False, True, False])


def test_it_is_understood_when_it_comes_in_pieces() -> None:
    told: list[bool] = []
    with keys_to(told.append) as (source, typed):
        pressed = []
        for piece in ("a\x1b", "[", "Ib"):
            typed(piece)
            pressed += [key.data for key in source.read_keys()]
    assert (pressed, told) == (["a", "b"], [True])


def test_escape_by_itself_stays_a_key() -> None:
    with keys_to(lambda _: None) as (source, typed):
        typed("\x1b")
        pressed = [key.data for key in [*source.read_keys(), *source.flush_keys()]]
    assert pressed == ["\x1b"]
