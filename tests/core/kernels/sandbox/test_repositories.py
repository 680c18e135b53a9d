from pathlib import Path

from terp.kernels.sandbox.repositories import repositories_in


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
