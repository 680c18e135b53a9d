import asyncio
import os
import pty
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.input.base import PipeInput

from terp.errors import NobodyThere
from terp.events import CodeProposed
from terp.events.effects import Effects
from terp.kernels.sandbox.confinement import Confinement
from terp.kernels.sandbox.policy import SandboxOptions
from terp.kernels.sandbox.tier import Unconfined
from terp.person import Choice, Consent, Decline, Option, Run
from terp_cli.fronts.terminal import TerminalFront
from terp_cli.prompt.prompt_app import PromptApp
from terp_cli.repl.approval import TerminalPerson
from terp_cli.terminal.desktop import run_editor
from tests.cli.repl.commands.here import Here
from tests.cli.screens import Watched

CODE = CodeProposed("c1", "python", "print(1)", "digest", "/tmp", 0, "none", Effects())


class Timers:
    """A clock that a test moves: calls that are due a quarter of a second after a key."""

    def __init__(self) -> None:
        self.due: list[Callable[[], None]] = []
        self._more = asyncio.Event()

    def __call__(self, seconds: float, call: Callable[[], None]) -> "Timers":
        assert seconds == 0.25
        self.due.append(call)
        self._more.set()
        return self

    def cancel(self) -> None:
        self.due.clear()

    async def pass_by(self) -> None:
        """Let the time pass once a key waits for another one."""
        await asyncio.wait_for(self._more.wait(), 20)
        for call in list(self.due):
            call()


class Seat:
    """A person with a keyboard that a test types on, and a screen it can read."""

    def __init__(
        self,
        keys: PipeInput,
        *,
        environ: dict[str, str] | None = None,
        terminal: Watched | None = None,
        **given: bool,
    ) -> None:
        self.keys = keys
        self.terminal = terminal or Watched()
        self.interrupts = 0
        painter = self.terminal.painter()
        desk = PromptApp(keys, painter)
        self.timers = desk.later = Timers()
        self.front = TerminalFront(lambda: self.terminal.screen(painter))
        self.person = TerminalPerson(
            self.front,
            lambda: desk,
            interrupted=self._interrupted,
            environ=environ or {},
            **given,
        )

    def _interrupted(self) -> None:
        self.interrupts += 1
        task = self.asking
        asyncio.get_running_loop().call_soon(task.cancel)

    async def decide(self, *typed: str) -> Run | Decline:
        """The decision after each of `typed` was entered at its own question."""
        self.asking: asyncio.Task[Run | Decline] = asyncio.create_task(self.person.approve(CODE))
        for number, keys in enumerate(typed, 1):
            await self.asked(number)
            self.keys.send_text(keys)
        return await asyncio.wait_for(self.asking, 20)

    async def answered(self, request: Consent, *typed: str) -> bool | Decline:
        """The answer to another question, after each of `typed` was entered at its own."""
        asking = asyncio.create_task(self.person.allow(request))
        for number, keys in enumerate(typed, 1):
            await self.asked(number)
            self.keys.send_text(keys)
        return await asyncio.wait_for(asking, 20)

    async def card(self, proposed: CodeProposed = CODE) -> list[str]:
        """The screen while the code is asked about."""
        self.asking = asyncio.create_task(self.person.approve(proposed))
        await self.terminal.wrote("what to do instead")
        shown = self.terminal.shown()
        self.keys.send_text("n\r")
        await asyncio.wait_for(self.asking, 20)
        return shown

    async def asked(self, times: int) -> None:
        """Return when something was asked so often: each prompt begins by asking for marked pastes."""
        await self.terminal.wrote("\x1b[?2004h", times)


@pytest.fixture
async def desk() -> AsyncIterator[Callable[..., Seat]]:
    with create_pipe_input() as keys:
        yield partial(Seat, keys)


@pytest.mark.parametrize("letter", ["y\r", "Y\r", " y \r", "a\r"])
async def test_a_letter_and_enter_approves(desk: Callable[..., Seat], letter: str) -> None:
    assert await desk().decide(letter) == Run("print(1)")


@pytest.mark.parametrize(
    ("key", "answer"),
    [("y", Run("print(1)")), ("n", Decline("")), ("1", Run("print(1)")), ("2", Decline(""))],
)
async def test_a_key_alone_answers(desk: Callable[..., Seat], key: str, answer: Run | Decline) -> None:
    seat = desk()
    asking = asyncio.create_task(seat.decide(key))
    await seat.timers.pass_by()
    assert await asyncio.wait_for(asking, 20) == answer


async def test_a_key_alone_answers_any_question(desk: Callable[..., Seat]) -> None:
    seat, options = desk(), (Option("y", "yes, once"), Option("r", "rule for the session"), Option("n", "no"))
    asking = asyncio.create_task(seat.person.choose(Choice("The code wants to delete a.csv.", options)))
    await seat.asked(1)
    seat.keys.send_text("r")
    await seat.timers.pass_by()
    assert await asyncio.wait_for(asking, 20) == "r"
    assert seat.terminal.shown() == ["The code wants to delete a.csv. › rule for the session"]


@pytest.mark.parametrize("text", ["yes, but slower", "rather not", "no, use pandas", "2 rows, please"])
async def test_a_key_that_another_follows_begins_a_message(desk: Callable[..., Seat], text: str) -> None:
    seat = desk()
    asking = asyncio.create_task(seat.decide(text))
    # A letter in a message is none alone: the time passes without an answer.
    await seat.terminal.wrote(text[-4:])
    assert seat.timers.due == []
    seat.keys.send_text("\r")
    assert await asyncio.wait_for(asking, 20) == Decline(text)


async def test_a_pasted_letter_waits_for_enter(desk: Callable[..., Seat]) -> None:
    seat = desk()
    asking = asyncio.create_task(seat.decide("\x1b[200~y\x1b[201~"))
    await seat.terminal.wrote("› y")
    assert seat.timers.due == []
    seat.keys.send_text("\x7fn\r")
    assert await asyncio.wait_for(asking, 20) == Decline("")


@pytest.mark.parametrize(
    ("keys", "answer"), [("\x1b[B\r", Run("print(1)")), ("\x1b[B\x1b[B\x1b[B\x1b[A\r", Decline(""))]
)
async def test_the_arrows_and_enter_choose(
    desk: Callable[..., Seat], keys: str, answer: Run | Decline
) -> None:
    assert await desk().decide(keys) == answer


async def test_the_answered_question_leaves_the_screen(desk: Callable[..., Seat]) -> None:
    seat = desk(draws=True)
    await seat.decide("y\r")
    assert seat.terminal.shown() == ["", "── python", "  1 │ print(1)", "expected: computes only"]


async def test_n_declines_and_the_turn_goes_on(desk: Callable[..., Seat]) -> None:
    assert await desk().decide("n\r") == Decline("")


async def test_esc_declines_without_feedback(desk: Callable[..., Seat]) -> None:
    seat = desk()
    assert await seat.decide("\x1b") == Decline("")


async def test_esc_in_the_middle_of_words_does_not_answer(desk: Callable[..., Seat]) -> None:
    seat = desk()
    asking = asyncio.create_task(seat.person.approve(CODE))
    await seat.asked(1)
    seat.keys.send_text("use \x1b")
    # Esc alone is told from the beginning of another key by a pause after it.
    await asyncio.wait({asking}, timeout=0.6)
    seat.keys.send_text("pandas\r")
    assert await asyncio.wait_for(asking, 20) == Decline("use pandas")


async def test_n_ends_the_turn_of_a_one_shot(desk: Callable[..., Seat]) -> None:
    assert await desk(once=True).decide("n\r") == Decline("", stop=True)


@pytest.mark.parametrize("text", ["yes, but slower", "no way", "yy", "run it slower", "/tmp/a is wrong"])
async def test_anything_longer_declines_and_is_feedback(desk: Callable[..., Seat], text: str) -> None:
    assert await desk().decide(text + "\r") == Decline(text)


@pytest.mark.parametrize("word", ["yes", "ok", "OK", "Yes.", " sure ", "run"])
async def test_a_word_of_consent_is_the_letter(desk: Callable[..., Seat], word: str) -> None:
    assert await desk().decide(f"{word}\r") == Run("print(1)")


async def test_the_word_no_declines_without_feedback(desk: Callable[..., Seat]) -> None:
    assert await desk().decide("No\r") == Decline("")


async def test_a_spoken_question_offers_to_show_all_only_if_some_is_not_shown(
    desk: Callable[..., Seat],
) -> None:
    seat = desk(spoken=True)
    assert await seat.decide("y\r") == Run("print(1)")
    assert "show all" not in " ".join(seat.terminal.shown())


@pytest.mark.parametrize("line", ["/help", "/vars df", "%tokens", ">>> 1+1", "!ls", "%% ls", "/undo"])
async def test_a_line_for_terp_is_no_feedback_and_the_question_comes_back(
    tmp_path: Path, desk: Callable[..., Seat], line: str
) -> None:
    seat = desk()
    seat.person.context = here = Here(tmp_path)
    assert await seat.decide(f"{line}\r", "y\r") == Run("print(1)")
    waits = "has to wait until the question is answered." in " ".join(seat.terminal.shown())
    assert bool(here.out.getvalue()) is not waits


async def test_a_one_shot_says_that_it_takes_no_commands(desk: Callable[..., Seat]) -> None:
    seat = desk(once=True)
    assert await seat.decide("/help\r", "y\r") == Run("print(1)")
    shown = " ".join(seat.terminal.shown())
    assert "Commands and code of your own cannot be entered here. ? lists the answers." in shown


async def test_an_empty_line_asks_again(desk: Callable[..., Seat]) -> None:
    assert await desk().decide("\r", "  \r", "y\r") == Run("print(1)")


async def test_another_letter_tells_the_letters_and_asks_again(desk: Callable[..., Seat]) -> None:
    seat = desk()
    assert await seat.decide("?\r", "n\r") == Decline("")
    assert "y  run it" in seat.terminal.shown()


@pytest.mark.parametrize("paste", ["y", "yes", "y\n", "a", "\ny\n"])
async def test_a_paste_never_approves(desk: Callable[..., Seat], paste: str) -> None:
    assert await desk().decide(f"\x1b[200~{paste}\x1b[201~\r", "n\r") == Decline("")


async def test_a_paste_of_lines_that_is_not_marked_as_one_never_approves(desk: Callable[..., Seat]) -> None:
    assert await desk().decide("y\rrm -rf\r", "n\r") == Decline("")


async def test_a_longer_paste_is_feedback(desk: Callable[..., Seat]) -> None:
    assert await desk().decide("\x1b[200~first\nsecond\x1b[201~\r") == Decline("first\nsecond")


async def test_always_does_not_ask_again(desk: Callable[..., Seat]) -> None:
    seat = desk()
    await seat.decide("a\r")
    assert await seat.person.approve(CODE) == Run("print(1)", by="auto_run")


async def test_a_yes_to_code_that_a_rule_asks_about_leaves_auto_run_on(desk: Callable[..., Seat]) -> None:
    seat = desk()
    seat.front.asks = False
    asking = asyncio.create_task(seat.person.approve(replace(CODE, asks="rule shell: git **")))
    await seat.asked(1)
    seat.keys.send_text("y\r")
    assert (await asyncio.wait_for(asking, 20), seat.front.asks) == (Run("print(1)"), False)


@pytest.mark.parametrize(
    ("once", "said"),
    [
        (False, "Code runs without asking from now on. /auto_run off: you are asked again."),
        (True, "Code runs without asking until terp exits. Ctrl-C stops it."),
    ],
)
async def test_always_says_what_it_means_and_how_it_ends(
    desk: Callable[..., Seat], once: bool, said: str
) -> None:
    seat = desk(once=once)
    await seat.decide("a\r")
    assert said in seat.terminal.shown()


@pytest.mark.parametrize(
    ("works", "said"),
    [
        (True, "This kernel runs without a sandbox. /auto_run on offers to restart it in one."),
        (False, "This kernel runs without a sandbox."),
    ],
)
async def test_always_names_the_way_to_a_sandbox_only_where_one_works(
    tmp_path: Path, desk: Callable[..., Seat], works: bool, said: str
) -> None:
    seat = desk()
    seat.person.context = here = Here(tmp_path)
    here.session.resources.confinement = Confinement(
        SandboxOptions("auto"),
        str(tmp_path),
        {"HOME": str(tmp_path)},
        lambda: not seat.front.asks,
        tiers=lambda *_: [replace(Unconfined(), name="docker")] if works else [],
    )
    await seat.decide("a\r")
    assert seat.terminal.shown()[-1] == said


async def test_code_that_nobody_else_draws_is_drawn_before_it_is_asked_about(
    desk: Callable[..., Seat],
) -> None:
    assert (await desk(draws=True).card())[:6] == [
        "",
        "── python",
        "  1 │ print(1)",
        "expected: computes only",
        "",
        "Run this in /tmp? No sandbox.",
    ]


async def test_edited_code_is_what_comes_back(desk: Callable[..., Seat]) -> None:
    assert await desk().decide("e\r", "  # twice\x1b\r") == Run("print(1)  # twice")


async def test_an_edit_without_a_change_asks_again(desk: Callable[..., Seat]) -> None:
    assert await desk().decide("e\r", "\x1b\r", "n\r") == Decline("")


async def test_the_editor_of_the_person_is_used(desk: Callable[..., Seat], tmp_path: Path) -> None:
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\nprintf "import os\\n%s" "$(cat "$1")" > "$1.new" && mv "$1.new" "$1"\n')
    editor.chmod(0o700)
    assert await desk(environ={"EDITOR": str(editor)}).decide("e\r") == Run("import os\nprint(1)")


def test_code_that_no_file_can_hold_is_not_edited() -> None:
    assert run_editor("true", "half = '\ud83d'", "python", None) is None


async def test_an_editor_that_fails_changes_nothing(desk: Callable[..., Seat]) -> None:
    assert await desk(environ={"VISUAL": "false"}).decide("e\r", "n\r") == Decline("")


async def test_ctrl_c_interrupts_the_turn(desk: Callable[..., Seat]) -> None:
    seat = desk()
    with pytest.raises(asyncio.CancelledError):
        await seat.decide("\x03")
    assert seat.interrupts == 1


async def test_ctrl_d_declines_and_ends_the_turn(desk: Callable[..., Seat]) -> None:
    assert await desk().decide("\x04") == Decline("", stop=True)


async def test_the_question_names_the_folder_and_what_confines_it(desk: Callable[..., Seat]) -> None:
    seat = desk()
    assert "Run this in /tmp? No sandbox." in await seat.card()


async def test_a_name_that_deceives_is_told_with_the_question(desk: Callable[..., Seat]) -> None:
    seat = desk()
    card = await seat.card(replace(CODE, code="p\u0430ypal"))
    assert "! 'p\u0430ypal' mixes Cyrillic and Latin letters." in card


@pytest.mark.parametrize(
    ("typed", "answer"),
    [
        (["y\r"], True),
        (["YES\r"], True),
        (["ok\r"], True),
        (["n\r"], False),
        (["No\r"], False),
        (["use the standard library\r"], Decline("use the standard library")),
        (["?\r", "n\r"], False),
        (["\x1b[200~yes\x1b[201~\r", "n\r"], False),
    ],
)
async def test_consent_is_y_or_a_word_for_it_and_other_words_are_the_reason(
    desk: Callable[..., Seat], typed: list[str], answer: bool | Decline
) -> None:
    assert await desk().answered(Consent("Install pandas?", "The code imports it."), *typed) == answer


async def test_a_question_mark_explains_the_answers_of_any_question(desk: Callable[..., Seat]) -> None:
    seat = desk()
    await seat.answered(Consent("Install pandas?"), "?\r", "n\r")
    shown = seat.terminal.shown()
    at = shown.index("y  yes")
    assert shown[at : at + 3] == ["y  yes", "n  no", "Any words are a no, and are sent to the model."]


async def test_a_command_at_any_question_is_done_or_refused_aloud(
    tmp_path: Path, desk: Callable[..., Seat]
) -> None:
    seat = desk()
    seat.person.context = Here(tmp_path)
    assert await seat.answered(Consent("Install pandas?"), "/auto_run off\r", "y\r") is True
    assert "/auto_run has to wait until the question is answered." in seat.terminal.shown()


async def test_what_code_can_do_as_well_is_not_asked_where_code_runs_unasked(
    desk: Callable[..., Seat],
) -> None:
    seat = desk()
    seat.front.asks = False
    person = seat.person
    assert await person.allow(Consent("Change a.txt as shown above?", as_code=True))
    calls = Choice("Call mcp.time.now()?", (Option("y", "yes"), Option("n", "no")), as_code="y")
    assert await person.choose(calls) == "y"


@pytest.mark.parametrize(
    ("typed", "answer"),
    [("o\r", "o"), ("n\r", "n"), ("no\r", "n"), ("whatever\r", Decline("whatever"))],
)
async def test_one_of_several_answers_is_its_letter(
    desk: Callable[..., Seat], typed: str, answer: str | Decline
) -> None:
    seat, options = desk(), (Option("i", "install it"), Option("o", "lay it over"), Option("n", "no"))
    asking = asyncio.create_task(seat.person.choose(Choice("No ipykernel there.", options)))
    await seat.asked(1)
    assert "[i]nstall it · [o] lay it over · [n]o · [?]" in seat.terminal.shown()
    seat.keys.send_text(typed)
    assert await asyncio.wait_for(asking, 20) == answer


async def test_a_line_for_input_is_what_was_typed(desk: Callable[..., Seat]) -> None:
    seat = desk()
    typing = asyncio.create_task(seat.person.type_in("name? ", secret=False))
    await seat.asked(1)
    seat.keys.send_text("Ada \r")
    assert await asyncio.wait_for(typing, 20) == "Ada "


async def test_an_endless_prompt_shows_its_end(desk: Callable[..., Seat]) -> None:
    seat = desk()
    typing = asyncio.create_task(seat.person.type_in("x" * 100_000 + " name? ", secret=False))
    await seat.asked(1)
    seat.keys.send_text("Ada\r")
    assert await asyncio.wait_for(typing, 20) == "Ada"
    assert seat.terminal.getvalue().count("x") < 4_000
    assert " ".join(seat.terminal.shown()).endswith(" name? Ada")


async def test_nothing_of_a_secret_is_shown(desk: Callable[..., Seat]) -> None:
    seat = desk()
    typing = asyncio.create_task(seat.person.type_in("key: ", secret=True))
    await seat.asked(1)
    seat.keys.send_text("hunter2\r")
    assert await asyncio.wait_for(typing, 20) == "hunter2"
    assert seat.terminal.shown() == ["key:"]


async def test_ctrl_d_ends_the_input(desk: Callable[..., Seat]) -> None:
    seat = desk()
    typing = asyncio.create_task(seat.person.type_in("name? ", secret=False))
    await seat.asked(1)
    seat.keys.send_text("\x04")
    with pytest.raises(NobodyThere):
        await asyncio.wait_for(typing, 20)


@asynccontextmanager
async def teletype() -> AsyncIterator[tuple[int, int]]:
    """Both ends of a pseudo-terminal: the person's, and the program's."""
    hand, line = pty.openpty()
    try:
        yield hand, line
    finally:
        os.close(hand)
        os.close(line)


async def test_nothing_typed_before_the_question_counts() -> None:
    async with teletype() as (hand, line):
        screen = Watched()
        painter = screen.painter()
        desk = PromptApp.on(line, painter)
        front = TerminalFront(lambda: screen.screen(painter), keyboard=line)
        person = TerminalPerson(front, lambda: desk, environ={})
        os.write(hand, b"y\r")
        asking = asyncio.create_task(person.approve(CODE))
        await screen.wrote("\x1b[?2004h")
        os.write(hand, b"rather not\r")
        assert await asyncio.wait_for(asking, 20) == Decline("rather not")
        desk.close()


async def test_a_command_of_the_users_own_waits_at_a_question(
    tmp_path: Path, desk: Callable[..., Seat]
) -> None:
    (tmp_path / "terp/commands").mkdir(parents=True)
    (tmp_path / "terp/commands/review.md").write_text("Review it.")
    seat = desk()
    seat.person.context = Here(tmp_path)
    assert await seat.answered(Consent("Install pandas?"), "/review\r", "y\r") is True
    assert "/review has to wait until the question is answered." in seat.terminal.shown()
