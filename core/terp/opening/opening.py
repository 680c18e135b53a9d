"""`open` and `kernel`: the short ways to a session for a program, from settings and objects."""

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from inspect import iscoroutinefunction, isgeneratorfunction, isroutine, signature
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from terp.errors import SessionError, SettingsError
from terp.events.model import Model
from terp.opening.chat import Chat, SyncKernel
from terp.opening.chat_session import ChatSession
from terp.opening.session import build_session
from terp.opening.supplied import Supplied, WithoutModel
from terp.person import AutoRun, Nobody, Person
from terp.secrets.known_secrets import Secrets
from terp.session.keeping import Keeping
from terp.settings import APPROVALS, Settings
from terp.settings.loading import Loaded, load_settings
from terp.settings.places import Places, find_places
from terp.settings.project.files import Project, Trust, bare_project, read_project
from terp.settings.setting import Setting, table
from terp.settings.sources import Given
from terp.store.folders import new_folder
from terp.store.places import Place, is_session, new_place, stored_place
from terp.text.dataclasses import dataclass, field
from terp.text.paths import typed_path
from terp.tools.functions import tools_of

if TYPE_CHECKING:
    from terp.opening.typed import KernelSettings, OpenSettings
    from terp.person.approving import Approve


_OWN_OF_KERNEL = ("profile", "cwd", "environ")
_OWN = (*_OWN_OF_KERNEL, "model", "approve", "tools", "person", "keep", "trusted")


def open(  # noqa: A001, PLR0913  # each is a keyword; reads as `terp.open(…)`
    *,
    model: str | Model = "",
    approve: "Literal['before', 'effect', 'never'] | Approve | None" = None,
    tools: Sequence[str | PathLike[str] | Callable[..., Any]] = (),
    person: Person | None = None,
    profile: str = "",
    cwd: str | PathLike[str] = "",
    environ: Mapping[str, str] | None = None,
    keep: bool | str | PathLike[str] | Keeping = False,
    trusted: Trust | None = None,
    **settings: "Unpack[OpenSettings]",
) -> Chat:
    """Open a conversation, for a `with` block (`Chat`) or an `async with` block (`ChatSession`).

        with terp.open(model="openai/gpt-4o", approve="never") as chat:
            print(chat("How many primes are there below a million?").text)

    Without a block, as in a notebook, it opens at its first use, and ends with `chat.close()` or the program.

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
    problems = [*_wrong_objects(model, person, keep), *_wrong_functions(approve, person, tools, trusted)]
    if callable(approve):
        from terp.person.approving import FunctionPerson  # noqa: PLC0415  (most sessions have a person)

        person, approve = FunctionPerson(approve), "before"
    name = model if isinstance(model, str) else str(getattr(model, "name", ""))
    own_tools = tools if isinstance(tools, list | tuple) else ()
    functions = [one for one in own_tools if callable(one)]
    files = [str(one) for one in own_tools if not callable(one)]
    own = {"model": name, "approve": approve if approve in APPROVALS else "", "tools": files}
    settings_given = {**settings, **{one: value for one, value in own.items() if value}}
    given = _given("terp.open", settings_given, profile, cwd, environ, problems)
    # Wrong functions are reported now.
    tools_of(functions)
    parts = _parts(given, profile, cwd, environ, trusted)
    parts.person, parts.keep = person or Nobody(), keep
    parts.supplied = Supplied(None if isinstance(model, str) else model, functions)
    return Chat(parts.build)


def kernel(
    *,
    profile: str = "",
    cwd: str | PathLike[str] = "",
    environ: Mapping[str, str] | None = None,
    **settings: "Unpack[KernelSettings]",
) -> SyncKernel:
    """Open live kernels without a model, for a `with` block (`SyncKernel`) or `async with` (`LiveKernel`).

        with terp.kernel(sandbox="workspace") as kernel:
            kernel["numbers"] = [1, 2, 3]
            print(kernel.run("sum(numbers)").text)

    Without a block they open at their first use, and end with `kernel.close()` or the program.

    The kernels are where the settings say: on this machine, in a sandbox, or behind a gateway
    (`gateway_url`). Code runs without a question: it is your own. A sandbox confines it only if `sandbox` is
    set. `settings` are the fields of `terp.settings.Settings` about code and safety; nothing is stored.

    Raises:
        SettingsError: a setting is unknown, wrong, or only for `terp.open`.
        NoSandbox, KernelStartFailed: on entering the block: a required sandbox does not work here, or the
            gateway does not answer.
    """
    parts = _parts(_given("terp.kernel", settings, profile, cwd, environ), profile, cwd, environ, None)
    parts.supplied = Supplied(WithoutModel())
    return SyncKernel(parts.build)


def for_kernels(row: Setting) -> bool:
    """Return True if `terp.kernel` takes a setting: the setting needs no model and asks no question."""
    return row.group in ("code", "safety") and row.name not in ("approve", "auto_run", "tools")


def _wrong_objects(model: object, person: object, keep: object) -> Iterator[str]:
    """Yield the problems of objects that must implement a protocol."""
    if not isinstance(model, str):
        yield from _differing("model", model, Model)
        if not isinstance(getattr(model, "name", None), str):
            yield "model has no name; see terp.events.model.Model."
    if person is not None:
        yield from _differing("person", person, Person)
    if not isinstance(keep, bool | str | PathLike):
        yield from _differing("keep", keep, Keeping)


def _differing(what: str, given: object, protocol: type) -> Iterator[str]:
    """Yield the problems of the methods of an object that must implement a protocol."""
    see = f"see {protocol.__module__}.{protocol.__name__}."
    if isinstance(given, type):
        yield f"{what} is the class {given.__name__}; give an object of it."
        return
    wanted = {name: one for name, one in vars(protocol).items() if isroutine(one) and name[0] != "_"}
    if missing := [name for name in wanted if not callable(getattr(given, name, None))]:
        yield f"{what} has no method {missing[0]}; {see}"
        return
    for name, pattern in wanted.items():
        method, (_, *taken) = getattr(given, name), signature(pattern).parameters.values()
        named = [one.name for one in taken if one.kind is one.KEYWORD_ONLY]
        if not _takes(method, len(taken) - len(named), *named):
            yield f"{what}.{name} must take {', '.join(one.name for one in taken) or 'nothing'}; {see}"
        elif not iscoroutinefunction(pattern) and (
            iscoroutinefunction(method) or isgeneratorfunction(method)
        ):
            yield f"{what}.{name} must be async and yield; {see}"
        elif iscoroutinefunction(pattern) and isroutine(method) and not iscoroutinefunction(method):
            yield f"{what}.{name} must be async; {see}"


def _wrong_functions(approve: object, person: object, tools: object, trusted: object) -> Iterator[str]:
    """Yield the problems of parameters that are functions, or may be."""
    if callable(approve) and person is not None:
        yield "approve is a function and there is a person: one of them decides."
    if callable(approve):
        if not _takes(approve, 1):
            yield "approve must take one argument, the proposal; see terp docs approval."
    elif approve is not None and approve not in APPROVALS:
        yield f"approve is {approve!r}, must be one of {', '.join(APPROVALS)}, or a function."
    listed = tools if isinstance(tools, list | tuple) else [None]
    if not all(callable(one) or isinstance(one, str | PathLike) for one in listed):
        yield f"tools is {tools!r}, must be a list of files and functions."
    if trusted is not None and not callable(trusted):
        yield f"trusted is {trusted!r}, must be a function."
    elif callable(trusted) and not _takes(trusted, 2):
        yield "trusted must take two arguments: the path of a file, its content."


def _takes(function: Callable[..., Any], arguments: int, *named: str) -> bool:
    """Return True if a function can be called with so many arguments, and others by name."""
    with suppress(ValueError):  # Some functions written in C have no signature.
        try:
            signature(function).bind(*range(arguments), **dict.fromkeys(named))
        except TypeError:
            return False
    return True


def _given(
    caller: str,
    settings: Mapping[str, Any],
    profile: object,
    cwd: object,
    environ: object,
    problems: Iterable[str] = (),
) -> Mapping[str, Given]:
    """Return settings as they were given to `caller`, whose objects have `problems`.

    Raises:
        SettingsError: there are problems, or an argument is unknown or wrong.
    """
    problems = list(problems)
    if not isinstance(profile, str):
        problems.append(f"profile is {profile!r}, must be text.")
    if not isinstance(cwd, str | PathLike) or not Path(cwd).is_dir():
        problems.append(f"cwd is {str(cwd)!r}, must be a folder.")
    if not isinstance(environ, Mapping | None):
        problems.append(f"environ is {environ!r}, must be a mapping of names to text.")
    every, given = table(Settings), dict[str, Given]()
    is_open = caller == "terp.open"
    rows = {name: row for name, row in every.items() if is_open or for_kernels(row)}
    for name, value in settings.items():
        try:
            given[name] = Given(rows[name].checked(value), caller)
        except KeyError:
            from terp.settings.profile_values import unknown  # noqa: PLC0415  (for a mistake only)

            if name in every or name in _OWN:
                problems.append(f"'{name}' is for terp.open: a kernel has no model, and asks no question.")
            else:
                known = [*rows, *(_OWN if is_open else _OWN_OF_KERNEL)]
                problems.append(unknown(name, known, "See docs/settings.md."))
        except ValueError:
            problems.append(f"'{name}' is {value!r}, must be {rows[name].rule}.")
    if problems:
        raise SettingsError([f"{caller}: {problem}" for problem in problems])
    return given


def _parts(
    given: Mapping[str, Given],
    profile: str,
    cwd: str | PathLike[str],
    environ: Mapping[str, str] | None,
    trusted: Trust | None,
) -> "Parts":
    environ, cwd = os.environ if environ is None else environ, os.fspath(cwd)
    places = find_places(environ)
    project = read_project(cwd, environ, trusted) if trusted else bare_project(cwd)
    loaded = load_settings(given, profile=profile, environ=environ, places=places, project=project)
    return Parts(loaded, places, project, environ)


@dataclass(slots=True)
class Parts:
    """Settings and objects from which a session is built."""

    loaded: Loaded
    places: Places
    project: Project
    environ: Mapping[str, str]
    person: Person = field(default_factory=Nobody)
    keep: bool | str | PathLike[str] | Keeping = False
    supplied: Supplied = field(default_factory=Supplied)

    async def build(self) -> ChatSession:
        """Build the session; its log begins with notices about the settings."""
        settings = self.loaded.settings
        session = await build_session(
            settings,
            AutoRun(self.person) if settings.auto_run else self.person,
            place=self._place(),
            project=self.project,
            environ=self.environ,
            supplied=self.supplied,
        )
        for line in (*self.project.notices, *self.loaded.notices, *session.resources.notices):
            session.dialog.notify(line)
        return session

    def _place(self) -> Place:
        own = None
        if isinstance(self.keep, str | PathLike):
            own = typed_path(os.fspath(self.keep)).absolute()
            try:
                own.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise SessionError(f"Nothing can be stored in {own}: {error.strerror}.") from error
        elif self.keep is not True:
            return Place(new_folder(self.places.sessions), self.keep or None)
        secrets = Secrets(self.environ, self.loaded.settings)
        if own is not None and is_session(own):
            return stored_place(own, secrets)
        return new_place(own or new_folder(self.places.sessions), str(self.project.cwd), secrets)
