"""What was said and what ran in a session, in order: what every export format is made from."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from terp.events.outputs import Output, RunStatus

Fate = RunStatus | Literal["declined", "rejected", "pending"]
_TITLE_CHARS = 80


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the person said, and the names of what they attached."""

    text: str
    attachments: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Reasoning:
    """What the model thought before the answer or the call that follows."""

    text: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A piece of the model's text, up to its next call."""

    text: str


@dataclass(frozen=True, slots=True)
class Run:
    """A piece of code and what came of it.

    `count` is the kernel's execution count, 0 for code that never ran; `reason` says why it did not, or
    explains an end that is not the code's own doing. `outputs` are settled: text of one stream is in
    one piece, displays are as they were last updated, cleared output is gone. `typed` tells that the
    person ran it, not the model; `asked` that it read a line from them.
    """

    language: str
    code: str
    fate: Fate
    count: int = 0
    reason: str = ""
    outputs: tuple[Output, ...] = ()
    typed: bool = False
    output_path: str = ""
    asked: bool = False

    @property
    def ran(self) -> bool:
        """Whether the kernel had the code."""
        return self.fate not in ("declined", "rejected", "pending")


@dataclass(frozen=True, slots=True)
class Remark:
    """Why a turn ended without an answer, or that its check has passed."""

    text: str


Part = Prompt | Reasoning | Answer | Run | Remark


@dataclass(frozen=True, slots=True)
class Story:
    """A session told: `name` is that of its folder, `began` a time in seconds since the epoch.

    `pictures` are the raster images that runs have left in files, by their path.
    """

    name: str
    parts: tuple[Part, ...] = ()
    model: str = ""
    began: float = 0.0
    pictures: Mapping[str, Path] = field(default_factory=dict)

    @property
    def title(self) -> str:
        """The first words of the person, else the name."""
        said = (part.text.strip().split("\n")[0] for part in self.parts if isinstance(part, Prompt))
        title = next((line.strip() for line in said if line.strip()), self.name)
        return title if len(title) <= _TITLE_CHARS else title[: _TITLE_CHARS - 1].rstrip() + "…"
