"""A turn that goes on until its check has passed, in a small repository and with a real kernel."""

import sys
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from terp.checks.until.goal import Goal, check_of, goal_of
from terp.checks.until.loop import ask
from terp.errors import SettingsError
from terp.events import Asked, CheckFinished, CheckStarted, Event, TurnFinished, TurnStarted
from terp.events.messages import User
from terp.kernels.jupyter.local import LocalKernels
from terp.person import Nobody, Person
from terp.session.session import Session
from terp.settings import Settings
from terp.testing import EchoKernel, ScriptedModel, call
from tests.core.checks.until.projects import RIGHT, TESTS, project
from tests.core.sessions import of, open_session

pytestmark = pytest.mark.anyio
PYTEST = f"{sys.executable} -m pytest -q"
EDITS_TESTS = call("open('test_shop.py', 'w').write('def test_of_nothing(): pass\\n')")
LEAVES = call("open('shop.py', 'w').write('import sys; sys.exit(0)\\n')")
FIXES = call(f"open('shop.py', 'w').write({RIGHT!r})")


async def asked(session: Session, prompt: str = "make the tests pass") -> list[Event]:
    async with aclosing(ask(session, prompt)) as events:
        return [event async for event in events]


def session_in(
    cwd: Path, tmp_path: Path, model: ScriptedModel, goal: Goal | None, person: Person | None = None
) -> Session:
    session = open_session(tmp_path, model, LocalKernels(str(cwd)), person)
    session.resources.goal = goal
    return session


def prompts(model: ScriptedModel) -> Sequence[str]:
    """What the model was told last, each time that it was asked something new."""
    told = [request[-1].text for request in model.requests if isinstance(request[-1], User)]
    return list(dict.fromkeys(told))


async def test_neither_other_tests_nor_a_fake_pass_and_right_code_does(tmp_path: Path) -> None:
    model = ScriptedModel(EDITS_TESTS, "They pass.", LEAVES, "They pass now.", FIXES, "Fixed.")
    work = project(tmp_path / "work")
    session = session_in(work, tmp_path, model, Goal(check_of(PYTEST)))
    events = await asked(session)
    await session.aclose()
    checks = of(CheckFinished, events)
    assert [(one.attempt, one.passed, one.why, one.changed, one.left) for one in checks] == [
        (1, False, "It ended with exit status 1.", ("test_shop.py",), 4),
        (2, False, "It ended with exit status 3.", ("test_shop.py",), 3),
        (3, True, "", ("test_shop.py",), 2),
    ]
    assert of(TurnFinished, events) == [TurnFinished("done", "Fixed.")]
    assert isinstance(events[-1], TurnFinished)
    first, second, third = prompts(model)
    assert f"[When you are done this is checked, in a copy of the project: {PYTEST}" in first
    assert "assert 0 == 3" in second
    assert "Files of the check: changed test_shop.py.\nThe check counts with the original files" in second
    assert f"test_shop.py was:\n```\n{TESTS}" in second
    assert "SystemExit: 0" in third
    assert (work / "shop.py").read_text() == RIGHT


ADDS_TESTS = call("open('test_more.py', 'w').write('def test_more(): pass\\n')")
BREAKS_TESTS = call("open('test_shop.py', 'w').write('def test_of_nothing(): assert 0\\n')")
RESTORES = call(f"open('test_shop.py', 'w').write({TESTS!r})")
DECEIVED = "The code ran in the process that judged it, which it could deceive: read what changed."
RESULTS = "With the original files alone: 2 of 2 tests passed."


async def test_what_passed_is_what_is_on_disk(tmp_path: Path) -> None:
    model = ScriptedModel(FIXES, BREAKS_TESTS, "Done.", RESTORES, "Restored.")
    session = session_in(project(tmp_path / "work"), tmp_path, model, Goal(check_of(PYTEST)))
    events = await asked(session)
    await session.aclose()
    why = (
        "It passes with the original files alone, and not with those on disk: It ended with exit status 1. "
        "Restore test_shop.py, or let it be changed: --until-protect '!test_shop.py'."
    )
    assert [(one.passed, one.why, one.changed, one.results) for one in of(CheckFinished, events)] == [
        (False, why, ("test_shop.py",), (RESULTS, "With all files on disk: 0 of 1 tests passed.")),
        (True, "", (), (DECEIVED,)),
    ]
    assert why in prompts(model)[1] and f"test_shop.py was:\n```\n{TESTS}" in prompts(model)[1]


async def test_user_and_model_are_told_of_new_files_when_a_check_has_passed(tmp_path: Path) -> None:
    model = ScriptedModel(FIXES, ADDS_TESTS, "Done.", "Yes.")
    session = session_in(project(tmp_path / "work"), tmp_path, model, Goal(check_of(PYTEST)))
    [finished] = of(CheckFinished, await asked(session))
    session.resources.goal = None
    await asked(session, "What is new?")
    await session.aclose()
    results = (RESULTS, "With all files on disk: 3 of 3 tests passed.", DECEIVED)
    assert (finished.passed, finished.new, finished.results) == (True, ("test_more.py",), results)
    told = f"[The check has passed: {PYTEST}\nFiles of the check: new test_more.py. {' '.join(results)}]"
    assert told in prompts(model)[1]


async def test_tests_that_start_the_code_as_a_program_cannot_be_deceived(tmp_path: Path) -> None:
    test = (
        "import subprocess, sys\ndef test():\n    assert not subprocess.call([sys.executable, 'shop.py'])\n"
    )
    work = project(tmp_path / "work", **{"test_shop.py": test})
    session = session_in(work, tmp_path, ScriptedModel("It does."), Goal(check_of(PYTEST)))
    assert [(one.passed, one.results) for one in of(CheckFinished, await asked(session))] == [(True, ())]


async def test_the_model_is_asked_again_as_often_as_is_allowed(tmp_path: Path) -> None:
    model = ScriptedModel("I did.", "I did.", "I did.")
    goal = Goal(check_of("echo in 0.12s; exit 1"), max_revisions=2)
    session = session_in(project(tmp_path / "work"), tmp_path, model, goal)
    events = await asked(session)
    assert [one.left for one in of(CheckFinished, events)] == [2, 1, 0]
    assert events[-1] == TurnFinished(
        "until_failed",
        "I did.",
        "The check has not passed, tried 3 times: echo in 0.12s; exit 1. It ended with exit status 1.",
        "Say what to do differently, or raise --max-revisions.",
    )
    assert session.log.since(0)[-1].event == events[-1]
    again = ["This is the same failure as before" in told for told in prompts(model)]
    assert (again, "the last time that you are asked" in prompts(model)[-1]) == ([False, False, True], True)


async def test_a_check_that_passes_at_once_asks_nothing_more(tmp_path: Path) -> None:
    model = ScriptedModel("It is.")
    session = session_in(project(tmp_path / "work"), tmp_path, model, Goal(check_of("true")))
    events = await asked(session)
    assert (len(model.requests), of(CheckStarted, events)) == (1, [CheckStarted("true", 1)])
    assert events[-1] == TurnFinished("done", "It is.")


async def test_without_a_goal_a_turn_ends_with_the_answer(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel("Yes."), EchoKernel())
    assert (await asked(session))[-1] == TurnFinished("done", "Yes.")


async def test_a_turn_that_is_not_done_is_not_checked(tmp_path: Path) -> None:
    model = ScriptedModel(call("1"))
    session = session_in(project(tmp_path / "work"), tmp_path, model, Goal(check_of("true")), Nobody())
    events = await asked(session)
    assert (of(CheckStarted, events), of(TurnFinished, events)[-1].reason) == ([], "approval_needed")


async def test_an_interrupt_ends_the_check_and_all_of_it(tmp_path: Path) -> None:
    goal = Goal(check_of("sleep 60"))
    session = session_in(project(tmp_path / "work"), tmp_path, ScriptedModel("Yes."), goal)
    seen: list[Event] = []
    async with aclosing(ask(session, "go")) as events:
        async for event in events:
            seen.append(event)
            if isinstance(event, CheckStarted):
                await session.interrupt()
    assert [one.why for one in of(CheckFinished, seen)] == ["It was interrupted."]
    assert seen[-1] == TurnFinished("interrupted", "Yes.")


async def test_a_check_of_a_profile_is_asked_about_before_anything_is_done(tmp_path: Path) -> None:
    settings = Settings(until="true", origins={"until": "work.yaml:3"})
    model = ScriptedModel("Yes.")
    session = session_in(project(tmp_path / "work"), tmp_path, model, goal_of(settings), Nobody())
    await asked(session)
    questions = of(Asked, [record.event for record in session.log.since(0)])
    assert [one.what for one in questions] == ["Check with: true"]


async def test_a_check_that_may_not_run_leaves_nothing_asked(tmp_path: Path) -> None:
    settings = Settings(until="true", origins={"until": "work.yaml:3"})
    model = ScriptedModel("Yes.")
    session = session_in(project(tmp_path / "work"), tmp_path, model, goal_of(settings), Nobody())
    events = await asked(session)
    assert (model.requests, of(TurnStarted, events)) == ([], [])
    assert events[-1] == TurnFinished(
        "declined",
        "",
        "The check of work.yaml:3 may not run, so the model was not asked: true",
        "In this session there is no check now; --until '' leaves it out from the start.",
    )


@pytest.mark.parametrize(("by_project", "reason"), [((), "done"), (("until",), "declined")])
async def test_who_runs_code_unasked_is_asked_about_a_check_of_the_project_alone(
    tmp_path: Path, by_project: Sequence[str], reason: str
) -> None:
    settings = Settings(
        until="true", origins={"until": ".terp/profile.yaml:1"}, by_project=frozenset(by_project)
    )
    session = session_in(project(tmp_path / "work"), tmp_path, ScriptedModel("Yes."), goal_of(settings))
    assert of(TurnFinished, await asked(session))[-1].reason == reason


def test_no_project_lets_files_of_a_check_change() -> None:
    settings = Settings(
        until="true",
        until_protect=("!tests/*",),
        origins={"until_protect": ".terp/profile.yaml:2"},
        by_project=frozenset({"until_protect"}),
    )
    with pytest.raises(SettingsError) as told:
        goal_of(settings)
    assert told.value.problems == (
        ".terp/profile.yaml:2: until_protect: only you can say with ! what may be changed.",
    )


@pytest.mark.parametrize("origin", ["--until", "TERP_UNTIL", "terp.open"])
async def test_a_check_that_was_typed_is_not_asked_about(tmp_path: Path, origin: str) -> None:
    settings = Settings(until="true", origins={"until": origin})
    session = session_in(
        project(tmp_path / "work"), tmp_path, ScriptedModel("Yes."), goal_of(settings), Nobody()
    )
    assert of(TurnFinished, await asked(session))[-1].reason == "done"


async def test_where_code_runs_elsewhere_there_is_no_check(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel("Yes."), EchoKernel())
    session.resources.goal = Goal(check_of("true"))
    events = await asked(session)
    assert [(one.reason, one.error) for one in of(TurnFinished, events)] == [
        ("usage", "until: checks run only on this machine, and the code runs behind a gateway.")
    ]
