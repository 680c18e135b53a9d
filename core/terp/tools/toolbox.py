"""The tools of a session: what the model is told of them, and how they get into the Python kernel."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from terp.tools.files.declared import Tool

_TOLD = """\
Functions ready in the Python kernel, for the code you execute (no tools: call them in Python; they need no \
import, and each is a name beside Python's own):"""


@dataclass(frozen=True, slots=True)
class Toolbox:
    """All tools of a session, those that lack something too.

    `sources` holds the text of each tool file by its path: what was read when the session began is what
    runs. `problems` has one line for each declaration that was refused.
    """

    tools: tuple[Tool, ...] = ()
    problems: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)

    @property
    def names(self) -> frozenset[str]:
        """The names of the functions."""
        return frozenset(tool.name for tool in self.tools)

    def told(self, *, shipped: bool = True) -> str:
        """What the model reads of those that can work now; "" without any. `shipped` includes terp's own."""
        told = [tool.told() for tool in self.tools if not tool.missing and (shipped or not is_shipped(tool))]
        return "\n\n".join([_TOLD, *told]) if told else ""

    def prelude(self) -> str:
        """Code that puts the functions into a Python kernel; it binds no name of the person's."""
        if not self.tools:
            return ""
        tools = [
            {**asdict(tool), "signature": tool.signature, "definition": tool.definition()}
            for tool in self.tools
        ]
        return f"__import__('terp_home.tools').tools.provide({tools!r}, {dict(self.sources)!r})"

    def get_tools(self) -> dict[str, Any]:
        """Name, description and parameters of each, by name; a copy, all the way down."""
        return {tool.name: tool.definition() for tool in self.tools}


SHIPPED = "terp"
"""The source of tools that terp brings."""


def is_shipped(tool: Tool) -> bool:
    """Whether terp itself brings a tool."""
    return tool.source == SHIPPED


def together(groups: Sequence[Sequence[Tool]]) -> tuple[Tool, ...]:
    """The tools of several files; of one name the last is there, where the first was."""
    return tuple({tool.name: tool for group in groups for tool in group}.values())
