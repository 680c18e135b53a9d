"""What a turn came to, for use from Python."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from terp.errors import StopReason, TerpError
from terp.events import (
    CheckFinished,
    CodeFinished,
    CodeProposed,
    Event,
    ModelCalled,
    ModelRetrying,
    Printed,
    TextDelta,
    TurnFinished,
    UsageReported,
)
from terp.events.outputs import Display, Error, FileChange, Output, StoppedAt, Text, VariableChange
from terp.session.cost.tally import Tally
from terp.text.plain import without_escapes


@dataclass(frozen=True, slots=True)
class CodeRun:
    """Code that ran in a turn, and what it put out, in order.

    `changes` are those of the variables, `stopped_at` is where a run that was stopped stood.
    """

    language: str
    code: str
    status: str
    outputs: tuple[Output, ...]
    changes: tuple[VariableChange, ...] = ()
    stopped_at: StoppedAt | None = None

    @property
    def text(self) -> str:
        """The text of the outputs, without colours."""
        return "".join(_text(output) for output in self.outputs)


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer of a turn, and all that its code made; with a check, of all that were needed for it.

    `checks` are the attempts of that, in order. `computed` has the values that terp has put into the answer,
    by the references that the model wrote. `used` is what the calls of the model used, added up.
    """

    text: str
    stop_reason: StopReason
    error: str = ""
    code_log: tuple[CodeRun, ...] = ()
    files: tuple[str, ...] = ()
    input_tokens: int = 0
    output_tokens: int = 0
    cost_usd: float | None = 0.0
    remedy: str = ""
    checks: tuple[CheckFinished, ...] = ()
    computed: Mapping[str, str] = field(default_factory=dict)
    used: Tally = field(default_factory=Tally)

    @property
    def outputs(self) -> tuple[Output, ...]:
        """The outputs of all runs, in order."""
        return tuple(output for run in self.code_log for output in run.outputs)

    @property
    def images(self) -> tuple[str, ...]:
        """Paths of the pictures that were displayed."""
        return tuple(o.path for o in self.outputs if isinstance(o, Display) and o.path)

    @property
    def errors(self) -> tuple[Error, ...]:
        """The exceptions that ended runs."""
        return tuple(output for output in self.outputs if isinstance(output, Error))

    def __str__(self) -> str:
        return self.text


class TurnFailed(TerpError):
    """A turn ended without an answer; `reply` is what it came to until then."""

    def __init__(self, message: str, remedy: str = "", *, reply: Reply) -> None:
        super().__init__(message, remedy)
        self.reply = reply
        self.stop_reason = reply.stop_reason

    def __str__(self) -> str:
        """Also the remedy: a caller in Python sees this alone, below a traceback."""
        return f"{self.message} {self.remedy}".rstrip()


@dataclass(slots=True)
class _Gathered:
    proposed: dict[str, CodeProposed] = field(default_factory=dict)
    outputs: dict[str, list[Output]] = field(default_factory=dict)
    runs: list[CodeRun] = field(default_factory=list)
    files: dict[str, FileChange] = field(default_factory=dict)
    used: Tally = field(default_factory=Tally)
    checks: list[CheckFinished] = field(default_factory=list)
    computed: dict[str, str] = field(default_factory=dict)
    finished: TurnFinished = field(default_factory=lambda: TurnFinished("interrupted", ""))


def reply_of(events: Iterable[Event]) -> Reply:
    """The reply that the events of one turn amount to."""
    gathered = _Gathered()
    for event in events:
        _gather(event, gathered)
    return Reply(
        gathered.finished.answer,
        gathered.finished.reason,
        gathered.finished.error,
        tuple(gathered.runs),
        tuple(one.here for one in gathered.files.values() if one.action != "deleted" and one.here),
        gathered.used.input_tokens,
        gathered.used.output_tokens,
        gathered.used.cost_usd,
        gathered.finished.remedy,
        tuple(gathered.checks),
        gathered.computed,
        gathered.used,
    )


def _gather(event: Event, gathered: _Gathered) -> None:
    match event:
        case CodeProposed(call_id=call_id):
            gathered.proposed[call_id] = event
        case Printed(call_id=call_id, output=output):
            gathered.outputs.setdefault(call_id, []).append(output)
            if isinstance(output, Display) and output.path:
                gathered.files[output.path] = FileChange(output.path, "created")
        case CodeFinished(call_id=call_id, status=status, files=files) if call_id in gathered.proposed:
            call, outputs = gathered.proposed[call_id], tuple(gathered.outputs.get(call_id, []))
            gathered.runs.append(
                CodeRun(call.language, call.code, status, outputs, event.changes, event.stopped_at)
            )
            gathered.files.update({change.path: change for change in files})
        case CheckFinished():
            gathered.checks.append(event)
        case TextDelta(text=text, reference=reference) if reference:
            gathered.computed[reference] = text
        case ModelCalled() | ModelRetrying():
            # The answer is the last reply.
            gathered.computed.clear()
        case UsageReported():
            gathered.used = gathered.used.plus(event)
        case TurnFinished():
            gathered.finished = event
        case _:
            pass


def _text(output: Output) -> str:
    match output:
        case Text(text=text):
            return without_escapes(text)
        case Display(data=data, path=path):
            shown = path or data.get("text/plain", "")
            return f"{shown}\n"
        case Error(name=name, value=value):
            return f"{name}: {value}\n"
        case _:
            return ""
