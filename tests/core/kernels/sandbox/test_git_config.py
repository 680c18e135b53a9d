import os
import subprocess
from pathlib import Path

import pytest

from terp.kernels.sandbox.git_config import obeyed_by_git


def named(cwd: Path, config: str = "", home: Path = Path("/nowhere")) -> set[str]:
    """Paths below `cwd` that git's configuration names, which is `config` in its repository."""
    if config:
        (cwd / ".git").mkdir(parents=True, exist_ok=True)
        (cwd / ".git" / "config").write_text(config)
    found = map(os.path.normpath, obeyed_by_git(cwd, home, {}))
    below = {os.path.relpath(path, cwd) for path in found if Path(path).is_relative_to(cwd)}
    return {path for path in below if not path.startswith(".git/")}


@pytest.mark.parametrize(
    "config",
    [
        "[core]\n\thooksPath = .githooks\n",
        '[Core]\n hookspath = "./.githooks" ; of all\n',
        "[core] HOOKSPATH=.githo\\\noks # here\n",
        "[init]\n templateDir = .githooks",
        "[core]\n attributesFile = .githooks",
        "[include]\n path = ../.githooks",
        '[includeIf "onbranch:main"]\n path = ../.githooks',
    ],
)
def test_a_path_in_the_configuration_is_found(tmp_path: Path, config: str) -> None:
    assert named(tmp_path, config) == {".githooks"}


@pytest.mark.parametrize(
    "config",
    [
        "[core]\n fsmonitor = tools/run.sh",
        "[core]\n pager = sh -c 'exec tools/run.sh --all'",
        '[filter "big"]\n clean = "tools/run.sh" %f',
        '[alias]\n go = "!f() { tools/run.sh; }; f"',
        '[mergetool "x"]\n cmd = tools/run.sh $LOCAL',
    ],
)
def test_a_program_that_git_starts_is_found(tmp_path: Path, config: str) -> None:
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools" / "run.sh").touch()
    assert named(tmp_path, config) == {"tools/run.sh"}


def test_a_folder_that_a_command_only_mentions_is_not_found(tmp_path: Path) -> None:
    (tmp_path / "tests").mkdir()
    assert named(tmp_path, "[alias]\n t = !make tests") == set()


def test_included_files_are_followed(tmp_path: Path) -> None:
    (tmp_path / "inc").write_text("[core]\n hooksPath = .githooks\n[include]\n path = inc\n")
    assert named(tmp_path, "[include]\n path = ../inc\n") == {"inc", ".githooks"}


def test_the_users_own_configuration_counts_for_each_repository(tmp_path: Path) -> None:
    home, cwd = tmp_path / "home", tmp_path / "proj"
    home.mkdir()
    (home / "gitconfig").write_text("[core]\n hooksPath = .githooks\n[include]\n path = ~/../proj/inc\n")
    (home / ".gitconfig").symlink_to("gitconfig")
    assert named(cwd, "[core]\n", home) == {".githooks", "inc"}


def test_a_repository_around_the_folder_counts(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "config").write_text("[core]\n hooksPath = sub/hooks\n")
    (tmp_path / "sub").mkdir()
    assert named(tmp_path / "sub") == {"hooks"}


def test_hooks_beside_everything_else_are_found_one_by_one(tmp_path: Path) -> None:
    found = named(tmp_path, "[core]\n hooksPath = .\n")
    assert ("pre-commit" in found, "." in found) == (True, False)


def git(*arguments: str, cwd: Path) -> None:
    user = ("-c", "user.name=a", "-c", "user.email=b@c", "-c", "protocol.file.allow=always")
    subprocess.run(("git", *user, *arguments), cwd=cwd, check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    made = tmp_path / "made"
    made.mkdir()
    git("init", "-q", cwd=made)
    git("commit", "-q", "--allow-empty", "-m", "one", cwd=made)
    git("config", "core.hooksPath", ".githooks", cwd=made)
    return made


def test_a_linked_work_tree_has_the_hooks_of_its_repository(repository: Path) -> None:
    git("worktree", "add", "-q", "../linked", cwd=repository)
    assert named(repository.parent / "linked") == {".githooks"}


def test_a_submodule_has_its_own(repository: Path, tmp_path: Path) -> None:
    git("init", "-q", "outer", cwd=tmp_path)
    git("submodule", "add", "-q", str(repository), "libs/down/sub", cwd=tmp_path / "outer")
    git("config", "core.hooksPath", ".githooks", cwd=tmp_path / "outer/libs/down/sub")
    assert "libs/down/sub/.githooks" in named(tmp_path / "outer")


@pytest.mark.parametrize("content", ["", "[", "[core", "= x", "[core]\nhooksPath", "\0\xff[a]b=\\"])
def test_what_is_no_configuration_names_nothing(tmp_path: Path, content: str) -> None:
    assert named(tmp_path, content) <= {"."}
