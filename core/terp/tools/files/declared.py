"""A declared tool: its name, parameters and description, as read without running it."""

import builtins
import keyword
from dataclasses import dataclass
from typing import Any, Literal

How = Literal["file", "import", "manual", "mcp"]
"""The implementation of a tool: in its file, in a module to import, the user ("manual"), an MCP server."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a tool. `type` and `default` are Python source; "" means no default."""

    name: str
    type: str
    description: str = ""
    required: bool = True
    default: str = ""

    @property
    def written(self) -> str:
        """The parameter as written in a signature."""
        return f"{self.name}: {self.type}{f' = {self.default}' if self.default else ''}"

    @property
    def optional(self) -> bool:
        """Return True if a call may omit it."""
        return bool(self.default) or not self.required


@dataclass(frozen=True, slots=True)
class Tool:
    """A function in the Python kernel.

    `source` is where it was declared, for messages ("tools.py:12"). `target` is the path of its file, or
    "module:function" to import. A result is truncated after `max_chars` characters (0: never). `missing`
    names what the tool lacks to work here; the model sees only tools that lack nothing.
    """

    name: str
    description: str
    parameters: tuple[Parameter, ...]
    source: str
    how: How = "file"
    target: str = ""
    returns: str = ""
    max_chars: int = 0
    missing: str = ""

    @property
    def signature(self) -> str:
        """The signature: `get_weather(city_name: str) -> str`."""
        returns = f" -> {self.returns}" if self.returns else ""
        return f"{self.name}({self.arguments}){returns}"

    @property
    def arguments(self) -> str:
        """The parameters as written in a signature."""
        return ", ".join(parameter.written for parameter in self.parameters)

    def for_model(self) -> str:
        """Return the description for the model: signature, description, and described parameters."""
        lines = self.description.splitlines()
        lines += [
            f"- {one.name}{' (optional)' if one.optional and not one.default else ''}: {one.description}"
            for one in self.parameters
            if one.description
        ]
        return "\n".join([self.signature, *(f"    {line}".rstrip() for line in lines)])

    def definition(self) -> dict[str, Any]:
        """Return name, description and parameters as new JSON values."""
        params = [
            {"name": one.name, "description": one.description, "type": one.type, "required": not one.optional}
            for one in self.parameters
        ]
        return {"name": self.name, "description": self.description, "params": params}


@dataclass(frozen=True, slots=True)
class Declared:
    """The tools that a file declares, and one line for each problem."""

    tools: tuple[Tool, ...] = ()
    problems: tuple[str, ...] = ()


_OURS = ("execute", "out", "get_ipython", "mcp")


def wrong_name(name: object) -> str:
    """Return the reason why a tool cannot have this name, to follow the name; "" if it can."""
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        return "is no name of a Python function"
    if hasattr(builtins, name):
        return "is a name of Python's own; choose another"
    if name in _OURS:
        return "is a name of terp's own; choose another"
    return ""
