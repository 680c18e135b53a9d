"""Tools: functions of the user and of terp that the model calls by name.

They are builtins as `len` is: a variable of the same name hides them. A tool file runs when the first of its
functions is called, so it does not slow the kernel's start, and its errors are raised where it is used.
"""

from __future__ import annotations
import __future__

import builtins
import copy
import functools
import linecache
import os
import sys
import threading
import time
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.machinery import ModuleSpec
from inspect import Parameter, Signature, signature
from typing import Any

from .home import call, report

# A call is reported if it was running at two checks.
LOOK_S = 0.25


class Working:
    """Reports slow tools and their end. One thread watches all calls."""

    def __init__(self, report: Callable[..., None]) -> None:
        self.report = report
        self.calls: dict[object, str] = {}
        self.reported: object = None
        self.reporting = threading.Lock()
        self.awake = threading.Event()
        self.watching: Any = None

    @contextmanager
    def on(self, name: str) -> Iterator[None]:
        """Watch the call of the tool `name` while the block lasts."""
        call = object()
        self.calls[call] = name
        self.awake.set()
        if self.watching is None:
            self.watching = threading.Thread(target=self.watch, name="terp tools", daemon=True)
            self.watching.start()
        try:
            yield
        finally:
            del self.calls[call]
            with self.reporting:
                if self.reported is call:
                    self.reported = None
                    self.report(tool=name, over=True)

    def watch(self) -> None:
        """Check the calls, as long as there are any, and report one that lasts."""
        seen: list[object] = []
        while True:
            self.awake.clear()
            if not self.calls:
                self.awake.wait()
            time.sleep(LOOK_S)
            with self.reporting:
                lasting = [call for call in list(self.calls) if call in seen]
                if lasting and self.reported is None:
                    self.reported = lasting[-1]
                    self.report(tool=self.calls.get(self.reported, ""), over=False)
            seen = list(self.calls)


TRUNCATED = " [TRUNCATED]"


class PlainText(str):
    """Text whose repr is the text itself."""

    __slots__ = ()

    def __repr__(self) -> str:
        """Return the text."""
        return str(self)

    def __reduce__(self) -> Any:
        """Pickle as plain text."""
        return str, (str(self),)


class KernelTools:
    """The tools of this kernel, and the modules of their files."""

    def __init__(
        self, declared: list[dict[str, Any]], sources: dict[str, str], report: Callable[..., None]
    ) -> None:
        self.working = Working(report)
        self.declared = {tool["name"]: tool for tool in declared}
        self.sources = sources
        self.modules: dict[str, Any] = {}

    def function(self, tool: dict[str, Any]) -> Callable[..., Any]:
        """Return the function for a tool."""

        def call(*args: Any, **kwargs: Any) -> Any:
            given = bound(tool, args, kwargs)
            try:
                with self.working.on(tool["name"]):
                    result = self.answer(tool, given)
            except SystemExit as end:
                raise RuntimeError(f"Tool `{tool['name']}` called sys.exit({end.code!r}).") from end
            return finished(result, tool["max_chars"])

        call.__name__ = call.__qualname__ = tool["name"]
        call.__doc__ = described(tool)
        call.__signature__ = signature_of(tool)  # type: ignore[attr-defined]
        return call

    def answer(self, tool: dict[str, Any], given: dict[str, Any]) -> Any:
        """Return a tool's result for these arguments."""
        # Most kernels never call one: 4 ms of the start.
        from . import converting  # noqa: PLC0415

        if tool["how"] == "program":
            given = converting.converted(tool["name"], given, converting.written_hints(tool["parameters"]))
        if tool["how"] in ("manual", "program"):
            return call(f"{tool['how']}_tool", name=tool["name"], given=converting.plain(given))
        if tool["how"] == "file":
            function = vars(self.module(tool["target"]))[tool["name"]]
            return function(**converting.converted(tool["name"], given, converting.hints_of(function)))
        module, _, path = tool["target"].partition(":")
        imported: Any = import_module(module)
        function = functools.reduce(getattr, path.split("."), imported)
        hints = converting.written_hints(tool["parameters"])
        return called(function, converting.converted(tool["name"], given, hints))

    def module(self, path: str) -> Any:
        """Return the module of a tool file, running it first; a file that failed runs again."""
        if path not in self.modules:
            source = self.sources[path]
            module = types.ModuleType(f"terp_tool_file_{len(self.modules) + 1}")
            module.__file__ = path
            # The file may be changed, or out of reach from here.
            linecache.cache[path] = (len(source), None, source.splitlines(True), path)
            sys.modules[module.__name__] = module
            # Last, so that what lies beside a tool file hides no other module.
            if os.path.dirname(path) not in sys.path:  # noqa: PTH120
                sys.path.append(os.path.dirname(path))  # noqa: PTH120
            try:
                # Annotations are not evaluated here: a wrong one would take all other tools with it.
                flags = __future__.annotations.compiler_flag
                exec(compile(source, path, "exec", flags, dont_inherit=True), module.__dict__)  # noqa: S102
            except BaseException:
                del sys.modules[module.__name__]
                raise
            self.modules[path] = module
        return self.modules[path]


def bound(tool: dict[str, Any], args: Any, kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by name.

    Raises TypeError, with how the tool is called, when some are missing or too many.
    """
    parameters = {one["name"]: one for one in tool["parameters"]}
    given = dict(zip(parameters, args))  # noqa: B905 - Python 3.8
    wrong = [f"takes {len(parameters)} arguments, not {len(args)}"] if len(args) > len(parameters) else []
    wrong += [f"takes no `{name}`" for name in kwargs if name not in parameters]
    wrong += [f"got `{name}` twice" for name in kwargs if name in given]
    given.update(kwargs)
    absent = [one for name, one in parameters.items() if name not in given]
    wrong += [f"needs `{one['name']}`" for one in absent if one["required"] and not one["default"]]
    if wrong:
        raise TypeError(f"Tool `{tool['name']}` {', '.join(wrong)}. Call it as {tool['signature']}")
    for one in absent:
        if not one["default"]:
            given[one["name"]] = None
        elif tool["how"] != "file":
            from ast import literal_eval  # noqa: PLC0415

            given[one["name"]] = literal_eval(one["default"])
    return {name: given[name] for name in parameters if name in given}


def called(function: Any, given: dict[str, Any]) -> Any:
    """Call a function with arguments by name; by position if it takes no names, as many in C."""
    try:
        kinds = {one.kind for one in signature(function).parameters.values()}
    except (TypeError, ValueError):
        kinds = {Parameter.POSITIONAL_ONLY}
    return function(*given.values()) if Parameter.POSITIONAL_ONLY in kinds else function(**given)


def finished(result: Any, max_chars: int) -> Any:
    """Return the result of a call: text whose repr is itself, truncated if too long."""
    text = result if isinstance(result, str) else str(result) if max_chars else ""
    if max_chars and len(text) > max_chars:
        return PlainText(text[:max_chars] + TRUNCATED)
    return PlainText(result) if type(result) is str else result


def described(tool: dict[str, Any]) -> str:
    """Return the docstring of a tool, with its parameters."""
    about = [f"{one['name']}: {one['description']}" for one in tool["parameters"] if one["description"]]
    return "\n\n".join(part for part in (tool["description"], "\n".join(about)) if part)


def signature_of(tool: dict[str, Any]) -> Any:
    """Return the signature that `help` shows. An optional parameter shows None as its default."""
    by_name = any(one["required"] for one in tool["parameters"][1:]) and Parameter.KEYWORD_ONLY
    parameters = [
        Parameter(
            one["name"],
            by_name or Parameter.POSITIONAL_OR_KEYWORD,
            default=Parameter.empty if one["required"] else PlainText(one["default"] or "None"),
            annotation=PlainText(one["type"]),
        )
        for one in tool["parameters"]
    ]
    returns = PlainText(tool["returns"]) if tool["returns"] else Signature.empty
    return Signature(parameters, return_annotation=returns)


class Importable:
    """Lets a tool file import `terp.tools` where terp itself is not installed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """Return the spec of the replacement."""
        if name in ("terp", "terp.tools"):
            return ModuleSpec(name, self, is_package=name == "terp")  # type: ignore[arg-type]
        return None

    def create_module(self, spec: Any) -> Any:
        """Create a plain module."""
        return None

    def exec_module(self, module: Any) -> None:
        """Add its functions."""
        if module.__name__ == "terp.tools":
            module.register_tool, module.get_tools = register_tool, get_tools


def register_tool(function: Any = None, **_: Any) -> Any:
    """Return the function unchanged: its declaration was read before."""
    return function if function is not None else lambda declared: declared


def get_tools() -> dict[str, Any]:
    """Return name, description and parameters of each tool by name, as a deep copy."""
    return copy.deepcopy({name: tool["definition"] for name, tool in provided[0].declared.items()})


provided: list[KernelTools] = []


def provide(declared: list[dict[str, Any]], sources: dict[str, str]) -> None:
    """Add the tools to the builtins."""
    tools = KernelTools(declared, sources, report)
    provided[:] = [tools]
    sys.meta_path.append(Importable())
    for tool in declared:
        setattr(builtins, tool["name"], tools.function(tool))
