from pathlib import Path

import pytest

from terp.kernels.sandbox.obeyed import Obeyed


@pytest.mark.parametrize("name", ["file", "folder", "folder/new", "link", "absent"])
def test_a_change_of_what_programs_obey_is_told_once(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("as it was")
    (tmp_path / "link").symlink_to("folder")
    names = ("file", "folder", "link", "absent")
    obeyed = Obeyed([str(tmp_path / one) for one in names])
    path = tmp_path / name
    if path.is_symlink():
        path.unlink()
    if path.is_dir():
        path = path / "inside"
    path.write_text("other")
    assert (obeyed.changed(), obeyed.changed()) == ([str(tmp_path / name.partition("/")[0])], [])


def test_what_stays_as_it_is_is_not_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("as it was")
    assert Obeyed([str(tmp_path / "file"), str(tmp_path / "absent")]).changed() == []
