"""Records of a long session leave memory, and are read again from its store."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from terp.events import Noticed, TurnFinished, TurnStarted
from terp.events.log import EventLog, Record


@dataclass
class Written:
    """A store in which all records can be read again."""

    all: list[Record] = field(default_factory=list)
    reads: int = 0

    def up_to(self, last: int) -> "UpTo":
        return UpTo(self, last)


@dataclass
class UpTo:
    written: Written
    last: int

    @property
    def records(self) -> Sequence[Record]:
        self.written.reads += 1
        return [record for record in self.written.all if record.number <= self.last]


def log_of(written: Written, turns: int) -> EventLog:
    """A log of turns of three records, of which at least six stay in memory."""
    log = EventLog(lambda: 0.0, keep=written.all.append, stored=written.up_to, in_memory=6)
    for number in range(turns):
        for event in (TurnStarted(f"prompt {number}"), Noticed(f"{number}"), TurnFinished("done", "")):
            log.append(event)
    return log


def test_whole_turns_leave_memory_at_the_start_of_a_turn() -> None:
    log = log_of(Written(), 5)
    assert (log.before, log.last) == (6, 15)


def test_a_reader_gets_all_records_whether_in_memory_or_not() -> None:
    written = Written()
    log = log_of(written, 20)
    assert [list(log.since(number)) for number in range(61)] == [written.all[at:] for at in range(61)]


def test_a_reader_of_the_last_turns_reads_nothing_from_the_store() -> None:
    written = Written()
    log = log_of(written, 20)
    log.since(log.before)
    assert written.reads == 0


def test_several_reads_in_one_turn_read_the_store_once() -> None:
    written = Written()
    log = log_of(written, 20)
    log.since(0)
    log.since(3)
    assert written.reads == 1


def test_all_records_stay_in_memory_where_the_store_cannot_read_them() -> None:
    log = EventLog(lambda: 0.0, in_memory=6)
    for _ in range(20):
        log.append(TurnStarted("go"))
    assert (log.before, len(log.since(0))) == (0, 20)
