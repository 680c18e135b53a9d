"""What of a project speaks to terp, and when it is another project than before."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from terp.settings.project.standing import Survey, survey_of


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "shop"
    (root / ".terp").mkdir(parents=True)
    (root / ".terp/profile.yaml").write_text("max_steps: 5\n")
    (root / "AGENTS.md").write_text("Obey.\n")
    return root


def survey(cwd: Path) -> Survey:
    return survey_of(cwd, {"HOME": "/nowhere"})


def environment(root: Path, program: str = "/bin/sh") -> Path:
    prefix = root / ".venv"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "pyvenv.cfg").write_text("version = 3.12.1\n")
    (prefix / "bin/python").symlink_to(program)
    return prefix


def test_a_folder_of_plain_files_says_nothing_to_terp(tmp_path: Path) -> None:
    for name in ("README.md", "setup.py", ".env", "sitecustomize.py"):
        (tmp_path / name).write_text("anything")
    assert survey(tmp_path).parts == ()


def test_each_part_has_a_name_and_a_kind(root: Path) -> None:
    environment(root)
    (root / ".terp/tools.py").write_text("")
    (root / ".terp/notes.txt").write_text("")
    assert [(part.name, part.kind) for part in survey(root).parts] == [
        (".terp/notes.txt", "other"),
        (".terp/profile.yaml", "settings"),
        (".terp/tools.py", "tools"),
        (".venv/bin/python", "python"),
        (".venv/pyvenv.cfg", "python"),
        ("AGENTS.md", "instructions"),
    ]


def test_the_same_files_elsewhere_have_the_same_digest(root: Path, tmp_path: Path) -> None:
    before = survey(root).digest
    root.rename(tmp_path / "moved")
    assert survey(tmp_path / "moved").digest == before


CHANGES: dict[str, Callable[[Path], object]] = {
    "one byte": lambda root: (root / "AGENTS.md").write_text("Obey!\n"),
    "a file more": lambda root: (root / ".terp/local.yaml").write_text(""),
    "a file less": lambda root: (root / "AGENTS.md").unlink(),
    "another name": lambda root: (root / "AGENTS.md").rename(root / "CLAUDE.md"),
    "a file that nothing reads yet": lambda root: (root / ".terp/hooks.yaml").write_text("x"),
    "an environment": environment,
    "a pipe": lambda root: os.mkfifo(root / ".terp/local.yaml"),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_change_makes_it_another_project(root: Path, change: Callable[[Path], object]) -> None:
    before = survey(root).digest
    change(root)
    assert survey(root).digest != before


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(one=st.binary(max_size=60), other=st.binary(max_size=60))
def test_two_contents_have_one_digest_only_if_they_are_equal(root: Path, one: bytes, other: bytes) -> None:
    digests = []
    for content in (one, other):
        (root / ".terp/tools.py").write_bytes(content)
        digests.append(survey(root).digest)
    assert (digests[0] == digests[1]) == (one == other)


def test_another_program_behind_python_is_another_environment(root: Path) -> None:
    prefix = environment(root)
    before = survey(root).digest
    (prefix / "bin/python").unlink()
    (prefix / "bin/python").symlink_to("/bin/true")
    assert survey(root).digest != before


def test_a_program_that_lies_in_the_project_is_known_by_its_bytes(root: Path) -> None:
    own = root / "python"
    own.write_text("#!/bin/sh\n")
    own.chmod(0o755)
    environment(root, str(own))
    before = survey(root).digest
    own.write_text("#!/bin/sh\nevil\n")
    assert survey(root).digest != before


def test_packages_that_are_installed_do_not_ask_again(root: Path) -> None:
    prefix = environment(root)
    before = survey(root).digest
    (prefix / "lib/python3.12/site-packages").mkdir(parents=True)
    (prefix / "lib/python3.12/site-packages/new.py").write_text("")
    assert survey(root).digest == before


def test_an_environment_that_the_person_has_activated_is_no_question(root: Path) -> None:
    prefix = environment(root)
    found = survey_of(root, {"HOME": "/nowhere", "VIRTUAL_ENV": str(prefix)})
    assert (found.python, [part.kind for part in found.parts]) == (None, ["settings", "instructions"])


def test_instructions_above_the_root_are_no_part_of_it(root: Path) -> None:
    (root.parent / "AGENTS.md").write_text("above")
    deep = root / "a/b"
    deep.mkdir(parents=True)
    (root / "a/CLAUDE.md").write_text("between")
    assert [part.name for part in survey(deep).parts if part.kind == "instructions"] == [
        "AGENTS.md",
        "a/CLAUDE.md",
    ]


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.path.relpath(path))


def _large(path: Path) -> None:
    path.touch()
    os.truncate(path, 1 << 40)


REFUSED: dict[str, tuple[Callable[[Path], object], str]] = {
    "a link to outside": (lambda path: path.symlink_to("/etc/hostname"), "leads out of this project"),
    "a circle": (
        lambda path: path.symlink_to(path),
        "cannot be read: Too many levels of symbolic links",
    ),
    "a pipe": (os.mkfifo, "is no ordinary file"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "leads out of this project"),
    "a socket": (_socket, "is no ordinary file"),
    "a large file": (_large, "is larger than 64 KB"),
    "a folder": (lambda path: path.mkdir(), "is no ordinary file"),
}


@pytest.mark.parametrize(("make", "why"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_plain_file_of_the_project_is_refused_without_reading_it(
    root: Path, make: Callable[[Path], object], why: str
) -> None:
    (root / "AGENTS.md").unlink()
    make(root / "AGENTS.md")
    [refused] = [part for part in survey(root).parts if part.kind == "refused"]
    assert (refused.name, refused.why) == ("AGENTS.md", why)


def test_a_folder_of_terp_that_leads_elsewhere_is_refused_whole(tmp_path: Path, root: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / ".git").mkdir()
    (other / ".terp").symlink_to(root / ".terp")
    assert [(part.name, part.why) for part in survey(other).parts] == [(".terp", "leads out of this project")]


def test_a_folder_of_terp_with_very_many_files_is_refused(root: Path) -> None:
    for number in range(600):
        (root / f".terp/{number}").touch()
    assert (".terp", "holds more than 500 files") in [(part.name, part.why) for part in survey(root).parts]


def test_it_holds_a_file_with_the_bytes_that_were_seen_and_no_other(root: Path) -> None:
    found = survey(root)
    path = root / "AGENTS.md"
    assert [
        found.holds(path, b"Obey.\n"),
        found.holds(path, b"Obey!\n"),
        found.holds(root / "b.md", b"Obey.\n"),
        found.holds(Path("/etc/hostname"), b"Obey.\n"),
    ] == [True, False, False, False]
