"""The session of one MCP client: a terp session whose model is the client."""

import asyncio
import os
import re
import shlex
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import ExitStack, aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from terp.errors import TerpError, with_remedy
from terp.events import Asked, Event, KernelChanged, Printed, Progress, TurnFinished
from terp.events.changes import shape_text
from terp.events.messages import Image, Result, ToolCall
from terp.events.outputs import Text
from terp.events.run_log import LoggedRun, RunLog
from terp.opening.session import build_session
from terp.opening.supplied import Supplied
from terp.person import AutoRun
from terp.session.artifacts import OUTPUTS
from terp.session.context.namespaces import Namespaces
from terp.session.session import Session
from terp.settings import BUILT_IN, Settings
from terp.store.folders import new_folder
from terp.store.places import new_place
from terp.text.plain import HeadTail, without_escapes
from terp_cli.fronts.invocation import Invocation
from terp_cli.mcp_server.client_model import ClientModel, call_of
from terp_cli.mcp_server.client_person import WATCH, ClientPerson, ClientQuestion, nobody

Asking = Callable[[Session], AsyncGenerator[Event, None]]
Play = Callable[[Asking], Awaitable[None]]
"""Plays one turn of the session after the others, and returns when it has ended."""
_NEW = (os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC, os.O_DIRECTORY, os.O_NONBLOCK | os.O_NOCTTY)
_LARGEST_FILE = 10_000_000
_LONGEST_LINE = 200
# Code that has not answered an interrupt for so long is interrupted again, which ends its kernel.
_PATIENCE_S = 3.0
_FIRST = "client-1"
_LINES = re.compile(r"([1-9]\d*)(-?)(\d*)|()(-)([1-9]\d*)")


def served_settings(settings: Settings) -> Settings:
    """Return the settings of clients' sessions: by default in the sandbox, and asked at effects."""
    chosen: dict[str, Any] = {
        name: value
        for name, value in (("approve", "effect"), ("sandbox", "workspace"))
        if settings.origin(name) == BUILT_IN
    }
    # The client has MCP servers of its own, and would never read of these.
    return replace(settings, **chosen, mcp_servers={}, until="", record="", replay="")


@dataclass(frozen=True, slots=True)
class ClientResult:
    """The result of a call as its client reads it: text, pictures, files that the code has made."""

    text: str
    images: tuple[Image, ...] = ()
    files: tuple[Path, ...] = ()
    failed: bool = False


@dataclass(eq=False)
class ClientRun:
    """A call of `execute`, from its request to its outcome. `questions` wait for the client's user.

    `after` is the number of the record before its turn, `given_up` is True if nobody waits for it any more.
    """

    call: ToolCall
    after: int
    given_up: bool = False
    questions: "asyncio.Queue[ClientQuestion]" = field(default_factory=asyncio.Queue)
    open: dict[str, ClientQuestion] = field(default_factory=dict)
    task: "asyncio.Task[ClientResult] | None" = None


class ClientSession:
    """A session whose turns are the calls of a client.

    `play` and `end` are replaced while a page shows it, on which users may close it: `is_closed`.
    """

    def __init__(
        self, session: Session, model: ClientModel, person: ClientPerson, settings: Settings
    ) -> None:
        self.session = session
        self.person = person
        self.settings = settings
        self.play: Play = self._play_alone
        self.end: Callable[[], Awaitable[None]] = session.aclose
        self.is_closed: Callable[[], bool] = lambda: False
        self.running: dict[str, ClientRun] = {}
        self._model = model
        self._runs = RunLog(session.log)
        self._turn = asyncio.Lock()
        self._current: ClientRun | None = None
        self._calls = 0
        self._seen = 0

    def begin(self, language: str, code: str, *, can_ask: bool) -> ClientRun:
        """Begin a call; the client's user can be asked about it if the client `can_ask`."""
        self._calls += 1
        call = call_of(f"client-{self._calls}", language, code)
        run = self.running[call.id] = ClientRun(call, self.session.log.last)
        run.task = asyncio.create_task(self._outcome(run, can_ask=can_ask))
        run.task.add_done_callback(lambda _: self.running.pop(call.id, None))
        return run

    async def stop(self, run: ClientRun) -> None:
        """End a call that its client has given up: its code is interrupted, variables stay."""
        run.given_up = True
        if self._current is run:
            await self.interrupt()

    async def interrupt(self) -> bool:
        """Interrupt what runs, at last by ending its kernel; return False if nothing did."""
        busy = bool(self.running)
        await self.session.interrupt()
        try:
            async with asyncio.timeout(_PATIENCE_S):
                await self.session.idle()
        except TimeoutError:
            await self.session.interrupt()
        return busy

    async def restart(self, language: str) -> str:
        """Restart the kernel of a language.

        Raises:
            TerpError: it does not start again, or nothing here runs the language.
        """
        kernel = self.session.kernels.get(language)
        if not kernel.generation:
            return f"The {kernel.language} kernel has not started yet."
        await self.interrupt()
        await kernel.restart()
        return f"The {kernel.language} kernel is new: its variables are gone, files are still there."

    async def variables(self) -> str:
        """Return the variables of all kernels, one a line.

        Raises:
            KernelBusy: code is running.
        """
        found = await Namespaces(self.session.kernels).variables()
        lines = [
            "  ".join(filter(None, (one.name, one.type, shape_text(one.shape), one.head))) for _, one in found
        ]
        return self._bounded("\n".join(lines) or "There are no variables.")

    def output(self, number: int, grep: str, lines: str) -> str:
        """Return the output of a run: all of it, the lines with one of the texts in `grep`, or some `lines`.

        Raises:
            TerpError: there is no such run, or `lines` are none.
        """
        rows = list(enumerate(_output_of(self._runs.find(number)), 1))
        if lines:
            if (wanted := _LINES.fullmatch(lines.strip())) is None:
                raise TerpError("'lines' must be like 1-50, 200- or -20.")
            first, dash, last = (one for one in wanted.groups() if one is not None)
            end = int(last or len(rows)) if dash else int(first)
            rows = rows[int(first) - 1 : end] if first else rows[-int(last) :]
        if grep:
            texts = [text.lower() for text in grep.split("|") if text]
            rows = [row for row in rows if any(text in row[1].lower() for text in texts)]
        numbered = (f"{at}: {line}" if grep or lines else line for at, line in rows)
        return self._bounded("\n".join(numbered) or "No line.")

    def progress(self, run: ClientRun) -> str:
        """Return the last line of what a call does, for its client."""
        said = ""
        for record in self.session.log.since(run.after):
            match record.event:
                case Printed(output=Text(text=text)) if text.strip():
                    said = without_escapes(text).strip().splitlines()[-1]
                case KernelChanged(language=language, state="starting"):
                    said = f"starting the {language} kernel"
                case Progress(what=what) if what:
                    said = what
                case Asked(kind=kind, what=what) if kind != "approval":
                    said = f"waiting for the user: {what.partition(chr(10))[0]}"
        return self.session.resources.redacted(said)[:_LONGEST_LINE]

    def files(self) -> list[Path]:
        """Return the files that runs have made and displayed, the newest first."""
        images = (image for run in self._runs.started for image in run.images)
        return [Path(path) for path in reversed([*images, *self._runs.files]) if self._top_of(Path(path))]

    def read(self, path: Path) -> bytes:
        """Return the content of one of `files`; no link leads out of the working directory.

        Raises:
            OSError: it is none of them, is too large, or is gone.
        """
        top = self._top_of(path)
        if top is None or path not in self.files():
            raise FileNotFoundError(f"No run has made {path}.")
        with ExitStack() as closing:
            at = os.open(os.path.realpath(top), os.O_RDONLY | os.O_DIRECTORY)
            closing.callback(os.close, at)
            parts = path.relative_to(top).parts
            for number, name in enumerate(parts, 1):
                at = os.open(name, _NEW[0] | _NEW[1 + (number == len(parts))], dir_fd=at)
                closing.callback(os.close, at)
            with os.fdopen(os.dup(at), "rb") as file:
                content = file.read(_LARGEST_FILE + 1)
        if len(content) > _LARGEST_FILE:
            raise OSError(f"{path} is larger than {_LARGEST_FILE:,} bytes.")
        return content

    def unwatch(self) -> None:
        """Work without the page again, which is gone."""
        self.play, self.end, self.person.watcher = self._play_alone, self.session.aclose, nobody

    async def aclose(self) -> None:
        """Interrupt what runs, and close the session."""
        await self.end()

    async def _outcome(self, run: ClientRun, *, can_ask: bool) -> ClientResult:
        finished: list[TurnFinished] = []

        async def turn(session: Session) -> AsyncGenerator[Event, None]:
            if run.given_up:
                return
            self._current, self._model.next, run.after = run, run.call, session.log.last
            self.person.post = run.questions.put_nowait if can_ask else None
            # On the page users may have chosen a model that answers them.
            session.model, theirs = self._model, session.model
            try:
                async with aclosing(session.turn(f"{self._model.name}: call {self._calls}")) as events:
                    async for event in events:
                        if isinstance(event, TurnFinished):
                            finished.append(event)
                        yield event
            finally:
                self._current = self.person.post = None
                session.model = theirs

        await self.play(turn)
        ended = finished[-1] if finished else TurnFinished("interrupted", "", "The session was closed.")
        return self._read(run, ended)

    def _read(self, run: ClientRun, ended: TurnFinished) -> ClientResult:
        """Return the result of a call as the client reads it."""
        mark, results = self.session.resources.note_mark, reversed(self.session.history)
        found = (one for one in results if isinstance(one, Result) and one.call_id == run.call.id)
        result = next(found, Result(run.call.id, "Not run."))
        runs, seen = self._runs.started, self._seen
        self._seen = len(runs)
        own = next((one for one in runs[seen:] if one.started_at > run.after), None)
        text = [mark.note(mark.explanation)] if run.call.id == _FIRST and mark.word else []
        for one in runs[seen:]:
            if one is not own:
                what = f"the user ran code here, too (run {one.number}): {_first(one.code)}"
                text.append(mark.note(mark.plain(what)))
        text.append(result.text)
        if ended.error:
            # The server of an agent has no terminal.
            remedy = ended.remedy.replace("Run terp on a terminal", WATCH.capitalize())
            text.append(mark.note(with_remedy(ended.error, remedy)))
        text += [mark.note(mark.plain(what)) for what in self.person.declined]
        self.person.declined.clear()
        if own is not None:
            text.append(mark.note(f"run {own.number}, {own.seconds:.1f} s"))
        made = [Path(one.path) for one in own.files if one.action != "deleted"] if own else []
        return ClientResult(
            self.session.resources.redacted("\n".join(text)),
            result.images,
            tuple(path for path in made if self._top_of(path)),
            failed=own is None or own.fate != "ok",
        )

    async def _play_alone(self, turn: Asking) -> None:
        async with self._turn:
            await self.session.idle()
            async with aclosing(turn(self.session)) as events:
                async for _ in events:
                    pass

    def _top_of(self, path: Path) -> Path | None:
        tops = (Path(self.session.kernels.cwd), self.session.folder / OUTPUTS)
        return next((top for top in tops if path.is_relative_to(top)), None)

    def _bounded(self, text: str) -> str:
        kept = HeadTail(max(200, self.session.resources.limits.max_output_chars))
        kept.add(self.session.resources.redacted(text))
        return kept.text()


async def open_client_session(call: Invocation, settings: Settings, client: str) -> ClientSession:
    """Open the session of a client, stored among those that `terp sessions` lists. No kernel is started.

    Raises:
        TerpError: the settings cannot be fulfilled.
    """
    model, person = ClientModel(client), ClientPerson()
    place = new_place(new_folder(call.places.sessions), str(call.cwd), call.secrets)
    try:
        session = await build_session(
            settings,
            AutoRun(person) if settings.auto_run else person,
            place=place,
            project=call.project,
            environ=call.environ,
            supplied=Supplied(model=model),
        )
    except BaseException:
        assert place.keeper is not None, "it is stored"
        place.keeper.close()
        raise
    return ClientSession(session, model, person, settings)


def installing(packages: Sequence[str]) -> str:
    """Return the code that installs packages, under the rules of all code.

    Raises:
        TerpError: they are no names of packages.
    """
    if not packages or any(name.startswith("-") for name in packages):
        raise TerpError("`packages` must be names of packages, such as pandas or numpy>=2.")
    return f"%pip install {shlex.join(packages)}"


def _output_of(run: LoggedRun) -> Iterator[str]:
    # It imports the drawing of the REPL; few clients ask.
    from terp_cli.repl.commands.code import full_output  # noqa: PLC0415

    return (without_escapes(line) for line in full_output(run))


def _first(code: str) -> str:
    return code.strip().partition("\n")[0][:_LONGEST_LINE]
