"""The runs of a session, read once from its events.

runs = RunLog(session.log)          # follows the log: each look reads only what was logged since the last
runs = RunLog.of(events)            # or reads events to their end
runs.started, runs.find(3), runs.files, runs.names.of("python")
"""

from collections.abc import Callable, Iterable, Sequence
from pathlib import PurePath
from typing import Literal

from terp.errors import UnknownRun
from terp.events import (
    Answered,
    Asked,
    CodeDeclined,
    CodeDelta,
    CodeFinished,
    CodeProposed,
    CodeRejected,
    CodeStarted,
    CodeTyped,
    Event,
    HistoryRewound,
    KernelChanged,
    LateOutput,
    ModelCalled,
    ModelRetrying,
    Printed,
    SessionResumed,
    TurnStarted,
)
from terp.events.log import EventLog
from terp.events.outputs import (
    Display,
    DisplayUpdate,
    FileChange,
    InputRequest,
    Output,
    PerformedEffect,
    RunStatus,
    StoppedAt,
    VariableChange,
)
from terp.events.settled import Displays, Settled
from terp.text.dataclasses import dataclass, field, replace

Fate = RunStatus | Literal["pending", "declined", "rejected", "running"]

RERUN = "rerun-"
"""Prefix of the id of a call that runs the code of an earlier run again."""
_RESTORED = "python"
"""The only language whose variables a rewind restores."""
RERUN_PROMPT = "Run the code of this session again."
"""Prompt of the turn in which a session is rerun."""
_NOT_RUN = ("pending", "declined", "rejected")
_MOST_NAMED = 20


@dataclass(slots=True)
class LoggedRun:
    """A call of code and its run, if it has one.

    `number` is its execution count, 0 before it starts; `reason` says why code did not run, or explains an
    end that is not the code's own doing. `printed` are the outputs as they came; `outputs` are settled:
    text of one stream is in one piece, displays are as they were last updated, cleared output is gone.
    `answers` are the lines that its code was given. `typed` is code of the user. `after_restart` is the
    first run of its language after the kernel lost its variables. `undone`: a rewind has restored
    the variables that it changed. `started_at` and `finished_at` are the numbers of records, 0 for none.
    """

    call_id: str
    language: str = ""
    code: str = ""
    fate: Fate = "pending"
    number: int = 0
    reason: str = ""
    outputs: Iterable[Output] = ()
    typed: bool = False
    digest: str = ""
    seconds: float = 0.0
    output_path: str = ""
    changes: Sequence[VariableChange] = ()
    files: Sequence[FileChange] = ()
    effects: Sequence[PerformedEffect] = ()
    stopped_at: StoppedAt | None = None
    after_restart: bool = False
    asked: bool = False
    undone: bool = False
    started_at: int = 0
    finished_at: int = 0
    printed: list[Output] = field(default_factory=list)
    answers: list[str] = field(default_factory=list)

    @property
    def ran(self) -> bool:
        """Return True if the kernel had the code."""
        return self.fate not in _NOT_RUN

    @property
    def is_over(self) -> bool:
        """Return True if it ran to any end."""
        return self.ran and self.fate != "running"

    @property
    def is_rerun(self) -> bool:
        """Return True if it runs the code of an earlier run again."""
        return self.call_id.startswith(RERUN)

    @property
    def images(self) -> Sequence[str]:
        """The files of the pictures that it has displayed, each once."""
        displays = (one for one in self.printed if isinstance(one, Display | DisplayUpdate))
        return list(dict.fromkeys(display.path for display in displays if display.path))

    def closed(self) -> "LoggedRun":
        """Return a copy that no later event changes; a run without an end died with terp."""
        outputs = tuple(self.outputs)
        return replace(self, outputs=outputs, fate="died" if self.fate == "running" else self.fate)


Picture = Callable[[Display | DisplayUpdate], Display | DisplayUpdate]


class RunLog:
    """Reads runs from events, one by one.

    `picture` restores a display whose picture the log has left to a file. With `late` the output that came
    after the end of a run belongs to it as well.
    """

    def __init__(
        self, log: EventLog | None = None, *, picture: Picture | None = None, late: bool = False
    ) -> None:
        self._log = log
        self._read = 0
        self._picture = picture
        self._late = late
        self._runs: list[LoggedRun] = []
        self._by_call: dict[str, LoggedRun] = {}
        self._settled: dict[str, Settled] = {}
        self._written: dict[str, tuple[str, str]] = {}
        self._displays = Displays()
        self._inputs: list[tuple[str, str]] = []
        self._questions: dict[str, str] = {}
        self._files: dict[str, FileChange] = {}
        self._newest: dict[str, str] = {}
        self._names = KernelNames()
        self._new_kernels: set[str] = set()
        # How many runs there were at the start of each turn that is left.
        self._turns: list[int] = []

    @classmethod
    def of(cls, events: Iterable[Event], picture: Picture | None = None) -> "RunLog":
        """Return the runs of `events`, which are counted from 1."""
        runs = cls(picture=picture)
        for number, event in enumerate(events, 1):
            runs.take(event, number)
        return runs

    @property
    def all(self) -> Sequence[LoggedRun]:
        """All calls in the order in which they were proposed, also those that did not run."""
        self._read_on()
        return self._runs

    @property
    def started(self) -> Sequence[LoggedRun]:
        """The calls that ran, oldest first."""
        return [run for run in self.all if run.ran]

    @property
    def files(self) -> dict[str, FileChange]:
        """The files that runs have changed, by their paths, the newest last.

        A file that was created and changed counts as created; a deleted new file is left out.
        """
        self._read_on()
        return self._files

    @property
    def names(self) -> "KernelNames":
        """The variables that runs have left in the kernels."""
        self._read_on()
        return self._names

    def find(self, number: int) -> LoggedRun:
        """Return the run of that number that is over; a negative one counts from the end, -1 is the last.

        Raises:
            UnknownRun: there is none; the message names those that there are.
        """
        over = [run for run in self.all if run.is_over]
        if number < 0 and -number <= len(over):
            return over[number]
        # Numbers begin again where a kernel of an older session did: the last is meant.
        found = next((run for run in reversed(over) if run.number == number), None)
        if found is None:
            running = any(run.number == number and run.ran for run in self._runs)
            what = f"Run {number} is still running." if running else f"There is no run {number}."
            raise UnknownRun(f"{what} {_there_are([run.number for run in over])}")
        return found

    def newest_file(self, name: str) -> str:
        """Return the path of the newest file of this name that a run has made or shown; "" for none."""
        self._read_on()
        return self._newest.get(name, "")

    def take(self, event: Event, number: int = 0) -> None:
        """Read one event; `number` is that of its record."""
        match event:
            case CodeDelta() | ModelCalled() | ModelRetrying():
                self._write(event)
            case CodeTyped() | CodeProposed():
                self._propose(event)
            case CodeDeclined() | CodeRejected() | CodeStarted():
                self._decide(event, number)
            case Printed(call_id=call_id, output=output):
                self._print(call_id, output)
            case LateOutput(call_id=call_id, output=output):
                self._settle(call_id, output, late=True)
            case Asked(kind="input") | Answered():
                self._type_in(event)
            case CodeFinished():
                self._finish(event, number)
            case KernelChanged() | SessionResumed():
                self._end(event, number)
            case TurnStarted() | HistoryRewound():
                self._turn(event)
            case _:
                pass

    def _read_on(self) -> None:
        if self._log is not None:
            for record in self._log.since(self._read):
                self._read = record.number
                self.take(record.event, record.number)

    def _write(self, event: CodeDelta | ModelCalled | ModelRetrying) -> None:
        if isinstance(event, CodeDelta):
            language, text = self._written.get(event.call_id, ("", ""))
            self._written[event.call_id] = (event.language or language, text + event.text)
        else:
            self._written.clear()

    def _turn(self, event: TurnStarted | HistoryRewound) -> None:
        self._names.turn(event)
        if isinstance(event, TurnStarted):
            if not event.continued and event.prompt != RERUN_PROMPT:
                self._turns.append(len(self._runs))
            return
        removed = self._turns[max(0, len(self._turns) - event.removed) :]
        if event.undone and removed:
            for run in self._runs[removed[0] :]:
                run.undone = run.undone or run.language == _RESTORED
        del self._turns[len(self._turns) - len(removed) :]

    def _propose(self, event: CodeTyped | CodeProposed) -> None:
        run = self._by_call.get(event.call_id)
        if isinstance(event, CodeTyped):
            self._begin(event.call_id, event.language, event.code).typed = True
            return
        if run is None or run.fate != "pending":
            # A resumed session of an older terp counted its calls from 1 again.
            run = self._begin(event.call_id, event.language, event.code)
        run.language, run.code, run.digest = event.language, event.code, event.digest

    def _begin(self, call_id: str, language: str, code: str) -> LoggedRun:
        # A display that is shown again by a rerun is another one.
        displays = Displays() if call_id.startswith(RERUN) else self._displays
        outputs = self._settled[call_id] = Settled(displays)
        run = self._by_call[call_id] = LoggedRun(call_id, language, code, outputs=outputs)
        self._runs.append(run)
        return run

    def _running(self, call_id: str) -> LoggedRun:
        """Return a run that has started, also one whose beginning was not read."""
        run = self._by_call.get(call_id)
        if run is None:
            run = self._begin(call_id, "", "")
            run.fate = "running"
        return run

    def _decide(self, event: CodeDeclined | CodeRejected | CodeStarted, number: int) -> None:
        run = self._by_call.get(event.call_id)
        if run is None or run.fate != "pending":
            run = self._begin(event.call_id, *self._written.get(event.call_id, ("", "")))
        match event:
            case CodeDeclined(reason=reason):
                run.fate, run.reason = "declined", reason
            case CodeRejected(reason=reason):
                run.fate, run.reason = "rejected", reason
            case CodeStarted(execution_count=count):
                run.fate, run.number, run.started_at = "running", count, number
                if run.is_rerun:
                    self._new_kernels.clear()
                elif run.language in self._new_kernels:
                    run.after_restart = True
                    self._new_kernels.discard(run.language)

    def _print(self, call_id: str, output: Output) -> None:
        if isinstance(output, InputRequest):
            self._inputs.append((call_id, output.prompt))
        run = self._running(call_id)
        run.asked = run.asked or isinstance(output, InputRequest)
        run.printed.append(output)
        self._settle(call_id, output)

    def _settle(self, call_id: str, output: Output, *, late: bool = False) -> None:
        if isinstance(output, Display | DisplayUpdate):
            if output.path:
                self._newest[PurePath(output.path).name] = output.path
            if self._picture is not None:
                output = self._picture(output)
        if call_id in self._settled and (self._late or not late):
            self._settled[call_id].add(output)

    def _type_in(self, event: Asked | Answered) -> None:
        """Note the run that a request for input and its answer belong to; a job may be answered late."""
        if isinstance(event, Asked):
            # Before the prompt of a job stands which job it is; one without words ends any.
            fitting = [one for one in self._inputs if event.what.endswith(one[1])]
            if fitting:
                found = max(fitting, key=lambda one: len(one[1]))
                self._inputs.remove(found)
                self._questions[event.question_id] = found[0]
        elif run := self._by_call.get(self._questions.get(event.question_id, "")):
            run.answers.append(event.answer)
            self._settled[run.call_id].typed(event.answer)

    def _finish(self, event: CodeFinished, number: int) -> None:
        run = self._running(event.call_id)
        run.fate, run.reason, run.seconds, run.finished_at = event.status, event.note, event.seconds, number
        run.output_path, run.stopped_at = event.output_path, event.stopped_at
        run.changes, run.files, run.effects = event.changes, event.files, event.effects
        self._names.change(run.language or "python", event.changes)
        for change in event.files:
            self._change_file(change)
        # Of two of one name in a run the first counts.
        for change in reversed(event.files):
            self._newest[PurePath(change.path).name] = change.path if change.action != "deleted" else ""

    def _change_file(self, change: FileChange) -> None:
        self._files.pop(change.source, None)
        before = self._files.pop(change.path, None)
        if before is None or before.action != "created":
            self._files[change.path] = change
        elif change.action != "deleted":
            self._files[change.path] = before

    def _end(self, event: KernelChanged | SessionResumed, number: int) -> None:
        """Note which kernels have lost their variables."""
        if isinstance(event, KernelChanged):
            if event.ends_variables:
                self._names.end(event.language, number)
                self._new_kernels.add(event.language)
            return
        for run in self._runs:
            # The end of terp broke it off, so it has no end in the log.
            run.fate = "died" if run.fate == "running" else run.fate
        self._new_kernels |= {run.language for run in self._runs if run.ran}
        if event.lost:
            self._names.end("", number)


class KernelNames:
    """The variables that runs have left in kernels, and those that ended with a kernel."""

    def __init__(self) -> None:
        self._names: dict[str, dict[str, None]] = {}
        self._ends: dict[str, int] = {}
        self._turns: list[dict[str, None] | None] = []
        self.lost: set[str] = set()

    def of(self, language: str) -> Sequence[str]:
        """Return the variables of a language in the order in which they were bound."""
        return list(self._names.get(language, ()))

    def all(self) -> Sequence[str]:
        """Return the variables of all languages, each name once."""
        return list(dict.fromkeys(name for names in self._names.values() for name in names))

    def ended_at(self, language: str) -> int:
        """Return the number of the record with which its kernel last lost its variables; 0 for none."""
        return max(self._ends.get(language, 0), self._ends.get("", 0))

    @property
    def have_ended(self) -> bool:
        """Return True if any kernel has lost its variables."""
        return bool(self._ends)

    def change(self, language: str, changes: Iterable[VariableChange]) -> None:
        """Apply the changes of a run."""
        names = self._names.setdefault(language, {})
        for change in changes:
            if change.action == "removed":
                names.pop(change.name, None)
            else:
                names[change.name] = None

    def turn(self, event: TurnStarted | HistoryRewound) -> None:
        """Note the names of Python at the start of a turn, or restore them if its changes were undone."""
        if isinstance(event, TurnStarted):
            if not event.continued and event.prompt != RERUN_PROMPT:
                self._turns.append(dict(self._names.get(_RESTORED, {})))
            return
        removed = self._turns[max(0, len(self._turns) - event.removed) :]
        del self._turns[len(self._turns) - len(removed) :]
        if event.undone and removed and (names := removed[0]) is not None:
            self._names[_RESTORED] = names

    def end(self, language: str, number: int = 0) -> None:
        """End the variables of a language, or with "" those of all."""
        if language in ("", _RESTORED):
            # Nothing from before the end can be restored.
            self._turns = [None] * len(self._turns)
        self._ends[language] = number
        for ended in [language] if language else list(self._names):
            self.lost |= self._names.pop(ended, {}).keys()


def _there_are(numbers: Sequence[int]) -> str:
    if not numbers:
        return "No run of this session is over."
    named = ", ".join(map(str, numbers[-_MOST_NAMED:]))
    earlier = len(numbers) - _MOST_NAMED
    return f"There are {f'{earlier:,} earlier ones and ' if earlier > 0 else ''}{named}."
