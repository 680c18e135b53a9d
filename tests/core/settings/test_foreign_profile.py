"""Profiles of Open Interpreter, read as settings of terp."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.errors import SettingsError
from terp.settings.foreign_profile import ForeignProfile, read_foreign_profile
from terp.settings.profile_file import read_profile

THEIRS = """\
### OPEN INTERPRETER PROFILE
llm:
  model: gpt-4o
  temperature: 0
  # api_key: ...
  api_key: sk-not-to-be-copied
  supports_functions: true
  context_window: "much"
computer:
  import_computer_api: True
custom_instructions: |
  Be brief.
  Be kind.
auto_run: False
safe_mode: "off"
api_version: 2024-10-21
max_output: 2800
colour: blue
version: 0.2.5
"""


def read(tmp_path: Path, text: str, name: str = "theirs.yaml") -> ForeignProfile:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    return read_foreign_profile(path)


def refused(tmp_path: Path, text: str, name: str = "theirs.yaml") -> list[str]:
    with pytest.raises(SettingsError) as caught:
        read(tmp_path, text, name)
    return [problem.replace(f"{tmp_path}/", "") for problem in caught.value.problems]


def test_what_has_an_equal_becomes_lines_and_the_rest_is_named_with_its_reason(tmp_path: Path) -> None:
    found = read(tmp_path, THEIRS)
    assert found.text == (
        "model: gpt-4o\ntemperature: 0.0\nsupports_tools: true\n"
        "instructions: |-\n  Be brief.\n  Be kind.\n"
        "auto_run: false\napi_version: '2024-10-21'\nmax_output_chars: 2800\n"
    )
    assert found.left_out == (
        "6: llm.api_key: a key does not belong in a profile; terp keys set PROVIDER stores it.",
        "8: llm.context_window: context_window must be a whole number, 0 or more.",
        "9: computer: code has no special interface to the computer here.",
        "15: safe_mode: code always needs approval unless auto_run is on.",
        "18: colour: terp has no such setting.",
        "19: version: it is the version of that format.",
    )


def test_settings_of_the_older_form_stand_at_the_top(tmp_path: Path) -> None:
    found = read(tmp_path, "model: gpt-4\nlocal: true\nmax_budget: 0.5\nmodel: again\n")
    assert found.text == "model: gpt-4\nmax_budget_usd: 0.5\n"
    assert [line.partition(":")[0] for line in found.left_out] == ["2", "4"]


@given(text=st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), min_size=1).map(str.strip))
def test_whatever_the_instructions_are_they_come_back_as_they_were(
    tmp_path_factory: pytest.TempPathFactory, text: str
) -> None:
    folder = tmp_path_factory.mktemp("one")
    import yaml

    found = read(folder, yaml.safe_dump({"custom_instructions": f"first\n{text}"}, allow_unicode=True))
    (folder / "ours.yaml").write_text(found.text, encoding="utf-8")
    ours = read_profile(folder / "ours.yaml")
    assert (ours.problems, ours.given["instructions"].value) == ([], f"first\n{text}".strip())


def test_a_profile_that_is_a_program_is_refused_with_the_reason(tmp_path: Path) -> None:
    assert refused(tmp_path, "interpreter.auto_run = True\n", "theirs.py") == [
        "theirs.py: is a program, and would have to run. Write its settings as lines of YAML, and import "
        "those."
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- a\n", "theirs.yaml:1: must be lines of `name: value`."),
        (
            "llm: &a\n  model: x\n",
            "theirs.yaml:1: anchors and aliases (& and *) are not used; quote text that needs them.",
        ),
        ("llm:\n\tmodel: x\n", "theirs.yaml:2: a tab indents this line; YAML takes spaces only."),
        ("a" * 70_000, "theirs.yaml: is larger than 64 KB; a profile holds settings only."),
    ],
)
def test_what_is_no_profile_says_where_it_stops_being_one(tmp_path: Path, text: str, problem: str) -> None:
    assert refused(tmp_path, text) == [problem]


def test_a_profile_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"none.yaml: cannot be read: No such file"):
        read_foreign_profile(tmp_path / "none.yaml")
