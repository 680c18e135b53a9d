"""The story of a session: what was said and what ran, in order. Every export format is made from it."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from terp.events import (
    CheckFinished,
    CheckStarted,
    CodeDeclined,
    CodeFinished,
    CodeProposed,
    CodeRejected,
    CodeStarted,
    CodeTyped,
    ModelCalled,
    ModelRetrying,
    ReasoningDelta,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from terp.events.log import Record
from terp.events.outputs import Display, DisplayUpdate, Error, Output, Text
from terp.events.run_log import LoggedRun, RunLog
from terp.secrets.redactor import Redactor
from terp.session.artifacts import OUTPUTS, Artifacts, kept_at, mime_of, with_picture
from terp.text.dataclasses import dataclass, field, replace
from terp.text.pictures import is_picture
from terp.text.wording import shortened

_TITLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt of the user, and the names of its attachments."""

    text: str
    attachments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ReasoningPart:
    """The model's reasoning before the answer or the call that follows."""

    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A piece of the model's text, up to its next call."""

    text: str


@dataclass(frozen=True, slots=True)
class Remark:
    """The reason why a turn ended without an answer, or that its check has passed."""

    text: str


Part = Prompt | ReasoningPart | Answer | LoggedRun | Remark


@dataclass(frozen=True, slots=True)
class Story:
    """The parts of a session; `name` is that of its folder, `began` a time in seconds since the epoch.

    `pictures` are the raster images that runs have left in files, by their path.
    """

    name: str
    parts: tuple[Part, ...] = ()
    model: str = ""
    began: float = 0.0
    pictures: Mapping[str, Path] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The first line of the first prompt, else the name."""
        prompts = (part.text.strip().split("\n")[0] for part in self.parts if isinstance(part, Prompt))
        title = next((line.strip() for line in prompts if line.strip()), self.name)
        return shortened(title, _TITLE_CHARS)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A story in one format: the text of its file, and the files beside it, by their names in its folder."""

    text: str
    beside: Mapping[str, bytes] = field(default_factory=dict)


def story_of(records: Sequence[Record], folder: Path) -> Story:
    """Return the story of `records`; pictures that are not in them are read from `folder`."""
    reader = _StoryReader(folder)
    for record in records:
        reader.take(record)
    began = records[0].time if records else 0.0
    return Story(folder.name, tuple(reader.parts()), reader.model, began, reader.pictures)


class _StoryReader:
    def __init__(self, folder: Path) -> None:
        self.model = ""
        self.pictures: dict[str, Path] = {}
        self._folder = folder
        self._runs = RunLog(picture=self._picture, late=True)
        self._parts: list[Part] = []
        self._reasoning: list[str] = []
        self._text: list[str] = []
        self._check = ""

    def parts(self) -> list[Part]:
        """Return everything so far."""
        self._end_text()
        return [self._closed(part) if isinstance(part, LoggedRun) else part for part in self._parts]

    def take(self, record: Record) -> None:
        """Read one record."""
        event = record.event
        match event:
            case ReasoningDelta(text=text):
                self._reasoning.append(text)
            case TextDelta(text=text, reference=reference):
                self._text.append(f"‹{text}›" if reference else text)
            case ModelRetrying():
                self._reasoning.clear()
                self._text.clear()
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
            case _:
                pass
        before = len(self._runs.all)
        self._runs.take(event, record.number)
        self._parts += self._runs.all[before:]

    def _turn(self, event: TurnStarted | ModelCalled | TurnFinished | CheckStarted | CheckFinished) -> None:
        match event:
            case TurnStarted(prompt=prompt, attachments=attachments):
                self._parts.append(Prompt(prompt, attachments))
            case ModelCalled(model=model):
                self.model = model
            case CheckStarted(check=check):
                self._check = check
            case CheckFinished(passed=passed):
                # After a check that fails the next message says so, or the end of the turn.
                self._parts += [Remark(f"The check has passed: {self._check}")] if passed else []
            case TurnFinished(reason=reason, error=error, remedy=remedy):
                if reason != "done":
                    why = f"{error} {remedy}".strip() or f"The turn ended: {reason.replace('_', ' ')}."
                    self._parts.append(Remark(why))

    def _end_text(self) -> None:
        reasoning, text = "".join(self._reasoning), "".join(self._text)
        self._reasoning.clear()
        self._text.clear()
        if reasoning.strip():
            self._parts.append(ReasoningPart(reasoning.strip()))
        if text.strip():
            self._parts.append(Answer(text.strip("\n")))

    def _closed(self, run: LoggedRun) -> LoggedRun:
        for change in run.files:
            if mime_of(change.path):
                self.pictures[change.path] = Path(change.path)
        if run.ran and not run.finished_at:
            # terp was killed, or has not written its end yet.
            run.output_path = Artifacts(self._folder / OUTPUTS).spooled(run.number)
        return run.closed()

    def _picture(self, display: Display | DisplayUpdate) -> Display | DisplayUpdate:
        if mime_of(display.path):
            self.pictures[display.path] = kept_at(display, self._folder)
        return with_picture(display, self._folder)


def redacted(story: Story, redactor: Redactor) -> Story:
    """Return the story with every secret that `redactor` knows redacted.

    A story holds whole texts, so that a secret is found also where it came in pieces.
    """
    return replace(story, parts=tuple(_part(part, redactor) for part in story.parts))


def _part(part: Part, redactor: Redactor) -> Part:
    match part:
        case Prompt(text=text) | ReasoningPart(text=text) | Answer(text=text) | Remark(text=text):
            return replace(part, text=redactor.redacted(text))
        case LoggedRun():
            return replace(
                part,
                code=redactor.redacted(part.code),
                reason=redactor.redacted(part.reason),
                outputs=tuple(_output(output, redactor) for output in part.outputs),
            )


def _output(output: Output, redactor: Redactor) -> Output:
    match output:
        case Text(text=text):
            return replace(output, text=redactor.redacted(text))
        case Error(value=value, traceback=traceback):
            lines = tuple(redactor.redacted_pieces(traceback))
            return replace(output, value=redactor.redacted(value), traceback=lines)
        case Display(data=data):
            clean = {
                mime: value if is_picture(mime) else redactor.redacted_value(value)
                for mime, value in data.items()
            }
            return replace(output, data=clean)
    return output
