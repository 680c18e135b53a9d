"""A process that is killed while it writes, and what the next one makes of it."""

import asyncio
import os
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path

import pytest

from terp.errors import SessionInUse
from terp.events import (
    CodeProposed,
    CodeStarted,
    Event,
    ModelCalled,
    Noticed,
    SessionResumed,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from terp.events.messages import Assistant, Result, User
from terp.person import Decline, Run
from terp.session.session import Session
from terp.store.catalogue import Catalogue
from terp.store.journal import NAME
from terp.store.keeping import resumed
from terp.store.reading import read
from terp.testing import EchoKernel, Scripted, ScriptedModel, ScriptedPerson, collect
from terp.testing import call as call_of
from tests.core.sessions import of, unanswered
from tests.core.store.keeping import again, kept, redactor

ROOT = Path(__file__).resolve().parents[3]
# Talks until it is killed, and says the number of each event that a watcher has seen.
TALK = """
import asyncio, sys
from pathlib import Path
from contextlib import aclosing
from terp.testing import ScriptedModel, call
from tests.core.store.keeping import kept

async def main():
    replies = [reply for _ in range(10_000) for reply in ([call("x" * 200)], "done " * 50)]
    session = kept(Path(sys.argv[1]), model=ScriptedModel(*replies, chunk=40))
    while True:
        async with aclosing(session.turn("go on")) as events:
            async for event in events:
                pass
        for record in session.log.since(main.seen):
            main.seen = record.number
            if not type(record.event).__name__.endswith("Delta"):
                print(record.number, flush=True)

main.seen = 0
asyncio.run(main())
"""


@pytest.mark.parametrize("lines", [1, 40, 333])
def test_no_acknowledged_record_is_lost_when_the_writer_is_killed(tmp_path: Path, lines: int) -> None:
    folder = tmp_path / "s"
    environ = {"PYTHONPATH": f"{ROOT / 'core'}:{ROOT}", "PATH": os.environ["PATH"]}
    process = subprocess.Popen(
        [sys.executable, "-c", TALK, str(folder)], env=environ, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    with process, process.stdout:
        seen = [int(process.stdout.readline()) for _ in range(lines)]
        with pytest.raises(SessionInUse, match=rf"\(process {process.pid}\)"):
            resumed(folder, redactor)
        process.kill()
        seen += [int(line) for line in process.stdout if line.endswith("\n")]
    kept_numbers = {record.number for record in read(folder).events.records}
    assert set(seen) - kept_numbers == set()
    session = again(folder)
    assert unanswered(session.history) == []


def test_eight_sessions_beside_each_other_are_all_whole(tmp_path: Path) -> None:
    talk = TALK.replace("while True:", "for _ in range(10):")
    environ = {"PYTHONPATH": f"{ROOT / 'core'}:{ROOT}", "PATH": os.environ["PATH"]}
    processes = [
        subprocess.Popen(
            [sys.executable, "-c", talk, str(tmp_path / f"2025-11-21-{number:08x}")],
            env=environ,
            stdout=subprocess.DEVNULL,
        )
        for number in range(8)
    ]
    assert [process.wait(timeout=120) for process in processes] == [0] * 8
    assert [entry.turns for entry in Catalogue(tmp_path).listed()] == [10] * 8
    for entry in Catalogue(tmp_path).listed():
        assert unanswered(list(read(entry.folder).history)) == []


def stopped_at(folder: Path, kind: type[Event], *replies: Scripted) -> None:
    """A session that was killed when the first event of this kind had happened, as the next one finds it."""

    async def scenario() -> None:
        session = kept(folder / "whole", *replies)
        async with aclosing(session.turn("go")) as events:
            async for event in events:
                if isinstance(event, kind):
                    content = (folder / "whole" / "events.jsonl").read_bytes()
                    (folder / "s").mkdir()
                    (folder / "s" / "events.jsonl").write_bytes(content)
                    break
        await session.aclose()

    asyncio.run(scenario())


async def gone_on(session: Session) -> list[Event]:
    async with aclosing(session.continue_turn()) as events:
        return [event async for event in events]


TWO = [call_of("1", id="a"), call_of("2", id="b")]


def test_code_that_waited_for_an_answer_is_shown_as_pending_and_not_run(tmp_path: Path) -> None:
    stopped_at(tmp_path, CodeProposed, TWO)
    kernel = EchoKernel()
    session = again(tmp_path / "s", kernels=kernel)
    assert session.pending == ("1", "2")
    assert [record.event for record in session.log.since(session.log.resumed_at)] == [
        SessionResumed("s", 1, pending=("1", "2"))
    ]
    assert unanswered(session.history) == []
    assert kernel.ran == []


def test_pending_code_is_asked_about_again_and_the_turn_goes_on_with_its_counters(tmp_path: Path) -> None:
    stopped_at(tmp_path, CodeProposed, TWO)
    kernel, person, model = EchoKernel(), ScriptedPerson(Run("1"), Decline("no")), ScriptedModel("it is 1")
    session = again(tmp_path / "s", model=model, kernels=kernel, person=person)
    events = asyncio.run(gone_on(session))
    assert [proposed.call_id for proposed in person.shown] == ["c1", "c2"]
    assert kernel.ran == ["1"]
    assert events[0] == TurnStarted("go", continued=True)
    assert of(ModelCalled, events) == [ModelCalled("scripted/model", 2)]
    assert events[-1] == TurnFinished("done", "it is 1")
    assert tuple(session.history) == (
        User("go"),
        Assistant("", tuple(TWO)),
        Result("a", "1"),
        Result("b", "Not run: the person declined to run this code. They said: no"),
        Assistant("it is 1"),
    )
    assert session.pending == ()


def test_pending_code_is_left_alone_when_the_person_says_something_else(tmp_path: Path) -> None:
    stopped_at(tmp_path, CodeProposed, TWO)
    kernel = EchoKernel()
    session = again(tmp_path / "s", "all right", kernels=kernel)

    async def scenario() -> list[Event]:
        await collect(session, "never mind")
        left = await gone_on(session)
        await session.aclose()
        return left

    assert asyncio.run(scenario()) == []
    assert kernel.ran == []
    assert session.history[2:4] == (
        Result("a", "Not run: terp ended before the user had decided about this code."),
        Result("b", "Not run: terp ended before the user had decided about this code."),
    )


def test_who_resumes_reads_once_that_a_run_was_cut_off(tmp_path: Path) -> None:
    stopped_at(tmp_path, CodeStarted, [call_of(EchoKernel.ENDLESS, id="a")])
    session = again(tmp_path / "s", "fine")
    told = [record.event for record in session.log.since(session.log.resumed_at)]
    assert of(Noticed, told) == [
        Noticed(
            "Run 1 was cut off when terp ended, and its effects are not known: while True: pass",
            "/out 1 shows what is kept of its output.",
        )
    ]
    asyncio.run(_said(session, "go on"))
    later = again(tmp_path / "s")
    assert of(Noticed, [record.event for record in later.log.since(later.log.resumed_at)]) == []


def test_code_that_had_begun_is_never_run_again(tmp_path: Path) -> None:
    stopped_at(tmp_path, CodeStarted, [call_of(EchoKernel.ENDLESS, id="a"), call_of("2", id="b")])
    kernel = EchoKernel()
    session = again(tmp_path / "s", "fine", kernels=kernel)
    assert session.pending == ("2",)
    asyncio.run(gone_on(session))
    assert kernel.ran == ["2"]
    results = [message.text for message in session.history if isinstance(message, Result)]
    assert results == [
        "terp ended while this code ran. What it had done by then is not known, and its output is lost.",
        "[This conversation was resumed. The kernel is new: all variables of earlier runs are gone; "
        "imports must be done again.]\n2",
    ]


def test_who_was_told_of_the_new_kernel_with_a_result_is_not_told_again(tmp_path: Path) -> None:
    stopped_at(tmp_path, CodeStarted, [call_of(EchoKernel.ENDLESS, id="a"), call_of("2", id="b")])
    session = again(tmp_path / "s", "fine", "bye")

    async def scenario() -> None:
        await gone_on(session)
        await _said(session, "thanks")

    asyncio.run(scenario())
    assert session.history[-2:] == (User("thanks"), Assistant("bye"))


def test_numbers_of_pieces_that_were_seen_and_not_written_are_not_given_out_again(tmp_path: Path) -> None:
    async def scenario() -> tuple[int, list[Event]]:
        session = kept(tmp_path / "whole", model=ScriptedModel("a long answer", chunk=1))
        async with aclosing(session.turn("go")) as events:
            async for event in events:
                if isinstance(event, TextDelta) and event.text == "r":
                    break
            seen = session.log.last
            (tmp_path / "s").mkdir()
            (tmp_path / "s" / NAME).write_bytes((tmp_path / "whole" / NAME).read_bytes())
        await session.aclose()
        session = again(tmp_path / "s", "here I am")
        await _said(session, "hello?")
        return seen, [record.event async for record in session.events(after=seen)]

    seen, missed = asyncio.run(scenario())
    assert seen > 10
    assert [type(event) for event in missed[:2]] == [SessionResumed, TurnStarted]


def test_numbers_go_on_without_a_gap_when_all_that_was_seen_is_written(tmp_path: Path) -> None:
    session = kept(tmp_path / "s", "hi")
    asyncio.run(_said(session, "hello?"))
    assert read(tmp_path / "s").events.last == session.log.last


def test_a_turn_that_broke_off_before_any_reply_leaves_what_was_asked(tmp_path: Path) -> None:
    stopped_at(tmp_path, ModelCalled, "never")
    session = again(tmp_path / "s", "here I am")
    assert (session.history, session.pending) == ((User("go"),), ())
    asyncio.run(_said(session, "hello?"))
    assert session.history[-1] == Assistant("here I am")


async def _said(session: Session, prompt: str) -> None:
    await collect(session, prompt)
    await session.aclose()
