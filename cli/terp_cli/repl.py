"""The REPL: a line is read, its turn is drawn, and so on until the person leaves.

front = TerminalFront.on(sys.stdout, keyboard=0, environ=os.environ)
keyboard = Keyboard.on(0)
session = Session(model, kernels, TerminalPerson(front, lambda: keyboard), …)
code = await run_repl(session, front, keyboard, ReplSettings(history=places.state / "history"))
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
from terp.events import Event, TurnFinished, TurnStarted, UsageReported
from terp.messages import Message
from terp_cli.commands import Command, Commands
from terp_cli.history import LockedHistory
from terp_cli.keyboard import Keyboard
from terp_cli.prompt import Prompt
from terp_cli.sanitise import one_line, readable
from terp_cli.terminal import TerminalFront


class Named(Protocol):
    """A model, as far as the REPL needs to know it."""

    @property
    def name(self) -> str:
        """The name a person would use for it."""


class Conversation(Protocol):
    """What the REPL needs of a session."""

    history: Sequence[Message]

    @property
    def model(self) -> Named:
        """The model that is asked."""

    def turn(self, prompt: str) -> AsyncGenerator[Event, None]:
        """Everything that happens until the model has answered."""

    def events(self, after: int = 0) -> AsyncGenerator[Any, None]:
        """Numbered records of all events, also of those between turns."""

    async def interrupt(self) -> None:
        """Stop the model or the code."""


@dataclass(frozen=True)
class ReplSettings:
    """What a REPL is told by who starts it.

    `background` is begun when the first prompt is on the screen: starting the kernel, importing what
    the model needs. `kill` ends the kernels on the spot, whatever their code is doing. `use_model`
    changes the session's model by name, and raises `TerpError` when it cannot; without it `/model` only
    tells the name.
    """

    history: Path
    banner: Sequence[str] = ()
    background: Sequence[Callable[[], Awaitable[object]]] = ()
    kill: Callable[[], Awaitable[object]] | None = None
    use_model: Callable[[str], Awaitable[None]] | None = None


async def run_repl(
    session: Conversation, front: TerminalFront, keyboard: Keyboard, settings: ReplSettings
) -> int:
    """Talk until the person leaves; the exit code. The session is not closed.

    Ctrl-C interrupts a turn; SIGTERM and SIGHUP leave with 143 and 129.
    """
    repl = Repl(session, front, keyboard, settings)
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
        self, session: Conversation, front: TerminalFront, keyboard: Keyboard, settings: ReplSettings
    ) -> None:
        self.session = session
        self.front = front
        self.commands = Commands(self._table(settings))
        self._settings = settings
        self._keyboard = keyboard
        self._tasks: set[asyncio.Task[None]] = set()
        self._in_turn = False
        self._drawn: set[int] = set()
        self._left = False
        self._tokens = 0
        self._prompt = Prompt(
            LockedHistory(settings.history),
            keyboard.source,
            keyboard.sink,
            toolbar=self._toolbar,
            painted=self._begin_background,
        )

    async def run(self) -> None:
        """Read and answer until the person leaves."""
        # Not through the front end, which would import rich before there is a prompt.
        width = self._keyboard.sink.get_size().columns
        for line in self._settings.banner:
            self._keyboard.say(f"{fill(readable(line), width)}\n")
        while not self._left:
            try:
                line = await self._prompt.read()
            except EOFError:
                return
            await self.answer(line)

    async def answer(self, line: str) -> None:
        """Do what a line says: a command, or a message to the model."""
        try:
            if not line.strip():
                return
            if Commands.are_in(line):
                if unknown := await self.commands.run(line):
                    self.front.say(unknown)
            else:
                await self._turn(line)
        except TerpError as error:
            self.front.say(error.message, *([error.remedy] if error.remedy else []))
        except Exception as error:  # noqa: BLE001  # a bug of terp must not end the conversation
            told = "".join(traceback.format_exception(error)).rstrip()
            self.front.say(
                told, "", "This is a bug in terp. The conversation and the variables are still there."
            )

    def lost(self, _: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        """Say in one line what failed where nobody waits for it."""
        error = context.get("exception")
        told = f"{type(error).__name__}: {error}" if error else str(context.get("message"))
        self._prompt.above(lambda: self.front.say(f"! Something failed in the background: {told}"))

    def interrupt(self) -> None:
        """Stop the turn that is going on; at the prompt, nothing."""
        if self._in_turn:
            self.begin(self.session.interrupt)

    def stop(self) -> None:
        """Take back what was begun in the background."""
        for task in self._tasks:
            task.cancel()

    async def _turn(self, prompt: str) -> None:
        self._in_turn = True
        self._drawn.clear()
        try:
            async with aclosing(self._noted(self.session.turn(prompt))) as events:
                await self.front.show(events)
        finally:
            self._in_turn = False

    async def _noted(self, events: AsyncGenerator[Event, None]) -> AsyncGenerator[Event, None]:
        async with aclosing(events):
            async for event in events:
                self._drawn.add(id(event))
                yield event

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

    def _toolbar(self) -> str:
        tokens = f" · {self._tokens:,} tokens".replace(",", " ") if self._tokens else ""
        return f"{one_line(self.session.model.name)}{tokens} · /help"

    def _begin_background(self) -> None:
        for thing in (self._import_renderer, self._watch, *self._settings.background):
            self.begin(thing)

    def begin(self, thing: Callable[[], Awaitable[object]]) -> None:
        """Let something happen beside the conversation."""

        async def run() -> None:
            # A kernel that does not start is told by the run that needs it.
            with suppress(TerpError):
                await thing()

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @staticmethod
    async def _import_renderer() -> None:
        await asyncio.to_thread(import_module, "terp_cli.render.transcript")

    async def _watch(self) -> None:
        """Show what happens between turns, and count."""
        in_turn = False
        async with aclosing(self.session.events()) as records:
            async for record in records:
                event: Event = record.event
                if isinstance(event, UsageReported):
                    self._tokens += event.input_tokens + event.output_tokens
                if isinstance(event, TurnStarted | TurnFinished):
                    in_turn = isinstance(event, TurnStarted)
                # A turn may go on a little after it has said that it is finished.
                elif not (in_turn or self._in_turn or id(event) in self._drawn):
                    self._prompt.above(lambda event=event: self.front.aside(event))  # type: ignore[misc]


_KEYS = (
    'Alt+Enter, Ctrl+J, a trailing \\ or a """ block: another line of the same message',
    "Ctrl+R: search what was typed before · Ctrl+X Ctrl+E: write in your editor",
    "Ctrl+C: interrupt, keeping everything; at the prompt it clears the line, twice leaves",
    "Ctrl+D: leave",
)
