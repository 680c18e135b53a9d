import asyncio
import os
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from textwrap import wrap

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.input.base import PipeInput

from terp.person import Option
from terp_cli.prompt.interface import PromptHost, ToolbarPart, Typed, Word, goes_on, unmarked
from terp_cli.prompt.message import LockedHistory
from terp_cli.prompt.prompt_app import PromptApp
from tests.cli.screens import Watched


class Seat(PromptHost):
    """An input line, its keys, and its screen; `busy` as during a turn."""

    def __init__(self, keys: PipeInput, history: Path) -> None:
        super().__init__(history)
        self.keys = keys
        self.screen = Watched()
        self.desk = PromptApp(keys, self.screen.painter())
        self.busy = False
        self.interrupts = 0

    def toolbar(self) -> Sequence[ToolbarPart]:
        return [ToolbarPart("toolbar")]

    async def copied_picture(self) -> str:
        return "@/s/pasted-1.png"

    def interrupt(self) -> None:
        self.interrupts += 1
        self.desk.take_back()
        self.busy = False

    async def read(self, *keys: str) -> str:
        """The message when these keys are typed."""
        for typed in keys:
            self.keys.send_text(typed)
        return await asyncio.wait_for(self.desk.message(), 20)


class Completing(PromptHost):
    """The owner of a line with three commands."""

    completes = True

    def __init__(self) -> None:
        super().__init__(Path(os.devnull))

    def commands(self) -> Iterable[Word]:
        return [(name, "") for name in ("undo", "export", "exit")]


class Inner(PromptHost):
    """Another owner of the line."""

    def toolbar(self) -> Sequence[ToolbarPart]:
        return [ToolbarPart("inner")]


@asynccontextmanager
async def seat(*history: str) -> AsyncIterator[Seat]:
    with create_pipe_input() as keys, TemporaryDirectory() as folder:
        before = LockedHistory(Path(folder, "history"))
        for line in history:
            before.store_string(line)
        here = Seat(keys, Path(folder, "history"))
        async with here.desk.reading(here):
            yield here


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
        ("  \r\rhello\r", "hello"),
        (">>> for i in x:\rprint(i)\r\r", ">>> for i in x:\n    print(i)"),
        (">>> if x:\ry\r\x7felse:\rz\r\r", ">>> if x:\n    y\nelse:\n    z"),
        (">>> if x:\r\x7f\ty\r\r", ">>> if x:\n    y"),
        (">>> 1 + \\\r2\r", ">>> 1 + \\\n2"),
        ("\x1b[200~>>> a\n>>> b\x1b[201~\r", ">>> a\nb"),
    ],
)
async def test_a_message_is_what_was_meant(keys: str, message: str) -> None:
    async with seat() as here:
        assert (await here.read(keys)).strip() == message


PASTE = "\n".join(f"line {at}" for at in range(200))
PASTED = f"about this: \x1b[200~{PASTE}\x1b[201~"


async def test_a_long_paste_is_named_on_the_line() -> None:
    async with seat() as here:
        here.keys.send_text(PASTED)
        await here.screen.wrote("kB]")
        assert here.screen.shown() == ["", "› about this: [pasted 200 lines, 1.7 kB]", "toolbar"]


async def test_a_long_paste_is_sent_whole() -> None:
    async with seat() as here:
        assert await here.read(f"{PASTED}\r") == f"about this: {PASTE}"


async def test_a_key_shows_a_long_paste() -> None:
    async with seat() as here:
        here.keys.send_text(f"{PASTED}\x0f")
        await here.screen.wrote("line 199")
        assert here.screen.shown()[-2:] == ["  line 199", "toolbar"]


async def test_a_copied_picture_is_mentioned_on_the_line() -> None:
    async with seat() as here:
        here.keys.send_text("what is \x16")
        await here.screen.wrote("pasted-1")
        assert await here.read("?\r") == "what is @/s/pasted-1.png ?"


async def test_the_lines_of_code_stand_below_each_other() -> None:
    async with seat() as here:
        here.keys.send_text(">>> for i in x:\rprint(i)")
        await here.screen.wrote("print")
        assert here.screen.shown() == ["", "› >>> for i in x:", "  ...     print(i)", "toolbar"]


@pytest.mark.parametrize("keys", ["\x04", "\x03\x03", "some words\x03\x03"])
async def test_these_keys_leave(keys: str) -> None:
    async with seat() as here:
        with pytest.raises(EOFError):
            await here.read(keys)


async def test_typing_after_ctrl_c_means_to_stay() -> None:
    async with seat() as here:
        assert await here.read("\x03a\x03b\r") == "b"


async def test_a_tab_completes_the_only_word_that_fits_and_enter_sends_it() -> None:
    async with seat() as here, here.desk.reading(Completing()):
        here.keys.send_text("/und\t")
        await here.screen.wrote("/undo")
        here.keys.send_text("\r")
        assert await here.read() == "/undo"


async def test_a_tab_takes_the_first_of_several_words_and_the_next_tab_the_next() -> None:
    async with seat() as here, here.desk.reading(Completing()):
        here.keys.send_text("/ex\t")
        await here.screen.wrote("/export")
        here.keys.send_text("\t\r\r")
        assert await here.read() == "/exit"


async def test_ctrl_r_finds_what_was_typed_before() -> None:
    async with seat("plot the iris data", "count them") as here:
        assert await here.read("\x12iris\r\r") == "plot the iris data"


async def test_lines_entered_before_anybody_waits_come_in_order() -> None:
    async with seat() as here:
        assert [await here.read("one\rtwo\r"), await here.read()] == ["one", "two"]


async def test_a_talk_within_another_goes_on_with_what_is_typed() -> None:
    async with seat() as here:
        here.keys.send_text("one\rtw")
        await here.screen.wrote("tw")
        async with here.desk.reading(Inner(Path(os.devnull))):
            await here.screen.wrote("inner")
            assert [await here.read(), await here.read("o\r")] == ["one", "two"]


async def test_what_is_queued_is_shown_above_the_line() -> None:
    async with seat() as here:
        here.keys.send_text("later\rnow")
        await here.screen.wrote("now")
        assert here.screen.shown() == ["", "  next: later", "› now", "toolbar"]


async def test_up_takes_back_what_was_queued_while_a_turn_goes_on() -> None:
    async with seat() as here:
        here.busy = True
        assert await here.read("later\r\x1b[A now\r") == "later now"


async def test_up_takes_back_the_last_of_several_lines() -> None:
    async with seat() as here:
        here.busy = True
        assert [await here.read("one\rtwo\r\x1b[A more\r"), await here.read()] == ["one", "two more"]


async def test_an_interrupt_lists_what_does_not_fit_on_the_line() -> None:
    async with seat() as here:
        here.busy = True
        here.keys.send_text("/vars\r!ls\rtwo\n lines\r\x03")
        await here.screen.wrote("two^J lines")
        assert await here.read(" df\r") == "/vars df"
    assert [row for row in here.screen.shown() if "ot sent" in row] == [
        "Not sent: !ls",
        "Not sent: two^J lines",
    ]


async def test_an_interrupt_keeps_the_draft_on_the_line() -> None:
    async with seat() as here:
        here.busy = True
        here.keys.send_text("one\rdraft\x03")
        await here.screen.wrote("Not sent: one")
        assert await here.read("\r") == "draft"


async def test_an_interrupt_puts_what_was_queued_back_on_the_line() -> None:
    async with seat() as here:
        here.busy = True
        here.keys.send_text("later\r\x03")
        await here.screen.wrote("later")
        assert await here.read(" rather\r") == "later rather"


async def test_a_draft_survives_a_question() -> None:
    async with seat() as here:
        here.keys.send_text("dra")
        await here.screen.wrote("dra")
        asking = asyncio.create_task(here.desk.line("Run? "))
        await here.screen.wrote("Run?")
        here.keys.send_text("y\r")
        assert (await asyncio.wait_for(asking, 20)).text == "y"
        assert await here.read("ft\r") == "draft"


async def test_keys_pressed_in_the_middle_of_a_message_do_not_answer_a_question() -> None:
    async with seat() as here:
        here.keys.send_text("do this")
        await here.screen.wrote("do this")
        asking = asyncio.create_task(here.desk.line("Run? "))
        here.keys.send_text(", then y\r")
        message = await asyncio.wait_for(here.desk.message(), 20)
        await here.screen.wrote("Run?")
        here.keys.send_text("n\r")
        assert (message, (await asyncio.wait_for(asking, 20)).text) == ("do this, then y", "n")


async def test_a_question_and_its_answer_stay_on_the_screen() -> None:
    async with seat() as here:
        asking = asyncio.create_task(here.desk.line("Two\nlines? "))
        await here.screen.wrote("lines?")
        here.keys.send_text("y\r")
        await asyncio.wait_for(asking, 20)
    assert here.screen.shown() == ["Two", "lines? y"]


async def test_a_pasted_tab_is_as_wide_as_one_and_is_sent_as_one() -> None:
    async with seat() as here:
        here.keys.send_text("\x1b[200~a\tb\x1b[201~")
        await here.screen.wrote("a   b")
        row = next(row for row in here.screen.shown() if row.startswith("›"))
        assert (row, await here.read("\r")) == ("› a   b", "a\tb")
    assert "▌ a   b" in here.screen.shown()


async def test_the_cursor_is_on_the_last_line_of_what_is_edited() -> None:
    async with seat() as here:
        editing = asyncio.create_task(here.desk.edited("x = 1\ny = 2\n"))
        await here.screen.wrote("y = 2")
        here.keys.send_text("3\x1b\r")
        assert await asyncio.wait_for(editing, 20) == "x = 1\ny = 23\n"


async def test_a_line_of_terp_that_is_too_long_is_broken_between_words() -> None:
    async with seat() as here:
        words = "forgets it " * 15
        here.desk.say(words)
        await here.screen.wrote("forgets")
        width = here.desk.width
        assert here.screen.shown()[: len(wrap(words, width))] == wrap(words, width)


async def test_a_cleared_screen_shows_the_line_alone() -> None:
    async with seat() as here:
        here.desk.say("before")
        here.keys.send_text("dra")
        await here.screen.wrote("dra")
        here.keys.send_text("\x0c")
        here.keys.send_text("ft")
        await here.screen.wrote("ft")
        rows = [row.rstrip() for row in here.screen.pyte().display if row.strip()]
        assert rows == ["› draft", "toolbar"]


async def test_the_mark_of_the_shell_alone_makes_each_line_a_command() -> None:
    async with seat() as here:
        assert await here.read("!\r", "ls\r") == "!ls"
        assert await here.read("pwd\r") == "!pwd"


@pytest.mark.parametrize("leaving", ["\r", "\x1b", "\x7f\r", "!\x7f\r", "\x03"])
async def test_an_empty_line_or_esc_ends_the_shell(leaving: str) -> None:
    async with seat() as here:
        assert await here.read("!\r", "ls\r") == "!ls"
        here.keys.send_text(leaving)
        assert await here.read("hello\r") == "hello"


async def test_two_escapes_rewind() -> None:
    async with seat() as here:
        assert await here.read("\x1b\x1b") == "/rewind"


async def test_a_hostile_paste_moves_nothing_on_the_screen() -> None:
    async with seat() as here:
        here.keys.send_text("\x1b[200~a\u202eb\x9b2Jc\x1b[201~")
        await here.screen.wrote("c")
        assert "\u202e" not in here.screen.getvalue() and "\x9b" not in here.screen.getvalue()


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
        (" /usr is full ", " /usr is full"),
        ('say """x""" !', 'say """x""" !'),
    ],
)
def test_marks_of_continuation_are_no_part_of_a_message(typed: str, message: str) -> None:
    assert unmarked(typed) == message


async def test_the_cursor_is_behind_an_emoji_that_is_joined_to_another() -> None:
    async with seat() as here:
        here.keys.send_text("👩\u200d👧x")
        await here.screen.wrote("x")
        screen = here.screen.pyte()
        assert screen.buffer[screen.cursor.y][screen.cursor.x - 1].data == "x"


@pytest.mark.parametrize("text", ["👩\u200d👧", "👩🏽\u200d💻", "क्\u200dष"])
async def test_what_is_joined_is_shown_while_it_is_typed(text: str) -> None:
    async with seat() as here:
        here.keys.send_text(f"{text} and more")
        await here.screen.wrote("more")
        assert f"{text} and more" in here.screen.getvalue()
        assert "\ufffd" not in here.screen.getvalue()


async def test_a_joiner_that_joins_nothing_is_not_shown_as_it_is() -> None:
    async with seat() as here:
        here.keys.send_text("a\u200db and more")
        await here.screen.wrote("more")
        assert "\u200d" not in here.screen.getvalue()


async def test_keys_from_before_a_question_was_drawn_go_into_the_message() -> None:
    async with seat() as here:
        options = (Option("y", "yes"), Option("n", "no"))
        asking = asyncio.create_task(here.desk.choose([("question", "Run it?")], options))
        # One step of the task: the question has the keyboard, and no frame has been painted.
        await asyncio.sleep(0)
        here.keys.send_text("y")
        await here.screen.wrote("what to do instead")
        here.keys.send_text("n\r")
        assert await asyncio.wait_for(asking, 20) == Typed("n", pasted=False)
        assert await here.read("es\r") == "yes"


async def test_the_card_leaves_the_screen_with_its_answer_while_nothing_else_is_drawn() -> None:
    async with seat() as here:
        options = (Option("y", "yes"), Option("n", "no"))
        asking = asyncio.create_task(here.desk.choose([("question", "Run it?")], options))
        await here.screen.wrote("what to do instead")
        here.keys.send_text("y")
        assert await asyncio.wait_for(asking, 20) == Typed("y", pasted=False)
        await here.screen.lost("Run it?")
