"""`mcp`: a module for each MCP server, with functions that terp forwards to the server.

It is a builtin and not in `sys.modules`: `import mcp` imports the library of that name, if installed. terp
holds connections and keys; a call leaves the kernel only through `terp_home.call`.
"""

from __future__ import annotations

import base64
import builtins
import datetime
import json
import os
import types
from inspect import Parameter
from typing import Any

from .home import call, runs_cell
from .tools import PlainText, described, signature_of


class ServerModule(types.ModuleType):
    """The functions of one server. The first use of an unknown one lists them again."""

    def __init__(self, name: str, functions: list[dict[str, Any]]) -> None:
        super().__init__("mcp." + name, "The functions of the MCP server " + name + ".")
        self.__dict__["__all__"] = []
        self._take(functions)

    def _take(self, functions: list[dict[str, Any]]) -> None:
        for function in functions:
            vars(self)[function["name"]] = made(self.__name__, function)
        self.__all__[:] = [function["name"] for function in functions] or self.__all__

    def __getattr__(self, name: str) -> Any:
        """Look up a function that was not known when the kernel started."""
        if not name.startswith("_") and runs_cell():
            self._take(call("mcp_functions", server=self.__name__.partition(".")[2]))
            if name in vars(self):
                return vars(self)[name]
        known = ", ".join(self.__all__)
        raise AttributeError(self.__name__ + " has no " + repr(name) + ("; it has " + known if known else ""))

    def __dir__(self) -> list[str]:
        """Return the names of the functions."""
        return list(self.__all__)

    def __repr__(self) -> str:
        """Return the server's name with its functions."""
        return "<" + self.__name__ + ": " + (", ".join(self.__all__) or "no functions are known yet") + ">"


def made(module: str, function: dict[str, Any]) -> Any:
    """Return the Python function for a function of a server."""
    name = module + "." + function["name"]
    signature = positional(signature_of(function))
    kinds = {one["name"]: one for one in function["parameters"]}

    def answered(*args: Any, **kwargs: Any) -> Any:
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
    """Return the signature with parameters that may also be positional: required ones come first."""
    kind = Parameter.POSITIONAL_OR_KEYWORD
    return signature.replace(parameters=[one.replace(kind=kind) for one in signature.parameters.values()])


def left_out(value: Any, parameter: dict[str, Any]) -> bool:
    """Return True if a value is the None that stands for an omitted optional parameter."""
    nullable = any(word in parameter["type"] for word in ("None", "Optional", "Any"))
    return value is None and not parameter["required"] and not nullable


def provide(servers: dict[str, list[dict[str, Any]]]) -> None:
    """Add `mcp` to the builtins."""
    module = types.ModuleType(
        "mcp", "MCP servers: " + ", ".join(servers) + ". dir(mcp.SERVER) lists functions."
    )
    for name, functions in servers.items():
        setattr(module, name, ServerModule(name, functions))
    builtins.mcp = module  # type: ignore[attr-defined]


def plain(value: Any) -> Any:
    """Return a value as JSON.

    Raises TypeError for a value that JSON cannot represent.
    """
    return json.loads(json.dumps(value, default=like))


def like(value: Any) -> Any:
    """Convert a value one step towards JSON."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (set, frozenset)):
        return list(value)
    # Arrays, scalars and columns of common libraries.
    for name in ("tolist", "to_list", "item"):
        convert = getattr(value, name, None)
        if callable(convert):
            return convert()
    raise TypeError("%s cannot be sent to a server" % type(value).__name__)  # noqa: UP031


SHOWN_AS_TEXT = ("text/markdown", "image/svg+xml")


class Resource:
    """A resource from a server: `text`, or `data` in bytes; `mime` and `uri` if it has them."""

    def __init__(self, part: dict[str, Any], source: str) -> None:
        self.mime = part.get("mime") or ""
        self.uri = part.get("uri") or ""
        self.text = part.get("text")
        self.data = base64.b64decode(part["data"]) if part.get("data") is not None else None
        self.source = source
        self._shown = False

    def __repr__(self) -> str:
        """Describe it without its content."""
        size = len(self.data) if self.data is not None else len(self.text or "")
        unit = "bytes" if self.data is not None else "characters"
        about = ", ".join(part for part in (self.uri, self.mime) if part) or "resource"
        return "<%s from %s, %s %s>" % (about, self.source, format(size, ","), unit)  # noqa: UP031

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"text/plain": repr(self)} if self._shown else self._bundle()

    def _bundle(self) -> dict[str, Any]:
        if self.text is None:
            shown = {"text/plain": repr(self)}
            if self.mime.startswith(("image/", "audio/", "video/")) or self.mime == "application/pdf":
                shown[self.mime] = base64.b64encode(self.data or b"").decode("ascii")
            return shown
        kind = self.mime.partition(";")[0]
        return {"text/plain": self.text, **({kind: self.text} if kind in SHOWN_AS_TEXT else {})}

    def show(self) -> None:
        """Display it; afterwards its repr only describes it."""
        from IPython.display import publish_display_data  # noqa: PLC0415

        publish_display_data(self._bundle())  # type: ignore[no-untyped-call]
        self._shown = True


class Link(dict):  # type: ignore[type-arg]
    """A resource that a server names: `uri`, `name`, `mime`."""

    def __repr__(self) -> str:
        """Return one line."""
        return "<link to %s: %s>" % (self["name"], self["uri"])  # noqa: UP031


def received(name: str, result: dict[str, Any]) -> Any:
    """Return the value of a call: the structured value, else its only part, else a list of parts."""
    parts = [part_value(name, part) for part in texts_joined(result["parts"])]
    for part in parts:
        if isinstance(part, Resource) and not result.get("quiet"):
            part.show()
    if "value" in result:
        value = result["value"]
        return PlainText(value) if isinstance(value, str) else value
    return (parts[0] if len(parts) == 1 else parts) if parts else None


def part_value(name: str, part: dict[str, Any]) -> Any:
    """Return a part of a result as a value."""
    if "said" in part:
        return PlainText(part["said"])
    if "link" in part:
        return Link(uri=part["link"], name=part["name"], mime=part["mime"])
    return Resource(part, name)


def texts_joined(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the parts with all texts joined in place of the first."""
    said = [part["said"] for part in parts if "said" in part]
    first = next((at for at, part in enumerate(parts) if "said" in part), 0)
    return [
        {"said": "\n".join(said)} if "said" in part else part
        for at, part in enumerate(parts)
        if "said" not in part or at == first
    ]
