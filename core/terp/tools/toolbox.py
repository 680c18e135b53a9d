"""The tools of a session: their description for the model, their names, and the code that defines them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from terp.text.dataclasses import asdict, dataclass, field
from terp.tools.files.declared import Tool
from terp.tools.skills import Skills

if TYPE_CHECKING:
    from terp.tools.mcp.servers import Servers

_INTRODUCTION = """\
Functions ready in the Python kernel, for the code you execute (no tools: call them in Python; they need no \
import, and each is a name beside Python's own):"""


@dataclass(frozen=True, slots=True)
class Toolbox:
    """All tools of a session, including tools that cannot work here.

    `sources` maps the path of each tool file to its text as read when the session began, which is what runs.
    `problems` has one line for each refused declaration or skill.
    """

    tools: tuple[Tool, ...] = ()
    problems: tuple[str, ...] = ()
    sources: Mapping[str, str] = field(default_factory=dict)
    skills: Skills = field(default_factory=Skills)

    @property
    def names(self) -> frozenset[str]:
        """Names of all tools."""
        return frozenset(tool.name for tool in self.tools)

    def for_model(self, *, shipped: bool = True) -> str:
        """Return the part of the system prompt about tools that can work; "" if there are none.

        `shipped` includes terp's own tools.
        """
        ready = [tool for tool in self.tools if not tool.missing and (shipped or not is_shipped(tool))]
        return "\n\n".join([_INTRODUCTION, *(tool.for_model() for tool in ready)]) if ready else ""

    def prelude(self) -> str:
        """Return code that defines the tools in a Python kernel; it binds no name in the user's namespace."""
        if not self.tools:
            return ""
        tools = [
            {**asdict(tool), "signature": tool.signature, "definition": tool.definition()}
            for tool in self.tools
        ]
        return f"__import__('terp_home.tools').tools.provide({tools!r}, {dict(self.sources)!r})"

    def get_tools(self) -> dict[str, Any]:
        """Return a deep copy of each tool's name, description and parameters, by name."""
        return {tool.name: tool.definition() for tool in self.tools}


SHIPPED = "terp"
"""`Tool.source` of the tools that ship with terp."""


def is_shipped(tool: Tool) -> bool:
    """Return True if a tool ships with terp."""
    return tool.source == SHIPPED


def together(groups: Sequence[Sequence[Tool]]) -> tuple[Tool, ...]:
    """Return the tools of several files; the last tool of a name replaces the first in its place."""
    return tuple({tool.name: tool for group in groups for tool in group}.values())


class FunctionNames(Mapping[str, str]):
    """Maps each name by which a model may call a kernel function to its name in Python.

    Server functions may change while the session runs. A tool hides a server function of the same name.
    """

    def __init__(self, toolbox: Toolbox) -> None:
        self._toolbox = toolbox
        self.servers: Servers | None = None

    def __getitem__(self, name: str) -> str:
        return self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def _all(self) -> dict[str, str]:
        calls = self.servers.calls if self.servers else {}
        return {**calls, **{name: name for name in self._toolbox.names}}
