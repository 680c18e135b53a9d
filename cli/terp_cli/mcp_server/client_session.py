"""The session of one MCP client: a terp session whose model is the client."""

import asyncio
import json
import mimetypes
import os
import re
import shlex
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Mapping, Sequence
from contextlib import ExitStack, aclosing
from functools import partial
from pathlib import Path
from typing import Any

from mcp import MCPError, types
from mcp.server.context import ServerRequestContext

from terp.errors import SettingsError, TerpError, with_remedy
from terp.events import Asked, Event, KernelChanged, Printed, Progress, TurnFinished
from terp.events.changes import shape_text
from terp.events.messages import Assistant, Message, Result, ToolCall, User
from terp.events.model import CallDelta, Chunk, Replied, TextChunk
from terp.events.outputs import Text
from terp.events.run_log import RunLog
from terp.models.tool import NAME
from terp.opening.supplied import Supplied
from terp.person import AutoRun
from terp.session.artifacts import OUTPUTS
from terp.session.context.namespaces import Namespaces
from terp.session.reply import files_in
from terp.session.session import Session
from terp.settings import BUILT_IN, Settings
from terp.settings.setting import table
from terp.store.folders import new_folder
from terp.store.places import new_place
from terp.text.dataclasses import dataclass, replace
from terp.text.files import content_of
from terp.text.plain import head_and_tail, without_escapes
from terp_cli.fronts.invocation import Invocation
from terp_cli.mcp_server.client_person import WATCH, ClientPerson, Elicit
from terp_cli.repl.keeping import SessionOpener
from terp_cli.terminal.sanitise import one_line

Asking = Callable[[Session], AsyncGenerator[Event, None]]
Play = Callable[[Asking], Coroutine[Any, Any, None]]
"""Plays one turn of the session after the others, and returns when it has ended."""
Report = Callable[[float, float | None, str | None], Awaitable[None]]
"""Reports to the client the seconds that a call has taken, no total, and what it does."""
SESSION_HEADER = "mcp-session-id"
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_LARGEST_FILE = 10_000_000
_LONGEST_LINE = 200
_LINKS = 10
_EVERY_S = 0.5
_NUMBER = re.compile(r"-?\d+")
_LINES = re.compile(r"\d+-\d*|-?\d+")
# Code that has not answered an interrupt for so long is interrupted again, which ends its kernel.
_INTERRUPT_S = 3.0
_FIRST = "client-1"
_TYPED = re.compile(r"(?:^|\n)>>> ?(.*)", re.DOTALL)
_NO_MODEL = "No model answers here: an MCP client calls the code. `>>> CODE` runs Python in the same kernel."
_UNUSED: Mapping[str, Any] = {"code": True, "mcp_servers": {}, "until": "", "record": "", "replay": ""}
"""Settings that have no effect: the client calls code, and has its own model and MCP servers."""


def served_settings(call: Invocation, *, over_http: bool) -> Settings:
    """Return the settings of clients' sessions: by default in the sandbox, and asked at effects.

    Raises:
        SettingsError: they are wrong, or a flag has no effect. Over HTTP the page has sessions with a model.
    """
    rows, wanted = table(Settings), {"approve": "effect", "sandbox": "workspace"}
    if unused := [
        f"{given.origin} has no effect here: the MCP client is the model."
        for name, given in call.line.given.items()
        if name in _UNUSED or (rows[name].group == "model" and not over_http)
    ]:
        raise SettingsError(unused)
    settings = call.settings()
    chosen: dict[str, Any] = {name: wanted[name] for name in wanted if settings.origin(name) == BUILT_IN}
    return replace(settings, **chosen, **_UNUSED)


class ClientModel:
    """Implements `Model`: replies with the `next` call of the client, and with nothing once it has run.

    A prompt that the user types beside the client (`terp mcp-server --watch`) runs if it begins with `>>>`.
    It has no `name`: a stored session is resumed with the user's own model.
    """

    name = ""

    def __init__(self, client: str) -> None:
        self.client = client
        self.next: ToolCall | None = None

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """Yield the reply."""
        (call, self.next), last = (self.next, None), messages[-1]
        if not isinstance(last, User):
            yield Replied(Assistant(""))
            return
        if call is None and (typed := _TYPED.search(last.text)):
            call = call_of(f"typed-{len(messages)}", "python", typed[1])
        if call is None:
            yield TextChunk(_NO_MODEL)
            yield Replied(Assistant(_NO_MODEL))
            return
        yield CallDelta(0, call.name, call.arguments)
        yield Replied(Assistant("", (call,)))

    async def aclose(self) -> None:
        """Do nothing: the connection to the client is not the session's."""


def call_of(call_id: str, language: str, code: str) -> ToolCall:
    """Return a call of the one tool."""
    return ToolCall(call_id, NAME, json.dumps({"language": language, "code": code}))


@dataclass(eq=False, slots=True)
class ClientRun:
    """A call of `execute`: `after` is the number of the record before its turn.

    `given_up` is True if nobody waits for it any more. `result` is there once the turn has ended.
    """

    call: ToolCall
    elicit: Elicit | None
    after: int
    given_up: bool = False
    result: types.CallToolResult | None = None


class ClientSession:
    """A session whose turns are the calls of a client.

    `play` and `end` are replaced once a page shows it, on which users may close it: `is_closed`.
    """

    def __init__(self, session: Session, model: ClientModel, person: ClientPerson) -> None:
        self.session = session
        self.person = person
        self.play: Play = self._play_alone
        self.end: Callable[[], Awaitable[None]] = session.aclose
        self.is_closed: Callable[[], bool] = lambda: False
        self.model = model
        self._running: list[ClientRun] = []
        self._runs = RunLog(session.log)
        self._turn = asyncio.Lock()
        self._current: ClientRun | None = None
        self._calls = self._seen = 0

    async def run(
        self, language: str, code: str, elicit: Elicit | None, report: Report
    ) -> types.CallToolResult:
        """Run code in a turn of its own, after those before it, and report its progress.

        A call that is cancelled is interrupted: variables stay.

        Raises:
            TerpError: the user has closed the session.
        """
        self._calls += 1
        run = ClientRun(call_of(f"client-{self._calls}", language, code), elicit, self.session.log.last)
        self._running.append(run)
        turn = asyncio.create_task(self.play(partial(self._turn_of, run)))
        reporting = asyncio.create_task(self._report(run, report))
        try:
            await asyncio.shield(turn)
        except asyncio.CancelledError:
            # The client waits for no answer, but the code must end.
            run.given_up = True
            if self._current is run:
                await asyncio.shield(self.interrupt())
            raise
        finally:
            reporting.cancel()
            self._running.remove(run)
        if run.result is None:
            raise TerpError("The code did not run: the user has closed the session.")
        return run.result

    async def interrupt(self) -> bool:
        """Interrupt what runs, at last by ending its kernel; return False if nothing did."""
        busy = bool(self._running)
        await self.session.interrupt()
        try:
            async with asyncio.timeout(_INTERRUPT_S):
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
        rows = ((one.name, one.type, shape_text(one.shape), one.head) for _, one in found)
        return self._bounded("\n".join("  ".join(filter(None, row)) for row in rows) or "There are none.")

    def output(self, number: str, grep: str, lines: str) -> str:
        """Return the output of a run: all of it, the lines with one of the texts in `grep`, or some `lines`.

        Raises:
            UnknownRun: there is no such run.
            TerpError: `number` is none, or `lines` are none.
        """
        if not _NUMBER.fullmatch(number):
            raise TerpError("`n` must be the number of a run, or -1 for the last.")
        # It imports the drawing of the REPL; few clients ask.
        from terp_cli.repl.commands.code import full_output  # noqa: PLC0415

        rows = [
            (at, without_escapes(line))
            for at, line in enumerate(full_output(self._runs.find(int(number))), 1)
        ]
        if lines:
            if not _LINES.fullmatch(lines):
                raise TerpError("`lines` must be 1-50, 200-, or -20 for the last 20.")
            first, _, last = lines.rpartition("-")
            rows = rows[max(0, int(first) - 1) : int(last) if last else None] if first else rows[-int(last) :]
        if grep:
            texts = [text.lower() for text in grep.split("|") if text]
            rows = [row for row in rows if any(text in row[1].lower() for text in texts)]
        numbered = (f"{at}: {line}" if grep or lines else line for at, line in rows)
        return self._bounded("\n".join(numbered) or "No line.")

    async def _report(self, run: ClientRun, report: Report) -> None:
        """Report at intervals, also about silent code: clients give up on silent servers."""
        began = time.monotonic()
        while True:
            await report(time.monotonic() - began, None, self._progress(run))
            await asyncio.sleep(_EVERY_S)

    def _progress(self, run: ClientRun) -> str:
        """Return the last line of what a call does."""
        said = "running"
        for record in self.session.log.since(run.after):
            match record.event:
                case Printed(output=Text(text=text)) if text.strip():
                    said = text.strip().splitlines()[-1]
                case KernelChanged(language=language, state="starting"):
                    said = f"starting the {language} kernel"
                case Progress(what=said) | Asked(kind="choice" | "consent" | "input", what=said):
                    pass
        return self.session.resources.redacted(without_escapes(said))[:_LONGEST_LINE]

    def files(self) -> list[Path]:
        """Return the files that runs have made and displayed, the newest first."""
        return [Path(path) for path in reversed([*files_in(self._runs)]) if self._top_of(Path(path))]

    def read(self, path: Path) -> bytes:
        """Return the content of one of `files`; no link leads out of the working directory.

        Raises:
            OSError: it is none of them, is too large, or is gone.
        """
        top = self._top_of(path)
        if top is None or path not in self.files():
            raise FileNotFoundError(f"No run has made {path}.")
        *folders, name = path.relative_to(top).parts
        with ExitStack() as opened:
            folder = None
            for one in (os.path.realpath(top), *folders):
                folder = os.open(one, _FOLDER, dir_fd=folder)
                opened.callback(os.close, folder)
            content = content_of(name, _LARGEST_FILE, folder=folder)
        if len(content) == _LARGEST_FILE:
            raise OSError(f"It is larger than {_LARGEST_FILE:,} bytes.")
        return content

    async def _turn_of(self, run: ClientRun, session: Session) -> AsyncGenerator[Event, None]:
        if run.given_up:
            return
        self._current, self.model.next, run.after = run, run.call, session.log.last
        self.person.elicit = run.elicit
        # On the page users may have chosen a model that answers them.
        session.model, theirs = self.model, session.model
        try:
            async with aclosing(session.turn(f"{self.model.client}: call {self._calls}")) as events:
                async for event in events:
                    yield event
        finally:
            self._current = self.person.elicit = None
            session.model = theirs
        assert isinstance(event, TurnFinished), "it is the last event"
        run.result = self._read(run, event)

    def _read(self, run: ClientRun, ended: TurnFinished) -> types.CallToolResult:
        """Return the result of a call as the client reads it."""
        mark, results = self.session.resources.note_mark, reversed(self.session.history)
        found = (one for one in results if isinstance(one, Result) and one.call_id == run.call.id)
        result = next(found, Result(run.call.id, "Not run."))
        runs, seen = self._runs.started, self._seen
        self._seen = len(runs)
        own = next((one for one in runs[seen:] if one.started_at > run.after), None)
        text = [mark.note(mark.explanation)] if run.call.id == _FIRST and mark.word else []
        for one in (one for one in runs[seen:] if one is not own):
            what = f"the user ran code here, too (run {one.number}): {one.code.strip().splitlines()[0]}"
            text.append(mark.note(mark.plain(what[:_LONGEST_LINE])))
        text.append(result.text)
        if ended.error:
            # The server of an agent has no terminal.
            remedy = ended.remedy.replace("Run terp on a terminal", WATCH.capitalize())
            text.append(mark.note(with_remedy(ended.error, remedy)))
        text += [mark.note(mark.plain(what)) for what in self.person.declined]
        self.person.declined.clear()
        text += [mark.note(f"run {own.number}, {own.seconds:.1f} s")] if own else []
        made = [Path(one.path) for one in own.files if one.action != "deleted"] if own else []
        files = [path for path in made if self._top_of(path)][:_LINKS]
        content: list[types.ContentBlock] = [
            types.TextContent(text=self.session.resources.redacted("\n".join(text))),
            *(types.ImageContent(data=one.data, mime_type=one.mime) for one in result.images),
            *(types.ResourceLink(**linked(path)) for path in files),
        ]
        return types.CallToolResult(content=content, is_error=own is None or own.fate != "ok")

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
        resources = self.session.resources
        return head_and_tail(resources.redacted(text), max(200, resources.limits.max_output_chars))


class Clients:
    """The sessions of the clients: one over stdio, over HTTP one for each session of the protocol.

    `opened` is called with each of them before its first code, once there is a page.
    """

    def __init__(self, call: Invocation, settings: Settings) -> None:
        self.open: dict[str, ClientSession] = {}
        self.opened: Callable[[ClientSession], Awaitable[None]] | None = None
        self._call, self._settings = call, settings
        self._opening = asyncio.Lock()

    async def of(self, ctx: ServerRequestContext[Any, Any]) -> ClientSession:
        """Return the session of the client that sent a request; the first request opens it.

        Raises:
            MCPError: over HTTP, the request belongs to no session.
        """
        key = "" if ctx.request is None else ctx.request.headers.get(SESSION_HEADER, "")
        if ctx.request is not None and not key:
            raise MCPError(types.INVALID_REQUEST, "A kernel lives as long as a session: initialize first.")
        async with self._opening:
            if key not in self.open or self.open[key].is_closed():
                info = ctx.session.client_params
                client = await self._opened(one_line(info.client_info.name)[:40] if info else "client")
                if self.opened is not None:
                    await self.opened(client)
                self.open[key] = client
            return self.open[key]

    async def close(self, key: str) -> None:
        """Close the session of a client that has left."""
        if (client := self.open.pop(key, None)) is not None:
            await client.end()

    async def aclose(self) -> None:
        """Close all sessions."""
        await asyncio.gather(*map(self.close, list(self.open)))

    async def _opened(self, name: str) -> ClientSession:
        """Open a session, stored among those that `terp sessions` lists. No kernel is started."""
        call, settings, model, person = self._call, self._settings, ClientModel(name), ClientPerson()
        place = new_place(new_folder(call.places.sessions), str(call.cwd), call.secrets)
        decides = AutoRun(person) if settings.auto_run else person
        session = await SessionOpener(call, settings, decides, call.cwd, Supplied(model=model)).open(place)
        # Its calls cost nothing here.
        session.resources.account = None
        return ClientSession(session, model, person)


def linked(path: Path) -> dict[str, Any]:
    """Return the fields of a link to a file."""
    return {"name": path.name, "uri": path.as_uri(), "mime_type": type_of(path.name)}


def type_of(name: str) -> str:
    """Return the MIME type of a file by its name."""
    return mimetypes.guess_type(name)[0] or "application/octet-stream"


def installing(packages: Any) -> str:
    """Return the code that installs packages, under the rules of all code.

    Raises:
        TerpError: they are no list of names of packages.
    """
    listed = packages if isinstance(packages, list) else []
    if not listed or any(not isinstance(name, str) or name.startswith("-") for name in listed):
        raise TerpError('`packages` must be names of packages in a list, such as ["pandas", "numpy>=2"].')
    return f"%pip install {shlex.join(packages)}\nassert _exit_code == 0, 'not installed'"
