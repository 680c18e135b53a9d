"""Rules between a proposal and the person: what was shown is what runs, and the log says by which rule."""

from pathlib import Path

import pytest

from terp.analysis.rules.deciding import FOR_THE_SESSION
from terp.events import Answered, CodeDeclined, CodeProposed, TurnFinished
from terp.person import AutoRun, Decline, Nobody, Person, Run
from terp.session.session import Session
from terp.testing import EchoKernel, ScriptedModel, ScriptedPerson, call, collect
from tests.core.analysis.rules.written import rules
from tests.core.sessions import of, open_session, results

MINE = {"allow": ("shell: git status", "effects: none"), "ask": ("shell: git **",), "deny": ("shell: rm **",)}


class EchoShell(EchoKernel):
    """An echo for a shell."""

    language = "shell"
    languages = ("shell",)


def opened(tmp_path: Path, codes: list[str], person: Person, **mine: tuple[str, ...]) -> Session:
    model = ScriptedModel(*([call(code, "shell")] for code in codes))
    session = open_session(tmp_path, model, EchoShell(), person)
    session.resources.rules = rules(**(mine or MINE))
    return session


def ran(session: Session) -> list[str]:
    assert isinstance(session.kernels, EchoShell)
    return session.kernels.ran


async def test_what_a_rule_allows_runs_without_a_question_and_the_log_names_the_rule(tmp_path: Path) -> None:
    person = ScriptedPerson()
    session = opened(tmp_path, ["git status"], person, allow=("shell: git status",))
    events = await collect(session, "go")
    assert (ran(session), person.shown) == (["git status"], [])
    assert of(Answered, events) == [Answered("q1", "run", "rule shell: git status (x.yaml:1)")]


async def test_what_no_rule_decides_is_asked_about(tmp_path: Path) -> None:
    person = ScriptedPerson("run")
    session = opened(tmp_path, ["git status; make"], person, allow=("shell: git status",))
    events = await collect(session, "go")
    assert (ran(session), of(Answered, events)) == (["git status; make"], [Answered("q1", "run", "person")])


@pytest.mark.parametrize(
    "person", [AutoRun(), Nobody(), ScriptedPerson("run")], ids=lambda one: type(one).__name__
)
async def test_what_a_rule_denies_never_runs_and_the_model_is_told_which_part(
    tmp_path: Path, person: Person
) -> None:
    session = opened(tmp_path, ["ls; rm x"], person)
    events = await collect(session, "go")
    assert (ran(session), results(session)) == ([], ["Not run: a rule of the user denies `rm x`."])
    assert of(Answered, events) == [Answered("q1", "declined", "rule shell: rm ** (x.yaml:1)")]
    assert of(CodeDeclined, events) == [CodeDeclined("c1", "a rule of the user denies `rm x`.")]
    assert events[-1] == TurnFinished("done", "done")


async def test_what_a_rule_asks_about_is_asked_under_auto_run_too(tmp_path: Path) -> None:
    person = ScriptedPerson(Decline("not now"))
    session = opened(tmp_path, ["git push", "make"], AutoRun(person))
    await collect(session, "go")
    assert ran(session) == ["make"]
    assert [shown.asks for shown in person.shown] == ["rule shell: git ** (x.yaml:1)"]


async def test_where_nobody_can_be_asked_a_rule_that_asks_ends_the_turn(tmp_path: Path) -> None:
    session = opened(tmp_path, ["git push"], AutoRun())
    events = await collect(session, "go")
    assert (ran(session), events[-1]) == (
        [],
        TurnFinished(
            "approval_needed",
            "",
            "You must be asked about the code, and nobody is there: rule shell: git ** (x.yaml:1).",
            "Run terp on a terminal, or change the rule.",
        ),
    )


async def test_edited_code_is_denied_by_a_rule_like_any_other(tmp_path: Path) -> None:
    session = opened(tmp_path, ["make"], ScriptedPerson(Run("rm x")))
    events = await collect(session, "go")
    assert [proposed.code for proposed in of(CodeProposed, events)] == ["make", "rm x"]
    assert (ran(session), results(session)) == ([], ["Not run: a rule of the user denies `rm x`."])


async def test_edited_code_is_shown_again_to_who_has_edited_it_also_where_a_rule_allows_it(
    tmp_path: Path,
) -> None:
    person = ScriptedPerson(Run("git status"), Decline("no"))
    session = opened(tmp_path, ["make"], person, allow=("shell: git status",))
    await collect(session, "go")
    assert (ran(session), [shown.code for shown in person.shown]) == ([], ["make", "git status"])


async def test_a_rule_that_the_person_adds_counts_for_the_rest_of_the_session(tmp_path: Path) -> None:
    person = ScriptedPerson(Run("make all", rules=("shell: make all",)), Decline("no"))
    session = opened(tmp_path, ["make all", "make all", "make all install"], person)
    events = await collect(session, "go")
    assert ran(session) == ["make all", "make all"]
    assert [(one.answer, one.by) for one in of(Answered, events)] == [
        ("run, and always: shell: make all", "person"),
        ("run", f"rule shell: make all ({FOR_THE_SESSION})"),
        ("declined: no", "person"),
    ]


async def test_code_that_runs_by_a_rule_is_drawn_before(tmp_path: Path) -> None:
    session = opened(tmp_path, ["git status"], Nobody(), allow=("shell: git status",))
    turn = session.turn("go")
    async for event in turn:
        if isinstance(event, CodeProposed):
            break
    assert ran(session) == []
    assert [event async for event in turn][-1] == TurnFinished("done", "done")
    assert ran(session) == ["git status"]
    await session.aclose()
