"""The files that differ after a run, from the effects that were performed."""

import os
from pathlib import Path

import pytest

from terp.kernels.sandbox.entering.acting import SystemEffect
from terp.kernels.sandbox.entering.file_account import FileAccount, state_of


@pytest.fixture
def account() -> FileAccount:
    return FileAccount()


def rows(account: FileAccount) -> list[tuple[str, str, int, str]]:
    """Return the rows with names instead of paths."""
    return [
        (os.path.basename(path).decode(), action, size, os.path.basename(source).decode())  # noqa: PTH119
        for path, action, size, source in account.rows()
    ]


def written(account: FileAccount, path: Path, text: str) -> None:
    """Write a file as code would, and note it."""
    if path.exists():
        found = path.stat()
        account.note(SystemEffect("modify", os.fsencode(path), before=state_of(found)))
    else:
        account.note(SystemEffect("create", os.fsencode(path)))
    path.write_text(text)


def moved(account: FileAccount, path: Path, to: Path) -> None:
    folder = path.is_dir()
    if to.exists():
        account.note(SystemEffect("modify", os.fsencode(to)))
    account.note(SystemEffect("delete", os.fsencode(path), os.fsencode(to), folder=folder))
    path.rename(to)


def deleted(account: FileAccount, path: Path) -> None:
    account.note(SystemEffect("delete", os.fsencode(path)))
    path.unlink()


def test_a_new_file_has_its_size_at_the_end(account: FileAccount, tmp_path: Path) -> None:
    written(account, tmp_path / "a", "1")
    written(account, tmp_path / "a", "12345")
    assert rows(account) == [("a", "created", 5, "")]
    assert rows(account) == []


def test_a_temporary_file_is_no_change(account: FileAccount, tmp_path: Path) -> None:
    written(account, tmp_path / "a", "1")
    deleted(account, tmp_path / "a")
    assert rows(account) == []


def test_a_file_that_is_only_opened_is_not_modified(account: FileAccount, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    found = (tmp_path / "a").stat()
    before = state_of(found)
    account.note(SystemEffect("modify", os.fsencode(tmp_path / "a"), before=before))
    assert rows(account) == []


def test_another_mode_modifies_a_file(account: FileAccount, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    before = state_of((tmp_path / "a").stat())
    account.note(SystemEffect("modify", os.fsencode(tmp_path / "a"), before=before))
    (tmp_path / "a").chmod(0o600)
    assert rows(account) == [("a", "modified", 1, "")]


def test_replacing_a_file_by_a_new_one_modifies_it(account: FileAccount, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    written(account, tmp_path / "a.tmp", "123")
    moved(account, tmp_path / "a.tmp", tmp_path / "a")
    assert rows(account) == [("a", "modified", 3, "")]


def test_a_file_that_was_there_is_moved_also_in_steps(account: FileAccount, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    moved(account, tmp_path / "a", tmp_path / "b")
    moved(account, tmp_path / "b", tmp_path / "c")
    assert rows(account) == [("c", "moved", 1, "a")]


def test_a_new_file_that_is_moved_is_created(account: FileAccount, tmp_path: Path) -> None:
    written(account, tmp_path / "a", "1")
    moved(account, tmp_path / "a", tmp_path / "b")
    assert rows(account) == [("b", "created", 1, "")]


def test_deleting_and_writing_again_modifies(account: FileAccount, tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1")
    deleted(account, tmp_path / "a")
    written(account, tmp_path / "a", "22")
    assert rows(account) == [("a", "modified", 2, "")]


def test_files_of_a_moved_folder_move_along(account: FileAccount, tmp_path: Path) -> None:
    (tmp_path / "d").mkdir()
    (tmp_path / "d" / "old").write_text("1")
    written(account, tmp_path / "d" / "new", "12")
    moved(account, tmp_path / "d", tmp_path / "e")
    assert rows(account) == [("e", "moved", 0, "d"), ("new", "created", 2, "")]


def test_a_file_that_stays_open_is_modified_by_a_later_run(account: FileAccount, tmp_path: Path) -> None:
    written(account, tmp_path / "log", "1")
    account.rows()
    with (tmp_path / "log").open("a") as log:
        log.write("2")
    assert rows(account) == [("log", "modified", 2, "")]
