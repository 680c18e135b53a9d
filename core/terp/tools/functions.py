"""Functions of the program that uses terp, as tools: code in the kernel calls them, the program runs them."""

import inspect
import json
import typing
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from terp.errors import SettingsError, TerpError
from terp.events.outputs import Service
from terp.person.approving import called
from terp.tools.files.declared import Parameter, Tool, wrong_name

SERVICE = "program_tool"
"""The service by which code in a kernel calls one of the functions."""


def tools_of(functions: Sequence[Callable[..., Any]]) -> tuple[Tool, ...]:
    """Return a tool for each function: its name, docstring, and parameters with their types.

    Raises:
        SettingsError: one has no docstring, a name that code cannot call, or a parameter without a type.
    """
    problems: list[str] = []
    tools: list[Tool] = []
    for function in functions:
        name = getattr(function, "__name__", repr(function))
        try:
            tools.append(_tool(name, function))
        except (ValueError, TypeError, NameError) as error:
            problems.append(f"terp.open: tools: {name} {error}.")
    if problems:
        raise SettingsError(problems)
    return tuple(tools)


def service_of(functions: Sequence[Callable[..., Any]]) -> Service:
    """Return the service that calls the functions; a function that is not async runs in a thread."""
    known = {function.__name__: function for function in functions}

    async def call(arguments: Mapping[str, Any]) -> Any:
        name = str(arguments["name"])
        if name not in known:
            raise TerpError(f"The program has no function {name!r}.")
        given = dict(arguments["given"])
        result = await called(known[name], **given)
        try:
            return json.loads(json.dumps(result))
        except (TypeError, ValueError) as error:
            kind = type(result).__name__
            raise TerpError(f"{name} returned a {kind}, which is no JSON: {error}.") from error

    return call


def _tool(name: str, function: Callable[..., Any]) -> Tool:
    if wrong := wrong_name(name):
        raise ValueError(wrong)
    description = inspect.getdoc(function)
    if not description:
        raise ValueError("has no docstring, which the model needs")
    hints = typing.get_type_hints(function, include_extras=True)
    parameters = tuple(_parameter(one, hints) for one in inspect.signature(function).parameters.values())
    returns = _written(hints["return"]) if "return" in hints else ""
    return Tool(name, description, parameters, "the program", "program", returns=returns)


def _parameter(one: inspect.Parameter, hints: Mapping[str, Any]) -> Parameter:
    if one.kind not in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY):
        raise ValueError(f"has a parameter `{one.name}` that callers cannot name")
    if one.name not in hints:
        raise ValueError(f"has a parameter `{one.name}` without a type annotation")
    hint, about = hints[one.name], ""
    if typing.get_origin(hint) is typing.Annotated:
        hint, *more = typing.get_args(hint)
        about = str(more[0])
    default = "" if one.default is one.empty else repr(one.default)
    return Parameter(one.name, _written(hint), about, not default, default)


def _written(hint: Any) -> str:
    return inspect.formatannotation(hint).replace("typing.", "")
