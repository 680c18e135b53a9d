"""How a rule is written, and what none may be."""

import pytest

from terp.analysis.effects.known import shell_tools
from terp.analysis.rules.commands import Pattern
from terp.analysis.rules.rule import NoRule, Rule, Verdict, read_rule


def test_a_rule_on_a_command_is_its_words_of_which_some_are_open() -> None:
    assert read_rule("allow", "shell: git log '*' *.py **", "a.yaml:3") == Rule(
        "allow",
        "shell: git log '*' *.py **",
        "a.yaml:3",
        words=(
            Pattern("git"),
            Pattern("log"),
            Pattern("*"),
            Pattern("*.py", wild=True),
            Pattern("**", wild=True),
        ),
    )


def test_a_rule_on_programs_is_about_a_file() -> None:
    rule = read_rule("deny", "programs: curl", "")
    assert (rule.verbs, rule.target) == (("run",), "curl")
    with pytest.raises(NoRule, match="has arguments"):
        read_rule("deny", "programs: git *", "")
    with pytest.raises(NoRule, match="must be a name, or a path"):
        read_rule("ask", "programs: tools/x", "")


def test_a_rule_on_effects_is_a_set_of_kinds() -> None:
    assert read_rule("deny", "effects: deletes cannot-tell", "").kinds == {"deletes", "cannot tell"}
    assert read_rule("allow", "effects: none", "").kinds == frozenset()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            "git status",
            "this is no rule; write `shell: COMMAND`, `effects: KINDS`, "
            "`writes: PATH`, `deletes: PATH`, `network: HOST` or `programs: NAME`",
        ),
        (
            "shell:",
            "this is no rule; write `shell: COMMAND`, `effects: KINDS`, "
            "`writes: PATH`, `deletes: PATH`, `network: HOST` or `programs: NAME`",
        ),
        (
            "sql: SELECT",
            "there are no rules on 'sql'; write `shell: COMMAND`, `effects: KINDS`, "
            "`writes: PATH`, `deletes: PATH`, `network: HOST` or `programs: NAME`",
        ),
        (
            "programs: git",
            "code may start any program, and its effects are asked about; so none need be allowed",
        ),
        ("shell: a ** b", "** stands for all further words, so nothing can follow it"),
        ("shell: echo $HOME", "`$HOME` cannot stand in a rule: only * and **, without quotes, are open"),
        ("shell: ls ?", "`?` cannot stand in a rule: only * and **, without quotes, are open"),
        ("shell: echo 'x", "a ' without its end cannot stand in a rule"),
        (
            "effects: readz",
            "there is no effect 'readz'; there are: reads, writes, network, deletes, subprocess, installs, "
            "secrets, cannot-tell, without commas",
        ),
        ("effects: subprocess", "code with the effect 'subprocess' could do anything, so no rule allows it"),
        (
            "effects: cannot-tell",
            "code with the effect 'cannot-tell' could do anything, so no rule allows it",
        ),
        ("shell: *", "what is allowed begins with the name of its command"),
        ("shell: X=1 ls", "what is allowed begins with the name of its command"),
        ("shell: alias x=y", "`alias` changes what later commands mean, so no rule allows it"),
    ],
)
def test_what_is_no_rule_is_told(text: str, why: str) -> None:
    with pytest.raises(NoRule) as caught:
        read_rule("allow", text, "")
    assert str(caught.value) == why


@pytest.mark.parametrize(
    "text",
    ["a | b", "a; b", "a && b", "a &", "a > f", "a <<E", "! a", "{ a; }", "a # b", "time a", "a\nb", "(a)"],
)
def test_a_rule_is_about_one_command_and_nothing_around_it(text: str) -> None:
    with pytest.raises(NoRule):
        read_rule("deny", f"shell: {text}", "")


INTERPRETERS = str.split(
    """
    python python3 python3.12 /usr/bin/python3 ./venv/bin/python PYTHON pypy3 node node20 perl ruby3.2 php R
    Rscript awk sed npx nohup timeout nice find psql vim
    """
)


@pytest.mark.parametrize("command", sorted({*INTERPRETERS, *shell_tools().sets["wrappers"]} - {"."}))
@pytest.mark.parametrize("more", ["", " *", " -c x"])
def test_no_rule_allows_what_runs_whatever_it_is_given(command: str, more: str) -> None:
    with pytest.raises(NoRule, match=r"runs whatever it is given|changes what later"):
        read_rule("allow", f"shell: {command}{more}", "")


@pytest.mark.parametrize("verdict", ["ask", "deny"])
def test_what_runs_anything_can_be_asked_about_and_denied(verdict: Verdict) -> None:
    assert read_rule(verdict, "shell: sudo **", "").words == (Pattern("sudo"), Pattern("**", wild=True))
