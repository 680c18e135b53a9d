"""Tool files in YAML and JSON: functions to import, and manual tools that the user answers.

A file holds one tool, a list of them, or a list under `tools`. Parameters are a JSON Schema or a list:

    - name: get_current_weather             name: track
      description: …                        description: …
      parameters:                           parameters:
        type: object                          - name: symbol
        properties:                             description: …
          city: {type: string}                  type: string
        required: [city]                        required: true
      manual: true                          call: market.prices:track
"""

import ast
import json
import keyword
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from terp.tools.files.declared import Declared, How, NoType, Parameter, Tool, type_of, wrong_name

_KEYS = {
    "type", "function", "name", "description", "parameters", "params", "input_schema", "inputSchema",
    "strict", "manual", "call", "max_chars",
}  # fmt: skip


class _Refused(Exception):
    """A declaration is wrong; the message says why."""


def read_declarations(text: str, place: str, *, as_json: bool = False) -> Declared:
    """Return the tools that a file declares; `place` is the file's name in messages.

    Each problem is one line with place, tool and parameter. A problem removes only its own tool.
    """
    try:
        entries = list(_json_entries(text) if as_json else _yaml_entries(text))
    except _Refused as refused:
        return Declared((), (f"{place}{refused}",))
    tools: dict[str, Tool] = {}
    problems: list[str] = []
    for line, entry in entries:
        where = f"{place}:{line}" if line else place
        try:
            tool = _tool(entry, where)
        except _Refused as refused:
            problems.append(f"{where}: {_name_in(entry)}: {refused}.")
        else:
            tools[tool.name] = tool
    return Declared(tuple(tools.values()), tuple(problems))


def _json_entries(text: str) -> Iterator[tuple[int, Any]]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise _Refused(f":{error.lineno}: {error.msg}; none of its tools is there.") from error
    except (ValueError, RecursionError) as error:
        raise _Refused(f": {error}; none of its tools is there.") from error
    yield from ((0, entry) for entry in _listed(value))


def _yaml_entries(text: str) -> Iterator[tuple[int, Any]]:
    import yaml  # noqa: PLC0415  (most sessions have no such file)

    try:
        root, value = yaml.compose(text, yaml.SafeLoader), yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 0
        raise _Refused(f":{line}: {error.problem}; none of its tools is there.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _Refused(f": {error}; none of its tools is there.") from error
    entries = _listed(value)
    nodes = _listed_nodes(root, value)
    yield from zip((node.start_mark.line + 1 for node in nodes), entries, strict=True)


def _listed(value: Any) -> Sequence[Any]:
    if isinstance(value, Mapping) and isinstance(value.get("tools"), list):
        value = value["tools"]
    if isinstance(value, Mapping) and "name" in value:
        value = [value]
    if not isinstance(value, list):
        raise _Refused(": holds no list of tools.")
    return value


def _listed_nodes(root: Any, value: Any) -> Sequence[Any]:
    """Return the YAML nodes of the same entries, which have line numbers."""
    if isinstance(value, Mapping) and isinstance(value.get("tools"), list):
        root = next(node for key, node in root.value if key.value == "tools")
    return root.value if isinstance(root.value, list) and root.id == "sequence" else [root]


def _name_in(entry: Any) -> str:
    inner = entry.get("function", entry) if isinstance(entry, Mapping) else None
    name = inner.get("name") if isinstance(inner, Mapping) else None
    return str(name)[:60] if name else "a tool without a name"


def _tool(entry: Any, where: str) -> Tool:
    if isinstance(entry, Mapping) and isinstance(inner := entry.get("function"), Mapping):
        entry = {**entry, **inner}
    if not isinstance(entry, Mapping):
        raise _Refused("must be a group of name, description and parameters")
    if wrong := wrong_name(entry.get("name")):
        raise _Refused(wrong)
    if unknown := [str(key) for key in entry if key not in _KEYS]:
        raise _Refused(f"has an unknown key '{unknown[0][:40]}'")
    description = entry.get("description")
    if not isinstance(description, str) or not description.strip():
        raise _Refused("has no description, which the model needs")
    max_chars = entry.get("max_chars", 0)
    if type(max_chars) is not int or max_chars < 0:
        raise _Refused("'max_chars' must be a whole number")
    how, target = _answered(entry)
    parameters = tuple(_parameters(entry))
    return Tool(entry["name"], description.strip(), parameters, where, how, target, max_chars=max_chars)


def _answered(entry: Mapping[str, Any]) -> tuple[How, str]:
    call, manual = entry.get("call"), entry.get("manual", "call" not in entry)
    if not isinstance(manual, bool):
        raise _Refused("'manual' must be true or false")
    if manual and call is not None:
        raise _Refused("is 'manual' and has a 'call': one of them")
    if manual:
        return "manual", ""
    module, _, name = call.partition(":") if isinstance(call, str) else ("", "", "")
    if not all(part.isidentifier() for part in (*module.split("."), *name.split("."))):
        raise _Refused("'call' must be MODULE:FUNCTION, as in statistics:mean")
    return "import", f"{module}:{name}"


def _parameters(entry: Mapping[str, Any]) -> Iterator[Parameter]:
    keys = ("parameters", "params", "input_schema", "inputSchema")
    declared: Any = next((entry[key] for key in keys if entry.get(key)), [])
    if isinstance(declared, Mapping):
        yield from _of_schema(declared)
    elif isinstance(declared, list):
        yield from (_of_list(one) for one in declared)
    else:
        raise _Refused("'parameters' must be a list or a JSON Schema")


def _of_schema(schema: Mapping[str, Any]) -> Iterator[Parameter]:
    properties, required = schema.get("properties", {}), schema.get("required", [])
    if not isinstance(properties, Mapping) or not isinstance(required, list):
        raise _Refused("'parameters' must have 'properties', a group, and may have 'required', a list")
    if missing := [str(name) for name in required if name not in properties]:
        raise _Refused(f"parameter `{missing[0][:40]}` is required and not among the properties")
    for name, one in properties.items():
        if not isinstance(one, Mapping):
            raise _Refused(f"parameter `{name}` must be a group of type and description")
        yield _parameter(name, one, name in required)


def _of_list(one: Any) -> Parameter:
    if not isinstance(one, Mapping):
        raise _Refused("each parameter must be a group of name, description, type and required")
    name = one.get("name", "")
    required = one.get("required", True)
    if not isinstance(required, bool):
        raise _Refused(f"parameter `{name}`: 'required' must be true or false")
    return _parameter(name, one, required)


def _parameter(name: Any, schema: Mapping[str, Any], required: bool) -> Parameter:
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        raise _Refused(f"parameter `{str(name)[:40]}` is no name of a Python parameter")
    description = schema.get("description", "")
    if not isinstance(description, str):
        raise _Refused(f"the description of parameter `{name}` must be a string")
    try:
        kind = type_of(schema)
    except NoType as error:
        raise _Refused(f"parameter `{name}` has a type that is none: {error}") from error
    default = _literal(name, schema["default"]) if "default" in schema else ""
    return Parameter(name, kind, description.strip(), required and not default, default)


def _literal(name: str, value: Any) -> str:
    """Return a default as a Python literal.

    Raises:
        _Refused: it has none, as a date of YAML or infinity.
    """
    written = repr(value)
    try:
        ast.literal_eval(written)
    except (ValueError, SyntaxError, RecursionError, MemoryError) as error:
        raise _Refused(f"parameter `{name}` has a default that is no text, number, list or group") from error
    return written
