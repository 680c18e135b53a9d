"""Which files a check is made of, and whether they are as they were."""

from pathlib import Path

import pytest

from terp.checks.until.originals import Differences, Originals, copy_project
from tests.core.checks.until.projects import write


@pytest.mark.parametrize(
    ("name", "protected"),
    [
        ("test_a.py", True),
        ("parts/a_test.py", True),
        ("tests/data/a.csv", True),
        ("parts/tests/a.txt", True),
        ("src/cart.test.ts", True),
        ("parts/conftest.py", True),
        ("pyproject.toml", True),
        ("Makefile", True),
        ("shop.py", False),
        ("contest.py", False),
        ("testing/a.py", False),
        ("data/expected.csv", False),
    ],
)
def test_tests_and_what_steers_them_are_protected(tmp_path: Path, name: str, protected: bool) -> None:
    write(tmp_path, {name: "x"})
    assert (name in Originals(tmp_path, tmp_path).files) == protected


@pytest.mark.parametrize("pattern", ["*.csv", "data/*", "data/expected.csv"])
def test_patterns_name_more(tmp_path: Path, pattern: str) -> None:
    write(tmp_path, {"data/expected.csv": "x"})
    assert "data/expected.csv" in Originals(tmp_path, tmp_path, (pattern,)).files


@pytest.mark.parametrize("name", ["main.py", "tests/test_a.py", "conftest.py", "new.mk"])
def test_a_pattern_behind_an_exclamation_mark_lets_files_change(tmp_path: Path, name: str) -> None:
    write(tmp_path, {"main.py": "x", "tests/test_a.py": "x", "conftest.py": "x"})
    originals = Originals(tmp_path, tmp_path, (f"!{name}", "*.mk"), "python main.py")
    write(tmp_path, {name: "other"})
    assert (name in originals.files, originals.differences(tmp_path)) == (False, Differences())


def test_what_is_as_it_was_is_not_changed(tmp_path: Path) -> None:
    write(tmp_path, {"test_a.py": "x", "shop.py": "x"})
    originals = Originals(tmp_path, tmp_path)
    write(tmp_path, {"test_a.py": "y", "shop.py": "y"})
    write(tmp_path, {"test_a.py": "x"})
    assert originals.differences(tmp_path) == Differences()


def test_changed_removed_and_new_files_are_told(tmp_path: Path) -> None:
    write(tmp_path, {"test_a.py": "x", "test_b.py": "x", "test_c.py": "x"})
    originals = Originals(tmp_path, tmp_path)
    write(tmp_path, {"test_a.py": "y", "conftest.py": "x", "test_new.py": "x"})
    (tmp_path / "test_b.py").unlink()
    assert originals.differences(tmp_path) == Differences(
        changed=("test_a.py",), missing=("test_b.py",), new=("conftest.py", "test_new.py")
    )


@pytest.mark.parametrize(
    ("name", "new"),
    [
        ("tests/__init__.py", True),
        ("tests/helper.py", True),
        ("tests/shop.py", True),
        ("src/test_more.py", True),
        ("__init__.py", True),
        ("json.py", True),
        ("src/decimal/__init__.py", True),
        ("prices.py", False),
        ("shop/json.py", False),
        ("src/decimal/notes.txt", False),
        ("shop/__init__.py", False),
    ],
)
def test_what_tests_could_import_instead_does_not_count_and_new_code_does(
    tmp_path: Path, name: str, new: bool
) -> None:
    write(tmp_path, {"tests/test_a.py": "x", "shop/__init__.py": "", "shop/cart.py": "x", "src/a.py": ""})
    originals = Originals(tmp_path, tmp_path)
    write(tmp_path, {name: "x"})
    assert originals.differences(tmp_path).new == ((name,) if new else ())


def test_a_link_in_place_of_a_module_does_not_count(tmp_path: Path) -> None:
    write(tmp_path, {"test_a.py": "x", "shop.py": "x"})
    originals = Originals(tmp_path, tmp_path)
    write(tmp_path, {"json/pyvenv.cfg": "", "json/__init__.py": "x"})
    assert originals.differences(tmp_path).new == ("json",)


def test_new_tests_count_where_there_were_none(tmp_path: Path) -> None:
    write(tmp_path, {"shop.py": "x"})
    originals = Originals(tmp_path, tmp_path)
    write(tmp_path, {"tests/test_a.py": "x"})
    assert originals.differences(tmp_path) == Differences(tests=("tests/test_a.py",))


def test_new_tests_that_the_check_names_count(tmp_path: Path) -> None:
    write(tmp_path, {"tests/test_a.py": "x"})
    originals = Originals(tmp_path, tmp_path, (), "pytest tests/test_b.py::test_total")
    write(tmp_path, {"tests/test_b.py": "x"})
    assert originals.differences(tmp_path) == Differences()


def test_files_that_are_written_and_put_back_are_noticed(tmp_path: Path) -> None:
    write(tmp_path, {"test_a.py": "x", "test_b.py": "x", "shop.py": "x"})
    originals = Originals(tmp_path, tmp_path)
    before = originals.state(tmp_path)
    write(tmp_path, {"test_a.py": "y", "shop.py": "y", "conftest.py": "y"})
    write(tmp_path, {"test_a.py": "x"})
    assert originals.touched(tmp_path, before) == ("conftest.py", "test_a.py")


def test_a_copy_gets_the_original_files(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    write(here, {"tests/test_a.py": "x"})
    originals = Originals(here, here)
    write(here, {"tests/test_a.py": "y"})
    write(there, {"tests/test_a.py": "y", "conftest.py": "new"})
    assert originals.restore(there, ("conftest.py", "tests/test_a.py")) == ()
    assert {str(one.relative_to(there)) for one in there.rglob("*.py")} == {"tests/test_a.py"}
    assert (there / "tests" / "test_a.py").read_text() == "x"


def test_a_file_that_is_too_large_to_keep_is_named(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    write(here, {"tests/large.bin": "x" * (2 << 20)})
    write(there, {"tests/large.bin": "y"})
    originals = Originals(here, here)
    assert originals.differences(here) == Differences()
    write(here, {"tests/large.bin": "y"})
    assert originals.restore(there, originals.differences(here).restored) == ("tests/large.bin",)


def test_a_folder_of_tests_that_is_a_link_leads_where_it_led(tmp_path: Path) -> None:
    here, there = tmp_path / "here", tmp_path / "there"
    write(here, {"suite/test_a.py": "x", "fake/test_a.py": "y"})
    (here / "tests").symlink_to("suite")
    originals = Originals(here, here)
    (here / "tests").unlink()
    (here / "tests").symlink_to("fake")
    copy_project(here, there)
    assert originals.differences(there) == Differences(changed=("tests",))
    assert originals.restore(there, ("tests",)) == ()
    assert str((there / "tests").readlink()) == "suite"


def test_a_folder_of_tests_that_would_no_more_be_copied_has_changed(tmp_path: Path) -> None:
    write(tmp_path, {"tests/test_a.py": "x"})
    originals = Originals(tmp_path, tmp_path)
    write(tmp_path, {"tests/pyvenv.cfg": "", "tests/conftest.py": "x"})
    assert originals.differences(tmp_path).missing == ("tests/test_a.py",)


def test_a_link_that_the_check_names_is_kept(tmp_path: Path) -> None:
    write(tmp_path, {"a/one.py": "x", "b/one.py": "y"})
    (tmp_path / "suite").symlink_to("a")
    originals = Originals(tmp_path, tmp_path, (), "pytest suite")
    (tmp_path / "suite").unlink()
    (tmp_path / "suite").symlink_to("b")
    assert originals.differences(tmp_path) == Differences(changed=("suite",))
