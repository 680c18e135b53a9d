"""Tools: functions of the person's own that a model calls in the Python kernel.

A tool file imports one name from here; its code runs in the kernel and never in terp's own process:

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
    """Declare a function at the top level of a tool file; the function itself is as it was.

    A result of more than `max_chars` characters is cut there (0: never). terp reads both from the source.
    """
    return function if function is not None else lambda declared: declared


def get_tools() -> dict[str, Any]:
    """The tools of this kernel by name, each with its description and parameters; a copy, all the way down.

    Outside a kernel of terp's there are none.
    """
    from importlib import import_module  # noqa: PLC0415  (who only declares tools does without)

    try:
        inside = import_module("terp_home.tools")
    except ModuleNotFoundError:
        return {}
    tools: dict[str, Any] = inside.get_tools()
    return tools
