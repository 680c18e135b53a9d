"""Types of declared parameters, converted from JSON Schema to Python source."""

import ast
from collections.abc import Mapping
from typing import Any

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
