from pathlib import Path

import pytest

from terp.errors import TerpError
from terp.settings.profile_file import UnreadableSettings
from terp.settings.rule_file import RuleKeeper, with_rules


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        ("", "allow:\n  - shell: git status\n", 2),
        ("# mine\nmodel: x", "# mine\nmodel: x\nallow:\n  - shell: git status\n", 4),
        ("allow:\n# none yet\n", "allow:\n  - shell: git status\n# none yet\n", 2),
        (
            "allow:\n- shell: ls  # short\n\n# more\nmodel: x\n",
            "allow:\n- shell: ls  # short\n- shell: git status\n\n# more\nmodel: x\n",
            3,
        ),
    ],
)
def test_a_rule_is_added_to_the_list_and_all_else_stays(before: str, after: str, line: int) -> None:
    assert with_rules(before, ["shell: git status"]) == (after, line)


@pytest.mark.parametrize("text", ["allow: [a]\n", "allow: x\n", "allow: {", "- x\n"])
def test_a_file_that_cannot_be_extended_is_refused(text: str) -> None:
    with pytest.raises(UnreadableSettings):
        with_rules(text, ["shell: git status"])


def test_a_linked_file_stays_a_link_and_keeps_its_mode(tmp_path: Path) -> None:
    kept, linked = tmp_path / "dotfiles.yaml", tmp_path / "config.yaml"
    kept.write_text("model: x\n")
    kept.chmod(0o640)
    linked.symlink_to(kept)
    assert RuleKeeper(linked).keep(["shell: ls"]).endswith("config.yaml:3")
    assert (linked.is_symlink(), kept.stat().st_mode & 0o777) == (True, 0o640)
    assert kept.read_text() == "model: x\nallow:\n  - shell: ls\n"


def test_a_file_that_cannot_be_extended_is_named_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text("allow: [a]\n")
    with pytest.raises(TerpError, match="cannot be added to") as raised:
        RuleKeeper(path).preview(["shell: ls"])
    assert raised.value.remedy == "Add it there by hand, below `allow:`."


def test_rules_are_shown_as_the_lines_of_a_file(tmp_path: Path) -> None:
    rules = ["shell: git status", "shell: grep '*' x", "effects: reads writes"]
    _, lines = RuleKeeper(tmp_path / "config.yaml").preview(rules)
    assert lines == [
        "allow:",
        "  - shell: git status",
        "  - \"shell: grep '*' x\"",
        "  - effects: reads writes",
    ]
