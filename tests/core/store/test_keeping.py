"""What is written while a session goes on, and what comes back from it."""

import asyncio
import json
import os
import resource
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from terp.errors import SessionError, SessionInUse
from terp.events import (
    CodeFinished,
    CodeProposed,
    CodeTyped,
    Event,
    HistoryRewound,
    KernelChanged,
    Noticed,
    SessionResumed,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from terp.events.kernel import WrittenValue
from terp.events.log import Record
from terp.events.messages import Assistant, Attachment, Image, User
from terp.events.outputs import VariableChange
from terp.session.cost.budget import tally_of
from terp.session.session import Session
from terp.store.forms import event_to_json
from terp.store.journal import DAMAGED, NAME
from terp.store.keeping import Keeper, resumed
from terp.store.reading import read
from terp.testing import EchoKernel, collect
from terp.testing import call as call_of
from tests.core.sessions import of, unanswered
from tests.core.store.keeping import SECRET, again, header, kept, lines, redactor


def talk(folder: Path) -> Session:
    """A session with three turns, one of them with code, that is over."""

    async def scenario() -> Session:
        session = kept(folder, "hello", ["look: ", call_of("1 + 1", id="a")], "it is 2", "bye")
        for prompt in ("hi", "what is 1 + 1?", "thanks"):
            await collect(session, prompt)
        await session.aclose()
        return session

    return asyncio.run(scenario())


def test_the_conversation_comes_back_exactly(tmp_path: Path) -> None:
    session = talk(tmp_path / "s")
    assert tuple(read(tmp_path / "s").history) == session.history
    assert read(tmp_path / "s").history.turns == list(session.turns)


def test_the_events_come_back_with_the_text_of_each_reply_in_one_piece(tmp_path: Path) -> None:
    session = talk(tmp_path / "s")
    before = [record.event for record in session.log.since(0)]
    after = [record.event for record in read(tmp_path / "s").events.records]
    assert [event for event in after if not isinstance(event, TextDelta)] == [
        event for event in before if type(event).__name__ not in ("TextDelta", "CodeDelta")
    ]
    assert [event.text for event in of(TextDelta, after)] == ["hello", "look: ", "it is 2", "bye"]
    places = [type(event).__name__ for event in after]
    assert places.index("TextDelta") < places.index("UsageReported")


def test_numbers_of_events_stay_what_they_were(tmp_path: Path) -> None:
    numbers = {record.number: record.event for record in talk(tmp_path / "s").log.since(0)}
    for record in read(tmp_path / "s").events.records:
        if not isinstance(record.event, TextDelta):
            assert numbers[record.number] == record.event


def test_a_session_without_a_turn_leaves_nothing_behind(tmp_path: Path) -> None:
    session = kept(tmp_path / "s")
    asyncio.run(session.aclose())
    assert not (tmp_path / "s").exists()


def test_only_the_owner_can_read_what_is_kept(tmp_path: Path) -> None:
    talk(tmp_path / "s")
    modes = {
        path.name: stat.S_IMODE(path.stat().st_mode) for path in [tmp_path / "s", *(tmp_path / "s").iterdir()]
    }
    assert modes == {"s": 0o700, "events.jsonl": 0o600, "lock": 0o600, "outputs": 0o700}


@settings(max_examples=60)
@given(part=st.floats(0, 1))
def test_a_log_cut_at_any_byte_holds_a_good_prefix(
    part: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("cut")
    whole = talk(folder / "whole").history
    content = (folder / "whole" / NAME).read_bytes()
    beginning = content.index(b"\n") + 1
    cut = beginning + round(part * (len(content) - beginning))
    (folder / "cut").mkdir()
    (folder / "cut" / NAME).write_bytes(content[:cut])
    stored = read(folder / "cut")
    messages = tuple(stored.history)
    assert messages == whole[: len(messages)]
    assert content[: stored.end] == content[: content.rfind(b"\n", 0, cut) + 1]
    session = again(folder / "cut", "on we go")
    assert unanswered(session.history) == []
    asyncio.run(_one_more_turn(session))
    assert tuple(read(folder / "cut").history)[-2:] == session.history[-2:]
    assert tuple(read(folder / "cut").history) == session.history


def since_resumed(session: Session) -> list[Event]:
    return [record.event for record in session.log.since(session.log.resumed_at)]


async def _one_more_turn(session: Session) -> None:
    await collect(session, "and now?")
    await session.aclose()


def test_a_log_that_was_cut_inside_its_first_line_is_no_session(tmp_path: Path) -> None:
    talk(tmp_path / "s")
    (tmp_path / "s" / NAME).write_bytes(lines(tmp_path / "s")[0][:50])
    with pytest.raises(SessionError, match="its log has no beginning"):
        read(tmp_path / "s")


def test_damage_in_the_middle_ends_the_good_prefix_and_what_follows_is_put_aside(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    talk(folder)
    good = lines(folder)
    (folder / NAME).write_bytes(b"\n".join([*good[:5], b"\0" * 40, *good[5:]]) + b"\n")
    session = again(folder, "ok")
    assert [
        event.text for event in of(Noticed, [r.event for r in session.log.since(session.log.resumed_at)])
    ] == ["The log of this session is damaged at line 6; the rest of it is left out."]
    asyncio.run(_one_more_turn(session))
    assert (folder / DAMAGED).read_bytes().splitlines()[1:] == good[5:]
    assert read(folder).notices == ()


def test_records_of_a_newer_kind_are_skipped_with_a_notice(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    whole = talk(folder).history
    newer = [
        b'{"event":"dreamt","number":3,"time":1.0}',
        b'{"history":"mood","text":"x"}',
        b'{"weather":"fine"}',
    ]
    (folder / NAME).write_bytes(b"\n".join([*lines(folder)[:4], *newer, *lines(folder)[4:]]) + b"\n")
    stored = read(folder)
    assert tuple(stored.history) == whole
    assert stored.notices == (
        "3 records of this session left out: of a kind that a newer terp writes "
        "(dreamt, history mood, weather).",
    )


def test_secrets_are_not_written(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    key = "sk-" + "a1B2" * 8
    code = f"connect({SECRET!r}, '{key}', '-----BEGIN PRIVATE KEY-----')"
    session = kept(folder, [call_of(code, id="a")], f"I used {SECRET}.")
    asyncio.run(_one_more_turn(session))
    content = (folder / NAME).read_text()
    assert (SECRET in content, key in content, "BEGIN PRIVATE" in content) == (False, False, False)
    redacted = "connect('[redacted]', '[redacted]', '[redacted]"
    stored = read(folder)
    assert of(CodeProposed, [r.event for r in stored.events.records])[0].code == redacted
    asked = next(one for one in stored.history if isinstance(one, Assistant)).calls[0]
    assert asked == call_of(redacted, id="a")


def test_the_bytes_of_pictures_are_kept_as_they_are(tmp_path: Path) -> None:
    picture = Image("image/png", "iVBORw0KGgo" + "sk-" + "A" * 30)
    attached = Attachment("p.png", "[Attachment: p.png]", picture)

    async def scenario() -> Session:
        session = kept(tmp_path / "s", "nice")
        async for _ in session.turn("look", [attached]):
            pass
        await session.aclose()
        return session

    session = asyncio.run(scenario())
    stored = read(tmp_path / "s").history
    assert tuple(stored) == session.history
    assert stored.turns[0].attachments == (attached,)


def test_halves_of_characters_come_back(tmp_path: Path) -> None:
    session = kept(tmp_path / "s", "half \ud83d of one")
    asyncio.run(_one_more_turn(session))
    assert tuple(read(tmp_path / "s").history) == session.history


def test_a_disk_that_takes_no_more_is_told_once_and_the_session_goes_on(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    session = kept(folder, "one", "two")

    async def scenario() -> None:
        await collect(session, "hi")
        with no_file_longer_than((folder / NAME).stat().st_size + 100):
            assert of(TurnFinished, await collect(session, "and?"))[0].answer == "two"
        await session.aclose()

    asyncio.run(scenario())
    notices = of(Noticed, [record.event for record in session.log.since(0)])
    assert [notice.remedy for notice in notices] == ["It continues in memory."]
    assert tuple(read(folder).history) == (User("hi"), Assistant("one"))


@contextmanager
def no_file_longer_than(size: int) -> Iterator[None]:
    """A disk without room, as far as this process is concerned."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_folder_that_cannot_be_made_is_told_and_the_session_goes_on(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    session = kept(tmp_path / "file" / "s", "hello")

    async def scenario() -> None:
        assert of(TurnFinished, await collect(session, "hi"))[0].answer == "hello"
        await session.aclose()

    asyncio.run(scenario())
    notices = of(Noticed, [record.event for record in session.log.since(0)])
    assert [notice.remedy for notice in notices] == ["It continues in memory."]


def test_a_session_that_is_open_cannot_be_opened_again(tmp_path: Path) -> None:
    async def scenario() -> None:
        session = kept(tmp_path / "s", "hello")
        await collect(session, "hi")
        with pytest.raises(SessionInUse, match=rf"is open in another terp \(process {os.getpid()}\)"):
            resumed(tmp_path / "s", redactor)
        await session.aclose()
        await again(tmp_path / "s").aclose()

    asyncio.run(scenario())


def test_a_session_that_was_resumed_and_not_used_stays_as_it_was(tmp_path: Path) -> None:
    talk(tmp_path / "s")
    before = (tmp_path / "s" / NAME).read_bytes()
    session = again(tmp_path / "s")
    asyncio.run(session.aclose())
    assert (tmp_path / "s" / NAME).read_bytes() == before


def test_who_follows_a_resumed_session_sees_what_is_new_unless_all_is_asked_for(tmp_path: Path) -> None:
    talk(tmp_path / "s")
    session = again(tmp_path / "s", "ok")
    asyncio.run(_one_more_turn(session))

    async def follow(after: int | None) -> list[str]:
        return [type(record.event).__name__ async for record in session.events(after)]

    new, everything = asyncio.run(follow(None)), asyncio.run(follow(0))
    assert new[:2] == ["SessionResumed", "TurnStarted"]
    assert everything[-len(new) :] == new
    assert everything[:2] == ["TurnStarted", "ModelCalled"]


def test_numbers_and_costs_go_on_where_they_were(tmp_path: Path) -> None:
    before = talk(tmp_path / "s")
    session = again(tmp_path / "s", [call_of("2", id="b")], "ok")
    asyncio.run(_one_more_turn(session))
    proposed = of(CodeProposed, [record.event for record in session.log.since(0)])
    assert [event.call_id for event in proposed] == ["c1", "c2"]
    assert before.spent_usd is not None
    assert session.spent_usd == pytest.approx(before.spent_usd + 0.002)
    used = tally_of(record.event for record in session.log.since(0))
    assert (session.budget.used, used.calls) == (used, 6)


def test_the_model_is_told_once_that_the_kernel_is_new(tmp_path: Path) -> None:
    talk(tmp_path / "s")
    session = again(tmp_path / "s", "ok", "fine")

    async def scenario() -> None:
        await collect(session, "again?")
        await collect(session, "and again?")
        await session.aclose()

    asyncio.run(scenario())
    told = (
        "[This conversation was resumed. The kernel is new: all variables of earlier runs are gone; "
        "imports must be done again.]"
    )
    asked = [message.text for message in session.history if isinstance(message, User)][-2:]
    assert asked == [f"again?\n\n{told}", "and again?"]
    assert session.turns[-2].prompt == "again?"


def test_names_that_the_last_kernel_held_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    talk(folder)
    changed = (
        b'"changes":[{"name":"df","action":"new"},{"name":"tmp","action":"new"},{"name":"x","action":"new"}]'
    )
    gone = b'"changes":[{"name":"tmp","action":"removed"}]'
    finished = (
        b'{"event":"code_finished","number":90,"time":1.0,"call_id":"c1","status":"ok","seconds":0.1,%s}'
    )
    with (folder / NAME).open("ab") as file:
        file.write(finished % changed + b"\n" + finished % gone + b"\n")
    session = again(folder)
    assert of(SessionResumed, since_resumed(session)) == [SessionResumed("s", 3, lost=True, gone=("df", "x"))]


def test_the_death_of_a_kernel_takes_no_names_of_another_language(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    talk(folder)
    runs: list[Event] = []
    for call_id, language, name in (("c8", "python", "df"), ("c9", "r", "model")):
        changes = (VariableChange(name, "new"),)
        runs += [CodeTyped(call_id, language, "x"), CodeFinished(call_id, "ok", 0.1, changes=changes)]
    with (folder / NAME).open("a") as file:
        for number, event in enumerate([*runs, KernelChanged("r", "died", "")], 90):
            file.write(json.dumps(event_to_json(Record(number, 1.0, event)), separators=(",", ":")) + "\n")
    assert read(folder).gone == ("df",)


def ran(call_id: str, *changes: VariableChange) -> list[Event]:
    return [CodeTyped(call_id, "python", "x"), CodeFinished(call_id, "ok", 0.1, changes=changes)]


@pytest.mark.parametrize(
    ("last", "gone"),
    [
        (HistoryRewound(1, 0, undone=True), ("a", "k")),
        (HistoryRewound(1, 0), ("k", "b")),
        (KernelChanged("python", "restarted", ""), ()),
    ],
    ids=["undone", "only the conversation", "restarted"],
)
def test_names_of_undone_turns_are_not_named(tmp_path: Path, last: Event, gone: tuple[str, ...]) -> None:
    folder = tmp_path / "s"
    talk(folder)
    events: list[Event] = [
        *ran("c7", VariableChange("a", "new"), VariableChange("k", "new")),
        TurnStarted("delete it"),
        *ran("c8", VariableChange("a", "removed"), VariableChange("b", "new")),
        last,
    ]
    with (folder / NAME).open("a") as file:
        for number, event in enumerate(events, 90):
            file.write(json.dumps(event_to_json(Record(number, 1.0, event)), separators=(",", ":")) + "\n")
    assert read(folder).gone == gone


def test_another_model_does_not_get_what_only_the_one_before_understands(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    talk(folder)
    reply = b'{"history":"assistant","text":"hm","extras":{"thinking_blocks":[{"signature":"x"}]}}\n'
    with (folder / NAME).open("ab") as file:
        file.write(reply)
    assert again(folder).history[-1] == Assistant("hm", extras={"thinking_blocks": [{"signature": "x"}]})


def test_a_kernel_of_its_own_runs_what_is_new(tmp_path: Path) -> None:
    talk(tmp_path / "s")
    kernel = EchoKernel()
    session = again(tmp_path / "s", [call_of("2", id="b")], "ok", kernels=kernel)
    asyncio.run(_one_more_turn(session))
    assert kernel.ran == ["2"]
    assert session.history[-2].text == "2"


async def test_values_in_an_answer_are_there_again_when_its_session_is_read(tmp_path: Path) -> None:
    kernel = EchoKernel()
    kernel.values = {"n": WrittenValue("42"), "m": WrittenValue("7")}
    session = kept(tmp_path / "s", "`{{n}}` {{gone}} {{n}}{{m}} and {{n}}.", kernels=kernel)
    session.resources.references = True
    await collect(session, "go")
    await session.aclose()
    live = [(one.number, one.event) for one in session.log.since(0) if isinstance(one.event, TextDelta)]
    back = [
        (one.number, one.event)
        for one in read(tmp_path / "s").events.records
        if isinstance(one.event, TextDelta)
    ]
    assert [event for _, event in back] == [
        TextDelta("`{{n}}` {{gone}} "),
        TextDelta("42", "{{n}}"),
        TextDelta("7", "{{m}}"),
        TextDelta(" and "),
        TextDelta("42", "{{n}}"),
        TextDelta("."),
    ]
    assert set(back) - set(live) == {(back[0][0], back[0][1]), (back[3][0], back[3][1])}
    assert sorted({number for number, _ in back}) == [number for number, _ in back]
    assert tuple(read(tmp_path / "s").history) == session.history


async def test_an_open_session_reads_its_earlier_turns_from_the_disk(tmp_path: Path) -> None:
    keeper = Keeper(tmp_path / "s", header(tmp_path / "s"), redactor)
    session = kept(tmp_path / "s", "hello", "bye", keeper=keeper)
    await collect(session, "hi")
    said = session.log.last
    await collect(session, "thanks")
    earlier = keeper.earlier(said)
    assert earlier is not None
    texts = [event.text for event in of(TextDelta, [record.event for record in earlier.records])]
    assert (texts, earlier.last) == (["hello"], said)
    await session.aclose()
    assert keeper.earlier(said) is None
