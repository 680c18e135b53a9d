"""The context of the REPL's commands: the session, its settings, and questions and output to the user."""

import os
import subprocess
import tempfile
from collections import deque
from collections.abc import AsyncIterable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from terp.errors import SessionError
from terp.events import Event
from terp.events.messages import Attachment
from terp.models.building import settings_for
from terp.opening.changing import Change, change_settings, restarted_kernels, use_model
from terp.person import Consent, Decline, Person
from terp.session.observation import objection
from terp.session.session import Session
from terp.settings import BUILT_IN, Settings
from terp.settings.places import Places
from terp.settings.profile_file import short_path
from terp.settings.profiles import is_path
from terp.settings.sources import Given
from terp.store.catalogue import SessionEntry
from terp.text.fences import fenced
from terp_cli.fronts.interactive import InteractiveFront
from terp_cli.fronts.invocation import Invocation
from terp_cli.prompt.interface import PromptReader
from terp_cli.repl.commands.every import all_commands
from terp_cli.repl.commands.own import own_commands
from terp_cli.repl.keeping import SessionOpener, prefetch_adapters
from terp_cli.repl.resuming import saved, stored
from terp_cli.repl.trusting import asked_again
from terp_cli.terminal import tty
from terp_cli.terminal.desktop import pager_of
from terp_cli.terminal.sanitise import readable

if TYPE_CHECKING:
    from rich.text import Text

_PAGER = "less -R"

_EXPLAIN = (
    "Explain in a few short sentences, without markup, what this code does: what it reads, what it changes "
    "or deletes, and whether it uses the network."
)


APPROVALS: Mapping[str, str] = {
    "before": "You are asked before code runs.",
    "effect": "Code starts at once; you are asked at its effects.",
    "never": "Code runs without asking.",
    "plan": "Planning: code may only read and compute. /go carries the plan out, /plan off ends planning.",
}
"""Sentences for the banner, by the setting `approve`."""


class ReplContext:
    """The session at a terminal, with its settings, its prompt and its user: the object of all commands.

    `opener` opens the stored session that takes the place of this one; None if sessions are not kept.
    """

    def __init__(
        self,
        call: Invocation,
        settings: Settings,
        session: Session,
        front: InteractiveFront,
        prompt: PromptReader,
        person: Person,
        opener: SessionOpener | None = None,
    ) -> None:
        self.call = call
        self.settings = settings
        self.session = session
        self.front = front
        self.prompt = prompt
        self._named_profile = call.options.profile
        """The profile that the user named; one that was not may be a weaker source than the project."""
        self.next: deque[tuple[str, Sequence[Attachment]]] = deque()
        """Prompts that are sent before all queued lines."""
        self.left = False
        """True after the last line."""
        self.at_effects_before = False
        """True if effects were asked about before planning began. Can be set."""
        self.debug = False
        """True to show the traceback of terp's own errors. Can be set."""
        self._person = person
        self._opener = opener
        self._given: Mapping[str, Given] = call.line.given
        self.own_commands, self.command_problems = own_commands(call.places, call.project, all_commands())

    @property
    def auto_run(self) -> bool:
        """True while code runs without approval. Can be set."""
        return not self.front.asks

    @auto_run.setter
    def auto_run(self, on: bool) -> None:
        self.front.asks = not on

    @property
    def approval(self) -> str:
        """The moment of the question: "before" code runs, at each "effect" of it, or "never"; or "plan"."""
        confinement = self.session.resources.confinement
        if self.session.resources.rules.restrictions:
            return "plan"
        if self.auto_run:
            return "never"
        return "effect" if confinement is not None and confinement.at_once else "before"

    @property
    def places(self) -> Places:
        """The directories of terp's files."""
        return self.call.places

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment of this call."""
        return self.call.environ

    @property
    def profile(self) -> str:
        """The profile in effect, by name or path; "default" if none was chosen."""
        name = self.settings.profile
        return short_path(Path(name)) if is_path(name) else name

    @property
    def width(self) -> int:
        """The cells in a row of the screen."""
        return self.prompt.width

    @property
    def redraws(self) -> bool:
        """False on a dumb terminal and for a screen reader: there is no prompt that takes single keys."""
        return tty.moves_cursor(self.call.terminal_environ) and not self.settings.screen_reader

    def say(self, *lines: str) -> None:
        """Write lines of terp; quoted control characters are spelled out, and lines broken between words."""
        self.front.say(*lines)

    def show(self, rows: "Sequence[Text]") -> None:
        """Write rows that are coloured, and without control characters."""
        self.front.rows(rows)

    async def show_events(self, events: AsyncIterable[Event]) -> None:
        """Show the events of a run to its end."""
        await self.front.show(events)

    async def page(self, lines: Iterable[str], name: str = "terp", *, few: int = 0) -> None:
        """Show any number of lines in the user's pager; return when it is closed.

        `name` is that of the file, which pagers show. A list of at most `few` lines needs no pager.
        """
        if isinstance(lines, Sequence) and len(lines) <= few:
            self.say(*lines)
            return
        pager = pager_of(self.environ, _PAGER if self.redraws else "")
        if not pager:
            self.say(*lines)
            return
        await self.prompt.away(lambda: _paged(pager, lines, name, self.environ))

    async def ask(self, question: str) -> bool:
        """Return True if the user says yes; words that decline are sent with the next message."""
        answer = await self._person.allow(Consent(question))
        if isinstance(answer, Decline):
            self.session.note(objection(question, answer.reason))
        return bool(answer)

    async def explain(self, language: str, code: str) -> str:
        """Return the model's explanation of a piece of code."""
        return (await self.session.answer_aside(f"{_EXPLAIN}\n{fenced(code, language)}")).text

    async def use_model(self, name: str) -> None:
        """Use another model from now on.

        Raises:
            TerpError: there is no such model, or its provider is unknown.
        """
        present = self.session.model.name
        wanted, api_key = settings_for(name, present, self.settings, self.call.options.api_key)
        await use_model(self.session, wanted, self.environ, api_key=api_key)
        await prefetch_adapters()
        self.prompt.refresh()

    async def trust(self) -> tuple[str, Change | None]:
        """Ask about the project; return its state as a sentence, and the change of settings, if any."""
        state, is_new, objected = await asked_again(self.call, self._person, self.prompt)
        if objected:
            self.session.note(objected)
        if not is_new:
            return state, None
        self._brief_on_project()
        return state, await self._load(self._named_profile, self._given)

    def _brief_on_project(self) -> None:
        """Send the model the project's current instructions, if the session works in the project."""
        resources, project = self.session.resources, self.call.project
        system_prompt = resources.system_prompt
        if system_prompt is not None and system_prompt.project.cwd == project.cwd:
            system_prompt = resources.system_prompt = replace(system_prompt, project=project)
            self.session.instruct(system_prompt.text(self.settings), code=self.settings.code)

    async def use_profile(self, name: str) -> Change | None:
        """Use the settings of another profile; return the change, or None if the user declined it.

        Raises:
            TerpError: there is no such profile, or the settings cannot be used.
        """
        change = await self._load(name, self._given)
        if change is not None:
            self._named_profile = name
        return change

    async def set(self, name: str, value: object) -> Change | None:
        """Change a setting until the session ends; return the change, or None if the user declined it.

        Raises:
            TerpError: the settings cannot be used.
        """
        given = {**self._given, name: Given(value, "/settings")}
        change = await self._load(self._named_profile, given)
        if change is not None:
            self._given = given
        return change

    async def _load(self, profile: str, given: Mapping[str, Given]) -> Change | None:
        """Load the settings with this profile and apply them; None if the user declines a restart."""
        loaded = self.call.loaded(given, profile, self.call.project)
        change = Change(self.settings, _with_found_model(self.settings, loaded.settings))
        if kernels := restarted_kernels(self.session, change):
            which = ", ".join(kernel.language for kernel in kernels)
            if not await self.ask(f"Restart the kernel ({which})? Its variables will be gone."):
                return None
        await self._apply(self.session, change)
        self.settings = change.after
        if change.touches({"auto_run"}):
            self.auto_run = change.after.auto_run
        self.prompt.refresh()
        return change

    async def _apply(self, session: Session, change: Change) -> None:
        if change.is_any:
            await change_settings(session, change, self.environ, api_key=self.call.options.api_key)

    @property
    def cwd(self) -> Path:
        """The directory of the user's files: that of the code, unless it runs on another machine."""
        kernels = self.session.kernels
        return Path(kernels.cwd if kernels.elsewhere else kernels.get(kernels.languages[0]).cwd)

    def saved(self) -> Sequence[SessionEntry]:
        """Return the earlier sessions of this directory, the newest first."""
        return saved(self.call, self.session.folder.name)

    async def resume(self, wanted: str) -> None:
        """Resume a stored session, by its id or a beginning of it, in place of this one.

        Raises:
            TerpError: there is none, or more than one.
        """
        if self._opener is None:
            raise SessionError("Sessions are not stored here.")
        before, resumed = self.session, await self._opener.open(stored(self.call, wanted))
        # The profile may be another one by now.
        await self._apply(resumed, Change(self._opener.settings, self.settings))
        self.session = resumed
        for job in before.jobs.running.values():
            self.say(f"{job.title} ended with its session.")
        await before.aclose()


def _with_found_model(before: Settings, after: Settings) -> Settings:
    """Return `after`, with the model of `before` if that was found and `after` leads to no other."""
    found = before.model and before.origin("model") == BUILT_IN
    address = "" if before.origin("api_base") == BUILT_IN else before.api_base
    if not found or after.model or after.api_base != address:
        return after
    return replace(after, model=before.model, api_base=before.api_base)


def _paged(command: Sequence[str], lines: Iterable[str], name: str, environ: Mapping[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder, suppress(OSError):
        with Path(folder, name).open("w", encoding="utf-8") as file:
            file.writelines(f"{readable(line)}\n" for line in lines)
        # The pager's -F would leave at once where all fits, and show nothing on a screen that is restored.
        environment = {**os.environ, "LESSSECURE": "1", **environ}
        subprocess.run([*command, name], cwd=folder, env=environment, check=False)
