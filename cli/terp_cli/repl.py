"""The REPL: a line is read, its turn is drawn, and so on until the person leaves.

painter = Painter(sys.stdout, size)
front = TerminalFront.on(painter, keyboard=None, environ=os.environ)
desk = Desk.on(0, painter)
session = Session(model, kernels, TerminalPerson(front, lambda: desk), …)
code = await run_repl(session, front, desk, ReplSettings(history=places.state / "history"))
"""

import asyncio
import signal
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Any, Protocol

from terp.errors import TerpError
from terp.events import CodeFinished, CodeRejected, CodeTyped, Event, TurnFinished, TurnStarted
from terp.kernels.protocol import Kernels
from terp.messages import Attachment, Message
from terp.typed_run import TYPED
from terp_cli.commands import Command, Commands
from terp_cli.reader import Reader
from terp_cli.sanitise import one_line, readable
from terp_cli.talk import Sources, Talk, typed_code
from terp_cli.terminal import TerminalFront
from terp_cli.toolbar import Toolbar


class Named(Protocol):
    """A model, as far as the REPL needs to know it."""

    @property
    def name(self) -> str:
        """The name a person would use for it."""


class Conversation(Protocol):
    """What the REPL needs of a session."""

    history: Sequence[Message]
    kernels: Kernels

    @property
    def model(self) -> Named:
        """The model that is asked."""

    def turn(self, prompt: str, attachments: Sequence[Attachment] = ()) -> AsyncGenerator[Event, None]:
        """Everything that happens until the model has answered."""

    def run(self, language: str, code: str) -> AsyncGenerator[Event, None]:
        """Everything that happens until the person's own code has run."""

    def events(self, after: int = 0) -> AsyncGenerator[Any, None]:
        """Numbered records of all events, also of those between turns."""

    async def interrupt(self) -> None:
        """Stop the model or the code."""


@dataclass(frozen=True)
class ReplSettings:
    """What a REPL is told by who starts it.

    `background` is begun when the first prompt is on the screen: starting the kernel, importing what
    the model needs. `first` is the turn that was asked for on the command line. `kill` ends the kernels
    on the spot, whatever their code is doing. `use_model` changes the session's model by name, and
    raises `TerpError` when it cannot; without it `/model` only tells the name. `attached` is what a
    message names with an `@`.
    """

    history: Path
    banner: Sequence[str] = ()
    background: Sequence[Callable[[], Awaitable[object]]] = ()
    first: Callable[[], Awaitable[object]] | None = None
    kill: Callable[[], Awaitable[object]] | None = None
    use_model: Callable[[str], Awaitable[None]] | None = None
    attached: Callable[[str], Awaitable[Sequence[Attachment]]] | None = None
    sources: Sources | None = None
    tier: Callable[[], str] = lambda: "none"
    unasked: Callable[[], bool] = lambda: False
    vi_mode: bool = False


async def run_repl(session: Conversation, front: TerminalFront, desk: Reader, settings: ReplSettings) -> int:
    """Talk until the person leaves; the exit code. The session is not closed.

    Ctrl-C interrupts a turn; SIGTERM and SIGHUP leave with 143 and 129.
    """
    repl = Repl(session, front, desk, settings)
    running = asyncio.current_task()
    loop = asyncio.get_running_loop()
    ended_by: list[int] = []

    def end(number: int) -> None:
        ended_by.append(number)
        # Whoever sends this does not wait for code that resists an interrupt.
        if settings.kill is not None:
            repl.begin(settings.kill)
        if running is not None:
            running.cancel()

    loop.set_exception_handler(repl.lost)
    loop.add_signal_handler(signal.SIGINT, repl.interrupt)
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end, number)
    try:
        await repl.run()
    except (asyncio.CancelledError, OSError):
        # A terminal that is gone cannot be written to.
        if not ended_by:
            raise
        return 128 + ended_by[0]
    finally:
        loop.set_exception_handler(None)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(number)
        repl.stop()
    return 0


class Repl:
    """One conversation at a terminal."""

    def __init__(
        self, session: Conversation, front: TerminalFront, desk: Reader, settings: ReplSettings
    ) -> None:
        self.session = session
        self.front = front
        self.commands = Commands(self._table(settings))
        self._settings = settings
        self._desk = desk
        self._tasks: set[asyncio.Task[None]] = set()
        self._in_turn = False
        self._left = False
        self._toolbar = Toolbar(lambda: session.model.name, settings.tier, settings.unasked)

    async def run(self) -> None:
        """Read and answer until the person leaves."""
        # Not through the front end, which would import rich before there is a prompt.
        width = self._desk.width
        for line in self._settings.banner:
            self._desk.say(fill(readable(line), width))
        async with self._desk.talking(self._talk()):
            for thing in (self._import_renderer, self._watch, *self._settings.background):
                self.begin(thing)
            if self._settings.first is not None:
                await self._guarded(self._turn(self._settings.first()))
            while not self._left:
                try:
                    line = await self._desk.message()
                except EOFError:
                    return
                await self._guarded(self._answer(line))

    def lost(self, _: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        """Say in one line what failed where nobody waits for it."""
        error = context.get("exception")
        told = f"{type(error).__name__}: {error}" if error else str(context.get("message"))
        self.front.say(f"! Something failed in the background: {told}")

    def interrupt(self) -> None:
        """Stop the turn that is going on, and let the person think again about what was to follow it."""
        if self._in_turn:
            self._desk.take_back()
            self.begin(self.session.interrupt)
        else:
            self._desk.interrupted()

    def stop(self) -> None:
        """Take back what was begun in the background."""
        for task in self._tasks:
            task.cancel()

    def begin(self, thing: Callable[[], Awaitable[object]]) -> None:
        """Let something happen beside the conversation."""

        async def run() -> None:
            # A kernel that does not start is told by the run that needs it.
            with suppress(TerpError):
                await thing()

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _talk(self) -> Talk:
        return Talk(
            history=self._settings.history,
            toolbar=self._toolbar.text,
            busy=lambda: self._in_turn,
            interrupt=self.interrupt,
            sources=self._settings.sources,
            vi_mode=self._settings.vi_mode,
        )

    async def _guarded(self, doing: Awaitable[object]) -> None:
        """Do something for the person; what goes wrong is told, and the talk goes on."""
        try:
            await doing
        except TerpError as error:
            self.front.say(error.message, *([error.remedy] if error.remedy else []))
        except Exception as error:  # noqa: BLE001  # a bug of terp must not end the conversation
            told = "".join(traceback.format_exception(error)).rstrip()
            self.front.say(
                told, "", "This is a bug in terp. The conversation and the variables are still there."
            )

    async def _answer(self, line: str) -> None:
        """Do what a line says: a command, or a message to the model."""
        if code := typed_code(line, self.session.kernels.languages):
            await self._turn(self._drawn(self.session.run(*code)))
        elif not Commands.are_in(line):
            attached = await self._settings.attached(line) if self._settings.attached else ()
            await self._turn(self._drawn(self.session.turn(line, attached)))
        elif unknown := await self.commands.run(line):
            self.front.say(unknown)

    async def _turn(self, turn: Awaitable[object]) -> None:
        self._in_turn = True
        try:
            await turn
        finally:
            self._in_turn = False

    async def _drawn(self, turn: AsyncGenerator[Event, None]) -> None:
        async with aclosing(turn) as events:
            await self.front.show(events)

    def _table(self, settings: ReplSettings) -> list[Command]:
        async def show_help(_: str) -> None:
            self.front.say(*self.commands.help(), "", *_KEYS)

        async def model(name: str) -> None:
            if name and settings.use_model is not None:
                await settings.use_model(name)
            self.front.say(f"The model is {one_line(self.session.model.name)}.")

        async def reset(_: str) -> None:
            self.session.history = ()
            self.front.say("The model has forgotten the conversation. Variables in the kernel stay.")

        async def leave(_: str) -> None:
            self._left = True

        changeable = Command("model", "[NAME]", "tell which model answers, or change it", model)
        return [
            Command("help", "", "show this", show_help),
            changeable
            if settings.use_model is not None
            else Command("model", "", "tell which model answers", model),
            Command("reset", "", "begin a new conversation", reset),
            Command("quit", "", "leave", leave),
        ]

    @staticmethod
    async def _import_renderer() -> None:
        await asyncio.to_thread(import_module, "terp_cli.render.transcript")

    async def _watch(self) -> None:
        """Show what happens between turns, and count."""
        drawn_elsewhere = False
        async with aclosing(self.session.events()) as records:
            async for record in records:
                event: Event = record.event
                if self._toolbar.note(event):
                    self._desk.refresh()
                if isinstance(event, TurnStarted | CodeTyped):
                    drawn_elsewhere = True
                elif not drawn_elsewhere:
                    self.front.aside(event)
                elif isinstance(event, TurnFinished) or _ends_typed(event):
                    drawn_elsewhere = False


def _ends_typed(event: Event) -> bool:
    return isinstance(event, CodeFinished | CodeRejected) and event.call_id.startswith(TYPED)


_KEYS = (
    'Alt+Enter, Ctrl+J, a trailing \\ or a """ block: another line of the same message',
    "!command or >>> code: runs without the model, which is told · @file, @variable: goes with the message",
    "Ctrl+R: search what was typed before · Ctrl+X Ctrl+E: write in your editor",
    "While a turn runs: what you type is next; Up on an empty line takes it back",
    "Ctrl+C or Esc: interrupt, keeping everything; at the prompt Ctrl+C clears the line, twice leaves",
    "Ctrl+D: leave",
)
