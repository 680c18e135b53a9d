"""The REPL: reads a line, draws its turn, and repeats until the user leaves.

    context = TerminalContext(session, front, desk, person, ReplContext(settings, places, environ))
    code = await run_repl(context, ReplSettings(history=places.history))

A line is a command, the person's own code (`!ls`, `>>> x`), or a message to the model.
"""

import asyncio
import signal
import time
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import Any

from terp.checks.until.loop import ask
from terp.errors import TerpError
from terp.events import (
    CheckFinished,
    CheckStarted,
    CodeFinished,
    CodeRejected,
    CodeTyped,
    Event,
    JobChanged,
    SessionResumed,
    TextDelta,
    TurnFinished,
    TurnStarted,
)
from terp.events.kernel import Kernel
from terp.events.messages import Assistant, Attachment
from terp.session.context.namespaces import Namespaces
from terp.settings.interpreter import environment_name
from terp_cli.fronts.titles import Titles
from terp_cli.prompt.interface import CtrlCDebounce, LineSettings, Sources, Word, typed_code, unclear
from terp_cli.prompt.toolbar import Toolbar
from terp_cli.repl.commands.every import all_commands
from terp_cli.repl.commands.table import UnknownCommand
from terp_cli.repl.context import TerminalContext
from terp_cli.repl.missed_mentions import attached
from terp_cli.terminal.sanitise import readable


def _nothing() -> None:
    """Do nothing: no key was typed ahead."""


@dataclass(frozen=True)
class ReplSettings:
    """The settings of a REPL.

    `background` is begun when the first prompt is on the screen: starting the kernel, importing what
    the model needs. `first` is the turn that was asked for on the command line. `hand_over` is called
    right before the keys are read.
    """

    history: Path
    banner: Sequence[str] = ()
    background: Sequence[Callable[[], Awaitable[object]]] = ()
    first: Callable[[], Awaitable[object]] | None = None
    hand_over: Callable[[], None] = _nothing
    titles: Titles | None = None
    vi_mode: bool = False


async def run_repl(context: TerminalContext, settings: ReplSettings) -> int:
    """Run until the user leaves; return the exit code. The session is not closed.

    Ctrl-C interrupts a turn; SIGTERM and SIGHUP leave with 143 and 129.
    """
    repl = Repl(context, settings)
    running = asyncio.current_task()
    loop = asyncio.get_running_loop()
    ended_by: list[int] = []

    def end(number: int) -> None:
        ended_by.append(number)
        # Whoever sends this does not wait for code that resists an interrupt.
        repl.begin(context.session.kernels.aclose)
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
    """A REPL at a terminal."""

    def __init__(self, context: TerminalContext, settings: ReplSettings) -> None:
        self._context = context
        self._settings = settings
        self._titles = settings.titles or Titles.none()
        self._commands = all_commands()
        self._held = Namespaces(context.session.kernels)
        self._tasks: set[asyncio.Task[None]] = set()
        self._watching: asyncio.Task[None] | None = None
        self._in_turn = self._warned = False
        self._ctrl_c = CtrlCDebounce(time.monotonic)
        self._toolbar = Toolbar(
            model=lambda: context.session.model.name,
            tier=lambda: context.session.kernels.get(context.session.kernels.languages[0]).tier,
            unasked=lambda: context.auto_run,
            profile=lambda: context.profile,
            used=lambda: context.session.budget.used,
            jobs=lambda: len(context.session.jobs.running),
            python=lambda: (
                # Its name would take the room of what follows it.
                context.session.kernels.get(context.session.kernels.languages[0]).place.partition(" (")[0]
                or environment_name(
                    pythons.current if (pythons := context.session.equipment.pythons) else None
                )
            ),
        )
        context.replaced = self._watch_anew

    async def run(self) -> None:
        """Read and answer until the user leaves."""
        desk = self._context.desk
        # Not through the front end, which would import rich before there is a prompt.
        for line in self._settings.banner:
            desk.say(fill(readable(line), desk.width))
        async with desk.talking(self._line()), self._titles.shown():
            self._watch_anew()
            for thing in (self._import_early, *self._settings.background):
                self.begin(thing)
            if self._settings.first is not None:
                await self._guarded(self._busily(self._settings.first()))
            while not self._context.left:
                try:
                    await self._next()
                except EOFError:
                    return

    def lost(self, _: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        """Report a background failure in one line."""
        error = context.get("exception")
        problem = f"{type(error).__name__}: {error}" if error else str(context.get("message"))
        self._context.say(f"! Something failed in the background: {problem}")

    def interrupt(self) -> None:
        """Interrupt the running turn, and return the queued lines to the input line."""
        if self._in_turn:
            self._ctrl_c.interrupted()
            self._context.desk.take_back()
            self.begin(self._context.session.interrupt)
        elif not self._ctrl_c.repeats():
            self._context.desk.interrupted()

    def stop(self) -> None:
        """Cancel the background tasks."""
        for task in self._tasks:
            task.cancel()

    def begin(self, thing: Callable[[], Awaitable[object]]) -> "asyncio.Task[None]":
        """Start a background task."""

        async def run() -> None:
            # The run that needs the kernel reports a failed start.
            with suppress(TerpError):
                await thing()

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def _line(self) -> LineSettings:
        return LineSettings(
            history=self._settings.history,
            toolbar=self._toolbar.text,
            busy=lambda: self._in_turn,
            interrupt=self.interrupt,
            one_more=self._ctrl_c.repeats,
            rewind=self._rewind,
            typed=self._titles.typed,
            at_once=self._at_once,
            may_leave=self._may_leave,
            begins=self._settings.hand_over,
            sources=Sources(
                commands=self._commands.words,
                arguments=lambda name, begun: self._commands.arguments(self._context, name, begun),
                names=self._names,
                code=self._completed,
                cwd=self._folder,
            ),
            vi_mode=self._settings.vi_mode,
            without_secrets=self._without_secrets,
        )

    def _at_once(self, line: str) -> bool:
        """Run a line now if it is a command that works during a turn; return True if it is."""
        if not self._in_turn or not self._commands.is_at_once(line):
            return False
        self.begin(lambda: self._guarded(self._commands.run(self._context, line)))
        return True

    def _may_leave(self) -> bool:
        """Return True if the user may leave; the first attempt only warns about running jobs."""
        jobs = self._context.session.jobs.running.values()
        if not jobs or self._warned:
            return True
        self._warned = True
        self._context.say(
            *(f"{job.title} still runs: leaving ends it." for job in jobs), "Ctrl-D again leaves."
        )
        return False

    async def _next(self) -> None:
        if self._context.next:
            prompt, attached = self._context.next.popleft()
            self._show_prompt(prompt)
            await self._guarded(self._busily(self._drawn(ask(self._context.session, prompt, attached))))
            return
        line = await self._context.desk.message()
        self._warned = False
        await self._guarded(self._answer(line))

    async def _guarded(self, doing: Awaitable[object]) -> None:
        """Run an action of the user; errors are shown, and the session continues."""
        try:
            await doing
        except TerpError as error:
            if self._context.debug and error.__cause__ is not None and error.stop_reason != "usage":
                # For a mistake of the user the message is enough.
                self._context.say(self._traceback(error))
            self._context.say(self._without_secrets(error.message), *([error.remedy] if error.remedy else []))
        except Exception as error:  # noqa: BLE001  # a bug of terp must not end the conversation
            self._context.say(
                self._traceback(error),
                "",
                "This is a bug in terp. The conversation and the variables are still there.",
            )

    def _traceback(self, error: Exception) -> str:
        return self._without_secrets("".join(traceback.format_exception(error)).rstrip())

    def _without_secrets(self, text: str) -> str:
        return self._context.session.equipment.without_secrets(text)

    async def _answer(self, line: str) -> None:
        """Run a line."""
        session = self._context.session
        if code := typed_code(line, session.kernels.languages):
            await self._busily(self._drawn(session.run(*code)))
        elif problem := unclear(line):
            self._context.say(problem)
        elif not await self._commanded(line):
            line = self._commands.as_text(line)
            attached = await self._attached(line)
            await self._busily(self._drawn(ask(session, line, attached)))

    async def _commanded(self, line: str) -> bool | object:
        """Run a line if it is a command, and return True; an unknown command returns to the input line."""
        try:
            return await self._busily(self._commands.run(self._context, line))
        except UnknownCommand:
            self._context.prefill(line)
            raise

    async def _busily(self, doing: Awaitable[bool | object]) -> bool | object:
        self._in_turn = True
        try:
            return await doing
        finally:
            self._in_turn = False
            self._ctrl_c.ended()

    async def _attached(self, line: str) -> Sequence[Attachment]:
        """Return the attachments that a message names with `@`; prefill the message if one is unreadable."""
        try:
            return await attached(line, self._folder(), self._context, self._namespaces)
        except TerpError:
            self._context.prefill(line)
            raise

    def _folder(self) -> Path:
        """Where the person's files are: beside those of the code, unless that runs on another machine."""
        kernels = self._context.session.kernels
        return Path(kernels.cwd if kernels.elsewhere else self._kernel.cwd)

    async def _drawn(self, turn: AsyncGenerator[Event, None]) -> None:
        async with aclosing(turn) as events:
            await self._context.front.show(events)

    def _recall(self) -> None:
        """Show the last prompt and answer of a resumed session."""
        session = self._context.session
        answers = (message.text for message in reversed(session.history) if isinstance(message, Assistant))
        if session.turns:
            self._show_prompt(session.turns[-1].prompt)
            if answer := next(answers, ""):
                self._context.front.aside(TextDelta(answer))

    def _show_prompt(self, prompt: str) -> None:
        """Show a message that nobody has typed just now."""
        first, *more = readable(prompt).split("\n")
        self._context.desk.say("\n".join(["", f"› {first}", *(f"  {line}" for line in more)]))

    def _rewind(self) -> None:
        async def listed() -> None:
            await self._commands.run(self._context, "/rewind")
            if self._context.session.turns:
                self._context.prefill("/rewind ")

        self.begin(listed)

    @property
    def _kernel(self) -> Kernel:
        kernels = self._context.session.kernels
        return kernels.get(kernels.languages[0])

    @property
    def _namespaces(self) -> Namespaces:
        kernels = self._context.session.kernels
        # A session that is resumed here brings kernels of its own.
        if self._held.kernels is not kernels:
            self._held = Namespaces(kernels)
        return self._held

    async def _names(self) -> Sequence[Word]:
        return await self._namespaces.names()

    async def _completed(self, language: str, code: str) -> Sequence[str]:
        kernels = self._context.session.kernels
        if language not in kernels.languages:
            return ()
        return await kernels.get(language).complete(code, len(code))

    @staticmethod
    async def _import_early() -> None:
        # What draws a turn, and what reads its code.
        for name in ("terp_cli.render.transcript", "terp.analysis.effects.analysis"):
            await asyncio.to_thread(import_module, name)

    def _watch_anew(self) -> None:
        """Watch the current session."""
        if self._watching is not None:
            self._watching.cancel()
        self._watching = self.begin(self._watch)

    async def _watch(self) -> None:
        """Show events between turns, and update the toolbar."""
        drawn_elsewhere, typed = False, ""
        async with aclosing(self._context.session.events()) as records:
            async for record in records:
                event = record.event
                self._titles.saw(event)
                if self._toolbar.note(event):
                    self._context.desk.refresh()
                if isinstance(event, TurnStarted | CodeTyped | CheckStarted):
                    drawn_elsewhere = True
                    typed = event.call_id if isinstance(event, CodeTyped) else ""
                elif isinstance(event, TurnFinished) or _is_last(event, typed):
                    # What typed code does in the background is not drawn with it any more.
                    drawn_elsewhere, typed = False, ""
                elif not drawn_elsewhere:
                    self._context.front.aside(event)
                    if isinstance(event, SessionResumed):
                        self._recall()


def _is_last(event: Event, typed: str) -> bool:
    """Return True if typed code has ended or was detached, or a check passed."""
    if isinstance(event, CheckFinished):
        return event.passed
    return isinstance(event, CodeFinished | CodeRejected | JobChanged) and event.call_id == typed
