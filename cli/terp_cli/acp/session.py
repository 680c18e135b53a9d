"""A session in an editor: its turns and commands, its modes and models."""

import asyncio
from collections.abc import Coroutine, Iterator, Sequence
from contextlib import aclosing, suppress
from copy import copy
from dataclasses import replace
from typing import Any, Literal

from acp import Client
from acp.helpers import update_available_commands, update_current_mode
from acp.schema import (
    ClientCapabilities,
    ConfigOptionUpdate,
    PromptResponse,
    SessionConfigOptionBoolean,
    SessionConfigOptionSelect,
    SessionConfigSelectOption,
    SessionInfoUpdate,
    SessionMode,
    SessionModeState,
    StopReason,
)

from terp.checks.until.loop import ask
from terp.errors import SettingsError, TerpError
from terp.errors import StopReason as Reason
from terp.events import TurnFinished
from terp.events.messages import Attachment
from terp.kernels.sandbox.tier import is_confined
from terp.session.session import Session
from terp.store.titles import read_title
from terp_cli.acp.commands import EditorContext, command_in, offered_commands
from terp_cli.acp.person import EditorPerson
from terp_cli.acp.sending import EventSender
from terp_cli.repl.commands import switches
from terp_cli.repl.naming import name_session

_REASONS: dict[Reason, StopReason] = {
    "done": "end_turn",
    "declined": "end_turn",
    "max_steps": "max_turn_requests",
    "max_budget": "max_turn_requests",
    "context_full": "max_tokens",
    "rejected": "refusal",
    "interrupted": "cancelled",
}
"""The ends of a turn that are answers; any other is an error."""
_GRACE_S = 0.5
_MODES = {"ask": "before", "effect": "effect", "unasked": "never"}
"""The modes, and their words for /approve."""


class TurnEndedWithError(TerpError):
    """A turn ended without an answer; `stop_reason` says how."""


class EditorSession:
    """A session in the editor of `client`, which has `abilities`. One prompt runs at a time; others wait."""

    def __init__(
        self,
        client: Client,
        abilities: ClientCapabilities,
        session: Session,
        context: EditorContext,
        person: EditorPerson,
    ) -> None:
        self.client = client
        self.session = session
        self.sender = EventSender(client, session)
        self.has_forms = abilities.elicitation is not None and abilities.elicitation.form is not None
        self._context = context
        self._person = person
        self._turn = asyncio.Lock()
        self._cancelled = False
        self._tasks: set[asyncio.Task[None]] = set()
        context.send = self.sender.say
        person.editor = self
        if session.resources.confinement is not None:
            session.resources.confinement.unasked = lambda: person.always

    def begin(self) -> None:
        """Send events from now on, and the commands once the response is sent that names the session."""
        self.sender.begin()
        self._begin(self.sender.send(update_available_commands(offered_commands())))

    async def prompt(self, text: str, attachments: Sequence[Attachment]) -> PromptResponse:
        """Run a command, or a turn; return the reason of its end.

        Raises:
            TerpError: there is no answer, or the command failed.
        """
        async with self._turn:
            self._cancelled = False
            if command_in(text):
                reason = await self._commanded(text)
            else:
                reason = await self._turned(text, attachments)
            await self.sender.drawn()
            self._begin_naming()
            return PromptResponse(stop_reason="cancelled" if self._cancelled else reason)

    async def cancel(self) -> None:
        """Stop the model or the code; a second time, end code that does not stop."""
        self._cancelled = True
        await self.session.interrupt()

    async def aclose(self) -> None:
        """End the turn, the kernels and the session."""
        stopping = asyncio.ensure_future(self.session.interrupt())
        await asyncio.wait({stopping}, timeout=_GRACE_S)
        # Code that resists an interrupt ends with its kernel.
        await self.session.kernels.aclose()
        await asyncio.wait({stopping, *self._tasks})
        with suppress(ConnectionError):
            await self.sender.aclose()
        await self.session.aclose()

    async def _turned(self, text: str, attachments: Sequence[Attachment]) -> StopReason:
        end: TurnFinished | None = None
        async with aclosing(ask(self.session, text, attachments)) as events:
            async for event in events:
                if isinstance(event, TurnFinished):
                    end = event
        assert end is not None, "it is the last event"
        if end.reason in _REASONS:
            if end.error:
                await self.sender.say(f"\n\n*{end.error} {end.remedy}*")
            return _REASONS[end.reason]
        failed = TurnEndedWithError(end.error or end.reason, end.remedy)
        failed.stop_reason = end.reason
        await self.sender.drawn()
        raise failed

    async def _commanded(self, line: str) -> StopReason:
        mode = self.mode
        try:
            await self._context.run(line)
        finally:
            await self._context.flush()
            if mode != self.mode:
                await self.sender.send(update_current_mode(self.mode), self._options_update())
        while self._context.next:
            reason = await self._turned(*self._context.next.popleft())
            if self._cancelled or reason != "end_turn":
                return reason
        return "end_turn"

    # Modes and models.

    @property
    def mode(self) -> str:
        """The mode in use."""
        return next(mode for mode, word in _MODES.items() if word == self._context.approval)

    @property
    def modes(self) -> SessionModeState:
        """The modes that work here, and the one in use."""
        return SessionModeState(current_mode_id=self.mode, available_modes=list(self._modes()))

    @property
    def options(self) -> list[SessionConfigOptionSelect | SessionConfigOptionBoolean]:
        """The same modes as an option, and the models."""
        models = dict.fromkeys([self.session.model.name, *switches.known_models(self._context, "")])
        modes = [_choice(one.id, one.name, one.description) for one in self._modes()]
        named = [_choice(name, name) for name in models]
        return [
            _option("mode", "Approval", "mode", self.mode, modes),
            _option("model", "Model", "model", self.session.model.name, named),
        ]

    async def use_mode(self, mode: str) -> None:
        """Use another mode. Kernels that must restart for it are asked about, while no turn is running.

        Raises:
            SettingsError: the mode does not work here.
        """
        if mode not in (one.id for one in self._modes()):
            names = ", ".join(one.id for one in self._modes())
            raise SettingsError([f"There is no mode '{mode[:40]}' here: use one of {names}."])
        if self._turn.locked():
            # Code that a running kernel cannot confine, or hold, is asked about.
            switches.set_approval(self._context, _MODES[mode])
        else:
            async with self._turn:
                await switches.approve(self._context, _MODES[mode])
                await self._context.flush()
        await self.sender.send(update_current_mode(self.mode), self._options_update())

    async def use_option(self, option: str, value: str) -> None:
        """Use another mode or model.

        Raises:
            TerpError: there is no such option, or it has no such value.
        """
        if option == "mode":
            await self.use_mode(value)
        elif option == "model":
            async with self._turn:
                await self._context.use_model(value)
        else:
            raise SettingsError([f"There is no option '{option[:40]}': there are mode and model."])

    def _modes(self) -> Iterator[SessionMode]:
        yield SessionMode(id="ask", name="Ask", description="You are asked before code runs.")
        confinement = self.session.resources.confinement
        if confinement is None:
            return
        held = confinement.with_options(replace(confinement.options, hold=True))
        if not held.not_held:
            about = (
                "Code starts at once in a sandbox; you are asked when it changes, deletes or sends something."
            )
            yield SessionMode(id="effect", name="Ask at effects", description=about)
        unasked = copy(confinement)
        unasked.unasked = lambda: True
        if is_confined(unasked.what):
            yield SessionMode(id="unasked", name="Run in the sandbox", description=unasked.description)
        elif self._person.free:
            yield SessionMode(id="unasked", name="Run, no sandbox", description=unasked.description)

    def _options_update(self) -> ConfigOptionUpdate:
        return ConfigOptionUpdate(session_update="config_option_update", config_options=self.options)

    def _begin_naming(self) -> None:
        async def name() -> None:
            with suppress(TerpError):
                await name_session(self.session, self._context.settings)
            if title := read_title(self.session.folder):
                update = SessionInfoUpdate(session_update="session_info_update", title=title)
                await self.sender.send(update)

        if len(self.session.turns) == 1:
            self._begin(name())

    def _begin(self, sending: Coroutine[Any, Any, None]) -> None:
        async def run() -> None:
            with suppress(ConnectionError):
                await sending

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _choice(value: str, name: str, description: str | None = None) -> SessionConfigSelectOption:
    return SessionConfigSelectOption(value=value, name=name, description=description)


def _option(
    id: str,  # noqa: A002  (the protocol's word)
    name: str,
    category: Literal["mode", "model"],
    current: str,
    options: list[SessionConfigSelectOption],
) -> SessionConfigOptionSelect:
    return SessionConfigOptionSelect(
        type="select", id=id, name=name, category=category, current_value=current, options=options
    )
