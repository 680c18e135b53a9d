"""Picking a row: with arrows and words below the conversation, or by its number."""

import asyncio
import os

import pytest

from terp_cli.prompt.interface import Pick, matching
from terp_cli.prompt.picker import rows_of
from tests.cli.prompt.test_line_prompt import seat as line_seat
from tests.cli.prompt.test_message import Seat, seat

APPLES = Pick(("About apples", "3 h ago", "4 turns"), also="2026-11-21-aa")
PEARS = Pick(("About pears", "2 d ago", "1 turn"), also="2026-11-19-bb")
FRUIT = (APPLES, PEARS, Pick(("Something else", "9 d ago", "1 turn")))


async def picked(here: Seat, *keys: str, at: int = 0) -> int | None:
    """The row that is picked when these keys are typed."""
    picking = asyncio.create_task(here.desk.pick("Which?", FRUIT, at))
    await here.screen.wrote("Esc leaves")
    for key in keys:
        here.keys.send_text(key)
    return await asyncio.wait_for(picking, 20)


def test_every_word_must_be_in_the_row_or_beside_it() -> None:
    assert matching(FRUIT, "ABOUT pear") == [1]
    assert matching(FRUIT, "2026-11-21") == [0]
    assert matching(FRUIT, "apples pears") == []
    assert matching(FRUIT, "") == [0, 1, 2]


def test_the_first_column_is_cut_and_the_last_left_out_where_it_is_narrow() -> None:
    long = (Pick(("A question of more than thirty letters", "3 h ago", "~/jobs/reports")), FRUIT[0])
    assert rows_of(long, 60)[0] == "A question of more than thirty let…  3 h ago  ~/jobs/reports"
    assert rows_of(long, 36)[0] == "A question of more than th…  3 h ago"
    assert rows_of(FRUIT, 10)[0] == "About app…"


def test_wide_letters_count_twice() -> None:
    assert rows_of((Pick(("東京の売上", "x")), Pick(("ab", "y"))), 13) == ["東京の売上  x", "ab          y"]
    assert rows_of((Pick(("東京の売上",)), Pick(("ab",))), 8) == ["東京の…", "ab"]


@pytest.mark.parametrize(
    ("keys", "row"),
    [
        (["\r"], 0),
        (["\x1b[B", "\r"], 1),
        (["\x1b[B", "\x1b[B", "\x1b[B", "\x1b[A", "\r"], 1),
        (["pears", "\r"], 1),
        (["nothing", "\r", "\x7f" * 7, "\r"], 0),
        (["\x1b"], None),
        (["pears", "\x1b"], None),
        (["\x03"], None),
        (["\x1b[200~about\npears\x1b[201~", "\r"], 1),
    ],
)
async def test_keys_choose_a_row(keys: list[str], row: int | None) -> None:
    async with seat() as here:
        assert await picked(here, *keys) == row


async def test_the_row_to_begin_at_is_marked() -> None:
    async with seat() as here:
        assert await picked(here, "\r", at=2) == 2


async def test_the_list_goes_and_the_choice_stays() -> None:
    async with seat() as here:
        await picked(here, "pears", "\r")
        here.keys.send_text("next")
        await here.screen.wrote("next")
        assert [row for row in here.screen.shown() if row] == ["Which? › About pears", "› next", "toolbar"]


async def test_a_draft_is_back_after_the_list() -> None:
    async with seat() as here:
        here.keys.send_text("half a ques")
        await here.screen.wrote("half a ques")
        await picked(here, "\x1b")
        assert await here.read("tion\r") == "half a question"


async def test_a_wide_list_has_a_preview_beside_it() -> None:
    async with seat() as here:
        here.screen.columns = 120
        hostile = Pick(("one",), preview=lambda: "the first\x1b[2J")
        rows = (hostile, Pick(("two",), preview=lambda: "the other"))
        picking = asyncio.create_task(here.desk.pick("Which?", rows))
        await here.screen.wrote("the first")
        here.keys.send_text("\x1b[B")
        await here.screen.wrote("the other")
        here.keys.send_text("\r")
        assert (await picking, "\x1b[2J" in here.screen.getvalue()) == (1, False)


@pytest.mark.parametrize(("typed", "row"), [("2\n", 1), ("pears\n1\n", 1), ("plums\n1\n", 0), ("\n", None)])
async def test_a_plain_terminal_picks_by_number(typed: str, row: int | None) -> None:
    async with line_seat() as here:
        picking = asyncio.create_task(here.desk.pick("Which?", FRUIT))
        for line in typed.splitlines(keepends=True):
            await here.screen.wrote("Which? Number, or words to search for: ")
            here.screen.truncate(0)
            here.screen.seek(0)
            os.write(here.hand, line.encode())
        assert await asyncio.wait_for(picking, 20) == row


async def test_a_plain_terminal_lists_at_most_fifteen_rows() -> None:
    async with line_seat() as here:
        picking = asyncio.create_task(here.desk.pick("Which?", FRUIT * 6))
        await here.screen.wrote("     and 3 more: search for a word")
        os.write(here.hand, b"q\n")
        assert await asyncio.wait_for(picking, 20) is None
