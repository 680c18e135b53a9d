"""The table of settings: parsing, limits, layers."""

from pathlib import Path
from typing import Any

import pytest

from terp.errors import SettingsError
from terp.settings import Settings
from terp.settings.mcp_servers import McpServer
from terp.settings.setting import Setting, table
from terp.settings.sources import Given, combine, from_environment


def parsed(name: str, text: str) -> object:
    return table(Settings)[name].parse(text)


def test_every_setting_explains_itself_and_belongs_to_a_group() -> None:
    assert [row.name for row in table(Settings).values() if not (row.about and row.group)] == []


def test_a_setting_is_named_after_its_field() -> None:
    assert table(Settings)["max_steps"].variable == "TERP_MAX_STEPS"


def test_no_choice_is_without_a_name() -> None:
    assert [row.name for row in table(Settings).values() if "" in row.choices] == []


def test_values_are_read_by_their_kind() -> None:
    assert parsed("max_steps", "7") == 7
    assert parsed("max_budget_usd", "0.5") == 0.5
    assert parsed("auto_run", "Yes") is True
    assert parsed("auto_run", "0") is False
    assert parsed("env_pass", "A, B,") == ("A", "B")
    assert parsed("adapter", "direct") == "direct"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("max_steps", "-1"),
        ("max_steps", "1.5"),
        ("max_steps", ""),
        ("temperature", "2.1"),
        ("temperature", "nan"),
        ("max_budget_usd", "inf"),
        ("max_output_chars", "10"),
        ("auto_run", "maybe"),
        ("adapter", "other"),
    ],
)
def test_values_outside_the_rule_are_refused(name: str, text: str) -> None:
    with pytest.raises(ValueError):
        parsed(name, text)


def test_a_rule_says_what_a_value_must_be() -> None:
    rows = table(Settings)
    assert rows["auto_run"].rule == "true or false"
    assert rows["adapter"].rule == "one of auto, direct, litellm"
    assert rows["temperature"].rule == "a number, from 0 to 2"
    assert rows["retries"].rule == "a whole number, from 0 to 20"
    assert Setting("anything").rule == "text"


def test_a_row_that_does_not_say_otherwise_is_the_persons_alone() -> None:
    assert Setting("anything").sources == ("flag", "variable", "user")


def test_what_a_project_may_set_cannot_move_code_keys_or_words_elsewhere() -> None:
    assert {name for name, row in table(Settings).items() if "project" in row.sources} == {
        # Only to tighten it.
        "approve",
        "temperature",
        "max_tokens",
        "context_window",
        "compact_at",
        "supports_tools",
        "supports_vision",
        "reasoning_effort",
        "timeout_s",
        "retries",
        "system_message",
        "instructions",
        "max_steps",
        "max_output_chars",
        "languages",
        "run_timeout_s",
        "background_after_s",
        # A check that a project brings is asked about before it runs.
        "until",
        "max_revisions",
        "until_timeout_s",
        "until_protect",
        "ask",
        "deny",
    }


def test_the_stronger_layer_wins_and_says_where_it_came_from() -> None:
    settings = combine([{"model": Given("a", "--model")}, {"model": Given("b", "x.yaml:1")}])
    assert settings == Settings(model="a")
    assert settings.origin("model") == "--model"
    assert settings.origin("max_steps") == "built-in"


def test_variables_set_settings() -> None:
    environ = {"TERP_MODEL": "m", "TERP_MAX_STEPS": "3", "HOME": "/"}
    assert from_environment(environ) == {
        "model": Given("m", "TERP_MODEL"),
        "max_steps": Given(3, "TERP_MAX_STEPS"),
    }


def test_an_empty_variable_sets_nothing() -> None:
    assert from_environment({"TERP_MODEL": ""}) == {}


def test_every_wrong_variable_is_told_at_once() -> None:
    with pytest.raises(SettingsError) as caught:
        from_environment({"TERP_MAX_STEPS": "many", "TERP_AUTO_RUM": "1"})
    assert caught.value.problems == (
        'TERP_MAX_STEPS is "many", must be a whole number, 0 or more.',
        "TERP_AUTO_RUM: unknown setting. Did you mean TERP_AUTO_RUN?",
    )


def test_variables_that_are_nearly_nothing_of_terp_are_left_alone() -> None:
    assert from_environment({"TERP_HOME": "/x", "TERP_PROFILE": "p", "TERP_OTHER_PROGRAM": "1"}) == {}


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("temperature", 1, 1),
        ("temperature", None, None),
        ("reasoning_effort", "", ""),
        ("python", Path("/usr/bin/python3"), "/usr/bin/python3"),
        ("env_pass", ["A", "B"], ("A", "B")),
        ("supports_tools", False, False),
    ],
)
def test_a_program_gives_values_in_their_own_types(name: str, value: Any, kept: Any) -> None:
    assert table(Settings)[name].checked(value) == kept


def test_servers_come_from_a_variable_as_json() -> None:
    text = '{"files": {"command": "x", "args": ["a"], "env": {"K": "v"}, "timeout_s": 5}}'
    given = from_environment({"TERP_MCP_SERVERS": text})["mcp_servers"]
    assert given.value == {"files": McpServer(command="x", args=("a",), env={"K": "v"}, timeout_s=5)}


def test_servers_come_from_a_program_as_they_are_or_as_plain_values() -> None:
    server = McpServer(url="http://h/mcp", headers={"A": "b"})
    row = table(Settings)["mcp_servers"]
    plain = {"url": "http://h/mcp", "headers": {"A": "b"}}
    assert row.checked({"one": server, "two": plain}) == {"one": server, "two": server}


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "x",
        '{"a": 3}',
        '{"a": {}}',
        '{"a b": {"command": "x"}}',
        '{"a": {"comand": "x"}}',
        '{"a": {"command": "x", "env": {"A": 1}}}',
        '{"a": {"command": "x", "url": "http://h"}}',
    ],
)
def test_servers_that_cannot_be_are_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="must be a group of entries by name"):
        from_environment({"TERP_MCP_SERVERS": text})


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("range=1..2", {"range": "1..2"}),
        ("tries = 3", {"tries": 3}),
        ('hosts=["a", "b"]', {"hosts": ["a", "b"]}),
        ("on=true", {"on": True}),
        ("url= http://a/?b=c ", {"url": "http://a/?b=c"}),
        ("queue=", {"queue": ""}),
        ('{"tries": 3, "hosts": ["a", "b"]}', {"tries": 3, "hosts": ["a", "b"]}),
    ],
)
def test_a_free_entry_is_json_or_text(text: str, value: dict[str, object]) -> None:
    given = from_environment({"TERP_KERNEL_PROVISIONER_CONFIG": text})["kernel_provisioner_config"]
    assert given.value == value


@pytest.mark.parametrize("text", ["tries", "=3", " = 3", "{tries: 3}"])
def test_a_free_entry_without_a_name_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="must be a group of entries by name, in a flag NAME=VALUE"):
        from_environment({"TERP_KERNEL_PROVISIONER_CONFIG": text})


def test_a_group_of_entries_has_no_flag_unless_they_are_free() -> None:
    assert [row.name for row in table(Settings).values() if not row.has_flag] == ["mcp_servers"]
