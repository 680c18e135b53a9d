"""Sessions on disk: going on with a long one, and what a record costs while it is written."""

import asyncio
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.measure import Row, medians, show
from terp.events import (
    Answered,
    Asked,
    CodeFinished,
    CodeProposed,
    CodeStarted,
    Event,
    ModelCalled,
    Printed,
    TurnFinished,
    TurnStarted,
    UsageReported,
)
from terp.events.log import EventLog, Record
from terp.events.messages import Assistant, Result
from terp.events.outputs import Text
from terp.person import AutoRun
from terp.secrets.redactor import Redactor
from terp.session.context.history import History
from terp.session.session import Session
from terp.store.catalogue import Catalogue
from terp.store.forms import Header
from terp.store.keeping import Keeper, resumed
from terp.store.reading import read
from terp.testing import EchoKernel, ScriptedModel, call

TURNS = 10_000


def redactor() -> Redactor:
    return Redactor(secrets=("a secret of the environment", "another one of them"))


def new(folder: Path) -> Keeper:
    return Keeper(folder, Header(folder.name, "/work", 1.7e9, "0"), redactor)


def write(folder: Path, turns: int) -> None:
    """A session with so many turns, each with a run and an answer: 16 records."""
    keeper = new(folder)
    log, history = EventLog(keep=keeper.event), History()
    history.watchers.append(keeper.change)
    for number in range(turns):
        asked = call("print(table.describe())", id=f"before{number}")
        call_id, code = f"c{number + 1}", "print(table.describe())"
        text = "count  mean  std\n" * 20
        add(log, TurnStarted(f"What about part {number}?"))
        history.begin(f"What about part {number}? " * 5)
        add(log, ModelCalled("scripted/model", 1), UsageReported(900, 40, 0, 0.001))
        history.append(Assistant("I look at the table.", (asked,)), (call_id,))
        add(log, CodeProposed(call_id, "python", code, "d" * 64, "/work", 1, "none"))
        add(log, Asked("q1", "approval", call_id), Answered("q1", "run", "person"))
        add(log, CodeStarted(call_id, number), Printed(call_id, Text("stdout", text)))
        add(log, CodeFinished(call_id, "ok", 0.1))
        history.append(Result(asked.id, text))
        add(log, ModelCalled("scripted/model", 2), UsageReported(1000, 90, 0, 0.001))
        history.append(Assistant("The numbers of this part are as before. " * 10))
        add(log, TurnFinished("done", "The numbers of this part are as before. " * 10))
    keeper.close()


def add(log: EventLog, *events: Event) -> None:
    for event in events:
        log.append(event)


def resume(folder: Path) -> float:
    """Seconds from a folder to a session that can be asked."""
    began = time.perf_counter()
    keeper = resumed(folder, redactor)
    session = Session(ScriptedModel(), EchoKernel(), AutoRun(), folder=folder, keeper=keeper)
    seconds = time.perf_counter() - began
    assert len(session.turns) == TURNS
    asyncio.run(session.aclose())
    return seconds


def decode(folder: Path) -> float:
    """Seconds to decode all events, as an export of the whole session does."""
    stored = read(folder)
    began = time.perf_counter()
    assert len(stored.events.records) > 10 * TURNS
    return time.perf_counter() - began


def append(folder: Path, records: int, *, sync: bool) -> float:
    """Seconds to append one record of an output of 340 characters, and to have it on the disk."""
    keeper = new(folder)
    keeper.event(Record(1, 1.7e9, TurnStarted("go")))
    printed = Printed("c1", Text("stdout", "count  mean  std\n" * 20))
    began = time.perf_counter()
    for number in range(records):
        keeper.event(Record(number + 2, 1.7e9, printed))
        if sync:
            keeper.event(Record(number + 2, 1.7e9, TurnFinished("done", "")))
    seconds = (time.perf_counter() - began) / records
    keeper.close()
    return seconds


def listing(folder: Path) -> Callable[[], float]:
    """Seconds to list 1,000 sessions, which were listed before."""
    for number in range(1_000):
        write(folder / f"2026-11-28-{number:08x}", 2)
    catalogue = Catalogue(folder)
    catalogue.listed()

    def listed() -> float:
        began = time.perf_counter()
        assert len(catalogue.listed()) == 1_000
        return time.perf_counter() - began

    return listed


def disk(path: Path, times: int) -> float:
    """Seconds that the disk alone takes for the same bytes."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    began = time.perf_counter()
    for _ in range(times):
        os.write(descriptor, b"x" * 500)
        getattr(os, "fdatasync", os.fsync)(descriptor)
    seconds = (time.perf_counter() - began) / times
    os.close(descriptor)
    return seconds


def rows(rounds: int = 5) -> Iterator[Row]:
    with TemporaryDirectory() as name:
        places = (Path(name) / str(number) for number in range(10_000))
        long = Path(name) / "long"
        write(long, TURNS)
        cases: dict[str, Callable[[], float]] = {
            "resume": lambda: resume(long),
            "decode": lambda: decode(long),
            "append": lambda: append(next(places), 2_000, sync=False),
            "synced": lambda: append(next(places), 200, sync=True),
            "list": listing(Path(name) / "many"),
            "disk": lambda: disk(next(places), 200),
        }
        taken = medians(rounds, cases)
        size = f"{(long / 'events.jsonl').stat().st_size / 1e6:.0f} MB, 16 records a turn"
    yield Row("resume of 10,000 turns", taken["resume"], "s", 1, size)
    yield Row("all their events decoded", taken["decode"], "s")
    yield Row("a list of 1,000 sessions", taken["list"] * 1e3, "ms", 50)
    yield Row("a record appended", taken["append"] * 1e3, "ms", 1)
    alone = f"the disk alone: {taken['disk'] * 1e3:.2g} ms"
    yield Row("a record appended and synced", taken["synced"] * 1e3, "ms", 1, alone)


if __name__ == "__main__":
    show(str(__doc__), rows())
