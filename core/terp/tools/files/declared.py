"""What is known of a tool without running anything of it."""

from dataclasses import dataclass
from typing import Any, Literal

How = Literal["file", "import", "manual", "mcp"]
"""Who answers a call: a function of a tool file, one that can be imported, the person, or an MCP server."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a tool. `type` and `default` are Python source; a `default` of "" is none."""

    name: str
    type: str
    description: str = ""
    required: bool = True
    default: str = ""

    @property
    def written(self) -> str:
        """As in a signature."""
        return f"{self.name}: {self.type}{f' = {self.default}' if self.default else ''}"

    @property
    def optional(self) -> bool:
        """Whether a call may leave it out."""
        return bool(self.default) or not self.required


@dataclass(frozen=True, slots=True)
class Tool:
    """A function in the Python kernel.

    `source` is where it was declared, for people ("tools.py:12"). `target` is the path of its file, or what
    is imported ("module:function"). A result is cut at `max_chars` characters (0: never). `missing` says
    what it lacks here to work; the model is told only of tools that lack nothing.
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
        """How it is called: `get_weather(city_name: str) -> str`."""
        returns = f" -> {self.returns}" if self.returns else ""
        return f"{self.name}({self.arguments}){returns}"

    @property
    def arguments(self) -> str:
        """Its parameters, as in a signature."""
        return ", ".join(parameter.written for parameter in self.parameters)

    def told(self) -> str:
        """What the model reads: signature, description, and what is said of parameters."""
        lines = self.description.splitlines()
        lines += [
            f"- {one.name}{' (optional)' if one.optional and not one.default else ''}: {one.description}"
            for one in self.parameters
            if one.description
        ]
        return "\n".join([self.signature, *(f"    {line}".rstrip() for line in lines)])

    def definition(self) -> dict[str, Any]:
        """Name, description and parameters as plain values, all of them new."""
        params = [
            {"name": one.name, "description": one.description, "type": one.type, "required": not one.optional}
            for one in self.parameters
        ]
        return {"name": self.name, "description": self.description, "params": params}


@dataclass(frozen=True, slots=True)
class Declared:
    """The tools that a file declares, and one line for each thing that is wrong with it."""

    tools: tuple[Tool, ...] = ()
    problems: tuple[str, ...] = ()
