"""Outputs of running code, and the facts of a run's beginning and end."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Literal

from terp.text.dataclasses import dataclass, field

StreamName = Literal["stdout", "stderr"]
RunStatus = Literal["ok", "error", "interrupted", "timeout", "died"]
FileAction = Literal["created", "modified", "deleted", "moved"]
VariableAction = Literal["new", "changed", "removed"]
EffectVerb = Literal["create", "modify", "delete", "connect", "listen", "run"]


@dataclass(frozen=True, slots=True)
class Text:
    """Text written to a stream; pieces join without a separator."""

    stream: StreamName
    text: str


@dataclass(frozen=True, slots=True)
class Omitted:
    """Text that was dropped because a limit of the run was reached; comes in its place.

    `spooled`: the text is in the run's full-output file.
    """

    characters: int
    lines: int
    spooled: bool


@dataclass(frozen=True, slots=True)
class Display:
    """A MIME bundle: a displayed object, or the value of the last expression (`is_result`).

    `data` maps MIME types to what Jupyter sends for them: text as str, binary types as base64
    str, JSON types as objects. `path` is the file in which the session saved the bundle's image,
    HTML or SVG ("" where there is none).
    """

    data: Mapping[str, Any]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    display_id: str | None = None
    is_result: bool = False
    path: str = ""


@dataclass(frozen=True, slots=True)
class DisplayUpdate:
    """New content for every earlier display with this id, also of earlier runs."""

    display_id: str
    data: Mapping[str, Any]
    metadata: Mapping[str, Any] = field(default_factory=dict)
    path: str = ""


@dataclass(frozen=True, slots=True)
class Error:
    """An exception that ended the run. `traceback` holds the kernel's own lines, with ANSI colours."""

    name: str
    value: str
    traceback: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Clear:
    """Earlier output of the run is void: now, or with `wait` at the next output."""

    wait: bool = False


@dataclass(frozen=True, slots=True)
class InputRequest:
    """Code waits for a line from the user; answered with `Kernel.type_in`."""

    prompt: str
    secret: bool = False


Output = Text | Omitted | Display | DisplayUpdate | Error | Clear | InputRequest


@dataclass(frozen=True, slots=True)
class BackCall:
    """Code in the kernel calls a service of terp and waits; answered with `Kernel.answer`.

    `service` is "" for an invalid call: code can forge the mark of calls.
    """

    service: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ToolWorking:
    """A tool that the code has called takes its time, or is `over`. Quick calls are not reported."""

    name: str
    over: bool = False


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that a run created, modified, deleted or moved from its `source`, by its absolute path.

    With a `host` it is a file of that machine; `copy` is then where a copy of it is on this one, or "".
    Of a modified text file, the numbers of added and removed lines are known, and the hunks of a unified
    `diff` unless they are long.
    """

    path: str
    action: FileAction
    size: int = 0
    host: str = ""
    copy: str = ""
    source: str = ""
    added: int = 0
    removed: int = 0
    diff: str = ""

    @property
    def here(self) -> str:
        """The path at which it can be opened on this machine; "" if it cannot."""
        return self.copy if self.host else self.path


@dataclass(frozen=True, slots=True)
class PerformedEffect:
    """An effect of a run that the system reported, and how often it happened or was `refused`.

    `what` is a path, an address or the name of a program; `to` the new path of a file that was moved. `size`
    is that of a file that was written, in bytes after the run.
    """

    verb: EffectVerb
    what: str
    to: str = ""
    times: int = 1
    refused: bool = False
    size: int | None = None


@dataclass(frozen=True, slots=True)
class VariableChange:
    """A name that a run bound, rebound, changed in place or removed.

    `type` is the name of its type, `shape` its shape or length (() without one, or none that can be
    known without running code), `size` its bytes in memory where they are cheap to know. A removed name
    has none of them. `was` and `now` are a changed value as short text: its shape ("891×12"), or a number.
    `facts` are what else has happened to its data: "Age: 177 nulls dropped", "fitted".
    """

    name: str
    action: VariableAction
    type: str = ""
    shape: tuple[int, ...] = ()
    size: int | None = None
    was: str = ""
    now: str = ""
    facts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Held:
    """A name and its small value, in words: "41", "list of 10,000"."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class StoppedAt:
    """The innermost line of the user's own code at which a run was stopped.

    `function` is "" outside functions. `inside` names what that line was calling, where it is no code of
    theirs ("time.sleep"). `run` is the number of an earlier run whose code it is, `file` the path of a
    file, or words where no more is known; without either it is the code of the run itself.
    """

    line: int
    function: str = ""
    source: str = ""
    inside: str = ""
    run: int = 0
    file: str = ""
    values: tuple[Held, ...] = ()


@dataclass(frozen=True, slots=True)
class RunStarted:
    """The kernel has the code. First of every run that reached the kernel."""

    execution_count: int


@dataclass(frozen=True, slots=True)
class RunEnded:
    """A run is over. Always the last, exactly once.

    `hidden_value` is the repr of a last expression that Jupyter does not show: `None`, or a value
    silenced with `;`. `note` explains an end that is not the code's own doing (death, timeout).
    `changes` are those of the namespace since the run before, `more_changes` counts what is left out.
    `stopped_at` is where a run that was stopped stood, as far as that is known. `recall` is the expression
    by which code in this kernel can read the full output of the run ("" when there is none). `held` are the
    values at the line that an error hit, and `hint` lists the existing names if one was not found. `effects`
    are those that the system reported, where they are held; `files` then follow from them. `broken` are the
    watched conditions that no longer hold, each with the reason as its value.
    """

    status: RunStatus
    hidden_value: str | None = None
    files: tuple[FileChange, ...] = ()
    note: str = ""
    changes: tuple[VariableChange, ...] = ()
    more_changes: int = 0
    stopped_at: StoppedAt | None = None
    recall: str = ""
    held: tuple[Held, ...] = ()
    hint: str = ""
    effects: tuple[PerformedEffect, ...] = ()
    broken: tuple[Held, ...] = ()


Service = Callable[[Mapping[str, Any]], Awaitable[Any]]
"""Answers a `BackCall`: what it returns or raises is returned or raised in the kernel's code."""

RunItem = RunStarted | Output | BackCall | ToolWorking | RunEnded
