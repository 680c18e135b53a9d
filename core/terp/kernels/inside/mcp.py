"""`mcp`: a module for each MCP server, with functions that terp has the server answer.

It stands beside Python's own names, and in `sys.modules` there is nothing of it: `import mcp` is the library
of that name, where it is installed. Connections and keys are terp's; a call leaves the kernel only through
`terp_home.call`.
"""

from __future__ import annotations

import builtins
import threading
import types
from inspect import Parameter
from typing import Any

from .tools import described, signature_of


class Server(types.ModuleType):
    """The functions of one server. Those that are not known yet are asked for by the first use."""

    def __init__(self, name: str, functions: list[dict[str, Any]]) -> None:
        super().__init__("mcp." + name, "The functions of the MCP server " + name + ".")
        self.__dict__["__all__"] = []
        self._take(functions)

    def _take(self, functions: list[dict[str, Any]]) -> None:
        for function in functions:
            vars(self)[function["name"]] = made(self.__name__, function)
        self.__all__[:] = [function["name"] for function in functions] or self.__all__

    def __getattr__(self, name: str) -> Any:
        """A function that was not known when the kernel started."""
        if not name.startswith("_") and code_runs():
            from . import call  # noqa: PLC0415

            self._take(call("mcp_functions", server=self.__name__.partition(".")[2]))
            if name in vars(self):
                return vars(self)[name]
        known = ", ".join(self.__all__)
        raise AttributeError(self.__name__ + " has no " + repr(name) + ("; it has " + known if known else ""))

    def __dir__(self) -> list[str]:
        """The functions."""
        return list(self.__all__)

    def __repr__(self) -> str:
        """What there is."""
        return "<" + self.__name__ + ": " + (", ".join(self.__all__) or "nothing is known of it yet") + ">"


def code_runs() -> bool:
    """Whether this is code of a cell, which can ask terp; what completes a line cannot."""
    from . import _home  # noqa: PLC0415

    return _home.in_cell and threading.current_thread() is threading.main_thread()


def made(module: str, function: dict[str, Any]) -> Any:
    """The Python function for a function of a server."""
    name = module + "." + function["name"]
    signature = positional(signature_of(function))
    kinds = {one["name"]: one for one in function["parameters"]}

    def answered(*args: Any, **kwargs: Any) -> Any:
        from . import call  # noqa: PLC0415
        from .mcp_results import received  # noqa: PLC0415 - most kernels never need it
        from .mcp_values import plain  # noqa: PLC0415

        named = {function["wire"].get(key, key): value for key, value in kwargs.items()}
        try:
            given = signature.bind(*args, **named).arguments
        except TypeError as error:
            raise TypeError("%s: %s. Call it as %s" % (name, error, function["signature"])) from None  # noqa: UP031
        wanted = {key: plain(value) for key, value in given.items() if not left_out(value, kinds[key])}
        server = module.partition(".")[2]
        return received(name, call("mcp_call", server=server, function=function["name"], given=wanted))

    answered.__name__, answered.__qualname__ = function["name"], name
    answered.__module__ = module
    answered.__doc__ = described(function)
    answered.__signature__ = signature  # type: ignore[attr-defined]
    return answered


def positional(signature: Any) -> Any:
    """The signature with parameters that may also be given by their order: what is required comes first."""
    kind = Parameter.POSITIONAL_OR_KEYWORD
    return signature.replace(parameters=[one.replace(kind=kind) for one in signature.parameters.values()])


def left_out(value: Any, parameter: dict[str, Any]) -> bool:
    """Whether None stands for nothing at all, as the signature shows it."""
    nullable = any(word in parameter["type"] for word in ("None", "Optional", "Any"))
    return value is None and not parameter["required"] and not nullable


def provide(servers: dict[str, list[dict[str, Any]]]) -> None:
    """Put `mcp` beside Python's own names."""
    module = types.ModuleType(
        "mcp", "MCP servers: " + ", ".join(servers) + ". dir(mcp.SERVER) lists functions."
    )
    for name, functions in servers.items():
        setattr(module, name, Server(name, functions))
    builtins.mcp = module  # type: ignore[attr-defined]
