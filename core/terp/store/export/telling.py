"""From the records of a session to its story."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from terp.events import (
    Answered,
    CheckFinished,
    CheckStarted,
    CodeDeclined,
    CodeDelta,
    CodeFinished,
    CodeProposed,
    CodeRejected,
    CodeStarted,
    CodeTyped,
    Event,
    LateOutput,
    ModelCalled,
    ModelRetrying,
    Printed,
    ReasoningDelta,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from terp.events.log import Record
from terp.events.outputs import Display, DisplayUpdate, Output
from terp.events.settled import Displays, Settled
from terp.session.artifacts import OUTPUTS, Artifacts, kept_at, mime_of, with_picture
from terp.session.asked_lines import AskedLines
from terp.store.export.story import Answer, Fate, Part, Prompt, Reasoning, Remark, Run, Story


def story_of(records: Sequence[Record], folder: Path) -> Story:
    """The story that `records` tell; pictures that are not in them are read from `folder`."""
    teller = _Teller(folder)
    for record in records:
        teller.take(record.event)
    began = records[0].time if records else 0.0
    return Story(folder.name, tuple(teller.parts()), teller.model, began, dict(teller.pictures))


@dataclass(slots=True)
class _OpenRun:
    """A run that may still change."""

    language: str
    code: str
    outputs: Settled
    typed: bool = False
    fate: Fate = "pending"
    count: int = 0
    reason: str = ""
    output_path: str = ""

    def closed(self) -> Run:
        return Run(
            self.language,
            self.code,
            self.fate,
            self.count,
            self.reason,
            tuple(self.outputs),
            self.typed,
            self.output_path,
            self.outputs.asked,
        )


@dataclass(slots=True)
class _Teller:
    folder: Path
    model: str = ""
    pictures: dict[str, Path] = field(default_factory=dict)
    _parts: list[Part | _OpenRun] = field(default_factory=list)
    _runs: dict[str, _OpenRun] = field(default_factory=dict)
    _reasoning: list[str] = field(default_factory=list)
    _text: list[str] = field(default_factory=list)
    _written: dict[str, tuple[str, str]] = field(default_factory=dict)
    _displays: Displays = field(default_factory=Displays)
    _check: str = ""
    _lines: AskedLines = field(default_factory=AskedLines)

    def parts(self) -> list[Part]:
        """Everything so far."""
        self._end_text()
        return [part.closed() if isinstance(part, _OpenRun) else part for part in self._parts]

    def take(self, event: Event) -> None:
        """Go on with one event."""
        self._lines.take(event)
        match event:
            case ReasoningDelta() | TextDelta() | CodeDelta():
                self._piece(event)
            case ModelRetrying():
                self._reasoning.clear()
                self._text.clear()
                self._written.clear()
            case TurnStarted() | ModelCalled() | TurnFinished() | CheckStarted() | CheckFinished():
                self._end_text()
                self._turn(event)
            case (
                CodeTyped()
                | CodeProposed()
                | CodeDeclined()
                | CodeRejected()
                | CodeStarted()
                | CodeFinished()
            ):
                self._end_text()
                self._call(event)
            case Printed(call_id=call_id, output=output) | LateOutput(call_id=call_id, output=output):
                self._output(call_id, output)
            case Answered(question_id=question_id, answer=answer):
                if run := self._runs.get(self._lines.run_of(question_id)):
                    run.outputs.typed(answer)
            case _:
                pass

    def _piece(self, event: ReasoningDelta | TextDelta | CodeDelta) -> None:
        match event:
            case ReasoningDelta(text=text):
                self._reasoning.append(text)
            case TextDelta(text=text, reference=reference):
                self._text.append(f"‹{text}›" if reference else text)
            case CodeDelta(call_id=call_id, language=language, text=text):
                before = self._written.get(call_id, ("", ""))
                self._written[call_id] = (language or before[0], before[1] + text)

    def _turn(self, event: TurnStarted | ModelCalled | TurnFinished | CheckStarted | CheckFinished) -> None:
        match event:
            case TurnStarted(prompt=prompt, attachments=attachments):
                self._parts.append(Prompt(prompt, attachments))
            case ModelCalled(model=model):
                self.model = model
                self._written.clear()
            case CheckStarted(check=check):
                self._check = check
            case CheckFinished(passed=passed):
                # Of one that has not, the next message tells, or the end.
                self._parts += [Remark(f"The check has passed: {self._check}")] if passed else []
            case TurnFinished(reason=reason, error=error, remedy=remedy):
                if reason != "done":
                    told = f"{error} {remedy}".strip() or f"The turn ended: {reason.replace('_', ' ')}."
                    self._parts.append(Remark(told))

    def _call(
        self, event: CodeTyped | CodeProposed | CodeDeclined | CodeRejected | CodeStarted | CodeFinished
    ) -> None:
        run = self._runs.get(event.call_id)
        if isinstance(event, CodeTyped):
            self._begin(event.call_id, event.language, event.code).typed = True
            return
        if isinstance(event, CodeProposed):
            if run is not None and run.fate == "pending":
                run.language, run.code = event.language, event.code
            else:
                self._begin(event.call_id, event.language, event.code)
            return
        if run is None or (run.fate != "pending" and not isinstance(event, CodeFinished)):
            # A resumed session may count its calls anew.
            run = self._begin(event.call_id, *self._written.get(event.call_id, ("", "")))
        match event:
            case CodeDeclined(reason=reason):
                run.fate, run.reason = "declined", reason
            case CodeRejected(reason=reason):
                run.fate, run.reason = "rejected", reason
            case CodeStarted(execution_count=count):
                # Until its end is told it has none: the process may have been killed.
                run.fate, run.count = "died", count
                run.output_path = Artifacts(self.folder / OUTPUTS).spooled(count)
            case CodeFinished(status=status, note=note, output_path=output_path, files=files):
                run.fate, run.reason, run.output_path = status, note, output_path
                for change in files:
                    self._note_picture(change.path)

    def _begin(self, call_id: str, language: str, code: str) -> _OpenRun:
        run = _OpenRun(language, code, Settled(self._displays))
        self._runs[call_id] = run
        self._parts.append(run)
        return run

    def _output(self, call_id: str, output: Output) -> None:
        run = self._runs.get(call_id)
        if run is None:
            return
        if isinstance(output, Display | DisplayUpdate):
            output = self._whole(output)
        run.outputs.add(output)

    def _end_text(self) -> None:
        reasoning, text = "".join(self._reasoning), "".join(self._text)
        self._reasoning.clear()
        self._text.clear()
        if reasoning.strip():
            self._parts.append(Reasoning(reasoning.strip()))
        if text.strip():
            self._parts.append(Answer(text.strip("\n")))

    def _note_picture(self, path: str) -> None:
        if mime_of(path):
            self.pictures[path] = Path(path)

    def _whole(self, display: Display | DisplayUpdate) -> Display | DisplayUpdate:
        """`display` with its picture, which a log on disk may have left to the file beside it."""
        if mime_of(display.path):
            self.pictures[display.path] = kept_at(display, self.folder)
        return with_picture(display, self.folder)
