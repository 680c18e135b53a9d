"""The REPL: reads a line, draws its turn, and repeats until the user leaves.

    context = ReplContext(call, settings, session, front, prompt, person)
    code = await run_repl(context)

A line is a command, the user's own code (`!ls`, `>>> x`), or a message to the model.
"""

import asyncio
import os
import signal
import time
import traceback
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from importlib import import_module
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any

from terp import __version__
from terp import events as on
from terp.checks.until.loop import ask
from terp.errors import TerpError
from terp.events import (
    Event,
    HistoryCompacted,
    HistoryRewound,
    JobChanged,
    KernelChanged,
    SessionResumed,
    UsageReported,
)
from terp.events.kernel import Kernel
from terp.events.messages import Assistant, Attachment
from terp.kernels.sandbox.tier import is_confined
from terp.opening.chat_session import offer_checkpoint
from terp.session.artifacts import OUTPUTS
from terp.session.context.namespaces import Namespaces
from terp.session.session import Session
from terp.settings.interpreter import environment_name
from terp.text.files import make_private, new_file
from terp.text.plain import counted
from terp_cli.fronts.detached import unseen_sessions
from terp_cli.fronts.oneshot import OneShotPrompt, one_turn
from terp_cli.fronts.titles import Titles
from terp_cli.prompt.interface import (
    BAR,
    SHELL,
    CtrlCDebounce,
    PromptHost,
    ToolbarPart,
    Word,
    typed_code,
    unclear,
)
from terp_cli.prompt.mentions import mention
from terp_cli.repl.commands.every import all_commands
from terp_cli.repl.commands.table import UnknownCommand
from terp_cli.repl.context import APPROVALS, ReplContext
from terp_cli.repl.keeping import SessionOpener, prefetch_adapters
from terp_cli.repl.missed_mentions import attached
from terp_cli.repl.naming import name_session
from terp_cli.repl.resuming import way_back
from terp_cli.terminal.desktop import copied_picture, run_on_terminal, takes_terminal
from terp_cli.terminal.sanitise import one_line, readable

if TYPE_CHECKING:
    from terp_cli.repl.terminal_ui import TerminalUI


async def run_conversation(
    opener: SessionOpener, session: Session, ui: "TerminalUI", question: OneShotPrompt | None
) -> int:
    """Answer `question` if there is one, then prompt until the user leaves; return the exit code.

    The session is closed then, or the one that was resumed in its place.
    """
    assert ui.prompt is not None and ui.person is not None, "a REPL has a keyboard"
    call, settings = opener.call, opener.settings
    context = ReplContext(call, settings, session, ui.front, ui.prompt(), ui.person, opener)
    if session.resources.confinement is not None:
        session.resources.confinement.unasked = lambda: context.auto_run
    for objected in ui.objections:
        session.note(objected)
    ui.person.context = context
    try:
        code = await run_repl(context, question, _banner(context), ui.titles)
        command = "" if code or call.options.quiet else way_back(call, context.session.folder)
        if command:
            context.prompt.say(f"\n{command} continues this conversation.")
        return code
    finally:
        await context.session.aclose()


_FIRST = "Fewer questions: terp --approve effect asks at effects only (see terp doctor)."


def _banner(context: ReplContext) -> Sequence[str]:
    session, settings = context.session, context.settings
    if context.call.options.quiet:
        return ()
    first = f"terp {__version__} · {session.model.name} · /help"
    if not settings.code:
        return first, "No code is run (code: false)."
    held = session.resources.confinement
    asks = APPROVALS[context.approval]
    confined = held.description if held is not None and is_confined(held.what) else "No sandbox."
    warning = [held.warning] if held is not None and held.warning else []
    # To try whether effects can be held here would start processes: doctor says it.
    is_first = context.approval == "before" and not context.call.places.history.exists()
    return (first, f"{asks} {confined}", *([_FIRST] if is_first else []), *warning)


async def run_repl(
    context: ReplContext,
    question: OneShotPrompt | None = None,
    banner: Sequence[str] = (),
    titles: Titles | None = None,
) -> int:
    """Run until the user leaves; return the exit code. The session is not closed.

    `question` is the prompt of the command line; `titles` sets the title of the terminal's window.
    Ctrl-C interrupts a turn; SIGTERM and SIGHUP leave with 143 and 129.
    """
    repl = Repl(context, titles or Titles.none())
    running, loop = asyncio.current_task(), asyncio.get_running_loop()
    ended_by: list[int] = []

    def end(number: int) -> None:
        ended_by.append(number)
        # The sender does not wait for code that resists an interrupt.
        repl.start(context.session.kernels.aclose)
        if host := context.call.host:
            host.release()
        if running is not None:
            running.cancel()

    loop.set_exception_handler(repl.lost)
    loop.add_signal_handler(signal.SIGINT, repl.interrupt)
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, end, number)
    try:
        await repl.run(question, banner)
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


_MOST_REPEATED = 6
"""Lines, after the first, of a message that is shown again."""
_ELSEWHERE = "The code runs on another machine, which has no terminal here."


class Repl(PromptHost):
    """A REPL at a terminal: it runs the entered lines and completes words on the input line."""

    completes = True

    def __init__(self, context: ReplContext, titles: Titles) -> None:
        super().__init__(context.places.history, vi_mode=context.settings.vi_mode)
        self._context = context
        self._titles = titles
        self._commands = all_commands(context.own_commands)
        self._held = Namespaces(context.session.kernels)
        self._tasks: set[asyncio.Task[None]] = set()
        self._watched: Session | None = None
        self._watching: asyncio.Task[None] | None = None
        self._naming: asyncio.Task[None] | None = None
        self._shown = 0
        self._shown_more = asyncio.Event()
        self._warned = False
        self._ctrl_c = CtrlCDebounce(time.monotonic)
        self._toolbar = Toolbar()
        self._acted = asyncio.Event()

    async def run(self, question: OneShotPrompt | None, banner: Sequence[str]) -> None:
        """Answer `question`, then read and answer until the user leaves."""
        context, prompt = self._context, self._context.prompt
        # Not through the front end, which would import rich before there is a prompt.
        for line in (*banner, *context.command_problems):
            prompt.say(fill(readable(line), prompt.width))
        async with prompt.reading(self), self._titles.shown():
            await self._enter_session(asks=question is None or question.first != "rerun")
            self.start(self._show_unseen)
            self.start(self._prepare)
            if question is not None:
                if context.call.host is not None and not context.session.turns:
                    # It was typed in another window.
                    self._show_prompt(question.prompt)
                turn = one_turn(context.session, question, context.front, context.call.stopping)
                await self._guarded(self._busily(turn))
            while not context.left:
                try:
                    await self._next()
                except EOFError:
                    return

    def lost(self, _: asyncio.AbstractEventLoop, context: Mapping[str, Any]) -> None:
        """Report a background failure in one line."""
        error = context.get("exception")
        problem = f"{type(error).__name__}: {error}" if error else str(context.get("message"))
        self._context.say(f"! Something failed in the background: {problem}")

    def start(self, work: Callable[[], Awaitable[object]]) -> asyncio.Task[None]:
        """Start a background task, and return it."""

        async def run() -> None:
            # The run that needs the kernel reports a failed start.
            with suppress(TerpError):
                await work()

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    def stop(self) -> None:
        """Cancel the background tasks."""
        for task in self._tasks:
            task.cancel()

    def begin(self) -> None:
        """Pass on the keys that were typed before the first prompt."""
        self._context.call.typed_ahead.hand_over()

    def typed(self) -> None:
        """Handle a key."""
        self._titles.typed()
        self._acted.set()

    def toolbar(self) -> Sequence[ToolbarPart]:
        """Return the last line of the screen."""
        context = self._context
        return self._toolbar.parts(context.session, context.profile, approval=context.approval)

    def interrupt(self) -> None:
        """Interrupt the running turn, and return the queued lines to the input line."""
        if self.busy:
            self._ctrl_c.interrupted()
            self._context.prompt.take_back()
            self.start(self._context.session.interrupt)
        elif not self._ctrl_c.repeats():
            self._context.prompt.interrupted()

    def is_repeated(self) -> bool:
        """Return True if a Ctrl-C at this moment belongs to a turn that was interrupted."""
        return self._ctrl_c.repeats()

    def run_at_once(self, line: str) -> bool:
        """Run a line now if it is a command that works during a turn; return True if it is."""
        if not self.busy or not self._commands.is_at_once(line):
            return False
        self.start(lambda: self._guarded(self._commands.run(self._context, line)))
        return True

    async def copied_picture(self) -> str:
        """Return a mention of the picture on the clipboard, now a file; "" if there is none."""
        context = self._context
        picture = await copied_picture(context.environ)
        if not picture:
            context.say("No picture was found on the clipboard.")
            return ""
        folder = make_private(context.session.folder / OUTPUTS)
        path = folder / f"pasted-{len(list(folder.glob('pasted-*.png'))) + 1}.png"
        with os.fdopen(new_file(path), "wb") as file:
            file.write(picture)
        return mention(str(path))

    def whole_output(self) -> str:
        """Return the command that shows all output of the last run; "" without any."""
        events = (record.event for record in reversed(self._context.session.log.since(0)))
        numbers = (event.execution_count for event in events if isinstance(event, on.CodeStarted))
        return f"/out {number}" if (number := next(numbers, 0)) else ""

    def may_leave(self) -> bool:
        """Return True if the user may leave; the first attempt only warns about running jobs."""
        jobs = self._context.session.jobs.running.values()
        if not jobs or self._warned:
            return True
        self._warned = True
        self._context.say(
            *(f"{job.title} still runs: leaving ends it." for job in jobs), "Ctrl-D again leaves."
        )
        return False

    def suspends(self) -> bool:
        """Leave the window of a detached session; return False for another one."""
        if host := self._context.call.host:
            host.leave()
        return host is not None

    def without_secrets(self, text: str) -> str:
        """Return a text without the secrets of the session."""
        return self._context.session.resources.redacted(text)

    def commands(self) -> Iterable[Word]:
        """Return the commands."""
        return self._commands.words()

    def arguments(self, name: str, begun: str) -> Iterable[Word]:
        """Return the arguments of a command that begin with this text."""
        return self._commands.arguments(self._context, name, begun)

    async def names(self) -> Sequence[Word]:
        """Return the variables of the kernels, with their types."""
        return await self._namespaces.names()

    async def code(self, language: str, code: str) -> Sequence[str]:
        """Return completions at the end of `code`."""
        kernels = self._context.session.kernels
        if language not in kernels.languages:
            return ()
        return await kernels.get(language).complete(code, len(code))

    @property
    def cwd(self) -> Path:
        """The directory of the user's files: that of the code, unless it runs on another machine."""
        return self._context.cwd

    async def _next(self) -> None:
        if self._context.next:
            prompt, attached = self._context.next.popleft()
            self._show_prompt(prompt)
            await self._guarded(self._busily(self._drawn(ask(self._context.session, prompt, attached))))
            return
        await self._all_shown()
        line = await self._context.prompt.message()
        self._warned = False
        await self._guarded(self._answer(line))
        await self._enter_session()

    async def _guarded(self, doing: Awaitable[object]) -> None:
        """Run an action of the user; errors are shown, and the session continues."""
        self._acted.set()
        try:
            await doing
        except TerpError as error:
            if self._context.debug and error.__cause__ is not None and error.stop_reason != "usage":
                # For a mistake of the user the message is enough.
                self._context.say(self._traceback(error))
            self._context.say(self.without_secrets(error.message), *([error.remedy] if error.remedy else []))
        except Exception as error:  # noqa: BLE001  # a bug of terp must not end the conversation
            self._context.say(
                self._traceback(error),
                "",
                "This is a bug in terp. The conversation and the variables are still there.",
            )

    def _traceback(self, error: Exception) -> str:
        return self.without_secrets("".join(traceback.format_exception(error)).rstrip())

    async def _answer(self, line: str) -> None:
        """Run a line."""
        session = self._context.session
        if self._naming is not None:
            # A local server answers one request at a time.
            self._naming.cancel()
        code = typed_code(line, session.kernels.languages)
        command = line.removeprefix(SHELL).strip() if line.startswith(SHELL) else ""
        if command.startswith(SHELL):
            await self._busily(self._run_on_terminal(command.removeprefix(SHELL).strip()))
        elif takes_terminal(command) and not session.kernels.elsewhere:
            await self._busily(self._run_on_terminal(command))
        elif code:
            await self._busily(self._drawn(session.run(*code)))
        elif problem := unclear(line):
            self._context.say(problem)
        elif not await self._commanded(line):
            line = self._commands.as_text(line)
            attached = await self._attached(line)
            await self._busily(self._drawn(ask(session, line, attached)))

    async def _run_on_terminal(self, command: str) -> None:
        """Run a command that has the whole terminal; the model reads that it ran."""
        kernels = self._context.session.kernels
        if not command or kernels.elsewhere:
            raise TerpError(_ELSEWHERE if command else "!! runs a command on this terminal: !!git log")
        cwd = Path(kernels.get("shell").cwd) if "shell" in kernels.languages else self.cwd
        try:
            code = await self._context.prompt.away(lambda: run_on_terminal(command, cwd))
        except OSError as error:
            raise TerpError(f"{command} cannot be run: {error}.") from error
        self._context.session.note(f"[The user ran `{command}` on the terminal: exit code {code}.]")

    async def _commanded(self, line: str) -> bool | object:
        """Run a line if it is a command, and return True; an unknown command returns to the input line."""
        try:
            return await self._busily(self._commands.run(self._context, line))
        except UnknownCommand:
            self._context.prompt.prefill(line)
            raise

    async def _busily(self, doing: Awaitable[bool | object]) -> bool | object:
        self.busy = True
        try:
            return await doing
        finally:
            self.busy = False
            self._ctrl_c.ended()

    async def _attached(self, line: str) -> Sequence[Attachment]:
        """Return the attachments that a message names with `@`; prefill the message if one is unreadable."""
        try:
            return await attached(line, self.cwd, self._context, self._namespaces)
        except TerpError:
            self._context.prompt.prefill(line)
            raise

    async def _drawn(self, turn: AsyncGenerator[on.Event, None]) -> None:
        async with aclosing(turn) as events:
            await self._context.front.show(events)

    def _recall(self) -> None:
        """Show the last prompt and answer of a resumed session."""
        session = self._context.session
        answers = (message.text for message in reversed(session.history) if isinstance(message, Assistant))
        if session.turns:
            self._show_prompt(session.turns[-1].prompt)
            if answer := next(answers, ""):
                self._context.front.aside(on.TextDelta(answer))

    def _show_prompt(self, prompt: str) -> None:
        """Show a message that was not typed just now; of a long one the first line."""
        first, *more = readable(prompt).split("\n")
        if len(more) > _MOST_REPEATED:
            first, more = f"{first} … {len(more)} more lines", []
        self._context.prompt.say("\n".join(["", *(f"{BAR}{line}" for line in (first, *more))]))

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

    async def _prepare(self) -> None:
        """Import and start what a turn needs; a prompt that nobody types at takes half of the memory."""
        await self._acted.wait()
        for work in (_import_early, prefetch_adapters, self._warm):
            self.start(work)

    async def _warm(self) -> None:
        if self._context.settings.code:
            await self._context.session.readiness.warm(self._kernel)

    async def _show_unseen(self) -> None:
        """Show a line on detached sessions that wait for the user."""
        if line := await asyncio.to_thread(unseen_sessions, self._context.places):
            self._context.say(line)

    async def _enter_session(self, *, asks: bool = True) -> None:
        """Watch the current session, and offer its checkpoint, unless it is being watched already."""
        if self._watched is not self._context.session:
            self._watched = self._context.session
            if host := self._context.call.host:
                host.report(session=self._watched.folder.name)
            self._shown = self._watched.log.resumed_at
            self._watching = self.start(self._watch)
            self._watching.add_done_callback(lambda _: self._shown_more.set())
            await self._all_shown()
            if asks and (result := await self._busily(offer_checkpoint(self._context.session))):
                self._context.say(str(result))

    async def _all_shown(self) -> None:
        """Wait until the events so far are shown: a plain prompt cannot stay below what comes later."""
        last = self._context.session.log.last
        while self._watching and not self._watching.done() and self._shown < last:
            self._shown_more.clear()
            await self._shown_more.wait()

    async def _watch(self) -> None:
        """Show the session's events between turns, and update the toolbar."""
        session, drawn_elsewhere, typed = self._context.session, False, ""
        async with aclosing(session.events()) as records:
            async for record in records:
                if session is not self._context.session:
                    return
                event = record.event
                self._titles.saw(event)
                if self._toolbar.note(event):
                    self._context.prompt.refresh()
                if isinstance(event, on.TurnStarted | on.CodeTyped | on.CheckStarted):
                    drawn_elsewhere = True
                    typed = event.call_id if isinstance(event, on.CodeTyped) else ""
                elif isinstance(event, on.TurnFinished) or _is_last(event, typed):
                    # What typed code does in the background is not drawn with it any more.
                    drawn_elsewhere, typed = False, ""
                    if isinstance(event, on.TurnFinished) and event.reason == "done":
                        self._naming = self.start(lambda: name_session(session, self._context.settings))
                elif not drawn_elsewhere:
                    self._context.front.aside(event)
                    if isinstance(event, on.SessionResumed):
                        self._recall()
                self._shown = record.number
                self._shown_more.set()


async def _import_early() -> None:
    # What draws a turn, and what reads its code.
    for name in ("terp_cli.render.transcript", "terp.analysis.effects.cells"):
        await asyncio.to_thread(import_module, name)


def _is_last(event: on.Event, typed: str) -> bool:
    """Return True if typed code has ended or was detached, or a check passed."""
    if isinstance(event, on.CheckFinished):
        return event.passed
    return isinstance(event, on.CodeFinished | on.CodeRejected | on.JobChanged) and event.call_id == typed


_STATES = {"starting": "starting", "busy": "busy", "died": "died"}
_APPROVALS = {
    "effect": ToolbarPart("asks at effects"),
    "never": ToolbarPart("runs without asking", style="bad"),
    "plan": ToolbarPart("planning"),
}
_NO_SANDBOX = ToolbarPart("no sandbox", style="warning")


class Toolbar:
    """A toolbar; it stores facts from events and formats them as parts of one line."""

    def __init__(self) -> None:
        self._kernels: dict[str, str] = {}
        self._context = ("", "")

    def note(self, event: Event) -> bool:
        """Store the facts of `event`; return True if the line may have changed."""
        match event:
            case UsageReported() | HistoryCompacted() | HistoryRewound() | SessionResumed():
                self._context = ("", "")
            case KernelChanged(language=language, state=state):
                self._kernels[language] = _STATES.get(state, "")
            case JobChanged():
                return True
            case _:
                return False
        return True

    def parts(
        self, session: Session, profile: str = "default", *, approval: str = "before"
    ) -> Sequence[ToolbarPart]:
        """Return the parts; `approval` is the value of `ReplContext.approval`."""
        kernel = session.kernels.get(session.kernels.languages[0])
        if self._context[0] != session.model.name:
            # The line is drawn at each key.
            self._context = session.model.name, _context(session)
        parts = [ToolbarPart(one_line(session.model.name), 3)]
        if profile != "default":
            parts.append(ToolbarPart(one_line(profile), 5))
        if context := self._context[1]:
            parts.append(ToolbarPart(context, 2))
        if environment := _environment(session, kernel.place):
            parts.append(ToolbarPart(one_line(environment), 6))
        parts += [
            ToolbarPart(f"{one_line(language)} {state}", 4)
            for language, state in self._kernels.items()
            if state
        ]
        if jobs := len(session.jobs.running):
            parts.append(ToolbarPart(counted(jobs, "job"), 1))
        is_free = kernel.tier == "none"
        parts.append(_NO_SANDBOX if is_free else ToolbarPart(one_line(kernel.tier)))
        if mark := _APPROVALS.get(approval):
            parts.append(mark)
        return [*parts, ToolbarPart("/help", 7)]


def _context(session: Session) -> str:
    """Return how full the context window is; its tokens if the window is unknown, "" before a message."""
    if not session.history:
        return ""
    tokens, window = session.expected_tokens, session.window.tokens
    # Less than one in a hundred is not nothing.
    return f"context {max(1, round(100 * tokens / window))} %" if window else f"{tokens:,} tokens"


def _environment(session: Session, place: str) -> str:
    """Return the name of the environment of the code; "" for terp's own."""
    if place:
        # What stands in brackets would take the room of what follows it.
        return place.partition(" (")[0]
    pythons = session.resources.pythons
    return environment_name(pythons.current if pythons else None)
