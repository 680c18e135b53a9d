"""A declared tool: its name, parameters and description, as read without running it."""

import ast
import builtins
import keyword
from collections.abc import Mapping
from typing import Any, Literal

from terp.text.dataclasses import dataclass

How = Literal["file", "import", "manual", "mcp", "program"]
"""The implementation of a tool: in its file, in a module to import, the user ("manual"), an MCP server, the
program that uses terp as a library."""
_JSON_TYPES = {
    "string": "str",
    "integer": "int",
    "number": "float",
    "boolean": "bool",
    "array": "list",
    "object": "dict",
    "null": "None",
}
_PYTHON_TYPES = frozenset(
    [
        *_JSON_TYPES.values(),
        "Any",
        "Dict",
        "List",
        "Literal",
        "Optional",
        "Tuple",
        "Union",
        "bytes",
        "set",
        "tuple",
    ]
)
_DEEPEST = 8


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


class NoType(Exception):
    """A declared type is not valid; the message quotes it."""


def type_of(schema: object, depth: int = 0) -> str:
    """Return the Python type, as source, of a JSON Schema or of a type's name in JSON or Python.

    Raises:
        NoType: it is not a type.
    """
    if depth > _DEEPEST:
        raise NoType("a type nested too deeply")
    if isinstance(schema, str):
        return _JSON_TYPES.get(schema) or _python_type(schema)
    if not isinstance(schema, Mapping):
        raise NoType(f"{schema!r}"[:60])
    return _choice(schema, depth) or _plain(schema, depth)


def _choice(schema: Mapping[str, Any], depth: int) -> str:
    """Return the type of a schema with enum, const, anyOf or oneOf; "" for any other."""
    if isinstance(choices := schema.get("enum"), list) and choices:
        return f"Literal[{', '.join(map(_constant, choices))}]"
    if "const" in schema:
        return f"Literal[{_constant(schema['const'])}]"
    for key in ("anyOf", "oneOf"):
        if isinstance(schema.get(key), list):
            return _union([type_of(one, depth + 1) for one in schema[key]])
    return ""


def _plain(schema: Mapping[str, Any], depth: int) -> str:
    kind = schema.get("type", "any")
    if isinstance(kind, list):
        return _union([type_of({**schema, "type": one}, depth + 1) for one in kind])
    if kind == "array" and "items" in schema:
        return f"list[{type_of(schema['items'], depth + 1)}]"
    if kind == "object" and isinstance(more := schema.get("additionalProperties"), Mapping):
        return f"dict[str, {type_of(more, depth + 1)}]"
    return "Any" if kind == "any" else type_of(kind, depth + 1)


def _union(kinds: list[str]) -> str:
    others = [kind for kind in dict.fromkeys(kinds) if kind != "None"]
    joined = others[0] if len(others) == 1 else f"Union[{', '.join(others)}]" if others else "None"
    return f"Optional[{joined}]" if others and "None" in kinds else joined


def _constant(value: Any) -> str:
    if value is not None and not isinstance(value, str | int | float):
        raise NoType("a choice that is no text, number or truth value")
    return repr(value)


def _python_type(written: str) -> str:
    """Return a type written in Python if it names only JSON's types and their containers.

    The kernel evaluates the type, so it may contain nothing else.
    """
    try:
        tree = ast.parse(written.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise NoType(f"'{written[:60]}'") from error
    for node in ast.walk(tree):
        known = isinstance(node, ast.Name) and node.id in _PYTHON_TYPES
        harmless = ast.Expression | ast.Subscript | ast.Tuple | ast.Constant | ast.Load | ast.List
        if not known and not isinstance(node, harmless):
            raise NoType(f"'{written[:60]}'")
    return ast.unparse(tree)
