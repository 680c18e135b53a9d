"""A talk that notes what a command does with it."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from terp.errors import TerpError
from terp.events import Event
from terp.events.kernel import Variable
from terp.events.log import EventLog
from terp.events.messages import Attachment, Message, System, User
from terp.models.facts.window import Window
from terp.session.context.history import PastTurn
from terp.session.cost.budget import Budget
from terp.session.equipment import Equipment
from terp.session.rewind.rewinding import TakenBack, Written
from terp.settings import Settings
from terp.settings.places import Places
from terp.testing import EchoKernel
from terp_cli.repl.commands.context import SavedSession
from terp_cli.repl.commands.every import all_commands

if TYPE_CHECKING:
    from rich.text import Text

    from terp.opening.changing import Change
    from terp.session.job import Job
    from terp_cli.repl.commands.context import CommandContext


@dataclass(frozen=True)
class Model:
    name: str = "openai/gpt-4o"


@dataclass(frozen=True)
class Turn:
    number: int
    prompt: str
    attachments: tuple[Attachment, ...] = ()


class Kernel(EchoKernel):
    """A kernel that has variables once it runs."""

    def __init__(self, cwd: Path, held: Sequence[Variable] = ()) -> None:
        super().__init__()
        self.cwd = str(cwd)
        self.held = held

    async def variables(self) -> Sequence[Variable]:
        return self.held


class Jobs:
    """What runs in the background, and what was asked of it."""

    def __init__(self) -> None:
        self.running: dict[int, Job] = {}
        self.asked: list[int | str] = []
        self.answer = True

    def leave(self) -> bool:
        self.asked.append("leave")
        return bool(self.running)

    async def stop(self, number: int) -> bool:
        self.asked.append(number)
        there = number in self.running
        if self.answer:
            self.running.pop(number, None)
        return there


class Conversation:
    """Turns that can be gone back to, and a log of what is put into it."""

    def __init__(self, folder: Path, *events: Event, prompts: Sequence[str] = ()) -> None:
        self.folder = folder / "2026-11-21-abcd"
        self.kernels = Kernel(folder)
        self.equipment = Equipment()
        self.model = Model()
        self.log = EventLog(clock=lambda: 0.0)
        self.budget = Budget(self.log.append)
        self.turns: Sequence[Turn] = [Turn(number, prompt) for number, prompt in enumerate(prompts, 1)]
        self.history: Sequence[Message] = tuple(User(prompt) for prompt in prompts)
        self.jobs = Jobs()
        self.focus = ""
        self.window = Window(128_000)
        self.forks = 0
        self.lengthened = 0
        self.taught: list[str] = []
        self.briefed = ""
        self.files: Sequence[Written] = ()
        self.taken = TakenBack(())
        self.wanted: Sequence[str] = ()
        for event in events:
            self.log.append(event)

    @property
    def request(self) -> tuple[Sequence[Message], Sequence[Mapping[str, Any]]]:
        return [System("You run code."), *self.history], [{"type": "function"}]

    @property
    def past(self) -> "Conversation":
        return self

    def brief(self, system: str, *, code: bool = True) -> None:
        self.briefed = system

    def teach(self, told: str) -> None:
        self.taught.append(told)

    def undo(self) -> Turn:
        return self.rewind(len(self.turns))[0]

    def rewind(self, number: int, *, copy: bool = False) -> Sequence[Turn]:
        if not 0 < number <= len(self.turns):
            raise TerpError(f"There is no turn {number}.")
        gone, self.turns = self.turns[number - 1 :], self.turns[: number - 1]
        return gone

    @property
    def with_code(self) -> "Conversation":
        return self

    async def written(self, number: int) -> Sequence[Written]:
        return self.files

    async def go(self, number: int, paths: Sequence[str] = (), *, copy: bool = False) -> TakenBack:
        back, self.wanted = self.rewind(number), paths
        turns = [PastTurn(turn.number, turn.prompt, turn.attachments, 0) for turn in back]
        return replace(self.taken, turns=turns)

    def reset(self, *, copy: bool = False) -> None:
        self.forks += copy
        self.turns, self.history = (), ()

    def fork(self) -> str:
        self.forks += 1
        return "2026-11-22-ef01"

    def lengthen(self) -> None:
        self.lengthened += 1

    async def compact(self, focus: str = "") -> bool:
        self.focus = focus
        return bool(self.turns)


class Noted:
    """What was done, in order: lines said, and tuples of anything else."""

    width = 80
    profile = "default"

    def __init__(self, folder: Path, *events: Event, prompts: Sequence[str] = ()) -> None:
        self.session = Conversation(folder, *events, prompts=prompts)
        self.auto_run = self.verbose = self.debug = False
        self.settings = Settings()
        self.places = Places(folder / "config", folder / "state")
        self.environ: Mapping[str, str] = {"PATH": ""}
        self.did: list[Any] = []
        self.yes = False
        self.changes: list[Change] = []
        self.earlier: Sequence[SavedSession] = ()

    async def does(self, line: str) -> list[Any]:
        """Run a line; what it did."""
        self.did = []
        talk: CommandContext = self
        assert await all_commands().run(talk, line)
        return self.did

    def say(self, *lines: str) -> None:
        self.did += lines

    def show(self, rows: "Sequence[Text]") -> None:
        self.did += [row.plain for row in rows]

    async def page(self, lines: Iterable[str], name: str = "terp") -> None:
        self.did.append((name, *lines))

    def prefill(self, text: str) -> None:
        self.did.append(("prefill", text))

    def send(self, prompt: str, attachments: Sequence[Attachment] = ()) -> None:
        self.did.append(("send", prompt, *attachments))

    def write(self, sequence: str) -> None:
        self.did.append(("write", sequence))

    def clear(self) -> None:
        self.did.append(("clear",))

    async def ask(self, question: str) -> bool:
        self.did.append(("ask", question))
        return self.yes

    async def use_model(self, name: str) -> None:
        self.session.model = Model(name)

    async def trust(self) -> "tuple[str, Change | None]":
        return "~/shop is trusted as it is now.", self.changes.pop() if self.changes else None

    async def use_profile(self, name: str) -> "Change | None":
        change = self.changes.pop() if self.changes else None
        if change is not None:
            self.auto_run = change.after.auto_run
        return change

    def saved(self) -> Sequence[SavedSession]:
        return self.earlier

    async def resume(self, session: str) -> None:
        self.did.append(("resume", session))

    def leave(self) -> None:
        self.did.append(("leave",))
