"""How the tool is offered, and how every way of calling it is read."""

import json
from typing import Any

import pytest

from terp.events.messages import ToolCall
from terp.models.tool import MAX_ARGUMENTS, Call, Misunderstood, schema, understand
from terp.text.languages import language_of

LANGUAGES = ("python", "shell", "R")
HOW = 'Call it with one JSON object: {"language": "python", "code": "…"}'


def called(arguments: Any, name: str = "execute", **options: Any) -> Call | Misunderstood:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return understand(ToolCall("c1", name, text), LANGUAGES, **options)


def reason(arguments: Any, name: str = "execute") -> str:
    read = called(arguments, name)
    assert isinstance(read, Misunderstood), read
    return read.reason


def test_the_schema_is_an_openai_function_with_the_languages_as_enum() -> None:
    function = schema(LANGUAGES)["function"]
    assert function["name"] == "execute"
    assert function["parameters"]["properties"]["language"]["enum"] == ["python", "shell", "R"]
    assert function["parameters"]["required"] == ["language", "code"]


def test_the_schema_has_the_same_bytes_every_time() -> None:
    assert json.dumps(schema(LANGUAGES)) == json.dumps(schema(list(LANGUAGES)))


def test_what_the_model_wrote_is_read_in_place_of_what_the_history_holds() -> None:
    call = ToolCall("c1", "execute", "{}", raw="print(1)")
    assert understand(call, LANGUAGES) == Call("c1", "python", "print(1)")


def test_the_id_can_be_given() -> None:
    assert called({"code": "1"}, call_id="call-7") == Call("call-7", "python", "1")


@pytest.mark.parametrize(
    "name",
    [
        "execute",
        "Execute",
        "functions.execute",
        "default_api:execute",
        "execute<|channel|>commentary",
        "python",
        "run_python",
        "run-python",
        "execute_python_code",
        "interpreter",
        "code_interpreter",
        "ipython",
        "python_repl",
    ],
)
def test_a_name_that_models_give_the_tool_is_understood(name: str) -> None:
    assert called({"code": "print(2+2)"}, name) == Call("c1", "python", "print(2+2)")


@pytest.mark.parametrize("name", ["shell", "bash", "Bash", "run_bash_command", "terminal", "run_command"])
def test_a_name_of_the_shell_implies_its_language(name: str) -> None:
    assert called({"code": "ls"}, name) == Call("c1", "shell", "ls")


def test_a_language_in_the_arguments_wins_over_the_one_in_the_name() -> None:
    assert called({"language": "bash", "code": "ls"}, "python") == Call("c1", "shell", "ls")


def test_an_unknown_name_is_told_what_there_is() -> None:
    told = "Tool `nope` not found. Please use a provided tool. Tools available: execute."
    assert reason({}, "nope") == told


def test_a_function_of_the_kernel_becomes_the_code_that_calls_it() -> None:
    arguments = {"query": "it's", "limit": 3, "safe": True, "no-name": None}
    expected = "search_web(query=\"it's\", limit=3, safe=True, **{'no-name': None})"
    assert called(arguments, "search_web", functions=["search_web"]) == Call("c1", "python", expected)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        ("", "now()"),
        ("{}", "now()"),
        ('{"__arg1": "x"}', "now('x')"),
        ("hello", "now('hello')"),
        ("[1]", "now('[1]')"),
    ],
)
def test_a_function_of_the_kernel_takes_odd_arguments(arguments: str, code: str) -> None:
    assert called(arguments, "now", functions=["now"]) == Call("c1", "python", code)


@pytest.mark.parametrize("word", ["python", "Python3", "PY", "ipython", " python ", "", None])
def test_spellings_of_a_language_and_none_at_all_mean_it(word: str | None) -> None:
    assert called({"language": word, "code": "1"}) == Call("c1", "python", "1")


def test_a_language_of_another_case_is_found() -> None:
    assert called({"language": "r", "code": "1"}) == Call("c1", "R", "1")


def test_a_language_that_cannot_run_is_told_which_can() -> None:
    assert reason({"language": "cobol", "code": "1"}) == (
        "`cobol` cannot run here; `language` is one of: python, shell, R."
    )


RAW = [
    "print(6*7)",
    "  x = 1\n",
    '"""doc"""\nx = 1',
    "[x for x in range(3)]",
    "[ -f x ] && echo",
    "42",
    "true",
]


@pytest.mark.parametrize("code", RAW)
def test_arguments_that_are_no_json_are_the_code(code: str) -> None:
    assert called(code) == Call("c1", "python", code)


@pytest.mark.parametrize("key", ["script", "source", "cmd", "command", "query", "__arg1", "input", "python"])
def test_the_code_is_found_under_another_key(key: str) -> None:
    assert called({key: "print(1)"}) == Call("c1", "python", "print(1)")


@pytest.mark.parametrize(
    "arguments",
    [
        {"code": ["a = 1", "print(a)"]},
        {"code": ["a = 1\n", "print(a)"]},
        ["a = 1", "print(a)"],
        [{"code": "a = 1\nprint(a)"}],
        {"arguments": {"code": "a = 1\nprint(a)"}},
        {"parameters": json.dumps({"code": "a = 1\nprint(a)"})},
        json.dumps({"code": "a = 1\nprint(a)"}),
        json.dumps(json.dumps({"code": "a = 1\nprint(a)"})),
        json.dumps("a = 1\nprint(a)"),
        '{"code": "a = 1\nprint(a)"}',
        '{"code": "a = 1\\nprint(a)", "code": "other"}',
        "```python\na = 1\nprint(a)\n```",
        '```json\n{"code": "a = 1\\nprint(a)"}\n```',
        {"code": "```py\na = 1\nprint(a)\n```\n"},
        {"code": "~~~\na = 1\nprint(a)\n~~~"},
    ],
)
def test_odd_arguments_hold_the_same_code(arguments: Any) -> None:
    assert called(arguments) == Call("c1", "python", "a = 1\nprint(a)")


def test_a_key_or_label_can_name_the_language() -> None:
    assert called({"bash": "ls"}) == called("```bash\nls\n```") == Call("c1", "shell", "ls")


def test_code_with_a_fence_inside_stays_as_it_is() -> None:
    code = "```python\na\n```\ntext\n```python\nb\n```"
    assert called({"code": code}) == Call("c1", "python", code)


def test_a_number_is_code() -> None:
    assert called({"code": 42}) == Call("c1", "python", "42")


@pytest.mark.parametrize("arguments", ["", " ", "null", {"code": ""}, {"code": " \n"}])
def test_empty_code_is_told(arguments: Any) -> None:
    assert reason(arguments) == f"The code is empty. {HOW}"


@pytest.mark.parametrize("code", [None, True, {}, [1, 2]])
def test_code_of_a_wrong_type_is_told(code: Any) -> None:
    assert reason({"code": code}) == f"`code` must be a string with the code. {HOW}"


def test_an_object_without_code_is_told_its_keys() -> None:
    assert (
        reason({"file": "x", "mode": 1}) == f"The arguments have no `code`; their keys: `file`, `mode`. {HOW}"
    )


@pytest.mark.parametrize("end", range(1, len('{"language": "python", "code": "print(1)\\n"}')))
def test_arguments_cut_off_anywhere_never_run(end: int) -> None:
    text = '{"language": "python", "code": "print(1)\\n"}'[:end]
    assert (
        reason(text)
        == f"The arguments are cut off after {end} characters, at `{text[-24:]}`. Nothing ran. {HOW}"
    )


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ('{"code": "\\d"}', 'Invalid \\escape at character 10, near `{"code": "\\d"}`'),
        (
            "{'code': 'x'}",
            "Expecting property name enclosed in double quotes at character 1, near `{'code': 'x'}`",
        ),
        (
            '{"code": "x"}{"code": "y"}',
            'more text after the end at character 13, near `{"code": "x"}{"code": "y"}`',
        ),
    ],
)
def test_broken_json_is_told_what_is_wrong_and_where(arguments: str, wrong: str) -> None:
    assert reason(arguments) == f"The arguments are not valid JSON: {wrong}. Nothing ran. {HOW}"


@pytest.mark.parametrize("arguments", ['{"a":' * 100_000, "[{" * 100_000, '{"code": ' + "1" * 5000 + "}"])
def test_hostile_json_is_told_and_does_no_harm(arguments: str) -> None:
    assert "Nothing ran." in reason(arguments)


def test_arguments_wrapped_without_end_are_told() -> None:
    arguments: Any = {"code": "1"}
    for _ in range(50):
        arguments = {"arguments": arguments}
    assert "no `code`" in reason(arguments)


def test_absurdly_long_arguments_are_told_the_limit() -> None:
    told = reason({"code": "x" * 5_000_000})
    assert f"5000012 characters long; at most {MAX_ARGUMENTS} are read" in told
    assert len(told) < 300


def test_half_a_surrogate_pair_is_told() -> None:
    assert reason('{"code": "a\\ud83d"}') == "The code holds half of a surrogate pair at character 1."


def test_tokens_of_a_template_around_the_code_are_no_code() -> None:
    code = "<|assistant|>\nprint('<|user|>')<|observation|>"
    assert called({"language": "python", "code": code}) == Call("c1", "python", "print('<|user|>')")


@pytest.mark.parametrize(
    ("word", "languages", "means"),
    [
        ("typescript", ["javascript"], ""),
        ("ts", ["javascript", "typescript"], "typescript"),
        ("js", ["javascript", "typescript"], "javascript"),
        ("node", ["typescript"], "typescript"),
    ],
)
def test_javascript_runs_as_typescript_and_not_the_other_way_round(
    word: str, languages: list[str], means: str
) -> None:
    assert language_of(word, languages) == means
