"""The interfaces that command functions use: the session, the settings, and the ways to reach the user."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from terp.events.kernel import Kernels
from terp.events.log import Record
from terp.events.messages import Attachment, Message
from terp.models.facts.window import Window
from terp.session.cost.budget import Budget
from terp.session.equipment import Equipment
from terp.settings import Settings
from terp.settings.places import Places

if TYPE_CHECKING:
    from rich.text import Text

    from terp.opening.changing import Change
    from terp.session.job import Job
    from terp.session.rewind.rewinding import TakenBack, Written


@dataclass(frozen=True, slots=True)
class SavedSession:
    """An earlier session of this directory. `last` is its last change, in seconds since the epoch.

    `forked_from` is the session that it is a copy of, "" if it is none.
    """

    id: str
    title: str
    turns: int
    last: float
    forked_from: str = ""


class NamedModel(Protocol):
    """A model."""

    @property
    def name(self) -> str:
        """The name a person would use for it."""


class CommandTurn(Protocol):
    """A turn of the conversation."""

    @property
    def number(self) -> int:
        """Its number, counted from 1."""

    @property
    def prompt(self) -> str:
        """The prompt of the turn."""

    @property
    def attachments(self) -> tuple[Attachment, ...]:
        """The attachments of the prompt."""


class JobControl(Protocol):
    """The code that runs in the background."""

    @property
    def running(self) -> "Mapping[int, Job]":
        """The jobs that go on, by their numbers."""

    def leave(self) -> bool:
        """Let the run that a turn waits for go on as a job; False when none can."""

    async def stop(self, number: int) -> bool:
        """Stop a job; False when there is none of this number."""


class SessionLog(Protocol):
    """All that has happened in the session."""

    @property
    def resumed_at(self) -> int:
        """The number of the last record of before the session was resumed; 0 for a new one."""

    def since(self, number: int) -> Sequence[Record]:
        """The records after `number`, oldest first."""


class RewindControl(Protocol):
    """Going back with what code did."""

    async def written(self, number: int) -> "Sequence[Written]":
        """The files that code has written to since a turn began.

        Raises:
            TerpError: there is no such turn.
        """

    async def go(self, number: int, paths: Sequence[str] = (), *, copy: bool = False) -> "TakenBack":
        """Take back a turn and all after it, with variables and the files at `paths`; what came of it.

        Raises:
            TerpError: there is no such turn, or the kernel does not answer.
        """


class HistoryControl(Protocol):
    """Going back in a conversation."""

    @property
    def with_code(self) -> RewindControl:
        """The rewinding that also restores variables and files."""

    def undo(self) -> CommandTurn:
        """Take the last turn out of the conversation, whole; what was asked in it.

        Raises:
            TerpError: there is none.
        """

    def rewind(self, number: int, *, copy: bool = False) -> Sequence[CommandTurn]:
        """Take the turn with this number and all after it out of the conversation; what was asked in them.

        With `copy` the conversation as it was is kept as another session, where sessions are kept.

        Raises:
            TerpError: there is no such turn.
        """

    def reset(self, *, copy: bool = False) -> None:
        """Begin a new conversation in the same kernels; with `copy` the one before stays a session."""

    def lengthen(self) -> None:
        """Bring back what was last shortened.

        Raises:
            TerpError: nothing was.
        """

    def fork(self) -> str:
        """Keep the conversation as it is now as another session, too; its id. This one goes on.

        Raises:
            TerpError: this session is not kept.
        """


class CommandSession(Protocol):
    """The part of a session that commands use."""

    history: Sequence[Message]
    """The messages, without the system prompt. They can be replaced between turns."""

    @property
    def model(self) -> NamedModel:
        """The model that is asked."""

    @property
    def kernels(self) -> Kernels:
        """Where code runs."""

    @property
    def equipment(self) -> Equipment:
        """The session's resources besides kernels: a Python, packages, tools, servers."""

    @property
    def jobs(self) -> JobControl:
        """The background jobs."""

    def teach(self, text: str) -> None:
        """Send this text to the model with the next message."""

    def brief(self, system: str, *, code: bool = True) -> None:
        """Use `system` as the system prompt from now on."""

    @property
    def budget(self) -> Budget:
        """The usage of the session so far, and its cost limits."""

    @property
    def log(self) -> SessionLog:
        """All that has happened."""

    @property
    def folder(self) -> Path:
        """Where the session's files are; its name is the session's id."""

    @property
    def request(self) -> tuple[Sequence[Message], Sequence[Mapping[str, Any]]]:
        """The messages and tools of the next request."""

    @property
    def window(self) -> Window:
        """The context window of the model, if it is known."""

    @property
    def turns(self) -> Sequence[CommandTurn]:
        """The turns of the conversation, oldest first, without those that are part of a summary."""

    @property
    def past(self) -> HistoryControl:
        """The operations that remove turns from the conversation."""

    async def compact(self, focus: str = "") -> bool:
        """Replace all turns before the last by a summary that keeps most of `focus`; False when interrupted.

        Raises:
            TerpError: there is nothing to summarise, or the model failed.
        """


class CommandContext(Protocol):
    """The talk: its session, what is known around it, and the ways to the person."""

    auto_run: bool
    """True while code runs without an approval. Can be set."""
    verbose: bool
    """True to show tracebacks and outputs whole. Can be set."""
    debug: bool
    """True to show the traceback of terp's own errors. Can be set."""

    @property
    def session(self) -> CommandSession:
        """The session that is talked with; another one after `resume`."""

    @property
    def settings(self) -> Settings:
        """The settings in effect."""

    @property
    def places(self) -> Places:
        """Where terp keeps its files."""

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment of this call."""

    @property
    def profile(self) -> str:
        """The profile in effect; "default" when no other was asked for."""

    @property
    def width(self) -> int:
        """The cells in a row of the screen."""

    def say(self, *lines: str) -> None:
        """Write lines of terp's own; what they quote is made safe, and they are broken between words."""

    def show(self, rows: "Sequence[Text]") -> None:
        """Write rows that are coloured and safe already."""

    async def page(self, lines: Iterable[str], name: str = "terp") -> None:
        """Show lines of any number in the person's pager, made safe; returns when it is closed.

        `name` is that of the file, which pagers show.
        """

    def prefill(self, text: str) -> None:
        """Put text on the next input line, to be changed and entered there."""

    def send(self, prompt: str, attachments: Sequence[Attachment] = ()) -> None:
        """Let this be the next turn, before all that is queued."""

    def write(self, sequence: str) -> None:
        """Write an escape sequence of terp's own that leaves no trace on the screen."""

    def clear(self) -> None:
        """Clear the screen."""

    async def ask(self, question: str) -> bool:
        """Return True if the user says yes."""

    async def use_model(self, name: str) -> None:
        """Let another model answer.

        Raises:
            TerpError: it cannot.
        """

    async def trust(self) -> "tuple[str, Change | None]":
        """Ask about the project; return its state as a sentence, and the change of settings, if any.

        Raises:
            TerpError: there is nobody to ask.
        """

    async def use_profile(self, name: str) -> "Change | None":
        """Go on with the settings of another profile; what that changed, or None if the person said no.

        Raises:
            TerpError: it cannot be.
        """

    def saved(self) -> Sequence[SavedSession]:
        """The earlier sessions of this directory, the newest first."""

    async def resume(self, session: str) -> None:
        """Go on with a saved session, by its id or a beginning of it.

        Raises:
            TerpError: there is none, or more than one.
        """

    def leave(self) -> None:
        """Let this be the last line."""
