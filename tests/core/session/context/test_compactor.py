"""When a conversation is shortened, what the model reads then, and how it comes back."""

from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from terp.errors import ContextFull, SessionError, Unavailable
from terp.events import HistoryCompacted, ModelCalled, TurnFinished, UsageReported
from terp.events.messages import Assistant, Message, Result, User
from terp.events.model import Chunk, Replied, Usage
from terp.kernels.jupyter.local import LocalKernels
from terp.models.facts.model_facts import Window
from terp.session.session import Session
from terp.store.reading import read
from terp.testing import EchoKernel, ScriptedModel, call, collect
from tests.core.sessions import of, open_session, untimed
from tests.core.store.keeping import again, kept

LONG = "The table has many rows. " * 30


def talked(*prompts: str) -> list[Message]:
    return [message for prompt in prompts for message in (User(prompt), Assistant(LONG))]


def small(session: Session, tokens: int = 1_000) -> Session:
    """The session, whose model reads so many tokens at once."""
    session.resources.windows = lambda _: Window(tokens)
    return session


def shortenings(session: Session) -> list[HistoryCompacted]:
    return of(HistoryCompacted, [record.event for record in session.log.since(0)])


def texts(messages: Sequence[Message]) -> list[str]:
    return [message.text for message in messages]


async def test_a_conversation_is_shortened_before_its_window_is_full(tmp_path: Path) -> None:
    model = ScriptedModel("We talked of rows.", "ok")
    session = small(open_session(tmp_path, model))
    session.history = talked("one", "two", "three", "four", "five")
    events = await collect(session, "go")
    (told,) = of(HistoryCompacted, events)
    assert (told.reason, told.how, told.window) == ("full", "summed up", 1_000)
    assert told.before > 750
    assert told.after < 425
    assert len(model.requests) == 2
    assert texts(session.history)[-2:] == ["go", "ok"]
    assert events[-1] == TurnFinished("done", "ok")


async def test_one_that_fits_is_left_as_it_is(tmp_path: Path) -> None:
    session = small(open_session(tmp_path, ScriptedModel("ok")))
    session.history = talked("one", "two")
    await collect(session, "go")
    assert shortenings(session) == []


async def test_what_the_provider_told_of_the_last_request_counts(tmp_path: Path) -> None:
    async def reasons(told: int) -> list[str]:
        first: list[Chunk] = [Usage(told, 1), Replied(Assistant("yes"))]
        session = small(open_session(tmp_path, ScriptedModel(first, "a summary", "ok")))
        session.history = talked("one", "two", "three")
        await collect(session, "go")
        await collect(session, "on")
        return [one.reason for one in shortenings(session)]

    assert await reasons(600) == []
    assert await reasons(900) == ["full"]


async def test_a_long_turn_is_shortened_between_its_replies(tmp_path: Path) -> None:
    steps = [[call(f"'{LONG}' + '{step}'")] for step in range(2)]
    model = ScriptedModel(*steps, "I looked at rows.", "ok")
    session = small(open_session(tmp_path, model))
    events = await collect(session, "look at all rows")
    assert [one.reason for one in of(HistoryCompacted, events)] == ["full"]
    assert "I looked at rows." in session.history[0].text
    assert session.history[1] == User("look at all rows")
    assert [turn.prompt for turn in session.turns] == ["look at all rows"]


async def test_a_summary_is_asked_for_behind_all_that_the_provider_has_cached(tmp_path: Path) -> None:
    model = ScriptedModel("one", "two", "a summary")
    session = open_session(tmp_path, model)
    await collect(session, "a")
    await collect(session, "b")
    await session.compact()
    assert model.requests[2][:4] == model.requests[1]
    assert model.tools[2] == model.tools[1]


async def test_a_model_that_calls_code_in_place_of_a_summary_is_asked_without_tools(tmp_path: Path) -> None:
    model = ScriptedModel("one", "two", [call("1 + 1")], "a summary")
    session = open_session(tmp_path, model)
    await collect(session, "a")
    await collect(session, "b")
    await session.compact()
    assert "a summary" in session.history[0].text
    assert model.tools[3] == ()
    assert isinstance(session.kernels, EchoKernel)
    assert session.kernels.ran == []


async def test_what_a_model_refuses_is_shortened_once_and_sent_again(tmp_path: Path) -> None:
    long = Result("a", "x" * 5000)
    history: list[Message] = [
        User("one"),
        Assistant("", (call("1", id="a"),)),
        long,
        Assistant("", (call("2", id="b"), call("3", id="c"))),
        Result("b", "y"),
        Result("c", "z"),
    ]
    model = ScriptedModel(ContextFull("too long"), "ok")
    session = open_session(tmp_path, model)
    session.history = history
    events = await collect(session, "go")
    assert [(one.how, one.reason, one.window) for one in of(HistoryCompacted, events)] == [
        ("outputs cut", "refused", 0)
    ]
    assert events[-1] == TurnFinished("done", "ok")
    assert len(model.requests) == 2


async def test_a_context_that_stays_full_ends_the_turn(tmp_path: Path) -> None:
    model = ScriptedModel(ContextFull("too long"), ContextFull("too long"))
    events = await collect(open_session(tmp_path, model), "go")
    assert events[-1].reason == "context_full"  # type: ignore[union-attr]


async def test_words_and_facts_are_kept_where_even_the_summary_is_too_long(tmp_path: Path) -> None:
    model = ScriptedModel(ContextFull("too long"), ContextFull("too long"), "ok")
    session = open_session(tmp_path, model)
    session.history = talked("one", "two", "three", "four")
    await collect(session, "go")
    summary = session.history[2]
    assert isinstance(summary, User)
    assert summary.said == ("two", "three", "four")
    assert "No kernel runs at this point, so there are no variables." in summary.text


async def test_what_cannot_be_made_short_enough_is_sent_as_it_is(tmp_path: Path) -> None:
    model = ScriptedModel("ok", "ok")
    session = small(open_session(tmp_path, model), 400)
    session.history = [User("a"), Assistant("b")]
    await collect(session, LONG * 3)
    await collect(session, "and?")
    assert texts(model.requests[0])[-1] == LONG * 3


async def test_a_model_that_fails_to_sum_up_ends_the_turn_and_changes_nothing(tmp_path: Path) -> None:
    session = small(open_session(tmp_path, ScriptedModel(Unavailable("No answer."))))
    before = session.history = tuple(talked("one", "two", "three", "four", "five"))
    events = await collect(session, "go")
    assert events[-1].reason == "unavailable"  # type: ignore[union-attr]
    assert session.history == (*before, User("go"))


async def test_a_turn_that_is_interrupted_while_it_is_summed_up_changes_nothing(tmp_path: Path) -> None:
    session = small(open_session(tmp_path, ScriptedModel("word " * 10_000)))
    before = session.history = tuple(talked("one", "two", "three", "four", "five"))
    async with aclosing(session.turn("go")) as events:
        async for event in events:
            if isinstance(event, ModelCalled):
                await session.interrupt()
    assert event == TurnFinished("interrupted", "")
    assert session.history == (*before, User("go"))


async def test_a_summary_costs_what_any_other_request_costs(tmp_path: Path) -> None:
    session = small(open_session(tmp_path, ScriptedModel("We talked.", "ok")))
    session.history = talked("one", "two", "three", "four", "five")
    events = await collect(session, "go")
    assert untimed(of(UsageReported, events)) == [UsageReported(10, 5, 0, 0.001, "scripted/model")] * 2
    assert session.spent_usd == 0.002


async def test_the_whole_conversation_comes_back_with_what_was_said_since(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel("1", "2", "3", "a summary", "4"))
    for prompt in ("a", "b", "c"):
        await collect(session, prompt)
    before, turns = session.history, session.turns
    await session.compact()
    await collect(session, "d")
    session.rewind.undo_compaction()
    assert session.history == (*before, User("d"), Assistant("4"))
    assert [turn.number for turn in session.turns] == [1, 2, 3, 4]
    assert session.turns[:3] == turns
    session.rewind.remove_turns(2)
    assert texts(session.history) == ["a", "1"]
    assert [one.reason for one in shortenings(session)] == ["asked", "undone"]
    with pytest.raises(SessionError, match="no compaction to undo"):
        session.rewind.undo_compaction()


async def test_a_turn_that_was_forgotten_meanwhile_does_not_come_back(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel("1", "2", "3", "a summary"))
    for prompt in ("a", "b", "c"):
        await collect(session, prompt)
    await session.compact()
    session.rewind.undo()
    session.rewind.undo_compaction()
    assert texts(session.history) == ["a", "1", "b", "2"]


async def test_a_conversation_that_began_anew_has_nothing_to_bring_back(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel("1", "2", "a summary"))
    await collect(session, "a")
    await collect(session, "b")
    await session.compact()
    session.rewind.reset()
    with pytest.raises(SessionError, match="no compaction to undo"):
        session.rewind.undo_compaction()


async def test_what_was_brought_back_is_left_alone_until_the_model_refuses_it(tmp_path: Path) -> None:
    model = ScriptedModel("a summary", "ok", "long", ContextFull("too long"), "another", "ok")
    session = small(open_session(tmp_path, model))
    session.history = talked("one", "two", "three", "four", "five")
    await collect(session, "go")
    session.rewind.undo_compaction()
    await collect(session, "and so")
    await collect(session, "on")
    assert [one.reason for one in shortenings(session)] == ["full", "undone", "refused"]


async def test_a_stored_session_goes_on_shortened_and_can_be_made_whole_again(tmp_path: Path) -> None:
    session = kept(tmp_path / "s", "1", "2", "3", "a summary")
    for prompt in ("a", "b", "c"):
        await collect(session, prompt)
    whole = session.history
    await session.compact()
    shortened = session.history
    await session.aclose()
    later = again(tmp_path / "s", "4")
    assert later.history == shortened
    later.rewind.undo_compaction()
    assert later.history == whole
    await collect(later, "d")
    await later.aclose()
    assert tuple(read(tmp_path / "s").history) == (*whole, User("d"), Assistant("4"))


# The kernel lives on the loop that started it.
@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_the_kernel_is_believed_and_not_the_summary(tmp_path: Path) -> None:
    lie = "Variables: df (a DataFrame of 10 rows), model (trained). Decision: drop empty rows."
    model = ScriptedModel([call("x = list(range(150)); open('rows.txt', 'w').close()")], "1", "2", lie)
    kernels = LocalKernels(str(tmp_path))
    session = open_session(tmp_path, model, kernels)
    async with aclosing(session):
        await collect(session, "make rows")
        await collect(session, "thanks")
        await session.compact()
        summary = session.history[0].text
    assert "- make rows" in summary
    assert "Decision: drop empty rows." in summary
    assert "Files that runs have left, the newest first: rows.txt (created)." in summary
    assert summary.endswith(
        "Variables in python at this point, whatever the notes say: x (list of length 150).]"
    )


async def test_a_kernel_that_was_started_anew_has_no_variables(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    session = open_session(tmp_path, ScriptedModel([call("x = 1")], "1", "2", "x is 1"), kernels)
    async with aclosing(session):
        await collect(session, "make x")
        await collect(session, "thanks")
        await kernels.get("python").restart()
        await session.compact()
        summary = session.history[0].text
    assert summary.endswith("There are no variables in python at this point: its kernel was restarted.]")
