"""The outcome of a turn or of a run, for use from Python and in notebooks."""

import base64
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from terp.errors import StopReason, TerpError
from terp.events import (
    CheckFinished,
    Event,
    ModelCalled,
    ModelRetrying,
    TextDelta,
    TurnFinished,
    UsageReported,
)
from terp.events.outputs import Display, Error, Output, StoppedAt, Text, VariableChange
from terp.events.run_log import LoggedRun, RunLog
from terp.session.cost.budget import Tally
from terp.session.observation import plain_of
from terp.text import pictures
from terp.text.dataclasses import dataclass, field
from terp.text.fences import fenced
from terp.text.plain import without_escapes


class Showable:
    """A result with a text, which notebooks show as Markdown."""

    __slots__ = ()

    def show(self, write: Callable[[str], object] | None = None) -> None:
        """Show it with tables and pictures below a notebook's cell; elsewhere pass the text to `write`.

        Raises:
            TerpError: there is no notebook, and no `write`, such as `print`.
        """
        if write is not None:
            write(str(self))
        elif (ipython := sys.modules.get("IPython")) is not None and ipython.get_ipython() is not None:
            ipython.display.display(self)
        else:
            raise TerpError("There is no notebook to show it in.", "reply.show(print) prints the text.")


@dataclass(frozen=True, slots=True)
class CodeRun(Showable):
    """Code that ran in a turn, and its outputs in order.

    `changes` are those of the variables, `stopped_at` is where a run that was stopped stood. `reason`
    explains an end that is not the code's own doing.
    """

    language: str
    code: str
    status: str
    outputs: tuple[Output, ...]
    changes: tuple[VariableChange, ...] = ()
    stopped_at: StoppedAt | None = None
    reason: str = ""

    @property
    def text(self) -> str:
        """The text of the outputs, without colours."""
        return "".join(_text(output) for output in self.outputs)

    @property
    def error(self) -> Error | None:
        """The exception that ended the run (`name`, `value`, `traceback`); None if it ended normally.

        Its name is KernelDied if the kernel ended while the code ran.
        """
        found = next((output for output in reversed(self.outputs) if isinstance(output, Error)), None)
        return found or (Error("KernelDied", self.reason) if self.status == "died" else None)

    def __str__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        text = "".join(_text(output) for output in self.outputs if not _rich(output))
        return bundle_of(fenced(text) if text else "", self.outputs, self.text)


@dataclass(frozen=True, slots=True)
class Reply(Showable):
    """The answer of a turn and the results of its code; with a check, of all its turns.

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

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return bundle_of(self.text, self.outputs, self.text)


class TurnFailed(TerpError):
    """A turn ended without an answer; `reply` has its results until then."""

    def __init__(self, message: str, remedy: str = "", *, reply: Reply) -> None:
        # As text, too, it ends with its remedy: programs print that.
        super().__init__(f"{message} {remedy}".rstrip())
        self.message, self.remedy = message, remedy
        self.reply = reply
        self.stop_reason = reply.stop_reason


def reply_of(events: Iterable[Event]) -> Reply:
    """Return the reply that the events of one turn amount to."""
    runs, used, finished = RunLog(), Tally(), TurnFinished("interrupted", "")
    checks: list[CheckFinished] = []
    computed: dict[str, str] = {}
    for event in events:
        runs.take(event)
        match event:
            case CheckFinished():
                checks.append(event)
            case TextDelta(text=text, reference=reference) if reference:
                computed[reference] = text
            case ModelCalled() | ModelRetrying():
                # The answer is the last reply.
                computed.clear()
            case UsageReported():
                used = used.plus(event)
            case TurnFinished():
                finished = event
            case _:
                pass
    return Reply(
        finished.answer,
        finished.reason,
        finished.error,
        tuple(code_run(run) for run in runs.all if run.is_over and run.language),
        tuple(files_in(runs)),
        used.input_tokens,
        used.output_tokens,
        used.cost_usd,
        finished.remedy,
        tuple(checks),
        computed,
        used,
    )


def code_run(run: LoggedRun) -> CodeRun:
    """Return a run as programs read it."""
    printed, changes = tuple(run.printed), tuple(run.changes)
    return CodeRun(run.language, run.code, run.fate, printed, changes, run.stopped_at, run.reason)


def files_in(runs: RunLog) -> Iterator[str]:
    """Yield the paths on this machine of displayed pictures, and of the files that runs left."""
    left: dict[str, str] = {}
    for run in runs.started:
        left.update((output.path, output.path) for output in run.printed if isinstance(output, Display))
        left.update((change.path, "" if change.action == "deleted" else change.here) for change in run.files)
    yield from filter(None, left.values())


def _text(output: Output) -> str:
    match output:
        case Text(text=text):
            return without_escapes(text)
        case Display(data=data, path=path):
            shown = path or (plain_of(data) if data else "")
            return f"{shown}\n"
        case Error(name=name, value=value):
            return f"{name}: {value}\n"
        case _:
            return ""


def bundle_of(lead: str, outputs: Sequence[Output], plain: str) -> dict[str, Any]:
    """Return Markdown for a notebook: `lead`, then the tables and pictures among the outputs.

    It is Markdown only, because notebooks sanitise that: HTML of a page would run its scripts, and code in
    the sandbox can write any.
    """
    parts = [lead, *map(_rich, outputs)]
    return {"text/markdown": "\n\n".join(filter(None, parts)), "text/plain": plain}


_TABLE = re.compile(r"<table\b.*</table>", re.DOTALL | re.IGNORECASE)


def _rich(output: Output) -> str:
    """Return the picture or table of an output as Markdown; "" if it has none."""
    if not isinstance(output, Display):
        return ""
    if found := pictures.raster(output.data):
        return f"![picture](data:{found[0]};base64,{base64.b64encode(found[1]).decode()})"
    page = output.data.get("text/html")
    table = _TABLE.search(page) if isinstance(page, str) else None
    # An empty line would end the table.
    return re.sub(r"\n\s*", "\n", table[0]) if table else ""
