"""Turns taken back, conversations copied and shortened: what the model then reads, and what is kept."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from terp.errors import ContextFull, SessionError
from terp.events import (
    CodeCompared,
    CodeProposed,
    Event,
    HistoryCompacted,
    HistoryRewound,
    SessionForked,
    TurnFinished,
)
from terp.events.messages import Assistant, Attachment, Message, User
from terp.events.outputs import Text
from terp.person import Choice, Consent, Decline, Run
from terp.session.replay.source import session_runs
from terp.session.session import Session
from terp.store.catalogue import Catalogue
from terp.store.reading import read
from terp.testing import EchoKernel, ScriptedModel, ScriptedPerson, collect
from terp.testing import call as call_of
from tests.core.sessions import of, open_session
from tests.core.store.keeping import SECRET, again, kept

FILE = Attachment("a.csv", "[Attachment: a.csv]")


async def talked(session: Session, *prompts: str) -> None:
    for prompt in prompts:
        await collect(session, prompt)


def texts(messages: Sequence[Message]) -> list[str]:
    return [message.text for message in messages]


async def test_undo_takes_the_whole_last_turn_out_of_the_request(tmp_path: Path) -> None:
    model = ScriptedModel("one", [call_of("x", id="a")], "two", "three")
    session = open_session(tmp_path, model)
    await talked(session, "first", "second")
    assert session.rewind.undo().prompt == "second"
    await talked(session, "third")
    assert texts(model.requests[-1])[1:] == ["first", "one", "third"]


async def test_what_went_with_a_turn_that_was_taken_back_is_told_again(
    tmp_path: Path,
) -> None:
    model = ScriptedModel("one", "two", "again", "new")
    session = open_session(tmp_path, model)
    await talked(session, "first")
    session.note("[x is 5 now]")
    await talked(session, "second")
    session.rewind.undo()
    await talked(session, "second, better")
    assert texts(model.requests[-1])[1:] == ["first", "one", "second, better\n\n[x is 5 now]"]
    session.rewind.reset()
    await talked(session, "something else")
    assert texts(model.requests[-1])[1:] == ["something else"]


async def test_undo_gives_back_what_was_attached_so_that_it_can_be_asked_again(tmp_path: Path) -> None:
    model = ScriptedModel("one", "another")
    session = open_session(tmp_path, model)
    async with aclosing(session.turn("look", [FILE])) as events:
        async for _ in events:
            pass
    past = session.rewind.undo()
    async with aclosing(session.turn(past.prompt, past.attachments)) as events:
        async for _ in events:
            pass
    assert model.requests[0] == model.requests[1]
    assert session.history == (User("look\n\n[Attachment: a.csv]"), Assistant("another"))


async def test_there_is_nothing_to_undo_in_an_empty_conversation(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="There is no turn to undo"):
        open_session(tmp_path, ScriptedModel()).rewind.undo()


async def test_rewind_goes_back_to_before_a_turn(tmp_path: Path) -> None:
    model = ScriptedModel("one", "two", "three", "four")
    session = open_session(tmp_path, model)
    await talked(session, "a", "b", "c")
    removed = session.rewind.remove_turns(2)
    await talked(session, "d")
    assert [(turn.number, turn.prompt) for turn in removed] == [(2, "b"), (3, "c")]
    assert texts(model.requests[-1])[1:] == ["a", "one", "d"]
    assert [(turn.number, turn.prompt) for turn in session.turns] == [(1, "a"), (2, "d")]
    assert of(HistoryRewound, [record.event for record in session.log.since(0)]) == [HistoryRewound(2, 1)]


@pytest.mark.parametrize("number", [0, 4])
async def test_a_turn_that_does_not_exist_is_told(tmp_path: Path, number: int) -> None:
    session = open_session(tmp_path, ScriptedModel())
    await talked(session, "a", "b", "c")
    with pytest.raises(SessionError, match=f"There is no turn {number}; the last one is 3"):
        session.rewind.remove_turns(number)


async def test_reset_forgets_all_and_the_next_turn_is_the_first(tmp_path: Path) -> None:
    model = ScriptedModel("one", "two")
    session = open_session(tmp_path, model)
    await talked(session, "a")
    session.rewind.reset()
    await talked(session, "b")
    assert texts(model.requests[-1])[1:] == ["b"]
    assert [(turn.number, turn.prompt) for turn in session.turns] == [(1, "b")]


async def test_nothing_is_taken_back_while_a_turn_goes_on(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel("one"))
    async with aclosing(session.turn("a")) as events:
        async for _ in events:
            with pytest.raises(RuntimeError, match="another turn"):
                session.rewind.undo()
            with pytest.raises(RuntimeError, match="another turn"):
                session.history = ()
            break


async def test_compacting_replaces_all_but_the_last_turn_by_a_summary(tmp_path: Path) -> None:
    model = ScriptedModel("one", "two", "three", "We spoke of a and b.", "four")
    session = open_session(tmp_path, model)
    await talked(session, "a", "b", "c")
    assert await session.compact("the letter a")
    await talked(session, "d")
    assert model.requests[3][-1].text.endswith("Above all keep: the letter a")
    summary, *rest = model.requests[-1][1:]
    assert isinstance(summary, User)
    assert summary.said == ("a", "b")
    assert "Your notes of it:\nWe spoke of a and b.\n" in summary.text
    assert texts(rest) == ["c", "three", "d"]
    assert [turn.number for turn in session.turns] == [3, 4]
    told = of(HistoryCompacted, [record.event for record in session.log.since(0)])
    assert [(event.how, event.reason) for event in told] == [("summed up", "asked")]
    with pytest.raises(SessionError, match="Turn 2 is part of a summary") as told_back:
        session.rewind.remove_turns(2)
    assert told_back.value.remedy == "/compact undo restores it."


async def test_a_single_turn_cannot_be_compacted(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel("one"))
    await talked(session, "a")
    with pytest.raises(ContextFull, match="There is nothing to compact"):
        await session.compact()


async def test_compacting_can_be_interrupted_and_changes_nothing_then(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel("one", "two", "word " * 10_000))
    await talked(session, "a", "b")
    before = session.history
    compacting = asyncio.create_task(session.compact())
    await asyncio.sleep(0)
    await session.interrupt()
    assert (await compacting, session.history) == (False, before)


def everything(folder: Path) -> Session:
    """A kept session in which all was done that changes a conversation."""

    async def scenario() -> Session:
        model = ScriptedModel("1", "2", "3", "4", "5", "6", "a summary", "7")
        session = kept(folder, model=model)
        await talked(session, "a", "b", "c")
        session.rewind.undo()
        await talked(session, "d", "e")
        session.rewind.remove_turns(3, copy=True)
        await talked(session, "f")
        await session.compact()
        await talked(session, "g")
        await session.aclose()
        return session

    return asyncio.run(scenario())


def test_what_was_done_to_a_conversation_is_seen_when_it_is_resumed(tmp_path: Path) -> None:
    session = everything(tmp_path / "s")
    stored = read(tmp_path / "s")
    assert tuple(stored.history) == session.history
    assert tuple(stored.history.turns) == session.turns
    assert texts(session.history)[1:] == ["f", "6", "g", "7"]


def test_undo_and_reset_are_seen_when_a_session_is_resumed(tmp_path: Path) -> None:
    async def scenario() -> None:
        session = kept(tmp_path / "s", "1", "2")
        await talked(session, "a")
        session.rewind.reset()
        await talked(session, "b")
        session.rewind.undo()
        await session.aclose()

    asyncio.run(scenario())
    assert list(read(tmp_path / "s").history) == []


async def test_a_fork_has_the_same_past_and_each_goes_on_alone(tmp_path: Path) -> None:
    session = kept(tmp_path / "s", [call_of("x", id="a")], "1", "2")
    await talked(session, "a")
    copy = session.rewind.fork()
    await talked(session, "b")
    await session.aclose()
    stored = read(tmp_path / copy)
    assert texts(list(stored.history)) == ["a", "", "x", "1"]
    assert (stored.header.id, stored.header.forked_from, stored.header.title) == (copy, "s", "a")
    assert (tmp_path / copy / "outputs" / "1.txt").read_text() == "x\n"
    assert texts(session.history)[-2:] == ["b", "2"]
    assert of(SessionForked, [record.event for record in session.log.since(0)]) == [SessionForked(copy)]
    other = again(tmp_path / copy, "3")
    await talked(other, "c")
    await other.aclose()
    assert tuple(read(tmp_path / "s").history) == session.history


async def test_a_fork_does_not_count_as_used_after_the_session_that_goes_on(tmp_path: Path) -> None:
    session = kept(tmp_path / "2025-11-20-00000000", "one")
    await talked(session, "first")
    copies = [session.rewind.fork() for _ in range(5)]
    await session.aclose()
    entries = Catalogue(tmp_path).listed()
    assert entries[0].id == session.folder.name
    assert {entry.id for entry in entries[1:]} == {*copies}


async def test_files_of_a_fork_are_its_own(tmp_path: Path) -> None:
    session = kept(tmp_path / "s", [call_of("x", id="a")], "1")
    await talked(session, "a")
    copy = session.rewind.fork()
    await session.aclose()
    assert str(tmp_path / "s" / "outputs") not in (tmp_path / copy / "events.jsonl").read_text()


async def test_rewinding_can_keep_the_other_branch_as_a_session(tmp_path: Path) -> None:
    session = kept(tmp_path / "s", "1", "2")
    await talked(session, "a", "b")
    session.rewind.remove_turns(2, copy=True)
    await session.aclose()
    rewound = of(HistoryRewound, [record.event for record in session.log.since(0)])[0]
    assert texts(list(read(tmp_path / rewound.copy).history)) == ["a", "1", "b", "2"]
    assert texts(list(read(tmp_path / "s").history)) == ["a", "1"]


async def test_what_is_not_kept_is_rewound_without_a_copy(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel("1"))
    await talked(session, "a")
    session.rewind.remove_turns(1, copy=True)
    assert of(HistoryRewound, [record.event for record in session.log.since(0)]) == [HistoryRewound(1, 0)]


async def test_what_is_not_kept_cannot_be_forked(tmp_path: Path) -> None:
    with pytest.raises(SessionError, match="This session is not stored"):
        open_session(tmp_path, ScriptedModel()).rewind.fork()


async def ran_again(session: Session) -> list[Event]:
    earlier = [record.event for record in session.log.since(0)]
    async with aclosing(session.rerun(session_runs(earlier))) as events:
        return [event async for event in events]


async def with_code(folder: Path) -> None:
    session = kept(folder, [call_of("1", id="a"), call_of("2", id="b"), call_of("3", id="c")], "done")
    await talked(session, "go")
    await session.aclose()


async def test_code_is_run_again_in_order_and_compared(tmp_path: Path) -> None:
    await with_code(tmp_path / "s")
    kernel = EchoKernel({"2": [Text("stdout", "two\n")]})
    person = ScriptedPerson("run", "run", Decline("no"))
    session = again(tmp_path / "s", "ok", kernels=kernel, person=person)
    events = await ran_again(session)
    assert kernel.ran == ["1", "2"]
    difference = "--- run 2 then\n+++ run 2 now\n@@ -1 +1 @@\n-2\n+two"
    assert [(event.done, event.total, event.difference) for event in of(CodeCompared, events)] == [
        (1, 3, ""),
        (2, 3, difference),
    ]
    summary = "1 of 3 runs printed the same as before, 1 something else, 1 left out."
    assert events[-1] == TurnFinished("done", summary)
    await talked(session, "go on")
    told = (
        f"[The kernel is new, and the code of this conversation was run again in it. {summary}\n{difference}]"
    )
    assert session.history[-2] == User(f"go on\n\n{told}")
    await session.aclose()


async def test_code_that_was_run_again_counts_once(tmp_path: Path) -> None:
    await with_code(tmp_path / "s")
    first = again(tmp_path / "s")
    await ran_again(first)
    await first.aclose()
    second = EchoKernel()
    session = again(tmp_path / "s", kernels=second)
    await ran_again(session)
    await session.aclose()
    assert second.ran == ["1", "2", "3"]


async def test_code_that_the_person_typed_is_run_again_in_its_place(tmp_path: Path) -> None:
    session = kept(tmp_path / "s", [call_of("2", id="a")], "done")
    async with aclosing(session.run("python", "1")) as events:
        async for _ in events:
            pass
    await talked(session, "go")
    await session.aclose()
    kernel = EchoKernel()
    resumed = again(tmp_path / "s", kernels=kernel)
    await ran_again(resumed)
    await resumed.aclose()
    assert kernel.ran == ["1", "2"]
    assert Catalogue(tmp_path).listed()[0].title == "go"


async def test_code_from_which_a_secret_was_taken_is_not_run(tmp_path: Path) -> None:
    key = "sk-" + "a1B2" * 8
    session = kept(tmp_path / "s", [call_of(f"login({key!r})", id="a")], "done")
    await talked(session, "go")
    await session.aclose()
    kernel = EchoKernel()
    resumed = again(tmp_path / "s", kernels=kernel)
    events = await ran_again(resumed)
    await resumed.aclose()
    assert kernel.ran == []
    assert events[-1] == TurnFinished("done", "0 of 1 runs printed the same as before, 1 left out.")


async def test_code_that_could_not_be_run_again_does_not_count_as_done(tmp_path: Path) -> None:
    class Absent:
        async def approve(self, proposed: CodeProposed) -> Run | Decline:
            raise LookupError(proposed.code)

        async def allow(self, _: Consent) -> bool:
            return False

        async def choose(self, _: Choice) -> str:
            return ""

        async def type_in(self, prompt: str, *, secret: bool) -> str:
            raise LookupError(prompt)

    await with_code(tmp_path / "s")
    session = again(tmp_path / "s", person=Absent())
    with pytest.raises(LookupError):
        await ran_again(session)
    (end,) = of(TurnFinished, [record.event for record in session.log.since(session.log.resumed_at)])
    assert end.reason == "error"
    await session.aclose()


async def test_a_secret_that_is_printed_again_is_no_difference_and_is_not_told(tmp_path: Path) -> None:
    def printing(more: str) -> EchoKernel:
        return EchoKernel({"1": [Text("stdout", f"{SECRET}\n{more}")]})

    session = kept(tmp_path / "s", [call_of("1", id="a")], "done", kernels=printing(""))
    await talked(session, "go")
    await session.aclose()
    session = again(tmp_path / "s", kernels=printing(""))
    assert of(CodeCompared, await ran_again(session))[0].difference == ""
    await session.aclose()
    session = again(tmp_path / "s", "ok", kernels=printing("more\n"))
    await ran_again(session)
    await talked(session, "go on")
    assert "[redacted]\n+more]" in session.history[-2].text
    assert SECRET not in session.history[-2].text
    await session.aclose()


async def test_the_model_hears_also_of_code_that_was_run_again_in_part(tmp_path: Path) -> None:
    await with_code(tmp_path / "s")
    session = again(tmp_path / "s", "ok")
    found = session_runs([record.event for record in session.log.since(0)])
    async with aclosing(session.rerun(found)) as events:
        async for event in events:
            if isinstance(event, CodeCompared):
                break
    await talked(session, "go on")
    assert (
        "was run again in it. 1 of 3 runs printed the same as before, 2 not reached."
        in session.history[-2].text
    )
    await session.aclose()
