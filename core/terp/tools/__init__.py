"""Tools: functions that the user declares and the model calls in the Python kernel.

A tool file imports one name from here. Its code runs in the kernel and never in terp's process:

    from terp.tools import register_tool

    @register_tool
    def get_weather(city_name: Annotated[str, "The name of the city", True]) -> str:
        \"\"\"Get the current weather for `city_name`.\"\"\"
"""

from collections.abc import Callable
from typing import Any, TypeVar, overload

F = TypeVar("F", bound=Callable[..., Any])


@overload
def register_tool(function: F) -> F: ...
@overload
def register_tool(*, max_chars: int = 0) -> Callable[[F], F]: ...
def register_tool(function: F | None = None, **_: int) -> F | Callable[[F], F]:
    """Declare a function at the top level of a tool file as a tool; return the function unchanged.

    A result of more than `max_chars` characters is truncated (0: never). terp reads both from the source.
    """
    return function if function is not None else lambda declared: declared


def get_tools() -> dict[str, Any]:
    """Return a deep copy of this kernel's tools by name, each with its description and parameters.

    The dict is empty outside a kernel that terp has started.
    """
    from importlib import import_module  # noqa: PLC0415  (declarations do not need it)

    try:
        inside = import_module("terp_home.tools")
    except ModuleNotFoundError:
        return {}
    tools: dict[str, Any] = inside.get_tools()
    return tools
