"""Tools: functions of the person's own, and of terp's, which a model calls by name.

They stand beside Python's own names such as `len`: they are no variables, and a variable of the same name
hides them. A tool file is run when the first of its functions is called, so a kernel starts no slower for
it, and what is wrong with it is told where it is used.
"""

from __future__ import annotations
import __future__

import builtins
import copy
import functools
import linecache
import os
import sys
import types
from collections.abc import Callable
from importlib import import_module
from importlib.machinery import ModuleSpec
from inspect import Parameter, Signature, signature
from typing import Any

from .working import Working

TRUNCATED = " [TRUNCATED]"


class Reply(str):
    """Text that shows itself as it is."""

    __slots__ = ()

    def __repr__(self) -> str:
        """The text."""
        return str(self)

    def __reduce__(self) -> Any:
        """Elsewhere it is plain text."""
        return str, (str(self),)


class Written(str):
    """A type, or a default, that shows itself as it was written."""

    __slots__ = ()

    def __repr__(self) -> str:
        """As it was written."""
        return str(self)


class Tools:
    """The tools of this kernel, and the modules of their files."""

    def __init__(
        self, declared: list[dict[str, Any]], sources: dict[str, str], tell: Callable[..., None]
    ) -> None:
        self.working = Working(tell)
        self.declared = {tool["name"]: tool for tool in declared}
        self.sources = sources
        self.modules: dict[str, Any] = {}

    def function(self, tool: dict[str, Any]) -> Callable[..., Any]:
        """The function that stands for a tool."""

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
        """What a tool gives for these arguments."""
        # Most kernels never call one.
        from . import call, converting  # noqa: PLC0415

        if tool["how"] == "manual":
            return call("manual_tool", name=tool["name"], given=converting.plain(given))
        if tool["how"] == "file":
            function = vars(self.module(tool["target"]))[tool["name"]]
            return function(**converting.converted(tool["name"], given, converting.hints_of(function)))
        module, _, path = tool["target"].partition(":")
        imported: Any = import_module(module)
        function = functools.reduce(getattr, path.split("."), imported)
        hints = converting.written_hints(tool["parameters"])
        return called(function, converting.converted(tool["name"], given, hints))

    def module(self, path: str) -> Any:
        """The module that a tool file makes; one that failed is tried anew."""
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
    """The arguments of a call by their names.

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
    """What a function gives that takes its arguments by name, or as many of C do, by their order only."""
    try:
        kinds = {one.kind for one in signature(function).parameters.values()}
    except (TypeError, ValueError):
        kinds = {Parameter.POSITIONAL_ONLY}
    return function(*given.values()) if Parameter.POSITIONAL_ONLY in kinds else function(**given)


def finished(result: Any, max_chars: int) -> Any:
    """The result of a call: text shows itself, and what is too long is cut."""
    text = result if isinstance(result, str) else str(result) if max_chars else ""
    if max_chars and len(text) > max_chars:
        return Reply(text[:max_chars] + TRUNCATED)
    return Reply(result) if type(result) is str else result


def described(tool: dict[str, Any]) -> str:
    """The docstring: what the tool does, and what is said of its parameters."""
    about = [f"{one['name']}: {one['description']}" for one in tool["parameters"] if one["description"]]
    return "\n\n".join(part for part in (tool["description"], "\n".join(about)) if part)


def signature_of(tool: dict[str, Any]) -> Any:
    """The signature that `help` shows. What may be left out shows None as its default."""
    by_name = any(one["required"] for one in tool["parameters"][1:]) and Parameter.KEYWORD_ONLY
    parameters = [
        Parameter(
            one["name"],
            by_name or Parameter.POSITIONAL_OR_KEYWORD,
            default=Parameter.empty if one["required"] else Written(one["default"] or "None"),
            annotation=Written(one["type"]),
        )
        for one in tool["parameters"]
    ]
    returns = Written(tool["returns"]) if tool["returns"] else Signature.empty
    return Signature(parameters, return_annotation=returns)


class Importable:
    """Lets a tool file import `terp.tools` where terp itself is not installed."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        """The spec of what stands in for it."""
        if name in ("terp", "terp.tools"):
            return ModuleSpec(name, self, is_package=name == "terp")  # type: ignore[arg-type]
        return None

    def create_module(self, spec: Any) -> Any:
        """A plain module."""
        return None

    def exec_module(self, module: Any) -> None:
        """Fill it."""
        if module.__name__ == "terp.tools":
            module.register_tool, module.get_tools = register_tool, get_tools


def register_tool(function: Any = None, **_: Any) -> Any:
    """The function as it is: what it declares was read before."""
    return function if function is not None else lambda declared: declared


def get_tools() -> dict[str, Any]:
    """Name, description and parameters of each tool, by name; a copy, all the way down."""
    return copy.deepcopy({name: tool["definition"] for name, tool in provided[0].declared.items()})


provided: list[Tools] = []


def provide(declared: list[dict[str, Any]], sources: dict[str, str]) -> None:
    """Put the tools beside Python's own names."""
    from . import report  # noqa: PLC0415 - the package imports this module last

    tools = Tools(declared, sources, report)
    provided[:] = [tools]
    sys.meta_path.append(Importable())
    for tool in declared:
        setattr(builtins, tool["name"], tools.function(tool))
