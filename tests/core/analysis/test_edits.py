from pathlib import Path

import pytest

from terp.analysis.edits import FileDiff, spelled_edits


@pytest.fixture
def cwd(tmp_path: Path) -> str:
    (tmp_path / "a.py").write_text("one\ntwo\nthree\nfour\nfive\n")
    return str(tmp_path)


def test_an_edit_of_literals_is_a_diff_with_two_lines_around(cwd: str) -> None:
    [edit] = spelled_edits("python", "print(edit_file('a.py', 'four', new='4\\n4b'))", cwd)
    assert edit == FileDiff("a.py", "@@ -2,4 +2,5 @@\n two\n three\n-four\n+4\n+4b\n five")
    assert edit.lines == "+2 −1"


def test_edits_of_one_file_are_one_diff(cwd: str) -> None:
    code = "edit_file('a.py', 'one', '1')\nedit_file('a.py', '1', 'uno')"
    [edit] = spelled_edits("python", code, cwd)
    assert edit.diff == "@@ -1,3 +1,3 @@\n-one\n+uno\n two\n three"


def test_edits_count_in_the_order_of_the_code_nested_ones_too(cwd: str) -> None:
    code = "if 1:\n    edit_file('a.py', 'one', '1')\nedit_file('a.py', '1', 'uno')"
    [edit] = spelled_edits("python", code, cwd)
    assert edit.diff == "@@ -1,3 +1,3 @@\n-one\n+uno\n two\n three"


def test_a_new_file_is_all_added(cwd: str) -> None:
    [edit] = spelled_edits("python", "edit_file('new.py', '', 'a\\nb')", cwd)
    assert edit.lines == "+2 −0"


def test_texts_may_have_names_that_the_code_binds_once(cwd: str) -> None:
    [edit] = spelled_edits("python", "p = 'a.py'\nold = 'four'\nedit_file(p, old, '4')", cwd)
    assert edit.lines == "+1 −1"


@pytest.mark.parametrize(
    "code",
    [
        "edit_file('a.py', x, 'y')",
        "x = 'one'\nx = x.strip()\nedit_file('a.py', x, 'y')",
        "edit_file('a.py', x, 'y')\nx = 'one'",
        "if 1: x = 'one'\nedit_file('a.py', x, 'y')",
        "edit_file('a.py', 'nowhere', 'y')",
        "edit_file('gone.py', 'a', 'b')",
        "edit_file('a.py', 'e', 'E')",
        "edit_file('a.py', 'one'",
        "edit('a.py', 'one', '1')",
    ],
)
def test_an_edit_that_is_not_known_or_does_not_fit_has_no_diff(cwd: str, code: str) -> None:
    assert spelled_edits("python", code, cwd) == []
