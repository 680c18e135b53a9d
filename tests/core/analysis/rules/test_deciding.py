"""What rules say about code: every part counts, and the strictest rule."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.analysis.effects.cells import MOST_CHARACTERS
from terp.analysis.rules.deciding import Ruled, Rules, Ruling
from terp.events.effects import Effects
from tests.core.analysis.rules.written import rules, ruling, verdict

MINE = rules(
    allow=("shell: git status", "shell: ls **", "shell: cat data/*", "shell: echo *", "shell: tail -n *"),
    ask=("shell: git push **",),
    deny=("shell: rm **", "shell: git push --force **"),
)


@pytest.mark.parametrize(
    "code",
    [
        "git status",
        "  git   status  # how it is",
        "git 'status'",
        "git status && ls a b; echo x | cat data/y",
        "(git status)",
        "{ git status; }",
        "if git status; then ls; fi",
        "git status 2>&1",
        "git status 2> /dev/null",
        "echo '$(rm x); rm'",
        "tail -n 5",
        "ls ''",
        "cat data/a.csv",
        "git status\nls",
        "git status &",
    ],
)
def test_code_is_allowed_when_each_of_its_commands_is(code: str) -> None:
    assert verdict(MINE, code) == "allow"


@pytest.mark.parametrize(
    "code",
    [
        "git",
        "git status -s",
        "git statusx",
        "gitx status",
        "./git status",
        "git status; make",
        "make && git status",
        "git status | sh",
        "git status > f",
        "git status >> f",
        "git status < f",
        "(git status) > f",
        "git status <<< x",
        "git status <<E\nx\nE\n",
        "ls -la",
        "ls --color=always",
        "ls a -R",
        "ls *.py",
        "ls $HOME",
        "ls {a,b}",
        "ls `pwd`",
        "ls $(pwd)",
        "ls <(pwd)",
        "cat data/../secret",
        "cat data/..",
        "cat data/a/b",
        "cat x/data/a",
        "echo a b",
        "PATH=. git status",
        "X=1",
        "git() { x; }; git status",
        "alias git=x; git status",
        "for x in a; do git status; done",
        "case x in x) git status;; esac",
        "[[ -f x ]] && git status",
        "git status;;",
        "git status | time git status",
        "time time git status",
        "git status\\",
        "git status 'x",
        "",
        "# nothing",
    ],
)
def test_what_no_rule_covers_whole_is_not_allowed(code: str) -> None:
    assert verdict(rules(allow=tuple(rule.text for rule in MINE.all if rule.verdict == "allow")), code) == ""


@pytest.mark.parametrize(
    "code",
    [
        "rm x",
        "rm",
        "/bin/rm x",
        "\\rm x",
        "r'm' x",
        "git status; rm x",
        "echo $(rm x)",
        "echo `rm x`",
        'echo "$(rm x)"',
        "ls <(rm x)",
        "X=1 rm x",
        "rm x > /dev/null",
        "sudo rm x",
        "sudo -u me rm x",
        "xargs -0 rm",
        "env X=1 rm x",
        "timeout 5 rm x",
        "bash -c 'ls; rm x'",
        'sh -c "rm x"',
        "sudo bash -c 'rm x'",
        "eval rm x",
        "find . -exec rm {} +",
        "if true; then rm x; fi",
        "for f in a; do rm $f; done",
        "cat <<E\n$(rm x)\nE\n",
        "rm x; case y in esac",
        "git push --force origin",
    ],
)
def test_a_denied_command_is_found_wherever_it_is_seen_to_run(code: str) -> None:
    assert verdict(MINE, code) == "deny"


@pytest.mark.parametrize(
    ("code", "what"),
    [
        ("git push origin", "`git push origin`"),
        ("git push $FLAGS", "`git push $FLAGS`"),
        ("$COMMAND x", "`$COMMAND x`"),
        ("$(echo rm) x", "`$(…) x`"),
        ("git $X", "`git $X`"),
        ("git status; case rm in rm) rm x;; esac", "`the rest`"),
        ("git status; f() { rm x; }", "`the rest`"),
        ("echo 'rm x", "`the rest`"),
        ("x" * (MOST_CHARACTERS + 1), "`all of it`"),
    ],
)
def test_what_could_be_the_command_of_a_strict_rule_is_asked_about(code: str, what: str) -> None:
    found = ruling(MINE, code)
    assert (found.verdict, found.what) == ("ask", what)


def test_the_strictest_rule_counts_whatever_the_order() -> None:
    given = rules(
        allow=("shell: git push **", "effects: reads writes network deletes installs secrets"),
        ask=("shell: git push origin", "shell: git **"),
        deny=("shell: git push origin main",),
    )
    seen = [verdict(given, f"git push {more}") for more in ("origin main", "origin", "elsewhere")]
    assert seen == ["deny", "ask", "ask"]


def test_the_ruling_names_each_part_its_rule_and_the_place() -> None:
    allow, _, deny = MINE.written[-5], MINE.written[2], MINE.written[0]
    assert ruling(MINE, "git status; make; rm x") == Ruling(
        "deny",
        (Ruled("git status", "allow", allow), Ruled("make"), Ruled("rm x", "deny", deny)),
        "shell: rm ** (x.yaml:1)",
        "`rm x`",
    )


@pytest.mark.parametrize(
    ("code", "language", "verdict_"),
    [
        ("sum(range(9))", "python", "allow"),
        ("print(open('a').read())", "python", "allow"),
        ("open('a', 'w').write('x')", "python", ""),
        ("import os; os.remove('x')", "python", "deny"),
        ("run_it()", "python", "ask"),
        ("cat a", "shell", "allow"),
        ("cat ~/.ssh/id_rsa", "shell", ""),
        ("1 + 1", "javascript", "ask"),
    ],
)
def test_a_rule_on_effects_is_about_the_whole_account(code: str, language: str, verdict_: str) -> None:
    given = rules(allow=("effects: reads",), ask=("effects: cannot-tell",), deny=("effects: deletes",))
    assert verdict(given, code, language) == verdict_


@pytest.mark.parametrize(
    "code", ["!rm x", "x = !rm x", "%%bash\nrm x", "if y:\n    !rm x", "%sx rm x", "%%sh\nls\nrm x"]
)
def test_commands_that_ipython_runs_are_denied_in_python_too(code: str) -> None:
    assert verdict(MINE, code, "python") == "deny"


def test_no_rule_on_a_command_allows_python_code() -> None:
    assert verdict(rules(allow=("shell: ls",)), "!ls", "python") == ""


def test_without_rules_nothing_is_said() -> None:
    assert Rules().ruling("shell", "rm -rf /", Effects()) == Ruling()


SIGNS = [
    *"rmgit statuslcopush -'\"\\$`(){}<>|&;#*?~!=\n\t",
    "rm x",
    "git status",
    "ls",
    "echo ",
    "$(",
    "<<E\n",
    "\nE\n",
]
TEXT = st.lists(st.sampled_from(SIGNS), max_size=12).map("".join)


@given(TEXT, st.sampled_from(["rm x", "rm -rf a", "git push origin", "sudo ls"]))
def test_text_behind_a_strict_command_never_makes_it_allowed(text: str, command: str) -> None:
    assert verdict(MINE, command + text) != "allow"
    for sign in (";", "&&", "||", "|", "&", "\n"):
        assert verdict(MINE, f"{command} {sign} {text}") in ("deny", "ask", "")


@given(TEXT, st.sampled_from(["rm x", "rm -rf a"]), st.sampled_from([";", "&&", "||", "|", "&", "\n"]))
def test_a_denied_command_stays_denied_whatever_follows_it(text: str, command: str, sign: str) -> None:
    assert verdict(MINE, f"{command} {sign} {text}") == "deny"


@given(st.text() | TEXT)
def test_any_text_gets_a_verdict_and_a_strict_rule_only_makes_it_stricter(text: str) -> None:
    allow = tuple(rule.text for rule in MINE.all if rule.verdict == "allow")
    strictness = ["allow", "", "ask", "deny"]
    assert strictness.index(verdict(MINE, text)) >= strictness.index(verdict(rules(allow=allow), text))


PARTS = st.sampled_from(
    ["git status", "ls a", "echo x", "make", "ls -a", "ls $x", "git status > f", "X=1 ls"]
)
ALLOWED = {"git status", "ls a", "echo x"}


@given(st.lists(st.tuples(PARTS, st.sampled_from([" ; ", " && ", " || ", " | ", " & ", "\n"])), min_size=1))
def test_a_chain_is_allowed_when_all_of_its_parts_are_and_only_then(chain: list[tuple[str, str]]) -> None:
    code = "".join(part + sign for part, sign in chain[:-1]) + chain[-1][0]
    allowed = rules(allow=("shell: git status", "shell: ls **", "shell: echo *"))
    assert (verdict(allowed, code) == "allow") == all(part in ALLOWED for part, _ in chain)


@pytest.mark.parametrize("code", ["read 'a[$(rm x)]'", "test -v 'a[$(rm x)]'", "getopts a 'a[$(rm x)]'"])
def test_no_rule_allows_words_that_the_shell_reads_twice(code: str) -> None:
    mine = rules(allow=("shell: read *", "shell: test -v *", "shell: getopts * *"))
    assert (verdict(mine, code), verdict(mine, "read name")) == ("", "allow")


@pytest.mark.parametrize("code", ["x='a[$(rm y)]'; echo $((x))", "read 'a[$(rm x)]'", "declare -n x=y"])
def test_what_the_shell_reads_twice_does_not_only_compute(code: str) -> None:
    assert verdict(rules(allow=("effects: none",)), code) == ""
