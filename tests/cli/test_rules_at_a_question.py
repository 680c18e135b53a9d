"""The answer `r` at a question, rules that want a person to be asked, and the key that shows folded code."""

import asyncio
from collections.abc import Callable
from dataclasses import replace

from terp.events.effects import NOT_ANALYSED
from terp.person import Decline, Run
from tests.cli.repl.test_approval import CODE, Seat, desk

__all__ = ["desk"]


SHELL = replace(CODE, language="shell", code="git status && make all")
RULES = ("shell: git status", "shell: make all")


async def test_r_shows_the_rules_before_they_count(desk: Callable[..., Seat]) -> None:
    seat = desk(environ={"TERP_HOME": "/home/me/.terp"})
    asked = asyncio.create_task(seat.person.approve(SHELL))
    for number, keys in enumerate(["r\r", "y\r"], 1):
        await seat.asked(number)
        seat.keys.send_text(keys)
    assert await asyncio.wait_for(asked, 20) == Run(SHELL.code, rules=RULES)
    shown = seat.terminal.shown()
    start = shown.index("It runs now, and from now on in this session without asking:")
    assert shown[start:] == [
        "It runs now, and from now on in this session without asking:",
        "  shell: git status – this command, exactly so",
        "  shell: make all – this command, exactly so",
        "Do you want that? › yes",
    ]


async def test_rules_that_are_not_wanted_leave_the_question_open(desk: Callable[..., Seat]) -> None:
    seat = desk()
    asked = asyncio.create_task(seat.person.approve(SHELL))
    for number, keys in enumerate(["r\r", "n\r", "y\r"], 1):
        await seat.asked(number)
        seat.keys.send_text(keys)
    assert await asyncio.wait_for(asked, 20) == Run(SHELL.code)


async def test_r_tells_why_no_rule_could_allow_the_code(desk: Callable[..., Seat]) -> None:
    seat = desk()
    code = replace(SHELL, code="python x.py", effects=NOT_ANALYSED)
    asked = asyncio.create_task(seat.person.approve(code))
    for number, keys in enumerate(["r\r", "n\r"], 1):
        await seat.asked(number)
        seat.keys.send_text(keys)
    assert await asyncio.wait_for(asked, 20) == Decline("")
    told = "`python` runs whatever it is given, so no rule allows it; name what it would run."
    assert " ".join(told.split()) in " ".join(" ".join(seat.terminal.shown()).split())


async def test_what_a_rule_asks_about_is_asked_though_everything_runs_unasked(
    desk: Callable[..., Seat],
) -> None:
    seat = desk()
    seat.person.always = True
    card = await seat.card(replace(SHELL, asks="rule shell: git ** (a.yaml:2)"))
    assert "You are still asked: rule shell: git ** (a.yaml:2)." in card


async def test_a_question_about_folded_code_offers_the_key_that_shows_all_of_it(
    desk: Callable[..., Seat],
) -> None:
    code = "\n".join(f"x{number} = {number}" for number in range(60))
    shown = " ".join(await desk(draws=True).card(replace(CODE, code=code)))
    assert "… 30 lines not shown" in shown
    assert "[v]iew all" in shown


async def test_a_question_about_code_that_is_shown_whole_offers_no_key_to_show_it(
    desk: Callable[..., Seat],
) -> None:
    assert "[v]" not in " ".join(await desk(draws=True).card())
