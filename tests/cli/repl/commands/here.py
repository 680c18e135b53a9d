"""A REPL whose commands act on a real session: what is shown is plain lines."""

import asyncio
import io
import shutil
from collections.abc import AsyncGenerator, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from terp.events import Event
from terp.events.kernel import Kernels
from terp.events.outputs import RunEnded, RunItem, RunStarted, Text
from terp.person import Consent, Decline
from terp.session.session import Session
from terp.settings import Settings
from terp.store.places import Place
from terp.testing import EchoKernel, Scripted, ScriptedModel, ScriptedPerson, call, collect
from terp_cli.fronts.invocation import Invocation
from terp_cli.fronts.spoken import SpokenFront
from terp_cli.line.command_line import read_command_line
from terp_cli.prompt.interface import Pick
from terp_cli.prompt.line_prompt import LinePrompt
from terp_cli.repl.commands.every import all_commands
from terp_cli.repl.context import ReplContext
from terp_cli.repl.keeping import SessionOpener

ID = "2026-11-21-abcd"


class User(ScriptedPerson):
    """A user who answers yes or no, and approves all code; questions are written to `out`."""

    def __init__(self, out: io.StringIO) -> None:
        super().__init__(*["run"] * 9)
        self.yes = False
        self._out = out

    async def allow(self, request: Consent) -> bool | Decline:
        """Return the present answer."""
        self._out.write(f"? {request.what}\n")
        return self.yes


class Opener(SessionOpener):
    """Opens stored sessions with fakes for a model and a kernel."""

    async def open(self, place: Place) -> Session:
        """Return the session of this place."""
        return Session(ScriptedModel(), EchoKernel(), self.person, folder=place.folder, keeper=place.keeper)


class PickingPrompt(LinePrompt):
    """A prompt whose user takes the row at `picked`; all rows are shown, and `*` marks the first to take."""

    picked: int | None = None

    async def pick(self, title: str, picks: Sequence[Pick], at: int = 0) -> int | None:
        self.say(title)
        for position, one in enumerate(picks):
            self.say(f"{'*' if position == at else ' '} {'  '.join(one.cells)}")
        return self.picked


class Here(ReplContext):
    """A REPL in `folder`, with a pager that copies what it is given to the folder `paged`."""

    def __init__(
        self,
        folder: Path,
        *events: Event,
        replies: Sequence[Scripted] = (),
        kernels: Kernels | None = None,
        session: Session | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> None:
        self.out = io.StringIO()
        self.user = User(self.out)
        self.kernel = EchoKernel()
        self.kernel.cwd = str(folder)
        self.model = ScriptedModel(*replies)
        self._pages = folder / "paged"
        self._pages.mkdir(parents=True, exist_ok=True)
        given = {
            "HOME": str(folder),
            "TERP_HOME": str(folder / "terp"),
            "PATH": "",
            "PAGER": f"{shutil.which('cp')} -t {self._pages}",
            **(environ or {}),
        }
        invocation = Invocation(read_command_line(["--cwd", str(folder)]), given)
        opener = Opener(invocation, Settings(), self.user, folder)
        session = session or Session(self.model, kernels or self.kernel, self.user, folder=folder / ID)
        front, prompt = SpokenFront(self.out), PickingPrompt(0, self.out)
        self.picking = prompt
        super().__init__(invocation, Settings(), session, front, prompt, self.user, opener)
        for event in events:
            session.log.append(event)

    async def asked(self, *prompts: str) -> "Here":
        """This REPL, after a turn for each prompt."""
        for prompt in prompts:
            await collect(self.session, prompt)
        return self

    async def does(self, line: str) -> list[str]:
        """The lines that a command shows; a question begins with `?`."""
        before = len(self.out.getvalue())
        assert await all_commands().run(self, line)
        return self.out.getvalue()[before:].splitlines()

    def paged(self, name: str) -> list[str]:
        """The lines that the pager was given under this name."""
        return (self._pages / name).read_text().splitlines()

    def offered(self, command: str, begun: str) -> list[str]:
        """The arguments that are completed."""
        return [word for word, _ in all_commands().arguments(self, command, begun)]

    async def taught(self) -> list[str]:
        """The notes that go to the model with the next message, which is sent here."""
        await self.asked("go")
        return [line for line in self.model.requests[-1][-1].text.split("\n") if line.startswith("[")]

    def happened(self, kind: type[Event]) -> list[Event]:
        """The events of this kind."""
        return [record.event for record in self.session.log.since(0) if isinstance(record.event, kind)]


class Training(EchoKernel):
    """A kernel that writes its outputs, and then runs until it is interrupted, if it `obeys`."""

    def __init__(self, *outputs: Text, obeys: bool = True) -> None:
        super().__init__()
        self._outputs = outputs
        self._obeys = obeys
        self._stopped = asyncio.Event()
        self.wrote = asyncio.Event()

    async def execute(
        self, code: str, *, run_id: str = "", number: int = 0, timeout_s: float = 0.0, moment: int = 0
    ) -> AsyncGenerator[RunItem, None]:
        self.running = run_id
        yield RunStarted(1)
        for output in self._outputs:
            yield output
        self.wrote.set()
        await self._stopped.wait()
        self.running = ""
        yield RunEnded("interrupted")

    async def interrupt(self) -> None:
        if self._obeys:
            self._stopped.set()

    async def restart(self) -> None:
        await super().restart()
        self._stopped.set()


@asynccontextmanager
async def training(folder: Path, *outputs: Text, obeys: bool = True) -> AsyncIterator[Here]:
    """A REPL with a job that runs."""
    kernel = Training(*outputs, obeys=obeys)
    here = Here(folder, kernels=kernel, replies=[call("import time\ntrain()")])
    turn = asyncio.create_task(here.asked("go"))
    await kernel.wrote.wait()
    assert await here.does("/bg") == []
    await turn
    try:
        yield here
    finally:
        await here.session.aclose()
