"""A session in an editor: its turns and commands, its modes and models."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing, suppress
from copy import copy
from dataclasses import replace
from typing import Any

from acp import Client, helpers, schema

from terp.checks.until.loop import ask
from terp.errors import SettingsError, StopReason, TerpError
from terp.events import TurnFinished
from terp.events.messages import Attachment
from terp.kernels.sandbox.tier import is_confined
from terp.session.session import Session
from terp_cli.acp.commands import EditorContext, command_in, offered_commands
from terp_cli.acp.sending import EventSender
from terp_cli.repl.commands import switches

_REASONS: dict[StopReason, str] = {
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
    """A session in the editor of `client`. One prompt runs at a time; others wait."""

    def __init__(self, client: Client, session: Session, context: EditorContext, *, has_forms: bool) -> None:
        self.client = client
        self.session = session
        self.id = session.folder.name
        self.sender = EventSender(client, session)
        self.has_forms = has_forms
        self._context = context
        self._person = person = context.person
        self._turn = asyncio.Lock()
        self._cancelled = False
        context.send = self.sender.say
        person.editor = self
        if session.resources.confinement is not None:
            session.resources.confinement.unasked = lambda: person.always

    def begin(self) -> None:
        """Send events from now on, and the commands once the response is sent that names the session."""
        self.sender.begin(helpers.update_available_commands(offered_commands()))

    async def prompt(self, text: str, attachments: Sequence[Attachment]) -> str:
        """Run a command, or a turn; return the reason of its end.

        Raises:
            TerpError: there is no answer, or the command failed.
        """
        async with self._turn:
            self._cancelled = False
            run = self._commanded(text) if command_in(text) else self._turned(text, attachments)
            try:
                reason = await run
            finally:
                await self.sender.drawn()
            return "cancelled" if self._cancelled else reason

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
        await asyncio.wait({stopping})
        with suppress(ConnectionError):
            await self.sender.aclose()
        await self.session.aclose()

    async def _turned(self, text: str, attachments: Sequence[Attachment]) -> str:
        async with aclosing(ask(self.session, text, attachments)) as events:
            async for event in events:
                end = event
        assert isinstance(end, TurnFinished), "it is the last event"
        if end.reason not in _REASONS:
            failed = TurnEndedWithError(end.error or end.reason, end.remedy)
            failed.stop_reason = end.reason
            raise failed
        if end.error:
            await self.sender.say(f"\n\n*{end.error} {end.remedy}*")
        return _REASONS[end.reason]

    async def _commanded(self, line: str) -> str:
        mode, reason = self.mode, "end_turn"
        try:
            await self._context.run(line)
        finally:
            await self._context.flush()
            if mode != self.mode:
                await self._send_mode()
        while self._context.next and reason == "end_turn":
            reason = await self._turned(*self._context.next.popleft())
        return reason

    @property
    def mode(self) -> str:
        """The mode in use."""
        return next((mode for mode, word in _MODES.items() if word == self._context.approval), "ask")

    def state(self) -> dict[str, Any]:
        """Return the modes that work here and the models, with those in use, in the protocol's form."""
        modes, model = self._modes(), self.session.model.name
        models = dict.fromkeys([model, *switches.known_models(self._context, "")])
        rows = (
            ("mode", "Approval", self.mode, [{**one, "value": one["id"]} for one in modes]),
            ("model", "Model", model, [{"value": one, "name": one} for one in models]),
        )
        options = [
            {"type": "select", "id": row, "name": name, "category": row, "currentValue": now, "options": all_}
            for row, name, now, all_ in rows
        ]
        return {"modes": {"currentModeId": self.mode, "availableModes": modes}, "configOptions": options}

    async def use_mode(self, mode: str) -> None:
        """Use another mode. Kernels that must restart for it are asked about, while no turn is running.

        Raises:
            SettingsError: the mode does not work here.
        """
        if mode not in (names := [one["id"] for one in self._modes()]):
            raise SettingsError([f"There is no mode '{mode[:40]}' here: use one of {', '.join(names)}."])
        if self._turn.locked():
            # Code that a running kernel cannot confine, or hold, is asked about.
            switches.set_approval(self._context, _MODES[mode])
        else:
            async with self._turn:
                await switches.approve(self._context, _MODES[mode])
                await self._context.flush()
        await self._send_mode()

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

    def _modes(self) -> list[dict[str, str]]:
        found = [("ask", "Ask", "You are asked before code runs.")]
        if (confinement := self.session.resources.confinement) is not None:
            unasked = copy(confinement)
            unasked.unasked = lambda: True
            if not confinement.with_options(replace(confinement.options, hold=True)).not_held:
                about = "Code starts at once in a sandbox; you are asked when it changes or sends something."
                found.append(("effect", "Ask at effects", about))
            if (confined := is_confined(unasked.what)) or self._person.free:
                where = "Run in the sandbox" if confined else "Run, no sandbox"
                found.append(("unasked", where, unasked.description))
        return [{"id": id_, "name": name, "description": about} for id_, name, about in found]

    async def _send_mode(self) -> None:
        fields = {"sessionUpdate": "config_option_update", "configOptions": self.state()["configOptions"]}
        options = schema.ConfigOptionUpdate.model_validate(fields)
        await self.sender.send(helpers.update_current_mode(self.mode), options)
