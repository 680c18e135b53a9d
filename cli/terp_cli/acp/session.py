"""A session in an editor: its turns and commands, its modes and models."""

import asyncio
import re
from collections.abc import AsyncIterable, Iterable, Sequence
from contextlib import aclosing, suppress
from copy import copy
from typing import TYPE_CHECKING, Any, cast

from acp import helpers, schema

from terp.checks.until.loop import ask
from terp.errors import SettingsError, StopReason, TerpError
from terp.events import Event, TurnFinished
from terp.events.messages import Assistant, Attachment
from terp.kernels.sandbox.tier import is_confined
from terp.session.session import Session
from terp.settings import Settings
from terp.text.fences import fenced
from terp_cli.acp.person import EditorPerson
from terp_cli.acp.sending import EventSender
from terp_cli.fronts.invocation import Invocation
from terp_cli.prompt.interface import Pick
from terp_cli.repl.commands import switches
from terp_cli.repl.commands.every import all_commands
from terp_cli.repl.commands.rows import columns
from terp_cli.repl.commands.table import SlashCommand
from terp_cli.repl.context import ReplContext
from terp_cli.terminal.sanitise import readable

if TYPE_CHECKING:
    from rich.text import Text

# Those left out need a terminal, or are a mode or an option of the editor.
_OFFERED = """
    undo retry rewind reset compact tokens cost vars why languages tools skills mcp install out code effects
    diff jobs restart allow rules until watch plan go rename fork export save settings profile info doctor
    init     trust help
""".split()  # noqa: SIM905  (a table of names, to be read)
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
_MODES = {"ask": "before", "effect": "effect", "unasked": "never"}
"""The modes, and their words for /approve."""
_STEP = re.compile(r"^ {0,3}\d+[.)] +(.+)$", re.MULTILINE)


class EditorSession(ReplContext):
    """A session in an editor, and the object of its commands.

    One prompt runs at a time; others wait. The lines of a command are one part of the answer.
    """

    width = 100

    def __init__(self, call: Invocation, settings: Settings, session: Session, person: EditorPerson) -> None:
        screen = cast("Any", self)
        self.asks = not person.free
        """True if code needs approval: the session is its own front end. Can be set."""
        super().__init__(call, settings, session, screen, screen, person)
        self.id = session.folder.name
        self.sender = EventSender(person.client, session)
        self._free = person.free
        self._turn = asyncio.Lock()
        self._cancelled = False
        self._steps: list[str] = []
        """The steps of the plan that was made last."""
        person.editor = self
        if session.resources.confinement is not None:
            session.resources.confinement.unasked = lambda: self.auto_run

    async def resume_plan(self) -> None:
        """Plan on, if the stored session was planning: its plan is in the editor again, and code is held."""
        if since := switches.since_plan(self):
            await switches.plan(self, "")
            plans = [_STEP.findall(one.text) for one in since if isinstance(one, Assistant)]
            self._steps = next(filter(None, reversed(plans)), [])
            await self._send_plan("pending")
            await self.sender.drawn()

    def begin(self) -> None:
        """Send events from now on, and the commands once the response is sent that names the session."""
        self.sender.begin(helpers.update_available_commands(map(_described, self._offered())))

    async def run(self, text: str, attachments: Sequence[Attachment]) -> str:
        """Run a command, or a turn; return the reason of its end.

        Raises:
            TerpError: there is no answer, or the command failed.
        """
        async with self._turn:
            self._cancelled, reason = False, "end_turn"
            self.next.clear()
            try:
                if self._is_command(text):
                    await self._command(text)
                else:
                    self.next.append((text, attachments))
                while self.next and reason == "end_turn":
                    reason = await self._turned(*self.next.popleft())
            finally:
                await self.sender.drawn()
            return "cancelled" if self._cancelled else reason

    async def cancel(self) -> None:
        """Stop the model or the code; a second time, end code that does not stop."""
        self._cancelled = True
        await self.session.interrupt()

    async def aclose(self) -> None:
        """End the turn, the kernels and the session."""
        with suppress(ConnectionError):
            await self.session.interrupt()
            await self.sender.aclose()
        await self.session.aclose()

    async def _turned(self, text: str, attachments: Sequence[Attachment]) -> str:
        if self._steps and self.approval != "plan":
            await self._send_plan("in_progress")
        async with aclosing(ask(self.session, text, attachments)) as events:
            async for event in events:
                end = event
        assert isinstance(end, TurnFinished), "it is the last event"
        if end.reason not in _REASONS:
            failed = TerpError(end.error or end.reason, end.remedy)
            failed.stop_reason = end.reason
            raise failed
        if end.error:
            self.sender.say(f"\n\n*{end.error} {end.remedy}*")
        if self.approval == "plan":
            if steps := _STEP.findall(end.answer):
                self._steps = steps
                await self._send_plan("pending")
        elif self._steps and end.reason == "done":
            await self._send_plan("completed")
            self._steps = []
        return _REASONS[end.reason]

    async def _send_plan(self, status: schema.PlanEntryStatus) -> None:
        entries = [helpers.plan_entry(step, status=status) for step in self._steps]
        await self.sender.send(helpers.update_plan(entries))

    def _is_command(self, prompt: str) -> bool:
        """Return True if a prompt is an offered command; other lines with a slash are for the model."""
        names = [one.name for one in self._offered()]
        return prompt.startswith("/") and (prompt[1:].split() or [""])[0] in names

    def _offered(self) -> list[SlashCommand]:
        return [*map(all_commands().named, _OFFERED), *self.own_commands]

    async def _command(self, line: str) -> None:
        before = self.mode, self.session.model.name
        try:
            if line.split() in (["/help"], ["/help", "all"]):
                self.show(columns([(one.usage, one.does) for one in self._offered()], self.width, ()))
                return
            await all_commands(self.own_commands).run(self, line)
        finally:
            await self.sender.drawn()
            if before != (self.mode, self.session.model.name):
                await self._send_state()
        if self._steps and self.approval != "plan" and not self.next:
            self._steps = []
            await self._send_plan("pending")

    async def show_events(self, events: AsyncIterable[Event]) -> None:
        """Run them: they are sent as all events."""
        async for _ in events:
            pass

    def say(self, *lines: str) -> None:
        """Send lines of terp."""
        for line in lines:
            self.sender.say(readable(line))

    def show(self, rows: "Sequence[Text]") -> None:
        """Send rows, whose columns are aligned."""
        self.sender.say(fenced("\n".join(row.plain for row in rows)))

    async def page(self, lines: Iterable[str], name: str = "terp", *, few: int = 0) -> None:
        """Send lines as they are."""
        self.sender.say(fenced("\n".join(map(readable, lines))))

    async def pick(self, title: str, picks: Sequence[Pick], at: int = 0) -> None:
        """List the rows: the user writes the command again, with one of them."""
        self.say(f"{title} Write it after the command.", *(f"- {'  '.join(pick.cells)}" for pick in picks))

    def prefill(self, text: str) -> None:
        """Show a message that can be changed and sent again."""
        self.sender.say(fenced(readable(text)))

    def refresh(self) -> None:
        """Do nothing: an editor has no toolbar of terp."""

    @property
    def mode(self) -> str:
        """The mode in use."""
        return next((mode for mode, word in _MODES.items() if word == self.approval), "ask")

    def state(self) -> dict[str, Any]:
        """Return the modes that work here and the models, with those in use, in the protocol's form."""
        modes, model = self._modes(), self.session.model.name
        models = dict.fromkeys([model, *switches.known_models(self, "")])
        rows = (
            ("mode", "Approval", self.mode, [{**one, "value": one["id"]} for one in modes]),
            ("model", "Model", model, [{"value": one, "name": one} for one in models]),
        )
        options = [
            {"type": "select", "id": row, "name": name, "category": row, "currentValue": now, "options": all_}
            for row, name, now, all_ in rows
        ]
        return {"modes": {"currentModeId": self.mode, "availableModes": modes}, "configOptions": options}

    async def use_option(self, option: str, value: str) -> None:
        """Use another mode or model.

        Raises:
            TerpError: there is no such option, or it has no such value.
        """
        if option == "mode":
            await self._use_mode(value)
        elif option == "model":
            async with self._turn:
                await self.use_model(value)
        else:
            raise SettingsError([f"There is no option '{option[:40]}': there are mode and model."])

    async def _use_mode(self, mode: str) -> None:
        """Use another mode. Kernels that must restart for it are asked about, while no turn is running."""
        if mode not in (names := [one["id"] for one in self._modes()]):
            raise SettingsError([f"There is no mode '{mode[:40]}' here: use one of {', '.join(names)}."])
        switches.set_approval(self, _MODES[mode])
        # During a turn, code that a running kernel cannot confine, or hold, is asked about.
        if mode != "ask" and not self._turn.locked():
            async with self._turn:
                await (switches.hold if mode == "effect" else switches.confine)(self)
                await self.sender.drawn()
        await self._send_state()

    def _modes(self) -> list[dict[str, str]]:
        found = [("ask", "Ask", "You are asked before code runs.")]
        if not switches.why_not_held(self):
            about = "Code starts at once in a sandbox; you are asked when it changes or sends something."
            found.append(("effect", "Ask at effects", about))
        if (confinement := self.session.resources.confinement) is not None:
            unasked = copy(confinement)
            unasked.unasked = lambda: True
            if (confined := is_confined(unasked.what)) or self._free:
                where = "Run in the sandbox" if confined else "Run, no sandbox"
                found.append(("unasked", where, unasked.description))
        return [{"id": id_, "name": name, "description": about} for id_, name, about in found]

    async def _send_state(self) -> None:
        await self.sender.send(helpers.update_current_mode(self.mode))
        fields = {"sessionUpdate": "config_option_update", "configOptions": self.state()["configOptions"]}
        await self.sender.send(schema.ConfigOptionUpdate.model_validate(fields))


def _described(row: SlashCommand) -> schema.AvailableCommand:
    hint = {"hint": row.argument} if row.argument else None
    return schema.AvailableCommand.model_validate({"name": row.name, "description": row.does, "input": hint})
