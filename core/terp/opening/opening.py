"""`open` and `kernel`: the short ways to a session for a program, from settings and objects."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from inspect import signature
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from terp.errors import SettingsError
from terp.opening.chat_session import ChatSession
from terp.opening.session import build_session
from terp.opening.supplied import Supplied, WithoutModel
from terp.person import AutoRun, Nobody, Person
from terp.secrets.known_secrets import Secrets
from terp.settings import APPROVALS, Settings
from terp.settings.loading import Loaded, load_settings
from terp.settings.places import Places, find_places
from terp.settings.project.files import Project, Trust, bare_project, read_project
from terp.settings.setting import table
from terp.settings.sources import Given
from terp.store.folders import new_folder
from terp.store.places import Place, is_session, new_place, stored_place
from terp.text.paths import typed_path
from terp.tools.functions import tools_of

if TYPE_CHECKING:
    from terp.events.model import Model
    from terp.opening.chat import Chat, SyncKernel
    from terp.opening.typed import OpenSettings
    from terp.person.approving import Approve
    from terp.session.keeping import Keeping
    from terp.session.live_kernel import LiveKernel


_ASKED = ("approve", "allow", "choose", "type_in")
_CALLED = ("stream", "aclose")
_OWN = ("model", "approve", "tools", "person", "profile", "cwd", "environ", "keep", "trusted")


def open(  # noqa: A001, PLR0913  # each is a keyword; reads as `terp.open(…)`
    *,
    model: "str | Model" = "",
    approve: "Literal['before', 'effect', 'never'] | Approve | None" = None,
    tools: Sequence[str | PathLike[str] | Callable[..., Any]] = (),
    person: Person | None = None,
    profile: str = "",
    cwd: str | Path = "",
    environ: Mapping[str, str] | None = None,
    keep: "bool | str | Path | Keeping" = False,
    trusted: Trust | None = None,
    **settings: "Unpack[OpenSettings]",
) -> "Opening":
    """Open a conversation, for a `with` block (`Chat`) or an `async with` block (`ChatSession`).

        with terp.open(model="openai/gpt-4o", approve="never") as chat:
            print(chat("How many primes are there below a million?").text)

    `model` is a name, or an object with `name`, `stream` and `aclose` (`terp.events.model.Model`).
    `approve` says when you are asked: "before" code runs, at each "effect" of it, or "never". Or it is a
    function that decides: it takes a proposal with `code`, `effects` and `cwd`, and returns True, False, the
    reason for a refusal as text, or `terp.Run(code)` with other code. It may be async. A `person` is an
    object that answers all questions (`terp.Person`). With neither, any code ends the turn.
    `tools` are files that declare tools, and functions of your program with type annotations and a
    docstring. Functions run in your program, when code in the kernel calls them; they return JSON.

    `settings` are fields of `terp.settings.Settings`; others come from `TERP_…` variables, `profile` and the
    user's configuration.

    Nothing is stored unless `keep` is given. True stores the session among those that `terp sessions` lists,
    a path stores it in that folder; if the folder holds a session already, that one is resumed, in a new
    kernel. A `terp.session.keeping.Keeping` stores it elsewhere; `terp.store.lines.keep_lines` builds one.

    Files of the project around `cwd` are ignored unless `trusted` returns True, by path and content.

    Raises:
        SettingsError: a setting is unknown or wrong, or an object lacks a method; no model was asked yet.
        SessionError: on entering the block: the folder holds a session that cannot be resumed.
    """
    problems = [*_lacking("person", person, _ASKED), *_wrong_objects(model, approve, person, tools)]
    if callable(approve):
        from terp.person.approving import FunctionPerson  # noqa: PLC0415  (most sessions have a person)

        person, approve = FunctionPerson(approve), "before"
    name = model if isinstance(model, str) else str(getattr(model, "name", ""))
    own_tools = tools if isinstance(tools, list | tuple) else ()
    functions = [one for one in own_tools if callable(one)]
    files = [str(one) for one in own_tools if not callable(one)]
    own = {"model": name, "approve": approve if approve in APPROVALS else "", "tools": files}
    given = {**settings, **{one: value for one, value in own.items() if value}}
    loaded = _loaded(given, problems, profile, cwd, environ, trusted)
    # Wrong functions are reported now.
    tools_of(functions)
    return Opening(*loaded, person, keep, Supplied(None if isinstance(model, str) else model, functions))


def kernel(
    *,
    profile: str = "",
    cwd: str | Path = "",
    environ: Mapping[str, str] | None = None,
    **settings: "Unpack[OpenSettings]",
) -> "KernelOpening":
    """Open live kernels without a model, for a `with` block (`SyncKernel`) or `async with` (`LiveKernel`).

        with terp.kernel(sandbox="workspace") as kernel:
            kernel["numbers"] = [1, 2, 3]
            print(kernel.run("sum(numbers)").text)

    The kernels are where the settings say: on this machine, in a sandbox, or behind a gateway
    (`gateway_url`). Code runs without a question: it is your own. A sandbox confines it only if `sandbox` is
    set. `settings` are those of `terp.open`; nothing is stored.

    Raises:
        SettingsError: a setting is unknown or wrong.
        NoSandbox, KernelStartFailed: on entering the block: a required sandbox does not work here, or the
            gateway does not answer.
    """
    loaded = _loaded({**settings}, [], profile, cwd, environ, None)
    return KernelOpening(*loaded, supplied=Supplied(WithoutModel()))


def _loaded(
    given: Mapping[str, Any],
    problems: Sequence[str],
    profile: str,
    cwd: str | Path,
    environ: Mapping[str, str] | None,
    trusted: Trust | None,
) -> tuple[Loaded, Places, Project, Mapping[str, str]]:
    if trusted is not None and not callable(trusted):
        problems = [*problems, f"terp.open: trusted is {trusted!r}, must be a function."]
    checked = _given(given, problems)
    surroundings = os.environ if environ is None else environ
    places = find_places(surroundings)
    project = read_project(cwd, surroundings, trusted) if trusted else bare_project(cwd)
    loaded = load_settings(checked, profile=profile, environ=surroundings, places=places, project=project)
    return loaded, places, project, surroundings


def _lacking(what: str, given: object, methods: Sequence[str]) -> Iterator[str]:
    """Yield the problem of an object of the caller that lacks a method."""
    missing = [name for name in methods if given is not None and not callable(getattr(given, name, None))]
    if isinstance(given, type):
        yield f"terp.open: {what} is the class {given.__name__}; give an object of it."
    elif missing:
        kinds = {"person": "terp.person.Person", "model": "terp.events.model.Model"}
        yield f"terp.open: {what} has no method {missing[0]}; see {kinds[what]}."


def _wrong_objects(model: object, approve: object, person: object, tools: object) -> Iterator[str]:
    """Yield the problems of objects that are no settings."""
    if not isinstance(model, str):
        yield from _lacking("model", model, _CALLED)
        if not isinstance(getattr(model, "name", None), str):
            yield "terp.open: model has no name; see terp.events.model.Model."
    if callable(approve) and person is not None:
        yield "terp.open: approve is a function and there is a person: one of them decides."
    if callable(approve):
        with suppress(ValueError):  # Some functions written in C have no signature.
            try:
                signature(approve).bind(None)
            except TypeError:
                yield "terp.open: approve must take one argument, the proposal; see terp docs approval."
    elif approve is not None and approve not in APPROVALS:
        yield f"terp.open: approve is {approve!r}, must be one of {', '.join(APPROVALS)}, or a function."
    if not isinstance(tools, list | tuple):
        yield f"terp.open: tools is {tools!r}, must be a list of files and functions."


def _given(settings: Mapping[str, Any], problems: Sequence[str] = ()) -> dict[str, Given]:
    rows = table(Settings)
    given: dict[str, Given] = {}
    problems = list(problems)
    for name, value in settings.items():
        try:
            given[name] = Given(rows[name].checked(value), "terp.open")
        except KeyError:
            from terp.settings.profile_values import unknown  # noqa: PLC0415  (for a mistake only)

            problems.append(f"terp.open: {unknown(name, [*rows, *_OWN], 'See docs/settings.md.')}")
        except ValueError:
            problems.append(f"terp.open: '{name}' is {value!r}, must be {rows[name].rule}.")
    if problems:
        raise SettingsError(problems)
    return given


@dataclass(slots=True)
class OpeningParts:
    """Settings and objects from which a session is built."""

    loaded: Loaded
    places: Places
    project: Project
    environ: Mapping[str, str]
    person: Person | None = None
    keep: "bool | str | Path | Keeping" = False
    supplied: Supplied = field(default_factory=Supplied)
    _chat: "SyncKernel | None" = None
    _session: ChatSession | None = None

    def __exit__(self, *_: object) -> None:
        if self._chat is not None:
            self._chat.close()

    async def __aexit__(self, *_: object) -> None:
        if self._session is not None:
            await self._session.aclose()

    async def _build(self) -> ChatSession:
        person, place = self.person or Nobody(), self._place()
        decides = AutoRun(person) if self.loaded.settings.auto_run else person
        session = await build_session(
            self.loaded.settings,
            decides,
            place=place,
            project=self.project,
            environ=self.environ,
            supplied=self.supplied,
        )
        for line in (*self.project.notices, *self.loaded.notices, *session.resources.notices):
            session.dialog.notify(line)
        return session

    def _place(self) -> Place:
        if self.keep is False:
            return Place(new_folder(self.places.sessions))
        if not isinstance(self.keep, bool | str | Path):
            return Place(new_folder(self.places.sessions), self.keep)
        own = None if self.keep is True else typed_path(str(self.keep)).absolute()
        secrets = Secrets(self.environ, self.loaded.settings)
        if own is not None and is_session(own):
            return stored_place(own, secrets)
        return new_place(own or new_folder(self.places.sessions), str(self.project.cwd), secrets)


class Opening(OpeningParts):
    """Settings from which a block opens a conversation: a `Chat`, or with `async` a `ChatSession`."""

    def __enter__(self) -> "Chat":
        from terp.opening.chat import Chat  # noqa: PLC0415  (`async with` does not need it)

        self._chat = chat = Chat(self._build)
        return chat

    async def __aenter__(self) -> ChatSession:
        self._session = await self._build()
        return self._session


class KernelOpening(OpeningParts):
    """Settings from which a block opens kernels: a `SyncKernel`, or with `async` a `LiveKernel`."""

    def __enter__(self) -> "SyncKernel":
        from terp.opening.chat import SyncKernel  # noqa: PLC0415  (`async with` does not need it)

        self._chat = kernel = SyncKernel(self._build)
        return kernel

    async def __aenter__(self) -> "LiveKernel":
        self._session = await self._build()
        return self._session.kernel
