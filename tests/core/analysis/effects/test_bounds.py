"""Any input gets an account, soon, and never an exception."""

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from terp.analysis.effects.cells import MOST_CHARACTERS, effects_of
from terp.events.effects import Effects, cannot_tell
from tests.core.analysis.effects.cells import harmless_cells
from tests.core.analysis.effects.test_shell import CASES, DOUBTS
from tests.core.analysis.effects.unsafe_cells import CELLS

CODES = [code for code, _ in [*harmless_cells(), *CELLS, *CASES, *DOUBTS]]
MARKS = str.split(
    "( ) [ ] { } ' \" ''' $( ` \\ ; | & > < << # = * ! % @ lambda: if for f\" {x} \x00 é 漢 \ud800"
)
PIECES = st.sampled_from([*MARKS, " ", "\t", "\n", "\n    "])


@settings(max_examples=300)
@given(st.sampled_from(["python", "shell", "ruby", ""]), st.text())
def test_any_text_has_an_account(language: str, code: str) -> None:
    assert isinstance(effects_of(language, code), Effects)


@st.composite
def mutated(draw: st.DrawFn) -> str:
    code = draw(st.sampled_from(CODES))
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(code)))
        end = draw(st.integers(start, min(len(code), start + 8)))
        code = code[:start] + draw(PIECES) + code[end:]
    return code


@settings(max_examples=600)
@given(st.sampled_from(["python", "shell"]), mutated())
def test_code_with_mistakes_has_an_account(language: str, code: str) -> None:
    assert isinstance(effects_of(language, code), Effects)


def test_another_language_is_named() -> None:
    assert effects_of("ruby", "puts 1") == cannot_tell("ruby is not read")


def test_code_that_is_too_long_is_not_read() -> None:
    assert effects_of("python", "#" * (MOST_CHARACTERS + 1)) == cannot_tell(
        "200,001 characters are too many to read"
    )


@pytest.mark.parametrize(
    ("language", "code"),
    [
        ("python", "(" * 5_000 + ")" * 5_000),
        ("python", "-" * 100_000 + "1"),
        ("python", "+".join(["x"] * 50_000)),
        ("python", "x" + ".a" * 60_000),
        ("python", "x" + "()" * 60_000),
        ("python", "\n".join(" " * at + "if x:" for at in range(90)) + "\n" + " " * 90 + "y"),
        ("shell", "$(" * 50_000),
        ("shell", "(" * 50_000),
        ("shell", "`" * 50_001),
        ("shell", "sudo " * 30_000 + "rm x"),
    ],
)
def test_code_that_is_nested_too_deep_cannot_be_told(language: str, code: str) -> None:
    began = time.perf_counter()
    assert "cannot tell" in effects_of(language, code).kinds
    assert time.perf_counter() - began < 5


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("python", "x{0} = x{1}.strip()\n"),
        ("python", "def f{0}(): return f{1}()\n"),
        ("python", "open('f{0}').read()\n"),
        ("python", "x = x\n"),
        ("python", "!ls\n"),
        ("shell", "rm a{0} | sort\n"),
        ("shell", "cat <<E\n$(rm x)\nE\n"),
        ("shell", 'echo "$(rm `ls`)";'),
        ("shell", "for f in a b; do rm $f; done\n"),
        ("shell", "sed 's" + "/a\\/b" * 60 + "' x\n"),
        ("python", "open('" + "a." * 90 + "x')\n"),
    ],
)
def test_the_longest_code_is_read_in_a_few_seconds(language: str, line: str) -> None:
    code = "".join(line.format(at, at + 1) for at in range(MOST_CHARACTERS // (len(line) + 6)))
    began = time.process_time()
    effects_of(language, code)
    assert time.process_time() - began < 10


def test_a_magic_with_many_words_is_read_soon() -> None:
    began = time.process_time()
    effects_of("python", "%%time" + " 1" * 60 + " !")
    assert time.process_time() - began < 1
