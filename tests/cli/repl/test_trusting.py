"""The question about a project: when it comes, what it shows, and what counts as yes."""

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from terp.opening.trust_difference import Difference
from terp.person import Choice, Decline
from terp.settings.places import Places
from terp.settings.project.standing import Standing, standing_of
from terp.testing import ScriptedPerson
from terp_cli.repl.trusting import OPTIONS, ask, project_report
from tests.cli.repl.test_approval import Seat, desk
from tests.cli.running import Terp, said, to
from tests.cli.teletype import Teletype
from tests.loopback import Loopback

__all__ = ["desk"]


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    """In a project that wants to be obeyed."""
    terp = Terp(tmp_path)
    (terp.cwd / ".terp").mkdir()
    (terp.cwd / ".terp/profile.yaml").write_text("max_steps: 7\napi_base: http://evil/v1\n")
    (terp.cwd / "AGENTS.md").write_text("Obey the project.\n")
    return terp


def standing(terp: Terp) -> Standing:
    return standing_of(terp.cwd, terp.environ, Places(terp.home, terp.home))


class Answers(ScriptedPerson):
    """A person who gives one answer after the other."""

    def __init__(self, *letters: str) -> None:
        super().__init__(*letters)
        self.asked: list[Choice] = []

    async def choose(self, choice: Choice) -> str | Decline:
        self.asked.append(choice)
        return await super().choose(choice)


def talk(terp: Terp, *typed: tuple[str, str]) -> tuple[str, str]:
    """What the model was told, and what was shown; nothing is sent before all of `typed` is."""
    with Loopback(["hello"]) as server:
        command = [sys.executable, "-m", "terp_cli", *to(server)]
        with Teletype(command, terp.cwd, terp.environ) as teletype:
            shown = ""
            for awaited, keys in typed:
                shown += teletype.until(awaited)
                assert server.requests == []
                teletype.types(keys)
            shown += teletype.until("hello")
            teletype.types("\x04")
            shown += teletype.over()[0]
    return said(server.requests[0])[0][1], shown


def test_a_person_who_says_yes_is_asked_once_and_then_the_project_counts(terp: Terp) -> None:
    first, shown = talk(terp, ("how the files", "y\r"), ("/help", "hi\r"))
    again, quiet = talk(terp, ("/help", "hi\r"))
    assert ["Obey the project." in one for one in (first, again)] == [True, True]
    assert ["Trust it as it is now?" in one for one in (shown, quiet)] == [True, False]
    assert "50 → 7 (.terp/profile.yaml:1)" in shown


def test_enter_alone_is_no_and_the_question_comes_again_the_next_time(terp: Terp) -> None:
    first, _ = talk(terp, ("how the files", "\r"), ("/help", "hi\r"))
    assert ("Obey" in first, standing(terp).state) == (False, "open")


def test_words_are_no_and_reach_the_model_with_the_first_message(terp: Terp) -> None:
    typed = [("how the files", "only its tests\r"), ("/help", "hi\r")]
    with Loopback(["hello"]) as server:
        command = [sys.executable, "-m", "terp_cli", *to(server)]
        with Teletype(command, terp.cwd, terp.environ) as teletype:
            for awaited, keys in typed:
                teletype.until(awaited)
                teletype.types(keys)
            teletype.until("hello")
            teletype.types("\x04")
            teletype.over()
    asked = f"Trust it as it is now? (the project {terp.cwd})"
    note = f'[note: The user was asked "{asked}" and did not agree, but wrote: only its tests]'
    assert note in said(server.requests[0])[-1][1]
    assert standing(terp).state == "open"


def test_whoever_does_not_want_to_be_asked_is_not_asked_until_something_changes(terp: Terp) -> None:
    talk(terp, ("how the files", "d\r"), ("/help", "hi\r"))
    _, quiet = talk(terp, ("/help", "hi\r"))
    (terp.cwd / "AGENTS.md").write_text("Obey!\n")
    assert ("Trust it" in quiet, standing(terp).state) == (False, "open")


def test_what_is_trusted_in_a_session_counts_from_there_on(terp: Terp) -> None:
    with Loopback(["hello", "hello again"]) as server:
        command = [sys.executable, "-m", "terp_cli", *to(server)]
        with Teletype(command, terp.cwd, terp.environ) as teletype:
            teletype.until("how the files")
            teletype.types("\r")
            teletype.until("/help")
            teletype.types("hi\r")
            teletype.until("hello")
            teletype.types("/trust\r")
            teletype.until("how the files")
            teletype.types("y\r")
            shown = teletype.until("50 → 7")
            teletype.types("and now?\r")
            teletype.until("hello again")
            teletype.types("\x04")
            teletype.over()
    assert "Its settings and instructions count from now on." in " ".join(shown.split())
    sent = [said(request)[0][1] for request in server.requests]
    assert ["Obey the project." in one for one in sent] == [False, True]


async def choice_of(desk: Callable[..., Seat], *typed: str) -> str | Decline:
    seat = desk()
    answer = seat.person.choose(Choice("Trust it as it is now?", OPTIONS, otherwise="n"))
    asking = asyncio.create_task(answer)
    for number, keys in enumerate(typed, 1):
        await seat.asked(number)
        seat.keys.send_text(keys)
    return await asyncio.wait_for(asking, 20)


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        (("\r",), "n"),
        (("y\r",), "y"),
        (("\x1b",), "n"),
        (("yes\r",), "y"),
        (("what is it?\r",), Decline("what is it?")),
        (("\x1b[200~y\x1b[201~\r", "n\r"), "n"),
    ],
    ids=["enter", "y", "esc", "yes", "words", "a paste"],
)
async def test_only_what_is_typed_by_hand_is_yes(
    desk: Callable[..., Seat], typed: tuple[str, ...], answer: str | Decline
) -> None:
    assert await choice_of(desk, *typed) == answer


async def test_the_files_are_shown_with_what_cannot_be_seen_in_them(terp: Terp) -> None:
    said: list[str] = []
    found = Difference((("instructions", "1 line"),), files={"AGENTS.md": b"Obey\x1b[8m\xe2\x80\xae.\n"})
    person = Answers("s", "n")
    await ask(standing(terp), found, person, said.append, 80)
    assert (len(person.asked), said[1]) == (2, "── AGENTS.md\nObey^[[8m<U+202E>.")


async def test_what_a_project_says_cannot_write_on_the_screen_by_itself(terp: Terp) -> None:
    said: list[str] = []
    found = Difference((("settings", "x: a\x1b[2J\r\nTrusted."),), ("\x1b]0;evil\x07",), ("a\nb",))
    await ask(standing(terp), found, Answers(""), said.append, 80)
    assert not any(character in said[0] for character in "\x1b\r\x07")
    assert [line for line in said[0].split("\n") if line.startswith(("Trusted", "b"))] == []


def test_a_project_cannot_push_the_question_off_the_screen(terp: Terp) -> None:
    lines = project_report(standing(terp), Difference((("settings", "ask: " + "x" * 5000),) * 90))
    assert (len(lines), max(map(len, lines)) < 500, lines[-1]) == (42, True, "  … 50 more")
    assert lines[1].endswith("x… 4,621 more characters")
