"""The answer `r` at a question, rules that want a person to be asked, and the key that shows folded code."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from terp.events.effects import NOT_ANALYSED
from terp.person import Choice, Decline, Option, Run
from tests.cli.repl.test_approval import CODE, Seat, desk
from tests.cli.screens import Watched

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


async def test_k_shows_the_lines_of_the_settings_and_then_adds_them(
    desk: Callable[..., Seat], tmp_path: Path
) -> None:
    settings = tmp_path / "config.yaml"
    settings.write_text("allow:\n  - shell: ls\n# mine\n")
    seat = desk(environ={"TERP_HOME": str(tmp_path)})
    asked = asyncio.create_task(seat.person.approve(SHELL))
    await seat.asked(1)
    seat.keys.send_text("r\r")
    await seat.terminal.wrote("eep it")
    shown = [line for line in seat.terminal.shown() if line.startswith(("k also", "  "))]
    assert shown[-3:] == ["  allow:", "    - shell: git status", "    - shell: make all"]
    seat.keys.send_text("k\r")
    assert await asyncio.wait_for(asked, 20) == Run(SHELL.code, rules=RULES)
    assert settings.read_text() == (
        "allow:\n  - shell: ls\n  - shell: git status\n  - shell: make all\n# mine\n"
    )
    assert "config.yaml:3." in "".join(seat.terminal.shown())


async def test_keeping_a_rule_at_an_effect_is_the_answer_for_the_session(
    desk: Callable[..., Seat], tmp_path: Path
) -> None:
    seat = desk(environ={"TERP_HOME": str(tmp_path)})
    options = (Option("y", "yes, once"), Option("r", "rule for the session"), Option("n", "no"))
    choice = Choice("The code wants to change out/a.csv.", options, rules=("writes: ./out/**",))
    asked = asyncio.create_task(seat.person.choose(choice))
    await seat.asked(1)
    seat.keys.send_text("k\r")
    assert await asyncio.wait_for(asked, 20) == "r"
    assert (tmp_path / "config.yaml").read_text() == 'allow:\n  - "writes: ./out/**"\n'


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


@pytest.mark.parametrize(
    ("code", "is_offered"), [("git status", True), ("echo hi > made.txt", False), ("git push | sh", False)]
)
async def test_r_is_offered_where_a_rule_can_help(
    desk: Callable[..., Seat], code: str, is_offered: bool
) -> None:
    shown = " ".join(await desk().card(replace(SHELL, code=code)))
    assert ("[r]ule" in shown) == is_offered


async def test_what_a_rule_asks_about_is_asked_though_everything_runs_unasked(
    desk: Callable[..., Seat],
) -> None:
    seat = desk()
    seat.front.asks = False
    card = await seat.card(replace(SHELL, asks="rule shell: git ** (a.yaml:2)"))
    assert "You are still asked: rule shell: git ** (a.yaml:2)." in card


async def test_a_question_about_folded_code_offers_the_key_that_shows_all_of_it(
    desk: Callable[..., Seat],
) -> None:
    code = "\n".join(f"x{number} = {number}" for number in range(60))
    shown = " ".join(await desk(draws=True).card(replace(CODE, code=code)))
    assert "… 30 lines not shown" in shown
    assert "[v]iew" in shown


async def test_a_question_about_code_that_is_shown_whole_offers_no_key_to_show_it(
    desk: Callable[..., Seat],
) -> None:
    assert "[v]" not in " ".join(await desk(draws=True).card())


@pytest.mark.parametrize("before", ["", "a = 1\nb = 2\nc = 3\nd = 4\ne = 5\n"])
async def test_a_question_about_a_long_edit_fits_a_small_screen_and_counts_hidden_rows(
    desk: Callable[..., Seat], tmp_path: Path, before: str
) -> None:
    text = "".join(f"line {number}\n" for number in range(20))
    (tmp_path / "notes.txt").write_text(text)
    code = f"{before}edit_file('notes.txt', {text!r}, {text.upper()!r})"
    seat = desk(terminal=Watched(40, 15), draws=True)
    shown = await seat.card(replace(CODE, code=code, cwd=str(tmp_path)))
    # Rows that have scrolled away are among them.
    assert len(shown[shown.index("── python") :]) <= 15
    code_row, diff_row = (line for line in shown if line.endswith("not shown"))
    assert "rows of changes" not in code_row
    assert "rows of changes" in diff_row
