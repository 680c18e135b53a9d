"""The one line that tells a person what code would do."""

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.events.effects import Effect, Effects
from terp_cli.render.sentences import effects_line, notable
from tests.cli.drawing import drawn, proposed
from tests.cli.fronts.test_terminal import UNSAFE


@pytest.mark.parametrize(
    ("effects", "line"),
    [
        ((), "computes only"),
        ((Effect("reads", ("iris.csv",)),), "reads only: iris.csv"),
        ((Effect("reads"),), "reads only"),
        (
            (
                Effect("reads", ("iris.csv",)),
                Effect("writes", ("out.csv",)),
                Effect("network", ("api.example.org",)),
                Effect("deletes", ("build/",)),
                Effect("subprocess", ("git push",)),
                Effect("installs", ("seaborn",)),
                Effect("secrets", ("~/.ssh/id_rsa",)),
                Effect("cannot tell", ("`fn` is not known (line 3)", "`g` is not known (line 4)")),
            ),
            "reads iris.csv · writes out.csv · network: api.example.org · deletes build/ · runs: git push · "
            "installs seaborn · reads a secret: ~/.ssh/id_rsa · "
            "cannot tell: `fn` is not known (line 3) and 1 more",
        ),
        ((Effect("deletes", tuple("abcdef"), more=3),), "deletes a, b, c, d and 5 more"),
        ((Effect("writes"), Effect("cannot tell")), "writes files · cannot tell"),
        ((Effect("writes", ("a" * 40 + "b" * 40,)),), "writes " + "a" * 29 + "…" + "b" * 29),
        ((Effect("writes", ("a\nb\u202e",)),), "writes a^Jb<U+202E>"),
    ],
)
def test_effects_in_words(effects: tuple[Effect, ...], line: str) -> None:
    assert effects_line(Effects(effects)) == line


@given(st.from_type(Effects))
def test_nothing_of_the_code_can_deceive(effects: Effects) -> None:
    line = effects_line(effects)
    assert (UNSAFE.findall(line), "\n" in line) == ([], False)


def test_the_line_wraps_between_words_on_a_narrow_screen() -> None:
    effects = Effects((Effect("reads", ("data/a.csv", "data/b.csv")), Effect("deletes", ("build/",))))
    assert drawn([replace(proposed("x"), effects=effects)], columns=40)[2:] == [
        "expected: reads data/a.csv, data/b.csv ·",
        "deletes build/",
    ]


def test_who_is_not_asked_sees_what_is_notable_alone() -> None:
    found = (
        Effect("reads", ("a.csv",)),
        Effect("writes", ("/w/out.csv", "b.csv", "../c.csv", "~/d.csv", "/etc/e", "{path}")),
        Effect("network", ("example.org",)),
        Effect("cannot tell", ("`f` is not known (line 1)",)),
    )
    assert effects_line(notable(Effects(found), "/w")) == (
        "writes ../c.csv, ~/d.csv, /etc/e · network: example.org"
    )


def test_an_edit_that_the_code_spells_out_is_drawn_and_counted(tmp_path: Path) -> None:
    (tmp_path / "app.py").write_text("a = 1\n")
    code = "edit_file('app.py', 'a = 1', 'a = 2')"
    event = replace(
        proposed("x"),
        language="python",
        code=code,
        cwd=str(tmp_path),
        effects=Effects((Effect("writes", ("app.py",)),)),
    )
    assert drawn([event])[2:] == [
        "── app.py +1 −1",
        "  1 − a = 1",
        "  1 + a = 2",
        "expected: changes app.py (+1 −1)",
    ]
