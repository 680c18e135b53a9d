"""What a person reads of a turn: every event as rows, and the tail of what is still growing."""

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, TypeVar, assert_never, cast

from rich.text import Text

from terp.events import (
    Answered,
    Asked,
    CodeDeclined,
    CodeDelta,
    CodeFinished,
    CodeProposed,
    CodeRejected,
    CodeStarted,
    Event,
    HistoryCompacted,
    KernelChanged,
    LateOutput,
    ModelCalled,
    ModelRetrying,
    Noticed,
    Printed,
    Progress,
    ReasoningDelta,
    TextDelta,
    TurnFinished,
    TurnStarted,
    UsageReported,
)
from terp_cli.render import look, words
from terp_cli.render.code import CodeStream
from terp_cli.render.fold import wrapped
from terp_cli.render.markdown import MarkdownStream
from terp_cli.render.output import OutputStream
from terp_cli.render.pieces import Pieces
from terp_cli.render.plain import PlainStream
from terp_cli.render.status import Status
from terp_cli.sanitise import one_line


class Stream(Protocol):
    """A part of the transcript that grows."""

    def finish(self) -> list[Text]:
        """The rows that were waiting for more."""

    def tail(self, limit: int) -> list[Text]:
        """The last rows of what may still change."""


Part = TypeVar("Part", bound=Stream)


class Transcript:
    """Draws the events of a session, one turn after the other.

    One part grows at a time: reasoning, text, the code of a call, the output of a run. When another
    begins, it is finished, and a blank row goes between them. `verbose` folds no traceback.
    """

    def __init__(
        self,
        width: Callable[[], int],
        tail_rows: Callable[[], int],
        clock: Callable[[], float],
        *,
        verbose: bool = False,
    ) -> None:
        self._width = width
        self._tail_rows = tail_rows
        self._clock = clock
        self._verbose = verbose
        self._cwd = ""
        self._obituary = ""
        self._status = Status()
        self._usage = words.Usage()
        self._part: Stream | None = None
        self._name = ""
        self._code: dict[str, Pieces] = {}
        self._numbers: dict[str, int] = {}
        self._code_language: str | None = None
        self._rows: list[Text] = []
        self._spaced = False

    def show(self, event: Event) -> list[Text]:
        """The rows that are finished with `event`."""
        self._draw(event)
        return self._taken()

    def tail(self, limit: int) -> list[Text]:
        """At most `limit` rows of what is not finished, the status line last."""
        if limit < 1:
            return []
        status = self._status.row(self._clock())
        rows = self._part.tail(limit - 2 if status else limit) if self._part and limit > 2 else []
        if status is None:
            return rows
        gap = [Text()] if not self._spaced or rows else []
        return [*rows, *gap, status][-limit:]

    def rest(self) -> list[Text]:
        """The rows of all that waits: something else is about to be drawn, or the turn is over."""
        self._end_part()
        return self._taken()

    def _draw(self, event: Event) -> None:
        match event:
            case ReasoningDelta() | TextDelta() | CodeDelta() | CodeProposed():
                self._write(event)
            case CodeStarted() | Printed() | LateOutput() | CodeFinished():
                self._run(event)
            case ModelCalled() | ModelRetrying() | Progress() | Asked() | KernelChanged():
                self._wait(event)
            case (
                TurnStarted() | Answered() | CodeDeclined() | CodeRejected() | HistoryCompacted() | Noticed()
            ):
                self._line(words.told(event))
            case UsageReported():
                self._usage.add(event)
            case TurnFinished():
                self._status.clear()
                self._end_part()
                self._line(words.ended(event, self._usage))
                self._usage = words.Usage()
            case _:
                assert_never(event)

    def _write(self, event: ReasoningDelta | TextDelta | CodeDelta | CodeProposed) -> None:
        self._status.wait("waiting for more", self._clock(), after_s=2.0)
        match event:
            case ReasoningDelta(text=text):
                self._keep(self._growing("reasoning", self._reasoning).feed(text))
            case TextDelta(text=text):
                self._keep(self._growing("text", self._markdown).feed(text))
            case CodeDelta():
                self._write_code(event)
            case CodeProposed():
                self._status.clear()
                self._propose(event)
            case _:
                assert_never(event)

    def _run(self, event: CodeStarted | Printed | LateOutput | CodeFinished) -> None:
        match event:
            case CodeStarted(call_id=call_id, execution_count=number):
                self._numbers[call_id] = number
                self._status.wait("running", self._clock(), after_s=0.5)
                self._begin("output " + call_id, self._output())
            case Printed(call_id=call_id, output=output):
                self._keep(self._growing("output " + call_id, self._output).add(output))
            case LateOutput(call_id=call_id, output=output):
                begun = self._name == "late " + call_id
                late = self._growing("late " + call_id, self._output)
                self._keep([] if begun else [words.late_header()])
                self._keep(late.add(output))
            case CodeFinished():
                self._status.clear()
                self._finish_run(event)
            case _:
                assert_never(event)

    def _wait(self, event: ModelCalled | ModelRetrying | Progress | Asked | KernelChanged) -> None:
        now = self._clock()
        match event:
            case ModelCalled(model=model):
                self._status.wait(f"waiting for {one_line(model)}", now)
            case ModelRetrying(delay_s=delay_s):
                self._line(words.retrying(event))
                self._status.count_down("trying again", now, delay_s)
            case Progress(seconds=seconds):
                self._status.wait(words.progress(event), now - seconds)
            case Asked():
                # Whoever asks draws the question; the person may be elsewhere.
                self._status.clear()
            case KernelChanged():
                self._kernel_changed(event)
            case _:
                assert_never(event)

    def _reasoning(self) -> PlainStream:
        return PlainStream(self._width, look.DIM)

    def _markdown(self) -> MarkdownStream:
        return MarkdownStream(self._width, self._tail_rows)

    def _output(self) -> OutputStream:
        return OutputStream(self._width, self._cwd, whole=self._verbose)

    def _growing(self, name: str, new: Callable[[], Part]) -> Part:
        """The part of this name if it is the one that grows; else a new one."""
        if self._name != name:
            self._begin(name, new())
        return cast("Part", self._part)

    def _begin(self, name: str, part: Stream | None) -> None:
        self._end_part()
        self._gap()
        self._name, self._part = name, part

    def _end_part(self) -> None:
        if self._part is not None:
            self._keep(self._part.finish())
        self._name, self._part = "", None

    def _line(self, rows: list[Text]) -> None:
        """Rows that stand alone; those of one kind follow each other without a gap."""
        if not rows:
            return
        if self._name != "line":
            self._begin("line", None)
        self._keep([part for row in rows for part in self._fit(row)])

    def _fit(self, row: Text) -> list[Text]:
        return wrapped(row, self._width())

    def _write_code(self, delta: CodeDelta) -> None:
        name = "code " + delta.call_id
        if self._name != name:
            # Code that another part has torn in two is shown whole when it is proposed.
            self._code_language = None if delta.call_id in self._code else delta.language
            self._code.setdefault(delta.call_id, Pieces())
            self._begin(name, CodeStream(delta.language, self._width))
            self._keep([words.code_header(delta.language)])
        self._code[delta.call_id].add(delta.text)
        self._keep(cast("CodeStream", self._part).feed(delta.text))

    def _propose(self, proposed: CodeProposed) -> None:
        self._cwd = proposed.cwd
        written = str(self._code.pop(proposed.call_id, ""))
        seen = self._name == "code " + proposed.call_id and self._code_language == proposed.language
        if not (seen and proposed.code.startswith(written)):
            self._begin("", CodeStream(proposed.language, self._width))
            self._keep([words.code_header(proposed.language)])
            written = ""
        self._keep(cast("CodeStream", self._part).feed(proposed.code[len(written) :]))
        self._end_part()

    def _finish_run(self, finished: CodeFinished) -> None:
        if self._name != "output " + finished.call_id:
            self._begin("", None)
        output = self._part
        self._end_part()
        if finished.note == self._obituary:
            finished = replace(finished, note="")
        cut = isinstance(output, OutputStream) and output.cut
        number = self._numbers.pop(finished.call_id, 0)
        self._keep([part for row in words.finished(finished, number=number) for part in self._fit(row)])
        # A path in one piece can be copied.
        self._keep(words.left_behind(finished, cut=cut))

    def _kernel_changed(self, changed: KernelChanged) -> None:
        starting = f"starting {one_line(changed.language)}"
        if changed.state == "starting" and not self._status.what:
            self._status.wait(starting, self._clock())
        elif changed.state == "ready" and self._status.what == starting:
            self._status.clear()
        self._obituary = changed.why if changed.state == "died" else ""
        self._line(words.kernel_changed(changed))

    def _gap(self) -> None:
        if not self._spaced:
            self._keep([Text()])

    def _keep(self, rows: list[Text]) -> None:
        if rows:
            self._rows += rows
            self._spaced = not rows[-1].plain.strip()

    def _taken(self) -> list[Text]:
        rows, self._rows = self._rows, []
        return rows
