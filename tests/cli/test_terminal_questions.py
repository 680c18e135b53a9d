"""Questions on a terminal beside a pipe: our end of a pseudo-terminal is the person."""

import asyncio
import os
import stat
import termios
from collections.abc import Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from terp.events import CodeProposed
from terp.person import Consent, Decline, Run
from terp_cli.terminal_questions import TerminalQuestions

T = TypeVar("T")
PROPOSED = CodeProposed("c1", "python", "print('\u202e')", "digest", "/w", 0, "none")
QUESTION = "Run it?"


class Desk:
    """A person's side of the terminal."""

    def __init__(self) -> None:
        self._ours, self.theirs = os.openpty()
        self.shown = ""

    async def until(self, mark: str) -> None:
        """Return when `mark` has been shown since the last time."""
        new = ""
        async with asyncio.timeout(20):
            while mark not in new:
                new += (await asyncio.to_thread(os.read, self._ours, 65536)).decode()
        self.shown += new

    def types(self, text: str) -> None:
        os.write(self._ours, text.encode())

    def close(self) -> None:
        os.close(self._ours)
        os.close(self.theirs)


@pytest.fixture
def desk() -> Iterator[Desk]:
    desk = Desk()
    yield desk
    desk.close()


async def answered(desk: Desk, asking: Coroutine[Any, Any, T], *answers: str, mark: str = QUESTION) -> T:
    task = asyncio.create_task(asking)
    for answer in answers:
        await desk.until(mark)
        desk.types(answer)
    return await task


async def test_the_letter_runs_exactly_what_was_shown(desk: Desk) -> None:
    asking = TerminalQuestions(desk.theirs, {}).approve(PROPOSED)
    assert await answered(desk, asking, "y\n") == Run(PROPOSED.code)
    assert "print('<U+202E>')" in desk.shown
    assert "python in /w, nothing confines it" in desk.shown


async def test_n_ends_the_turn(desk: Desk) -> None:
    asking = TerminalQuestions(desk.theirs, {}).approve(PROPOSED)
    assert await answered(desk, asking, "n\n") == Decline("", stop=True)


async def test_a_longer_text_is_told_to_the_model(desk: Desk) -> None:
    asking = TerminalQuestions(desk.theirs, {}).approve(PROPOSED)
    assert await answered(desk, asking, "yes, but slowly\n") == Decline("yes, but slowly")


async def test_an_empty_line_and_another_letter_ask_again(desk: Desk) -> None:
    asking = TerminalQuestions(desk.theirs, {}).approve(PROPOSED)
    assert await answered(desk, asking, "\n", "x\n", "y\n") == Run(PROPOSED.code)


async def test_what_was_typed_before_the_question_does_not_count(desk: Desk) -> None:
    desk.types("y\n")
    asking = TerminalQuestions(desk.theirs, {}).approve(PROPOSED)
    assert await answered(desk, asking, "n\n") == Decline("", stop=True)


async def test_several_lines_at_once_count_as_none(desk: Desk) -> None:
    asking = TerminalQuestions(desk.theirs, {}).approve(PROPOSED)
    assert await answered(desk, asking, "y\ny\n", "n\n") == Decline("", stop=True)
    assert "Several lines came at once" in desk.shown


async def test_edited_code_is_what_may_run(desk: Desk, tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "1 + 1" > "$1"\n')
    editor.chmod(editor.stat().st_mode | stat.S_IXUSR)
    asking = TerminalQuestions(desk.theirs, {"VISUAL": str(editor)}).approve(PROPOSED)
    assert await answered(desk, asking, "e\n") == Run("1 + 1")


async def test_a_consent_needs_a_clear_answer(desk: Desk) -> None:
    asking = TerminalQuestions(desk.theirs, {}).allow(Consent("Install x?", "It is missing."))
    assert await answered(desk, asking, "perhaps\n", "y\n", mark="y yes · n no") is True


async def test_a_secret_is_not_echoed(desk: Desk) -> None:
    asking = TerminalQuestions(desk.theirs, {}).type_in("Password: ", secret=True)
    assert await answered(desk, asking, "geheim\n", mark="Password:") == "geheim"
    assert "geheim" not in desk.shown


async def test_a_question_that_is_taken_back_leaves_the_terminal_as_it_was(desk: Desk) -> None:
    before = termios.tcgetattr(desk.theirs)
    task = asyncio.create_task(TerminalQuestions(desk.theirs, {}).type_in("Password: ", secret=True))
    await desk.until("Password:")
    task.cancel()
    await asyncio.wait({task})
    assert termios.tcgetattr(desk.theirs) == before
