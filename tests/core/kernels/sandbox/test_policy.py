from pathlib import Path

import pytest

from terp.kernels.sandbox.policy import Allowed, Policy, policy_for
from terp.kernels.sandbox.private_places import ConfigWatch, repositories_in
from terp.settings.places import Places


def policy(home: Path, cwd: Path, **given: object) -> Policy:
    (home / ".ssh").mkdir(parents=True, exist_ok=True)
    (home / "proj" / ".git" / "hooks").mkdir(parents=True, exist_ok=True)
    return policy_for(str(cwd), home, Places(home / "config", home / "state"), **given)  # type: ignore[arg-type]


def test_only_the_project_is_writable(tmp_path: Path) -> None:
    assert policy(tmp_path, tmp_path / "proj").writable == (str(tmp_path / "proj"),)


def test_secrets_and_terps_own_files_are_hidden(tmp_path: Path) -> None:
    (tmp_path / "state").mkdir()
    hidden = policy(tmp_path, tmp_path / "proj").hidden
    assert {str(tmp_path / ".ssh"), str(tmp_path / "state")} <= set(hidden)


def test_hooks_of_the_project_stay_as_they_are(tmp_path: Path) -> None:
    assert str(tmp_path / "proj/.git/hooks") in policy(tmp_path, tmp_path / "proj").read_only


def test_in_home_the_files_of_the_shell_stay_as_they_are(tmp_path: Path) -> None:
    assert str(tmp_path / ".bashrc") in policy(tmp_path, tmp_path).read_only


@pytest.mark.parametrize("above", [0, -1])
def test_what_holds_all_homes_is_not_writable(tmp_path: Path, above: int) -> None:
    assert policy(tmp_path, tmp_path.parents[above]).writable == ()


def test_a_link_to_the_project_is_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "proj")
    assert policy(tmp_path, tmp_path / "link").cwd == str(tmp_path / "proj")


def test_what_is_allowed_is_no_longer_hidden(tmp_path: Path) -> None:
    there = str(tmp_path / ".ssh")
    opened = policy(tmp_path, tmp_path / "proj", allowed=Allowed((there,)))
    assert (there in opened.hidden, there in opened.writable) == (False, True)


def test_who_allows_a_folder_does_not_allow_the_secrets_in_it(tmp_path: Path) -> None:
    opened = policy(tmp_path, tmp_path / "proj", allowed=Allowed((str(tmp_path),)))
    assert (str(tmp_path) in opened.writable, str(tmp_path / ".ssh") in opened.hidden) == (True, True)


def test_what_was_allowed_and_is_a_link_by_now_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "data").symlink_to(tmp_path / ".ssh")
    opened = policy(tmp_path, tmp_path / "proj", allowed=Allowed((str(tmp_path / "data"),)))
    assert (opened.writable, str(tmp_path / ".ssh") in opened.hidden) == ((str(tmp_path / "proj"),), True)


@pytest.mark.parametrize("target", [".ssh/id_rsa", "elsewhere"])
def test_a_protected_name_that_is_a_link_out_protects_nothing(tmp_path: Path, target: str) -> None:
    proj = tmp_path / "proj"
    proj.mkdir()
    (proj / ".vscode").symlink_to(tmp_path / target)
    assert str(tmp_path / target) not in policy(tmp_path, proj).read_only


def test_in_home_a_link_to_a_secret_does_not_show_it(tmp_path: Path) -> None:
    (tmp_path / ".vscode").symlink_to(tmp_path / ".ssh")
    assert str(tmp_path / ".ssh") not in policy(tmp_path, tmp_path).read_only


def test_a_protected_name_that_is_a_link_within_protects_what_it_leads_to(tmp_path: Path) -> None:
    proj = tmp_path / "proj"
    (proj / "editor").mkdir(parents=True)
    (proj / ".vscode").symlink_to("editor")
    assert str(proj / "editor") in policy(tmp_path, proj).read_only


def test_what_pythons_are_run_from_stays_as_it_is(tmp_path: Path) -> None:
    environment = tmp_path / "proj" / ".venv"
    environment.mkdir(parents=True)
    assert str(environment) in policy(tmp_path, tmp_path / "proj", readable=[environment]).read_only


@pytest.mark.parametrize("prefix", ["proj", "."])
def test_who_works_in_an_environment_can_write_there(tmp_path: Path, prefix: str) -> None:
    held = policy(tmp_path, tmp_path / "proj", readable=[tmp_path / prefix])
    assert str(tmp_path / prefix) not in held.read_only


def test_who_works_in_a_folder_of_terps_own_has_not_its_keys(tmp_path: Path) -> None:
    config = tmp_path / "config"
    config.mkdir()
    (config / "keys.json").touch()
    held = policy(tmp_path, config)
    assert (str(config) in held.hidden, str(config / "keys.json") in held.hidden) == (False, True)


@pytest.mark.parametrize("name", ["file", "folder", "folder/new", "link", "absent"])
def test_a_change_of_what_programs_obey_is_told_once(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("as it was")
    (tmp_path / "link").symlink_to("folder")
    names = ("file", "folder", "link", "absent")
    obeyed = ConfigWatch([str(tmp_path / one) for one in names])
    path = tmp_path / name
    if path.is_symlink():
        path.unlink()
    if path.is_dir():
        path = path / "inside"
    path.write_text("other")
    assert (obeyed.changed(), obeyed.changed()) == ([str(tmp_path / name.partition("/")[0])], [])


def test_what_stays_as_it_is_is_not_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("as it was")
    assert ConfigWatch([str(tmp_path / "file"), str(tmp_path / "absent")]).changed() == []


def made(*folders: Path) -> None:
    for folder in folders:
        folder.mkdir(parents=True)
        (folder / "HEAD").write_text("ref: refs/heads/main\n")


def test_repositories_near_a_folder_are_found_and_their_submodules(tmp_path: Path) -> None:
    git, shop = tmp_path / ".git", tmp_path / "work" / "shop" / ".git"
    made(git, git / "modules" / "vendor" / "lib", shop)
    assert set(repositories_in(tmp_path)) == {git, git / "modules" / "vendor" / "lib", shop}


def test_a_link_is_no_repository_and_is_not_followed(tmp_path: Path) -> None:
    made(tmp_path / "elsewhere" / ".git")
    (tmp_path / "here").mkdir()
    (tmp_path / "here" / ".git").symlink_to(tmp_path / "elsewhere" / ".git")
    (tmp_path / "here" / "below").symlink_to(tmp_path / "elsewhere")
    assert repositories_in(tmp_path / "here") == []


def test_a_large_tree_is_seen_in_its_upper_folders(tmp_path: Path) -> None:
    for number in range(500):
        (tmp_path / f"{number:03}").mkdir()
    made(tmp_path / "a" / "b" / "c" / "d" / ".git")
    assert repositories_in(tmp_path) == []
