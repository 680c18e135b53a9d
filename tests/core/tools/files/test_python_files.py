"""What a tool file in Python declares, read from its source."""

import pytest

from terp.tools.files.declared import Declared, Parameter, Tool
from terp.tools.files.python_files import read_python


def read(source: str) -> Declared:
    return read_python(source, "tools.py", "/home/me/tools.py")


def problems(signature: str, decorator: str = "register_tool", doc: str = '"Does it."') -> tuple[str, ...]:
    found = read(f"@{decorator}\n{signature}\n    {doc}\n\n@register_tool\ndef other():\n    'Fine.'\n")
    assert [tool.name for tool in found.tools][-1:] == ["other"]
    return found.problems


def test_a_declaration_in_the_form_of_chatglm3_is_read() -> None:
    source = '''
from typing import Annotated
@register_tool
def get_weather(
        city_name: Annotated[str, 'The name of the city to be queried', True],
        days: Annotated[tuple[int, int], 'From and to', False],
) -> str:
    """
    Get the current weather for `city_name`
    """
    return "sunny"
'''
    expected = Tool(
        "get_weather",
        "Get the current weather for `city_name`",
        (
            Parameter("city_name", "str", "The name of the city to be queried"),
            Parameter("days", "tuple[int, int]", "From and to", required=False),
        ),
        "tools.py:4",
        target="/home/me/tools.py",
        returns="str",
    )
    assert read(source) == Declared((expected,))


def test_plain_types_and_defaults_are_read() -> None:
    source = "@register_tool\ndef f(a: int, b: list[str] = [], *, c: 'str | None' = None):\n    'Does it.'"
    assert read(source).tools[0].parameters == (
        Parameter("a", "int"),
        Parameter("b", "list[str]", required=False, default="[]"),
        Parameter("c", "str | None", required=False, default="None"),
    )


def test_nothing_of_a_file_is_run() -> None:
    source = "raise SystemExit\n@register_tool\ndef f(a: print('ran') = exit()):\n    'Does it.'"
    assert [tool.name for tool in read(source).tools] == ["f"]


def test_a_decorator_may_limit_the_result_and_come_from_a_module() -> None:
    source = "@tools.register_tool(max_chars=1024)\ndef f():\n    'Does it.'"
    assert [tool.max_chars for tool in read(source).tools] == [1024]


def test_functions_without_the_decorator_are_no_tools() -> None:
    assert read("def helper(x): pass\n@cache\ndef other(): pass") == Declared()


def test_of_two_functions_of_one_name_the_last_is_there_as_in_python() -> None:
    source = "@register_tool\ndef f():\n    'One.'\n@register_tool\ndef f():\n    'Two.'"
    assert [tool.description for tool in read(source).tools] == ["Two."]


@pytest.mark.parametrize(
    ("signature", "problem"),
    [
        ("def f(a):", "2: f: parameter `a` has no type annotation."),
        ("def f(\na: Annotated[str, 3, True]):", "3: f: the description of parameter `a` must be a string."),
        ("def f(a: Annotated[str, name, True]):", "2: f: the description of parameter `a` must be a string."),
        (
            "def f(a: Annotated[str, 'x', 'yes']):",
            "2: f: whether parameter `a` is required must be True or False.",
        ),
        (
            "def f(a: Annotated[str]):",
            '2: f: parameter `a` must be Annotated[type, "description", required], no more or less.',
        ),
        ("def f(*a: int):", "2: f: parameter `*a`: each parameter needs a name."),
        ("def f(**a: int):", "2: f: parameter `**a`: each parameter needs a name."),
        ("def f(a: int, /):", "2: f: parameter `a` has no name for callers (`/` in the signature)."),
        ("def f(a: 'not a type'):", "2: f: `not a type` is no type."),
        ("async def f():", "2: f: is `async`; a tool is called without `await`."),
        ("def print():", "2: print: is a name of Python's own; choose another."),
        ("def execute():", "2: execute: is a name of terp's own; choose another."),
    ],
)  # fmt: skip
def test_a_bad_declaration_is_told_and_the_others_are_there(signature: str, problem: str) -> None:
    assert problems(signature) == (f"tools.py:{problem}",)


def test_a_tool_without_a_docstring_is_refused() -> None:
    problem = "tools.py:2: f: has no docstring, which the model needs."
    assert problems("def f():", doc="pass") == (problem,)


@pytest.mark.parametrize("decorator", ["register_tool(max_chars='1')", "register_tool(limit=1)"])
def test_a_decorator_takes_a_limit_and_nothing_else(decorator: str) -> None:
    [problem] = problems("def f():", decorator)
    assert problem.startswith("tools.py:1: f: register_tool takes max_chars, a whole number; not ")


def test_a_file_that_is_no_python_has_no_tools() -> None:
    assert read("def f(:\n") == Declared((), ("tools.py:1: invalid syntax; none of its tools is there.",))


def test_a_relative_import_is_refused_with_what_to_write() -> None:
    source = "from . import a, b\n@register_tool\ndef f():\n    'Does it.'\n"
    why = "tools.py:1: a tool file is in no package. Write `import a, b`: it finds files beside this one."
    assert read(source) == Declared((), (f"{why} None of its tools is there.",))
    within = "@register_tool\ndef f():\n    'Does it.'\n    from .a import b\n"
    assert "tools.py:4: a tool file is in no package. Write `from a import b`" in read(within).problems[0]
