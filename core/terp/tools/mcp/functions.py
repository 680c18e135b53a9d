"""The tools of a server as Python functions: names, signatures and descriptions from their schemas.

What a server says of itself comes from outside: it is cut to a length that a prompt can bear, and never run.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from terp.tools.files.declared import Parameter, Tool
from terp.tools.files.schemas import NoType, type_of
from terp.tools.mcp.naming import python_names

if TYPE_CHECKING:
    import mcp.types

Asks = Literal["tool", "resources", "resource"]

_DESCRIPTION = 4_000
_PARAMETER = 400
_TYPE = 120
_FIELDS = 400
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Function:
    """A function in the kernel that a server answers.

    `tool` is its name there, `name` the last part of its name in Python, and `wire` has the names of those
    parameters that are others in Python. `asks` is what it asks the server for: a call of a tool, or what
    terp adds for resources. `read_only` is what the server claims.
    """

    name: str
    tool: str
    declared: Tool
    wire: Mapping[str, str] = field(default_factory=dict)
    asks: Asks = "tool"
    read_only: bool = False

    def on_the_wire(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Arguments under the names that the server knows."""
        return {self.wire.get(name, name): value for name, value in given.items()}


def functions_of(
    server: str, tools: Iterable["mcp.types.Tool"], *, resources: bool = False
) -> dict[str, Function]:
    """The functions of `mcp.SERVER` by their names in Python; `resources` adds those that read them."""
    listed = {tool.name: tool for tool in tools}
    names = python_names(listed)
    found = {names[tool.name]: _function(server, names[tool.name], tool) for tool in listed.values()}
    more = _of_resources(server) if resources else {}
    return {**more, **found}


def _function(server: str, name: str, tool: "mcp.types.Tool") -> Function:
    schema = resolved(tool.input_schema, tool.input_schema)
    properties: Mapping[str, Any] = schema.get("properties") or {}
    required = schema.get("required") or ()
    known = {key: one for key, one in properties.items() if isinstance(one, Mapping)}
    names = python_names(known)
    # In Python what must be given comes first.
    order = sorted(known, key=lambda key: key not in required)
    parameters = tuple(_parameter(names[key], known[key], key in required) for key in order)
    returns, fields = _returned(tool.output_schema)
    called = "" if name == tool.name else f"(The server calls it {tool.name!r}.)"
    about = _cut(tool.description or tool.title or "", _DESCRIPTION)
    declared = Tool(
        f"mcp.{server}.{name}",
        "\n".join(part for part in (about, fields, called) if part),
        parameters,
        source=f"MCP server {server}",
        how="mcp",
        returns=returns,
    )
    hint = bool(tool.annotations and tool.annotations.read_only_hint)
    wire = {names[key]: key for key in known if names[key] != key}
    return Function(name, tool.name, declared, wire, read_only=hint)


def _parameter(name: str, schema: Mapping[str, Any], required: bool) -> Parameter:
    default = repr(schema["default"]) if "default" in schema else "None"
    about = " ".join(_cut(str(schema.get("description") or ""), _PARAMETER).split())
    shown = default if len(default) <= _TYPE else "..."
    return Parameter(name, _type(schema), about, required, "" if required else shown)


def _type(schema: Mapping[str, Any]) -> str:
    for one in (schema, {"type": schema.get("type", "any")}):
        try:
            kind = type_of(one)
        except NoType:
            continue
        if len(kind) <= _TYPE:
            return kind
    return "Any"


def _returned(schema: Mapping[str, Any] | None) -> tuple[str, str]:
    """The type of what a call returns, and a line about its fields; both "" where that is not known."""
    if not schema:
        return "", ""
    if is_wrapped(schema):
        inner = resolved(schema["properties"]["result"], schema)
        return _type(inner) if isinstance(inner, Mapping) else "", ""
    schema = resolved(schema, schema)
    properties = schema.get("properties")
    if not isinstance(properties, Mapping) or not properties:
        return _type(schema), ""
    fields = [f"{name}: {_type(one)}" for name, one in properties.items() if isinstance(one, Mapping)]
    return _type(schema), _cut(f"Returns a dict with {', '.join(fields)}.", _FIELDS)


def resolved(schema: Any, root: Mapping[str, Any], depth: int = 0) -> Any:
    """A schema in which what it refers to stands in place of the references, as deep as a type is told."""
    if depth > _DEEPEST or not isinstance(schema, Mapping | list):
        return {} if depth > _DEEPEST else schema
    if isinstance(schema, list):
        return [resolved(one, root, depth + 1) for one in schema]
    name = str(schema.get("$ref") or "").removeprefix("#/$defs/")
    known = root.get("$defs")
    if name and isinstance(known, Mapping) and isinstance(known.get(name), Mapping):
        rest = {key: one for key, one in schema.items() if key != "$ref"}
        return resolved({**known[name], **rest}, root, depth + 1)
    return {key: resolved(one, root, depth + 1) for key, one in schema.items() if key != "$defs"}


def is_wrapped(schema: Mapping[str, Any]) -> bool:
    """Whether results are objects only because MCP wants one, with the value under `result`."""
    properties = schema.get("properties")
    return isinstance(properties, Mapping) and list(properties) == ["result"]


def _of_resources(server: str) -> dict[str, Function]:
    uri = Parameter("uri", "str", "from list_resources(), or a link in a result")
    return {
        "list_resources": _added(
            server, "list_resources", "resources", (), "list[dict]", "What the server has to be read."
        ),
        "read_resource": _added(
            server,
            "read_resource",
            "resource",
            (uri,),
            "",
            "A resource of the server. The result has .text or .data (bytes), and shows itself.",
        ),
    }


def _added(
    server: str, name: str, asks: Asks, parameters: tuple[Parameter, ...], returns: str, about: str
) -> Function:
    declared = Tool(f"mcp.{server}.{name}", about, parameters, f"MCP server {server}", "mcp", returns=returns)
    return Function(name, name, declared, asks=asks, read_only=True)


def _cut(text: str, longest: int) -> str:
    text = text.strip()
    return text if len(text) <= longest else text[: longest - 1].rstrip() + "…"
