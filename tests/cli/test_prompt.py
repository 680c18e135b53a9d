import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.input.base import PipeInput

from terp_cli.prompt import Prompt, goes_on, unmarked
from tests.cli.screens import Watched


class Seat:
    """A prompt, its keys, and its screen."""

    def __init__(self, keys: PipeInput, history: list[str]) -> None:
        self.keys = keys
        self.screen = Watched()
        self.painted = 0
        self.prompt = Prompt(
            InMemoryHistory(history), keys, self.screen.sink(), toolbar=lambda: "model", painted=self._paint
        )

    def _paint(self) -> None:
        self.painted += 1

    async def read(self, *keys: str) -> str:
        """What the prompt returns when these keys are typed, each after the last was seen to."""
        reading = asyncio.create_task(self.prompt.read())
        await self.screen.wrote("› ")
        for typed in keys:
            self.keys.send_text(typed)
            await asyncio.sleep(0)
        return await asyncio.wait_for(reading, 20)


@asynccontextmanager
async def seat(*history: str) -> AsyncIterator[Seat]:
    with create_pipe_input() as keys:
        yield Seat(keys, list(history))


@pytest.mark.parametrize(
    ("keys", "message"),
    [
        ("hello\r", "hello"),
        ("one\x1b\rtwo\r", "one\ntwo"),
        ("one\ntwo\r", "one\ntwo"),
        ("one\\\rtwo\r", "one\ntwo"),
        ('"""\rone\rtwo\r"""\r', "one\ntwo"),
        ("\x1b[200~one\r\ntwo\x1b[201~\r", "one\ntwo"),
        ("wrong\x03right\r", "right"),
    ],
)
async def test_a_message_is_what_was_meant(keys: str, message: str) -> None:
    async with seat() as here:
        assert await here.read(keys) == message


@pytest.mark.parametrize("keys", ["\x04", "\x03\x03", "some words\x03\x03"])
async def test_these_keys_leave(keys: str) -> None:
    async with seat() as here:
        with pytest.raises(EOFError):
            await here.read(keys)


async def test_typing_after_ctrl_c_means_to_stay() -> None:
    async with seat() as here:
        assert await here.read("\x03a\x03b\r") == "b"


async def test_ctrl_r_finds_what_was_typed_before() -> None:
    async with seat("plot the iris data", "count them") as here:
        assert await here.read("\x12iris\r\r") == "plot the iris data"


async def test_the_first_paint_is_told_once() -> None:
    async with seat() as here:
        await here.read("one\r")
        await here.read("two\r")
        assert here.painted == 1


@pytest.mark.parametrize(
    ("text", "more"),
    [("a", False), ("a\\", True), ("a\\\\", False), ('"""', True), ('"""a"""', False), ("", False)],
)
def test_a_message_goes_on_when_it_says_so(text: str, more: bool) -> None:
    assert goes_on(text) is more


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        (" a ", "a"),
        ('"""\n  a\n"""', "  a"),
        ("a\\\nb", "a\nb"),
        ("a\\\\\nb", "a\\\\\nb"),
        ('say """x""" !', 'say """x""" !'),
    ],
)
def test_marks_of_continuation_are_no_part_of_a_message(typed: str, message: str) -> None:
    assert unmarked(typed) == message
