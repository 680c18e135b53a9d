"""The session at a terminal as commands see it: settings, operations, and the ways to reach the user."""

import os
import shlex
import shutil
import subprocess
import tempfile
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from terp.errors import SessionError, TerpError
from terp.events.messages import Attachment
from terp.person import Consent, Decline, Person
from terp.session.between_runs import objection
from terp.session.explaining import asked_about
from terp.session.session import Session
from terp.settings import Settings
from terp.settings.places import Places
from terp_cli.fronts.front_end import InteractiveFrontEnd
from terp_cli.prompt.interface import PromptReader
from terp_cli.repl.commands.context import SavedSession
from terp_cli.repl.commands.every import all_commands
from terp_cli.terminal.sanitise import readable

if TYPE_CHECKING:
    from rich.text import Text

    from terp.opening.changing import Change

_PAGER = "less -R"


class TerminalUser(Person, Protocol):
    """The person at the terminal, who can be spared questions about code."""

    always: bool


Asks = Callable[[str], Awaitable[bool]]


def _none() -> Sequence[SavedSession]:
    return ()


@dataclass(frozen=True)
class ReplContext:
    """The settings, places and operations around a session.

    `model` changes a session's model by name, for settings; `change` lets a session go from settings to those
    with another profile, and gives the change, or None where the person did not agree to lose variables.
    `trust` asks about the project, and gives what is to be said then, and what it changed. `saved` lists
    earlier sessions and `reopen` opens one of them by its id; each raises `TerpError` when it cannot.
    """

    settings: Settings
    places: Places
    environ: Mapping[str, str]
    profile: str = "default"
    model: Callable[[Session, Settings, str], Awaitable[None]] | None = None
    change: Callable[[Session, Settings, str, Asks], Awaitable["Change | None"]] | None = None
    trust: Callable[[Session, Settings, str, Asks], Awaitable[tuple[str, "Change | None"]]] | None = None
    saved: Callable[[], Sequence[SavedSession]] = _none
    reopen: Callable[[str], Awaitable[Session]] | None = None


class TerminalContext:
    """The terminal session that commands act on: the implementation of `CommandContext`."""

    def __init__(
        self,
        session: Session,
        front: InteractiveFrontEnd,
        desk: PromptReader,
        person: TerminalUser,
        around: ReplContext,
    ) -> None:
        self.session = session
        self.front = front
        self.desk = desk
        self.next: deque[tuple[str, Sequence[Attachment]]] = deque()
        self.left = False
        self.debug = False
        self.replaced: Callable[[], None] | None = None
        self._person = person
        self._around = around

    @property
    def auto_run(self) -> bool:
        """Return True while code runs without an approval."""
        return self._person.always

    @auto_run.setter
    def auto_run(self, on: bool) -> None:
        self._person.always = on

    @property
    def verbose(self) -> bool:
        """Return True if tracebacks and outputs are shown whole."""
        return self.front.verbose

    @verbose.setter
    def verbose(self, on: bool) -> None:
        self.front.verbose = on

    @property
    def settings(self) -> Settings:
        """The settings in effect."""
        return self._around.settings

    @property
    def places(self) -> Places:
        """Where terp keeps its files."""
        return self._around.places

    @property
    def environ(self) -> Mapping[str, str]:
        """The environment of this call."""
        return self._around.environ

    @property
    def profile(self) -> str:
        """The profile in effect; "default" when no other was asked for."""
        return self._around.profile

    @property
    def width(self) -> int:
        """The cells in a row of the screen."""
        return self.desk.width

    def say(self, *lines: str) -> None:
        """Write lines of terp's own; what they quote is made safe, and they are broken between words."""
        self.front.say(*lines)

    def show(self, rows: "Sequence[Text]") -> None:
        """Write rows that are coloured and safe already."""
        self.front.rows(rows)

    async def page(self, lines: Iterable[str], name: str = "terp") -> None:
        """Show lines of any number in the person's pager, made safe; returns when it is closed.

        `name` is that of the file, which pagers show.
        """
        pager = _words(self.environ.get("PAGER") or _PAGER)
        if not (pager and shutil.which(pager[0])):
            self.say(*lines)
            return
        await self.desk.away(lambda: _paged(pager, lines, name, self.environ))

    def prefill(self, text: str) -> None:
        """Put text on the next input line, to be changed and entered there."""
        self.desk.prefill(text)

    def send(self, prompt: str, attachments: Sequence[Attachment] = ()) -> None:
        """Let this be the next turn, before all that is queued."""
        self.next.append((prompt, attachments))

    def write(self, sequence: str) -> None:
        """Write an escape sequence of terp's own that leaves no trace on the screen."""
        self.desk.emit(sequence)

    def clear(self) -> None:
        """Clear the screen."""
        self.desk.clear()

    async def ask(self, question: str) -> bool:
        """Return True if the user says yes."""
        answer = await self._person.allow(Consent(question))
        if isinstance(answer, Decline):
            self.session.teach(objection(question, answer.reason))
        return bool(answer)

    async def explain(self, language: str, code: str) -> str:
        """Return the model's explanation of a piece of code."""
        return (await self.session.beside(asked_about(language, code))).text

    async def beside(self, line: str) -> None:
        """Do what a line says that was entered at a question: a command that only shows something.

        Raises:
            TerpError: it cannot be done, or not now.
        """
        if not await all_commands().run(self, line, asked=True):
            raise TerpError("Code of your own has to wait until the question is answered.")

    async def use_model(self, name: str) -> None:
        """Let another model answer.

        Raises:
            TerpError: it cannot.
        """
        if self._around.model is not None:
            await self._around.model(self.session, self.settings, name)
            self.desk.refresh()

    async def trust(self) -> "tuple[str, Change | None]":
        """Ask about the project; return its state as a sentence, and the change of settings, if any."""
        if self._around.trust is None:
            raise SessionError("There is no project here that could be trusted.")
        state, change = await self._around.trust(self.session, self.settings, self.profile, self.ask)
        if change is not None:
            self._take(change, self.profile)
        return state, change

    async def use_profile(self, name: str) -> "Change | None":
        """Go on with the settings of another profile; what that changed, or None if the person said no.

        Raises:
            TerpError: it cannot be.
        """
        if self._around.change is None:
            raise SessionError("The profile cannot be changed here.")
        change = await self._around.change(self.session, self.settings, name, self.ask)
        if change is not None:
            self._take(change, name)
        return change

    def _take(self, change: "Change", profile: str) -> None:
        self._around = replace(self._around, settings=change.after, profile=profile)
        if change.touches({"auto_run"}):
            self.auto_run = change.after.auto_run
        self.desk.refresh()

    def saved(self) -> Sequence[SavedSession]:
        """The earlier sessions of this directory, the newest first."""
        return self._around.saved()

    async def resume(self, session: str) -> None:
        """Go on with a saved session, by its id or a beginning of it.

        Raises:
            TerpError: there is none, or more than one.
        """
        if self._around.reopen is None:
            raise SessionError("Sessions are not kept here.")
        before, self.session = self.session, await self._around.reopen(session)
        if self.replaced is not None:
            self.replaced()
        for job in before.jobs.running.values():
            self.say(f"{job.title} is ended with the session that it was of.")
        await before.aclose()

    def leave(self) -> None:
        """Let this be the last line."""
        self.left = True


def _words(command: str) -> list[str]:
    try:
        return shlex.split(command)
    except ValueError:
        # A quote that nothing closes.
        return []


def _paged(command: Sequence[str], lines: Iterable[str], name: str, environ: Mapping[str, str]) -> None:
    with tempfile.TemporaryDirectory() as folder, suppress(OSError):
        with Path(folder, name).open("w", encoding="utf-8") as file:
            file.writelines(f"{readable(line)}\n" for line in lines)
        # The pager's -F would leave at once where all fits, and show nothing on a screen that is restored.
        environment = {**os.environ, "LESSSECURE": "1", **environ}
        subprocess.run([*command, name], cwd=folder, env=environment, check=False)
