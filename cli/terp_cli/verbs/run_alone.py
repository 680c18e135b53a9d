"""A file of code run as the first code of a session would be: its Python, its packages, its tools."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from terp.errors import with_remedy
from terp.events import Noticed, Progress
from terp.events.kernel import Kernel
from terp.events.log import EventLog, Record
from terp.events.outputs import BackCall, Error, InputRequest
from terp.kernels.environments.readiness import Readiness
from terp.models.tool import Call as CodeCall
from terp.opening.workbench import Workbench, open_bench
from terp.person import AutoRun, Nobody, Person
from terp.person.questions import Questions
from terp.person.voice import Voice
from terp.session.artifacts import Artifacts
from terp.session.services import Services
from terp.store.places import Place
from terp.text.interrupts import Interrupted, Interrupts
from terp_cli.fronts.call import STDIN, Call
from terp_cli.line.exit_codes import EXIT_CODES
from terp_cli.line.stdin import TypedLines
from terp_cli.repl.keeping import folder_of
from terp_cli.repl.seat import person_beside
from terp_cli.verbs.run_code import CodeRun, language_for, read_code

if TYPE_CHECKING:
    from terp.opening.remote_workbench import GatewayBench

_UNASKED = "--auto-install known or always installs without a question."


def run_alone(call: Call) -> int:
    """Run the code that the call names; the exit code.

    Raises:
        TerpError: it cannot be read, nothing runs its language, or its kernel does not come up.
    """
    settings = call.settings()
    code = read_code(call.line.argument)
    folder = call.out_folder or folder_of(call)
    person = person_beside(call, settings) or Nobody()

    artifacts = Artifacts(folder, scrubber=call.secrets.scrubber)

    async def run() -> int:
        alone = Alone(AutoRun(person) if settings.auto_run else person, call.tell)
        # The code is the person's own: only where they ask for a sandbox does it run in one.
        bench = await open_bench(
            settings,
            project=call.project,
            environ=call.environ,
            place=Place(folder),
            unasked=lambda: False,
        )
        try:
            equip(call, alone, bench)
            languages = bench.kernels.languages
            kernel = bench.kernels.get(language_for(call.line.argument, call.options.language, languages))
            with call.stopping.watching(lambda: alone.stop(kernel), bench.kernels.aclose):
                ended = await alone.run(
                    kernel, code, CodeRun(call.out, call.notes, artifacts, alone), settings.run_timeout_s
                )
                return call.stopping.code or ended
        finally:
            await bench.kernels.aclose()

    return asyncio.run(run())


def equip(call: Call, alone: "Alone", bench: "Workbench | GatewayBench") -> None:
    """Give code that runs without a session what comes before it, and what it may call."""
    told = (bench.told, bench.kernels.confinement.warning) if isinstance(bench, Workbench) else ()
    for line in (*filter(None, told), *bench.toolbox.problems):
        call.tell(line)
    if isinstance(bench, Workbench) and "python" not in bench.kernels.attached:
        for preparation in bench.pythons(alone.voice), bench.packages(alone.voice):
            alone.readiness.add(preparation)
    bench.offer(alone.services, alone.voice)


class OneRun(Protocol):
    """What runs a piece of code and takes what it puts out."""

    error: Error | None
    """What the code ended with, if it was an error."""

    async def run(self, kernel: Kernel, code: str, *, timeout_s: float) -> int:
        """Run `code` to its end; the exit code."""


class Alone:
    """What a session does around a run, without a conversation: asks, prepares, answers the code.

    `tell` says a line to whoever called.
    """

    def __init__(self, person: Person, tell: Callable[[str], None]) -> None:
        self._tell = tell
        self._working = ""
        self._noticed: list[str] = []
        self._lines = TypedLines(STDIN)
        self._interrupts = Interrupts()
        log = EventLog(keep=self._told)
        questions = Questions(log)
        self.voice = Voice(log, questions, person, _drawn)
        self.readiness = Readiness()
        self.services = Services(questions, person, _drawn)

    async def run(self, kernel: Kernel, code: str, run: OneRun, timeout_s: float) -> int:
        """Run `code` once it has what it needs; the exit code.

        Raises:
            TerpError: there is no kernel to run it.
        """
        call = CodeCall("run", kernel.language, code)
        try:
            ready = await self._interrupts.guard(self.readiness.before(call, kernel))
            ended = await run.run(kernel, code, timeout_s=timeout_s)
            told = await self._interrupts.guard(self.readiness.after(call, kernel, run.error))
        except Interrupted:
            return EXIT_CODES["interrupted"]
        for line in told.splitlines():
            self._tell(line[1:-1])
        if run.error is not None and run.error.name == "ModuleNotFoundError" and not told:
            for line in ready.splitlines():
                if line[1:-1] not in self._noticed:
                    self._tell(f"{line[1:-1]} {_UNASKED}")
        return ended

    async def stop(self, kernel: Kernel) -> None:
        """Interrupt what goes on."""
        self._interrupts.stop()
        await kernel.interrupt()

    async def type_in(self, request: InputRequest, kernel: Kernel) -> None:
        """Give the code the next line of stdin."""
        try:
            line = await self._interrupts.guard(self._lines.next(secret=request.secret))
        except Interrupted:
            return
        await kernel.type_in(line)

    async def serve(self, call: BackCall, kernel: Kernel) -> None:
        """Answer a tool that calls back."""
        await self.services.serve(call, kernel, self._interrupts.guard)

    def _told(self, record: Record) -> None:
        match record.event:
            case Noticed(text=text, remedy=remedy):
                self._noticed.append(text)
                self._tell(with_remedy(text, remedy))
            case Progress(what=what) if what != self._working:
                self._working = what
                self._tell(f"{what}…")


async def _drawn() -> None:
    """All that was said is written already."""
