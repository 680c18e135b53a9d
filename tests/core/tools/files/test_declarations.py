"""Tools declared in YAML and JSON."""

import json

import pytest

from terp.tools.files.declarations import read_declarations
from terp.tools.files.declared import Declared, Parameter, Tool

SCHEMA = """
- name: track
  description: The price of a stock
  parameters:
    type: object
    properties:
      symbol: {type: string, description: Its symbol}
      days: {type: integer}
    required: [symbol]
"""
LIST = """
- name: track
  description: The price of a stock
  params:
    - {name: symbol, description: Its symbol, type: str, required: true}
    - {name: days, type: int, required: false}
"""


def read(text: str) -> Declared:
    return read_declarations(text, "tools.yaml")


def one(parameters: str) -> Parameter:
    found = read(f"{{name: f, description: d, parameters: {parameters}}}")
    assert found.problems == ()
    return found.tools[0].parameters[0]


def test_both_forms_of_parameters_declare_the_same_tool() -> None:
    expected = Tool(
        "track",
        "The price of a stock",
        (Parameter("symbol", "str", "Its symbol"), Parameter("days", "int", required=False)),
        "tools.yaml:2",
        "manual",
    )
    assert (read(SCHEMA), read(LIST)) == (Declared((expected,)), Declared((expected,)))


def test_the_form_of_the_openai_api_is_read_from_json() -> None:
    function = {"name": "f", "description": "d", "parameters": {"type": "object", "properties": {}}}
    text = json.dumps([{"type": "function", "function": function}])
    assert read_declarations(text, "tools.json", as_json=True).tools == (
        Tool("f", "d", (), "tools.json", "manual"),
    )


def test_a_tool_may_be_a_function_that_can_be_imported() -> None:
    found = read("tools:\n  - {name: mean, description: d, call: statistics:mean, max_chars: 9}")
    assert found.tools == (Tool("mean", "d", (), "tools.yaml:2", "import", "statistics:mean", max_chars=9),)


@pytest.mark.parametrize(
    ("schema", "written"),
    [
        ("{}", "Any"),
        ("{type: number}", "float"),
        ("{type: array, items: {type: string}}", "list[str]"),
        ("{type: array}", "list"),
        ("{type: object, additionalProperties: {type: boolean}}", "dict[str, bool]"),
        ("{enum: [a, 1, null]}", "Literal['a', 1, None]"),
        ("{const: x}", "Literal['x']"),
        ("{type: [string, 'null']}", "Optional[str]"),
        ("{anyOf: [{type: integer}, {type: string}]}", "Union[int, str]"),
        ("{type: 'tuple[int, int]'}", "tuple[int, int]"),
    ],
)
def test_the_types_of_a_schema_are_those_of_python(schema: str, written: str) -> None:
    assert one(f"{{properties: {{x: {schema}}}}}").type == written


def test_a_default_may_be_left_out() -> None:
    parameter = one("{properties: {x: {type: integer, default: 3}}, required: [x]}")
    assert (parameter.written, parameter.optional) == ("x: int = 3", True)


@pytest.mark.parametrize(
    ("entry", "problem"),
    [
        ("{name: 'no name', description: d}", "no name: is no name of a Python function."),
        ("{name: len, description: d}", "len: is a name of Python's own; choose another."),
        ("{name: f}", "f: has no description, which the model needs."),
        ("{name: f, description: d, manuel: true}", "f: has an unknown key 'manuel'."),
        ("{name: f, description: d, manual: yes please}", "f: 'manual' must be true or false."),
        (
            "{name: f, description: d, manual: true, call: a:b}",
            "f: is 'manual' and has a 'call': one of them.",
        ),
        (
            "{name: f, description: d, manual: false}",
            "f: 'call' must be MODULE:FUNCTION, as in statistics:mean.",
        ),
        (
            "{name: f, description: d, call: 'os:system(1)'}",
            "f: 'call' must be MODULE:FUNCTION, as in statistics:mean.",
        ),
        (
            "{name: f, description: d, parameters: [{name: x, type: '__import__'}]}",
            "f: parameter `x` has a type that is none: '__import__'.",
        ),
        (
            "{name: f, description: d, parameters: [{name: x, description: [1]}]}",
            "f: the description of parameter `x` must be a string.",
        ),
        (
            "{name: f, description: d, parameters: [{name: x, required: maybe}]}",
            "f: parameter `x`: 'required' must be true or false.",
        ),
        (
            "{name: f, description: d, parameters: {properties: {}, required: [x]}}",
            "f: parameter `x` is required and not among the properties.",
        ),
        (
            "{name: f, description: d, parameters: [{name: from}]}",
            "f: parameter `from` is no name of a Python parameter.",
        ),
        ("3", "a tool without a name: must be a group of name, description and parameters."),
    ],
)
def test_a_bad_declaration_is_told_and_the_others_are_there(entry: str, problem: str) -> None:
    found = read(f"- {{name: other, description: d}}\n- {entry}")
    assert ([tool.name for tool in found.tools], found.problems) == (["other"], (f"tools.yaml:2: {problem}",))


@pytest.mark.parametrize(
    ("text", "as_json", "problem"),
    [
        ("- a: b: c", False, "tools:1: mapping values are not allowed here; none of its tools is there."),
        ("just words", False, "tools: holds no list of tools."),
        ("", False, "tools: holds no list of tools."),
        ("[", True, "tools:1: Expecting value; none of its tools is there."),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_read_has_no_tools(text: str, as_json: bool, problem: str) -> None:
    assert read_declarations(text, "tools", as_json=as_json) == Declared((), (problem,))


@pytest.mark.parametrize("default", ["2026-01-31", ".inf"])
def test_a_default_that_python_cannot_read_again_is_refused(default: str) -> None:
    parameters = f"[{{name: when, type: str, default: {default}}}]"
    assert read(f"{{name: f, description: d, parameters: {parameters}}}") == Declared(
        (), ("tools.yaml:1: f: parameter `when` has a default that is no text, number, list or group.",)
    )
