"""The conversation of one notebook: what its kernel asks for, done with one session."""

import asyncio
import re
import shlex
import signal
import traceback
from collections.abc import Coroutine, Iterator, Mapping
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from terp import __version__
from terp.errors import NobodyThere, SettingsError, TerpError, with_remedy
from terp.events import CodeProposed, TurnFinished
from terp.events.changes import shape_text
from terp.kernels.sandbox.confinement import confinement_of
from terp.opening.changing import Change, change_settings
from terp.opening.session import build_session
from terp.opening.supplied import GivenEnvironment, Supplied
from terp.person import Choice, Consent, Decline, Run
from terp.person.approving import Decision, FunctionPerson
from terp.secrets.keys import key_providers, variables_of, with_keys
from terp.secrets.known_secrets import Secrets
from terp.session.session import Session
from terp.settings import Settings
from terp.settings.loading import load_settings
from terp.settings.places import find_places
from terp.settings.profile_values import unknown
from terp.settings.project.files import read_project
from terp.settings.project.standing import standing_of
from terp.settings.setting import Setting, table
from terp.settings.sources import Given
from terp.store.folders import new_folder
from terp.store.lines import keep_lines
from terp.store.places import Place
from terp.text.fences import fenced
from terp.text.plain import counted
from terp_cli.line.flags import all_flags
from terp_cli.notebook.drawing import NotebookFront
from terp_cli.notebook.kernel import NotebookKernel
from terp_cli.notebook.pipe import KernelPipe
from terp_cli.terminal.sanitise import one_line

_NO_SANDBOX = "Code runs in {}, without a sandbox: it can do what you can. You are asked before it runs."
_AUTO = "Code now runs without asking. {} has no sandbox: it can do what you can. %terp --no-auto asks again."
_ASKS = "You are asked before code runs."
_KEYS = "{} is in the environment of this kernel, so code can read it. `terp keys set` keeps keys out of it."
_INTERRUPTED = "Interrupted. Variables are kept."
_UNTRUSTED = "This project brings its own settings for terp, which are left out: see `terp trust`."
# Settings that need another kernel than the notebook's.
_FIXED: Mapping[str, Any] = {"mcp_servers": {}, "auto_run": False, "until": "", "background_after_s": 0.0}
_OF_ANOTHER_KERNEL = frozenset((*_FIXED, "approve", "network", "sandbox", "sandbox_required"))
_HEAD = (
    "[Code runs in {}, with IPython's magics and top-level await. The cells that the user has run since the "
    "last question, and all variables, follow as data; Out[N] has values of cells.]"
)
_MOST_CELLS, _LONGEST_CELL = 8_000, 2_000
_MOST_VARIABLES = 60
_MOST_SAVED = 20_000_000
_FLAG = re.compile(r"--[a-z-]+\b( (?=\w+/))?")


class _Lines(list[bytes]):
    """A `LineStore` in memory."""

    def sync(self) -> None:
        """Do nothing."""

    def close(self) -> None:
        """Do nothing."""


class NotebookConversation:
    """Serves one kernel through `pipe`; `environ` has the keys and settings of the user."""

    def __init__(self, pipe: KernelPipe, environ: Mapping[str, str]) -> None:
        self._pipe = pipe
        self._environ = environ
        self._user = NotebookUser(pipe)
        self._lines = _Lines()
        self._session: Session | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._known: set[str] = set()
        self._given: dict[str, Given] = {}
        self._orders = {
            "turn": self._turn, "config": self._config, "rewind": self._rewind, "auto": self._auto,
            "save": self._save, "resume": self._resume,
        }  # fmt: skip

    async def run(self) -> None:
        """Serve the kernel until it ends."""
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, lambda: self._begin(self._interrupt()))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGINT])
        async with aclosing(self._pipe.messages()) as messages:
            async for message in messages:
                match message["do"]:
                    case "open":
                        self._open(message)
                    case "ran" | "call":
                        if message.get("status") == "interrupted" and not self._kernel.is_stopped:
                            # The user interrupted the code, and means the turn.
                            self._begin(self._interrupt())
                        self._kernel.take(message)
                    case _:
                        self._begin(self._obey(message))
        if self._session is not None:
            await self._session.aclose()

    def _begin(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _open(self, message: Mapping[str, Any]) -> None:
        self._folder = new_folder(find_places(self._environ).sessions)
        self._kernel = NotebookKernel(self._pipe, message, (str(self._folder),))
        self._front = NotebookFront(self._pipe, rich=message["rich"])
        if message["version"] != __version__:
            self._note_once(f"terp is {__version__} here, and {message['version']} in the kernel.")

    def _loaded(self, given: Mapping[str, Given]) -> Settings:
        """Return the settings of all sources, as they are now, with those of the conversation."""
        places = find_places(self._environ)
        standing = standing_of(self._kernel.cwd, self._environ, places)
        if standing.state == "open":
            self._note_once(_UNTRUSTED)
        self._project = read_project(self._kernel.cwd, self._environ, standing)
        loaded = load_settings(given, profile="", environ=self._environ, places=places, project=self._project)
        return replace(loaded.settings, **_FIXED)

    async def _interrupt(self) -> None:
        if self._session is not None:
            await self._session.interrupt()

    async def _obey(self, message: Mapping[str, Any]) -> None:
        """Do what a message asks for, and send its end."""
        try:
            if self._session is None:
                self._settings = self._loaded(self._given)
            stopped = await self._orders[message["do"]](message)
        except TerpError as error:
            stopped = self._problem(error.message, error.remedy)
        except Exception:  # noqa: BLE001  # it is reported, and the kernel waits for an end
            stopped = self._redacted(f"{traceback.format_exc()}terp: this is a bug in terp.")
        self._pipe.send("done", stopped=stopped)

    async def _turn(self, message: Mapping[str, Any]) -> str | None:
        """Run a turn; return why it has no answer, if it has none."""
        session = await self._opened()
        self._kernel.cwd = str(message["cwd"])
        if not self._user.auto:
            self._note_once(_NO_SANDBOX.format(self._kernel.place))
        names = {name for provider in key_providers() for name in variables_of(provider)}
        for name in sorted(filter(self._environ.get, names)):
            self._note_once(_KEYS.format(name))
        session.resources.bound = {name: (package, kind) for name, package, kind in message["bound"]}
        if facts := "\n".join(self._facts(message)):
            session.note(self._redacted(facts))
        end: TurnFinished | None = None
        async with aclosing(session.turn(message["prompt"])) as events:
            async for event in events:
                self._front.take(event)
                end = event if isinstance(event, TurnFinished) else end
        if end is None or end.reason in ("done", "declined"):
            return None
        if end.reason == "interrupted":
            return _INTERRUPTED
        return self._problem(end.error or end.reason, end.remedy)

    async def _config(self, message: Mapping[str, Any]) -> None:
        rows, given = _settable(), dict(self._given)
        try:
            words = shlex.split(message["given"])
        except ValueError as error:
            raise SettingsError([f"{error}. Write NAME='VALUE' for a value with spaces."]) from None
        for word in words:
            name, equals, text = word.partition("=")
            if name not in rows:
                raise SettingsError(
                    [unknown(name, list(rows), "%terp_config NAME=VALUE changes a setting of a notebook.")]
                )
            if not equals:
                raise SettingsError([f"{name}: no value. Write {name}=VALUE."])
            try:
                given[name] = Given(rows[name].parse(text), "notebook")
            except ValueError:
                raise SettingsError([f'{name} is "{text}", must be {rows[name].rule}.']) from None
        after = self._loaded(given)
        change = Change(self._settings, after)
        if self._session is not None and change.is_any:
            await change_settings(self._session, change, self._environ)
        self._settings, self._given = after, given
        changed = [name for name, row in rows.items() if getattr(after, name) != row.default]
        lines = [f"{name}: {getattr(after, name)}" for name in changed]
        approval = "none" if self._user.auto else "before code runs"
        self._front.note(self._redacted("\n".join([*lines, f"approval: {approval}"])))

    async def _rewind(self, message: Mapping[str, Any]) -> None:
        session, number = await self._opened(), message["number"]
        if number and not number.isdecimal():
            raise TerpError(
                f"{number}: no number of a turn.", "%terp_rewind 2 forgets turn 2 and later ones."
            )
        forgotten = session.rewind.remove_turns(int(number)) if number else [session.rewind.undo()]
        prompts = "\n".join(f"{turn.number}: {turn.prompt[:100]}" for turn in forgotten)
        self._front.note(f"Forgot:\n{prompts}\nVariables and files stay as they are.")

    async def _auto(self, message: Mapping[str, Any]) -> None:
        self._user.auto = message["on"]
        where = self._kernel.place
        self._front.note(_AUTO.format(where[0].upper() + where[1:]) if self._user.auto else _ASKS)

    async def _save(self, _: Mapping[str, Any]) -> None:
        if self._session is None or not self._session.turns:
            raise TerpError("There is no conversation to save.")
        saved = b"".join(self._lines).decode()
        if len(saved) > _MOST_SAVED:
            raise TerpError(f"The conversation is too long for a notebook: {len(saved):,} characters.")
        size = f"{counted(len(self._session.turns), 'turn')}, {len(saved):,} characters"
        text = (
            f"The conversation ({size}) is in the metadata of this output. Save the notebook; "
            "%terp --resume continues it."
        )
        self._pipe.show({"text/plain": text}, metadata={"terp": {"session": saved}})

    async def _resume(self, message: Mapping[str, Any]) -> None:
        if self._session is not None:
            before, self._session = self._session, None
            await before.aclose()
        self._lines = _Lines([message["session"].encode()])
        session = await self._opened()
        self._front.note(
            f"Resumed a conversation of {counted(len(session.turns), 'turn')}, with the variables of now."
        )

    async def _opened(self) -> Session:
        """Return the session, opened with the first turn."""
        if self._session is None:
            cwd, settings, environ = self._kernel.cwd, self._settings, self._environ
            confinement = confinement_of(settings, self._project.cwd, environ, None)
            confinement.check_elsewhere(self._kernel.place)
            keeper = keep_lines("notebook", self._lines, b"".join(self._lines), cwd=cwd, environ=environ)
            keyed = with_keys(environ, settings.model, *settings.fallback_models)
            self._session = await build_session(
                settings,
                self._user,
                place=Place(self._folder, keeper, Secrets(environ, settings)),
                project=self._project,
                environ=environ,
                supplied=Supplied(environment=GivenEnvironment(self._kernel, keyed)),
            )
        return self._session

    def _problem(self, error: str, remedy: str) -> str:
        return self._redacted(f"terp: {_FLAG.sub(_as_setting, with_remedy(error, remedy))}")

    def _redacted(self, text: str) -> str:
        return Secrets(self._environ, Settings()).redacted(text)

    def _note_once(self, text: str) -> None:
        if text not in self._known:
            self._known.add(text)
            self._front.note(text)

    def _facts(self, message: Mapping[str, Any]) -> Iterator[str]:
        """Yield the cells since the last question, and the variables; both are limited."""
        texts, left = list[str](), _MOST_CELLS
        for number, code, error in reversed(message["cells"]):
            cell = fenced(_cut(code, _LONGEST_CELL), "python")
            text = f"In[{number}]:\n{cell}" + (f"\nraised {_cut(error, 500)}" if error else "")
            left -= len(text)
            if left < 0:
                texts.append("(earlier cells are left out)")
                break
            texts.append(text)
        rows = [
            " ".join(filter(None, (name, kind, shape_text(shape), head)))
            for name, kind, shape, _, head in message["variables"]
        ]
        if texts or rows:
            yield _HEAD.format(self._kernel.place)
        yield from reversed(texts)
        if rows:
            more = len(rows) - _MOST_VARIABLES
            yield f"Variables: {'; '.join(rows[:_MOST_VARIABLES])}" + (
                f"; and {more} more" if more > 0 else ""
            )


def _settable() -> dict[str, Setting]:
    """Return the settings that `%terp_config` changes."""
    rows = table(Settings).items()
    return {name: row for name, row in rows if row.has_flag and name not in _OF_ANOTHER_KERNEL}


def _as_setting(found: re.Match[str]) -> str:
    """Return a flag of the command line as a notebook has it: `--model` as `%terp_config model=…`."""
    flag = all_flags().get(found[0].strip())
    if flag is None or flag.row.name not in _settable():
        return found[0]
    return f"%terp_config {flag.row.name}=" + ("" if found[1] else "…")


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}\n[… {len(text) - most:,} more characters]"


class NotebookUser(FunctionPerson):
    """Asks in the notebook. With `auto`, code runs without asking."""

    def __init__(self, pipe: KernelPipe) -> None:
        super().__init__(self._decision)
        self.auto = False
        self._pipe = pipe

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Return the decision on one proposal."""
        if self.auto and not proposed.asks:
            return Run(proposed.code, by="auto_run")
        return await super().approve(proposed)

    async def allow(self, request: Consent) -> bool:
        """Return True if the user consents."""
        if self.auto and request.as_code:
            return True
        return (await self.type_in(f"{request.what} [y/n] ")).strip().lower() in ("y", "yes")

    async def choose(self, choice: Choice) -> str:
        """Return the letter that the user types."""
        if self.auto and choice.as_code:
            return choice.as_code
        options = " · ".join(f"{option.letter}: {option.does}" for option in choice.options)
        return (await self.type_in(f"{choice.what} {options}: ")).strip() or choice.otherwise

    async def type_in(self, prompt: str, *, secret: bool = False) -> str:
        """Return a line that the user types.

        Raises:
            NobodyThere: this front end has no input line.
        """
        answer = await self._pipe.ask("ask", kind="text", text=one_line(prompt), secret=secret)
        if answer["text"] is None:
            raise NobodyThere("This notebook cannot ask for a line of text.")
        return str(answer["text"])

    async def _decision(self, proposed: CodeProposed) -> Decision:
        answer = await self._pipe.ask("ask", kind="approval", code=proposed.code)
        return Run(answer["run"]) if "run" in answer else Decline(answer["decline"])
