"""Lines read as the terminal itself edits them."""

import asyncio
import os
import pty
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from terp_cli.prompt.interface import PromptHost, Typed
from terp_cli.prompt.line_prompt import LinePrompt
from tests.cli.running import Terp, to
from tests.cli.screens import Watched
from tests.cli.teletype import Teletype
from tests.loopback import Loopback


class Seat:
    """A terminal that a test types on, and what was written to it."""

    def __init__(self, hand: int, line: int) -> None:
        self.hand = hand
        self.screen = Watched()
        self.desk = LinePrompt(line, self.screen)
        self.host = PromptHost(Path(os.devnull))

    async def answer(self, typed: str, *, secret: bool = False) -> Typed:
        """What is read when this is typed at a question."""
        asking = asyncio.create_task(self.desk.line("Run? ", secret=secret))
        await self.screen.wrote("Run? ")
        os.write(self.hand, typed.encode())
        return await asyncio.wait_for(asking, 20)

    async def message(self, typed: str) -> str:
        """The message when this is typed at the prompt."""
        reading = asyncio.create_task(self.desk.message())
        await self.screen.wrote("> ")
        os.write(self.hand, typed.encode())
        return await asyncio.wait_for(reading, 20)


@asynccontextmanager
async def seat() -> AsyncIterator[Seat]:
    hand, line = pty.openpty()
    try:
        yield Seat(hand, line)
    finally:
        os.close(hand)
        os.close(line)


async def test_the_mark_of_the_shell_alone_makes_each_line_a_command() -> None:
    async with seat() as here, here.desk.reading(here.host):
        assert await here.message("!\nls\n") == "!ls"
        assert await here.message("pwd\n") == "!pwd"
        assert await here.message("\nhello\n") == "hello"


async def test_ctrl_c_ends_the_shell() -> None:
    async with seat() as here, here.desk.reading(here.host):
        assert await here.message("!\nls\n") == "!ls"
        here.desk.interrupted()
        assert await here.message("hello\n") == "hello"


async def test_a_question_is_answered_by_the_next_line() -> None:
    async with seat() as here:
        assert await here.answer("y\n") == Typed("y", pasted=False)


async def test_the_esc_key_gives_the_answer_that_it_stands_for() -> None:
    async with seat() as here:
        asking = asyncio.create_task(here.desk.line("Run? ", escape="n"))
        await here.screen.wrote("Run? ")
        os.write(here.hand, b"\x1b\n")
        assert await asyncio.wait_for(asking, 20) == Typed("n", pasted=False)


async def test_what_was_typed_before_a_question_does_not_answer_it() -> None:
    async with seat() as here:
        os.write(here.hand, b"y\n")
        assert await here.answer("n\n") == Typed("n", pasted=False)


async def test_half_a_line_typed_before_a_question_is_no_part_of_its_answer() -> None:
    async with seat() as here, here.desk.reading(here.host):
        await here.message("first\ny\x04")
        assert await here.answer("\n") == Typed("", pasted=False)


@pytest.mark.parametrize(
    ("typed", "message"), [("hello\n", "hello"), ("one\\\ntwo\n", "one\ntwo"), ('"""\na\nb\n"""\n', "a\nb")]
)
async def test_a_message_goes_on_where_it_says_so(typed: str, message: str) -> None:
    async with seat() as here, here.desk.reading(here.host):
        assert await here.message(typed) == message


async def test_the_end_of_input_leaves() -> None:
    async with seat() as here, here.desk.reading(here.host):
        with pytest.raises(EOFError):
            await here.message("\x04")


async def test_the_second_interrupt_in_a_row_leaves() -> None:
    async with seat() as here, here.desk.reading(here.host):
        here.desk.interrupted()
        here.desk.interrupted()
        with pytest.raises(EOFError):
            await asyncio.wait_for(here.desk.message(), 20)


async def test_a_question_in_the_middle_of_a_talk_leaves_the_next_line_to_it() -> None:
    async with seat() as here, here.desk.reading(here.host):
        assert await here.answer("n\n") == Typed("n", pasted=False)
        assert await here.message("hello\n") == "hello"


async def test_a_terminal_that_is_gone_is_not_read_again_and_again() -> None:
    hand, line = pty.openpty()
    here = Seat(hand, line)
    loop = asyncio.get_running_loop()
    try:
        async with here.desk.reading(here.host):
            os.close(hand)
            with pytest.raises(EOFError):
                await asyncio.wait_for(here.desk.message(), 20)
            assert not loop.remove_reader(line)
            with pytest.raises(EOFError):
                await asyncio.wait_for(here.desk.message(), 20)
    finally:
        os.close(line)


async def test_the_end_of_a_question_is_not_the_end_of_the_talk() -> None:
    async with seat() as here, here.desk.reading(here.host):
        with pytest.raises(EOFError):
            await here.answer("\x04")
        assert await here.message("hello\n") == "hello"


async def test_a_secret_of_a_terminal_that_is_gone_is_no_error_of_terp() -> None:
    hand, line = pty.openpty()
    os.close(hand)
    try:
        with pytest.raises(EOFError):
            await asyncio.wait_for(Seat(hand, line).desk.line("Key? ", secret=True), 20)
    finally:
        os.close(line)


async def test_code_goes_on_until_its_block_ends() -> None:
    async with seat() as here, here.desk.reading(here.host):
        assert await here.message(">>> if x:\n    y\n\n") == ">>> if x:\n    y"
        assert "... " in here.screen.getvalue()


async def test_a_line_that_does_not_wait_is_done_and_is_no_message() -> None:
    class AtOnce(PromptHost):
        def run_at_once(self, line: str) -> bool:
            done.extend([line] if line == "/bg" else [])
            return line == "/bg"

    async with seat() as here:
        done: list[str] = []
        async with here.desk.reading(AtOnce(Path(os.devnull))):
            assert await here.message("/bg\nhello\n") == "hello"
            # At a question it is an answer.
            assert await here.answer("/bg\n") == Typed("/bg", pasted=False)
        assert done == ["/bg"]


async def test_who_may_not_leave_yet_stays_until_they_say_so_again() -> None:
    class Reluctant(PromptHost):
        def may_leave(self) -> bool:
            asked.set()
            return next(again)

    async with seat() as here:
        asked, again = asyncio.Event(), iter([False, True])
        async with here.desk.reading(Reluctant(Path(os.devnull))):
            reading = asyncio.create_task(here.desk.message())
            await here.screen.wrote("> ")
            os.write(here.hand, b"\x04")
            await asked.wait()
            assert not reading.done()
            os.write(here.hand, b"\x04")
            with pytest.raises(EOFError):
                await asyncio.wait_for(reading, 20)


async def test_a_question_that_comes_at_the_prompt_gets_the_next_line() -> None:
    async with seat() as here, here.desk.reading(here.host):
        reading = asyncio.create_task(here.desk.message())
        await here.screen.wrote("> ")
        assert await here.answer("Ada\n") == Typed("Ada", pasted=False)
        os.write(here.hand, b"hello\n")
        assert await asyncio.wait_for(reading, 20) == "hello"


def test_a_plain_terminal_has_a_prompt_of_lines_without_any_escape_sequence(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    with Loopback(["It is **well**.", "So it is."]) as server:
        command = [sys.executable, "-m", "terp_cli", "--plain", *to(server)]
        with Teletype(command, terp.cwd, terp.environ) as teletype:
            shown = teletype.until("> ")
            teletype.types("how is it?\r")
            shown += teletype.until("It is well.")
            shown += teletype.until("> ")
            teletype.types("and now?\r")
            shown += teletype.until("So it is.")
            shown += teletype.until("> ")
            teletype.types("\x04")
            more, code = teletype.over()
    assert (code, "\x1b" in shown + more, len(server.requests)) == (0, False, 2)


def test_the_report_of_a_command_stands_above_the_next_prompt(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    with Loopback(["Well."]) as server:
        command = [sys.executable, "-m", "terp_cli", "--plain", *to(server)]
        with Teletype(command, terp.cwd, terp.environ) as teletype:
            teletype.until("> ")
            teletype.types("how is it?\r")
            teletype.until("Well.")
            teletype.until("> ")
            teletype.types("/undo\r")
            shown = teletype.until("\n> ")
            teletype.types("\x04")
            teletype.over()
    assert "The conversation is empty." in shown
