"""The conversation of one notebook: what its kernel asks for, done with one session."""

import asyncio
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from typing import Any

from terp import __version__
from terp.errors import SettingsError, TerpError, with_remedy
from terp.events import TurnFinished
from terp.events.changes import shape_text
from terp.kernels.sandbox.confinement import confinement_of
from terp.opening.changing import Change, change_settings
from terp.opening.given_environment import GivenEnvironment
from terp.opening.session import build_session
from terp.opening.supplied import Supplied
from terp.secrets.keys import key_providers, variables_of, with_keys
from terp.secrets.known_secrets import Secrets
from terp.session.session import Session
from terp.settings import Settings
from terp.settings.loading import load_settings
from terp.settings.places import find_places
from terp.settings.profile_values import unknown
from terp.settings.project.files import read_project
from terp.settings.project.standing import standing_of
from terp.settings.setting import table
from terp.settings.sources import Given, GivenValues
from terp.store.folders import new_folder
from terp.store.lines import keep_lines
from terp.store.places import Place
from terp.text.fences import fenced
from terp_cli.notebook.drawing import IPythonFront, NotebookFront
from terp_cli.notebook.kernel import NotebookKernel
from terp_cli.notebook.person import NotebookUser
from terp_cli.notebook.pipe import KernelPipe

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


@dataclass(slots=True)
class _Lines:
    """A `LineStore` in memory."""

    lines: bytearray = field(default_factory=bytearray)

    def append(self, lines: bytes) -> None:
        self.lines += lines

    def sync(self) -> None:
        return

    def close(self) -> None:
        return


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

    async def run(self) -> None:
        """Serve the kernel until it ends."""
        async with aclosing(self._pipe.messages()) as messages:
            async for message in messages:
                await self._take(message)
        if self._session is not None:
            await self._session.aclose()

    async def _take(self, message: dict[str, Any]) -> None:
        match message["do"]:
            case "open":
                self._open(message)
            case "started" | "output" | "ended" | "call":
                if message.get("status") == "interrupted" and not self._kernel.is_stopped:
                    # The user interrupted the code, and means the turn.
                    self._begin(self._interrupt())
                self._kernel.take(message)
            case "interrupt":
                self._begin(self._interrupt())
            case _:
                self._begin(self._obey(message))

    def _begin(self, work: Awaitable[None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def _open(self, message: Mapping[str, Any]) -> None:
        self._folder = new_folder(find_places(self._environ).sessions)
        self._kernel = NotebookKernel(self._pipe, message, (str(self._folder),))
        self._front = NotebookFront(self._pipe) if message["rich"] else IPythonFront(self._pipe)
        if message["version"] != __version__:
            self._note_once(f"terp is {__version__} here, and {message['version']} in the kernel.")

    def _loaded(self, given: GivenValues) -> Settings:
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
        orders: dict[str, Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]] = {
            "turn": self._turn,
            "config": self._config,
            "rewind": self._rewind,
            "auto": self._auto,
            "save": self._save,
            "resume": self._resume,
        }
        try:
            if self._session is None:
                self._settings = self._loaded(self._given)
            result = await orders[message["do"]](message)
        except TerpError as error:
            result = {"stopped": self._redacted(f"terp: {with_remedy(error.message, error.remedy)}")}
        except Exception:  # noqa: BLE001  # it is reported, and the kernel waits for an end
            result = {"stopped": self._redacted(f"{traceback.format_exc()}terp: this is a bug in terp.")}
        self._pipe.send("done", **result)

    async def _turn(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        session = await self._opened()
        self._kernel.cwd = str(message["cwd"])
        if not self._user.auto:
            self._note_once(_NO_SANDBOX.format(self._kernel.place))
        for name in self._keys_in_kernel():
            self._note_once(_KEYS.format(name))
        if facts := self._facts(message):
            session.note(self._redacted(facts))
        end: TurnFinished | None = None
        async with aclosing(session.turn(message["prompt"])) as events:
            async for event in events:
                self._front.take(event)
                end = event if isinstance(event, TurnFinished) else end
        if end is None or end.reason in ("done", "declined"):
            return {}
        if end.reason == "interrupted":
            return {"stopped": _INTERRUPTED}
        return {"stopped": f"terp: {with_remedy(end.error or end.reason, end.remedy)}"}

    async def _config(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        rows, given = table(Settings), dict(self._given)
        rows = {name: row for name, row in rows.items() if row.has_flag and name not in _OF_ANOTHER_KERNEL}
        for word in message["given"]:
            name, equals, text = word.partition("=")
            row = rows.get(name)
            if row is None or not equals:
                why = unknown(name, list(rows), "%terp_config NAME=VALUE changes a setting of a notebook.")
                raise SettingsError([why if row is None else f"{name}: no value. Write {name}=VALUE."])
            try:
                given[name] = Given(row.parse(text), "notebook")
            except ValueError:
                raise SettingsError([f'{name} is "{text}", must be {row.rule}.']) from None
        after = self._loaded(given)
        change = Change(self._settings, after)
        if self._session is not None and change.is_any:
            await change_settings(self._session, change, self._environ)
        self._settings, self._given = after, given
        changed = [name for name, row in rows.items() if getattr(after, name) != row.default]
        lines = [f"{name}: {getattr(after, name)}" for name in changed]
        approval = "none" if self._user.auto else "before code runs"
        self._front.note(self._redacted("\n".join([*lines, f"approval: {approval}"])))
        return {}

    async def _rewind(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        session, number = await self._opened(), message["number"]
        if number and not number.isdecimal():
            raise TerpError(
                f"{number}: no number of a turn.", "%terp_rewind 2 forgets turn 2 and later ones."
            )
        forgotten = session.rewind.remove_turns(int(number)) if number else [session.rewind.undo()]
        prompts = "\n".join(f"{turn.number}: {turn.prompt[:100]}" for turn in forgotten)
        self._front.note(f"Forgot:\n{prompts}\nVariables and files stay as they are.")
        return {}

    async def _auto(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        self._user.auto = bool(message["on"])
        where = self._kernel.place
        self._front.note(_AUTO.format(where[0].upper() + where[1:]) if self._user.auto else _ASKS)
        return {}

    async def _save(self, _: Mapping[str, Any]) -> Mapping[str, Any]:
        turns = len(self._session.turns) if self._session is not None else 0
        if not turns:
            raise TerpError("There is no conversation to save.")
        text = self._lines.lines.decode()
        if len(text) > _MOST_SAVED:
            raise TerpError(f"The conversation is too long for a notebook: {len(text):,} characters.")
        return {
            "session": text,
            "text": f"The conversation ({turns} turns, {len(text):,} characters) is in the metadata of this "
            "output. Save the notebook; %terp --resume continues it.",
        }

    async def _resume(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        if self._session is not None:
            before, self._session = self._session, None
            await before.aclose()
        self._lines = _Lines(bytearray(message["session"].encode()))
        session = await self._opened()
        self._front.note(f"Resumed a conversation of {len(session.turns)} turns, with the variables of now.")
        return {}

    async def _opened(self) -> Session:
        """Return the session, opened with the first turn."""
        if self._session is None:
            cwd = self._kernel.cwd
            confinement_of(self._settings, self._project.cwd, self._environ, None).check_elsewhere(
                self._kernel.place
            )
            keeper = keep_lines(
                "notebook", self._lines, bytes(self._lines.lines), cwd=cwd, environ=self._environ
            )
            secrets = Secrets(self._environ, self._settings)
            keyed = with_keys(self._environ, self._settings.model, *self._settings.fallback_models)
            self._session = await build_session(
                self._settings,
                self._user,
                place=Place(self._folder, keeper, secrets),
                project=self._project,
                environ=self._environ,
                supplied=Supplied(environment=GivenEnvironment(self._kernel, keyed)),
            )
        return self._session

    def _redacted(self, text: str) -> str:
        return Secrets(self._environ, Settings()).redacted(text)

    def _note_once(self, text: str) -> None:
        if text not in self._known:
            self._known.add(text)
            self._front.note(text)

    def _keys_in_kernel(self) -> list[str]:
        names = {name for provider in key_providers() for name in variables_of(provider)}
        return sorted(name for name in names if self._environ.get(name))

    def _facts(self, message: Mapping[str, Any]) -> str:
        """Return the cells since the last question, and the variables; both are limited."""
        cells, left = list[str](), _MOST_CELLS
        for number, code, error in reversed(message["cells"]):
            cell = fenced(_cut(code, _LONGEST_CELL), "python")
            text = f"In[{number}]:\n{cell}" + (f"\nraised {_cut(error, 500)}" if error else "")
            left -= len(text)
            if left < 0:
                cells.append("(earlier cells are left out)")
                break
            cells.append(text)
        rows = [_variable(*row) for row in message["variables"][:_MOST_VARIABLES]]
        more = len(message["variables"]) - len(rows)
        if rows:
            cells.insert(0, "Variables: " + "; ".join(rows) + (f"; and {more} more" if more else ""))
        head = [_HEAD.format(self._kernel.place)] if cells else []
        return "\n".join([*head, *reversed(cells)])


def _variable(name: str, kind: str, shape: Sequence[int], _: int | None, head: str) -> str:
    return " ".join(part for part in (name, kind, shape_text(shape), head) if part)


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}\n[… {len(text) - most:,} more characters]"
