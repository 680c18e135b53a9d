"""`terp profiles`, as a person calls it."""

import json
import stat
from pathlib import Path

import pytest

from tests.cli.running import Result, Terp


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    terp = Terp(tmp_path)
    (terp.home / "profiles").mkdir()
    return terp


def own(terp: Terp, name: str, text: str) -> Path:
    path = terp.home / "profiles" / f"{name}.yaml"
    path.write_text(text)
    return path


def test_a_profile_is_shown_with_all_that_it_stands_on(terp: Terp) -> None:
    own(terp, "work", "# For work.\nextends: fast\nmodel: a/b\n")
    result = terp("profiles", "show", "work")
    assert result.out.startswith("For work.\nmodel             a/b")
    lines = result.out.splitlines()
    assert [line.split()[0] for line in lines[1:] if not line.startswith(" ")] == [
        "model", "reasoning_effort", "instructions", "max_steps",
    ]  # fmt: skip
    assert [line for line in lines[1:] if len(line) > 80] == []
    assert result.out.splitlines()[1].endswith("~/home/profiles/work.yaml:3")


def test_a_profile_that_sets_nothing_is_shown_as_such(terp: Terp) -> None:
    own(terp, "work", "# extends: default\n")
    assert terp("profiles", "show", "work").notes == (
        "terp: work sets nothing: every setting has its default. terp profiles edit work\n"
    )


def test_two_profiles_are_told_apart(terp: Terp) -> None:
    own(terp, "work", "max_steps: 5\n")
    assert terp("profiles", "diff", "work") == Result(0, "max_steps  5  50 in default\n", "")
    assert terp("profiles", "diff", "work", "demo") == Result(
        0, "retries    3  0 in demo\nmax_steps  5  12 in demo\n", ""
    )
    assert terp("profiles", "diff", "work", "work") == Result(0, "", "terp: work and work set the same.\n")


def test_a_new_profile_is_valid_and_names_a_schema_beside_it(terp: Terp) -> None:
    result = terp("profiles", "new", "work")
    path = terp.home / "profiles/work.yaml"
    assert (result.code, result.out) == (0, f"{path}\n")
    assert "# yaml-language-server: $schema=schema.json\n" in path.read_text()
    assert json.loads((path.parent / "schema.json").read_text())["title"] == "Settings of terp"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert terp("profiles", "validate").notes == "terp: 1 file without a mistake.\n"
    assert terp("profiles", "new", "work").code == 2
    [listed] = [line for line in terp("profiles").out.splitlines() if line.startswith("work")]
    assert listed == "work     [~/home/profiles/work.yaml]"


def test_a_circle_of_profiles_is_told_where_they_are_listed(terp: Terp) -> None:
    own(terp, "a", "extends: b\n")
    own(terp, "b", "extends: a\n")
    assert "in a circle: b → a" in terp("profiles").out


@pytest.mark.parametrize("name", ["../work", "a/b", ".hidden", "a b"])
def test_a_name_that_is_none_makes_no_file(terp: Terp, name: str) -> None:
    result = terp("profiles", "new", name)
    assert (result.code == 2, list(terp.home.rglob("*.yaml"))) == (True, [])


def test_every_mistake_of_every_file_is_told_at_once(terp: Terp) -> None:
    own(terp, "a", "modle: x\nextends: nobody\n")
    own(terp, "b", "max_steps: many\n")
    (terp.home / "config.yaml").write_text("extends: fast\n")
    (terp.cwd / ".terp").mkdir()
    (terp.cwd / ".terp/profile.yaml").write_text("auto_run: true\n")
    result = terp("profiles", "validate")
    assert (result.code, result.out) == (2, "")
    assert result.notes.splitlines() == [
        "terp: ~/home/profiles/a.yaml:1: unknown setting 'modle'. Did you mean 'model'?",
        "terp: ~/home/profiles/b.yaml:1: 'max_steps' is \"many\", must be a whole number, 0 or more.",
        "terp: ~/home/config.yaml:1: 'extends' is called 'profile' in this file.",
        "terp: .terp/profile.yaml:1: 'auto_run' is not taken from a project; only you can set it, with "
        "--auto-run or in a file of your own.",
        "terp: ~/home/profiles/a.yaml:2: there is no profile 'nobody'. There are: a, b, careful, data, "
        "default, demo, explain, fast, local, shell, solve, vision.",
    ]


def test_a_file_can_be_named_to_be_validated(terp: Terp) -> None:
    (terp.cwd / "x.yaml").write_text("auto_run: 1\n")
    assert terp("profiles", "validate", "x.yaml", "fast").notes == (
        "terp: x.yaml:1: 'auto_run' is 1, must be true or false.\n"
    )


def test_the_place_of_a_profile_and_of_all_is_told(terp: Terp) -> None:
    path = own(terp, "work", "max_steps: 5\n")
    assert terp("profiles", "path", "work").out == f"{path}\n"
    assert terp("profiles", "path").out == f"{path.parent}\n"


def test_a_shipped_profile_is_edited_as_one_of_ones_own_that_extends_it(terp: Terp) -> None:
    editor = terp.home / "editor"
    editor.write_text('#!/bin/sh\necho "max_steps: many" >> "$1"\n')
    editor.chmod(0o700)
    result = terp("profiles", "edit", "fast", EDITOR=str(editor))
    text = (terp.home / "profiles/fast.yaml").read_text()
    assert "\nextends: fast\n" in text
    assert (result.code, result.notes) == (
        2,
        "terp: ~/home/profiles/fast.yaml:6: 'max_steps' is \"many\", must be a whole number, 0 or more.\n",
    )


def test_an_editor_that_does_not_run_is_told(terp: Terp) -> None:
    result = terp("profiles", "edit", EDITOR="no-such-editor")
    assert (result.code, "The editor 'no-such-editor' does not run" in result.notes) == (1, True)


def test_a_profile_of_open_interpreter_is_imported_and_what_is_left_out_is_told(terp: Terp) -> None:
    (terp.cwd / "theirs.yaml").write_text(
        "llm:\n  model: gpt-4o\n  api_key: sk-secret-1234567890\nos: true\n"
    )
    result = terp("profiles", "import", "theirs.yaml", "mine")
    path = terp.home / "profiles/mine.yaml"
    assert (result.code, result.out) == (0, f"{path}\n")
    assert path.read_text().endswith("\nmodel: gpt-4o\n")
    assert result.notes == (
        "terp: theirs.yaml:3: llm.api_key: a key does not belong in a profile; terp keys set PROVIDER stores "
        "it.\n"
        "terp: theirs.yaml:4: os: the screen and the mouse are not controlled.\n"
    )
    assert "secret" not in result.out + result.notes + path.read_text()
    assert terp("profiles", "import", "theirs.yaml", "mine").code == 2


def test_an_import_that_takes_the_place_of_a_shipped_profile_says_so(terp: Terp) -> None:
    (terp.cwd / "default.yaml").write_text("model: a/b\n")
    result = terp("profiles", "import", "default.yaml")
    assert result.notes == (
        "terp: -p default names this one now, and the shipped profile again once it is removed.\n"
        "terp: It counts with -p default, or always with 'profile: default' in config.yaml.\n"
    )


def test_a_profile_that_is_a_program_is_not_run(terp: Terp) -> None:
    (terp.cwd / "theirs.py").write_text("open('ran', 'w')\n")
    result = terp("profiles", "import", "theirs.py")
    assert (result.code, result.notes.startswith("terp: theirs.py: is a program")) == (2, True)
    assert not (terp.cwd / "ran").exists()


def test_a_verb_that_lacks_a_name_says_so(terp: Terp) -> None:
    assert terp("profiles", "show") == Result(2, "", "terp: terp profiles show needs NAME.\n")
