"""`terp rules`: the rules in effect, and what they say about a piece of code."""

import json
from pathlib import Path

import pytest

from tests.cli.running import Terp
from tests.loopback import Call

CONFIG = """\
allow:
  - shell: git status
  - effects: reads
ask:
  - shell: git push **
deny:
  - shell: rm **
"""


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    terp = Terp(tmp_path)
    (terp.home / "config.yaml").write_text(CONFIG)
    return terp


def test_the_rules_are_listed_the_strictest_first(terp: Terp) -> None:
    result = terp("rules", "--deny", "shell: dd **")
    assert (result.code, result.out, result.notes) == (
        0,
        """\
deny   shell: dd **  (--deny)
deny   shell: rm **  (~/home/config.yaml:7)
ask    shell: git push **  (~/home/config.yaml:5)
allow  shell: git status  (~/home/config.yaml:2)
allow  effects: reads  (~/home/config.yaml:3)
""",
        "",
    )


def test_options_of_code_without_quotes_are_no_language(terp: Terp) -> None:
    result = terp("rules", "test", "ls", "-la")
    told = "code of several words goes in quotes, as in terp rules test 'ls -la'"
    assert (result.code, result.notes) == (2, f"terp: -l: there is no language 'a'; {told}.\n")


def test_without_rules_it_is_said_where_they_would_be(tmp_path: Path) -> None:
    result = Terp(tmp_path)("rules")
    assert (result.out, result.notes) == (
        "",
        "terp: there are no rules: settings allow, ask and deny hold them, see terp docs rules.\n",
    )


@pytest.mark.parametrize(
    ("words", "code", "out"),
    [
        (
            ("git status",),
            0,
            """\
  allow  git status  ← shell: git status (~/home/config.yaml:2)
allow: shell: git status (~/home/config.yaml:2)
""",
        ),
        (
            ("ls > x; make",),
            1,
            """\
  –      ls > x  ← it is redirected
  –      make  ← no rule
ask: no rule decides; effects: writes x · runs: make · cannot tell: runs `make` (line 1)
""",
        ),
        (
            ("git status; rm -rf x",),
            3,
            """\
  allow  git status  ← shell: git status (~/home/config.yaml:2)
  deny   rm -rf x  ← shell: rm ** (~/home/config.yaml:7)
deny: shell: rm ** (~/home/config.yaml:7)
""",
        ),
        (
            ("git $X",),
            1,
            """\
  ask    git $X  ← shell: git push ** (~/home/config.yaml:5), the shell may make it a command of this rule
ask: shell: git push ** (~/home/config.yaml:5)
""",
        ),
        (
            ("print(open('a').read())", "-l", "python"),
            0,
            """\
  allow  effects: reads  ← effects: reads (~/home/config.yaml:3)
allow: effects: reads (~/home/config.yaml:3)
""",
        ),
        (("make", "-y"), 0, "  –      make  ← no rule\nallow: no rule decides; auto_run (-y)\n"),
        (
            ("git push", "-y"),
            1,
            """\
  ask    git push  ← shell: git push ** (~/home/config.yaml:5)
ask: shell: git push ** (~/home/config.yaml:5)
""",
        ),
    ],
)
def test_each_part_is_told_with_its_rule_and_the_exit_code_is_the_decision(
    terp: Terp, words: tuple[str, ...], code: int, out: str
) -> None:
    result = terp("rules", "test", *words)
    assert (result.out, result.code, result.notes) == (out, code, "")


def test_the_code_may_come_on_stdin_and_the_answer_as_json(terp: Terp) -> None:
    result = terp("rules", "test", "-", "--json", data="git status\nrm x\n")
    assert (result.code, json.loads(result.out)) == (
        3,
        {
            "version": 1,
            "decision": "deny",
            "by": "shell: rm ** (~/home/config.yaml:7)",
            "effects": ["reads", "deletes", "cannot tell"],
            "parts": [
                {
                    "part": "git status",
                    "verdict": "allow",
                    "rule": "shell: git status",
                    "origin": "~/home/config.yaml:2",
                    "why": "",
                },
                {
                    "part": "rm x",
                    "verdict": "deny",
                    "rule": "shell: rm **",
                    "origin": "~/home/config.yaml:7",
                    "why": "",
                },
            ],
        },
    )


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("test",), "terp rules test needs CODE|-."),
        (("test", "git", "status"), "terp rules test takes the code as one word: put it in quotes."),
        (
            ("--allow", "shell: python *"),
            "--allow: 'allow' has \"shell: python *\": `python` runs whatever it is given, so no rule allows "
            "it; name what it would run.",
        ),
    ],
)
def test_what_is_wrong_with_the_call_is_told(terp: Terp, words: tuple[str, ...], told: str) -> None:
    result = terp("rules", *words)
    assert (result.code, result.out, result.notes) == (2, "", f"terp: {told}\n")


def test_profiles_validate_finds_wrong_rules(terp: Terp) -> None:
    (terp.home / "config.yaml").write_text("allow:\n- shell: git status\n- shell: bash *\n")
    result = terp("profiles", "validate")
    assert (result.code, result.notes) == (
        2,
        "terp: ~/home/config.yaml:3: 'allow' has \"shell: bash *\": `bash` runs whatever it is given, so no "
        "rule allows it; name what it would run.\n",
    )


def test_a_denied_call_with_y_runs_nothing_and_the_answer_still_comes(terp: Terp) -> None:
    (terp.cwd / "kept").mkdir()
    result = terp.asked([Call("shell", "rm -rf kept"), "It is denied."], "-y", "remove it")
    assert (result.code, result.out, (terp.cwd / "kept").is_dir()) == (0, "It is denied.\n", True)
    assert "a rule of the user denies `rm -rf kept`" in str(result.requests[-1])


def test_a_rule_that_asks_ends_a_headless_call_with_3(terp: Terp) -> None:
    result = terp.asked([Call("shell", "git push"), "never"], "-y", "push it")
    assert (result.code, "git push ** (~/home/config.yaml:5)" in result.notes) == (3, True)
