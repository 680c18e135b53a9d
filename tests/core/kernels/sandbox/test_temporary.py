import os
from dataclasses import replace
from pathlib import Path

from terp.kernels.sandbox.confinement import Confinement
from terp.kernels.sandbox.policy import SandboxOptions
from terp.kernels.sandbox.temporary import Leftovers, OwnTemporary
from terp.kernels.sandbox.tier import Unconfined
from terp.testing import EchoKernel

DOCKER = replace(Unconfined(), name="docker")


def sandbox(tmp_path: Path, folder: str) -> Confinement:
    (tmp_path / "home").mkdir(exist_ok=True)
    held = Confinement(
        SandboxOptions("workspace"), "/etc", {"HOME": str(tmp_path / "home")}, tiers=lambda *_: [DOCKER]
    )
    held.temporary = folder
    return held


def message(held: Confinement) -> str:
    return Leftovers().message(held, EchoKernel())


def test_what_code_leaves_is_told_once_and_with_where_it_belongs(tmp_path: Path) -> None:
    held, found = sandbox(tmp_path, str(tmp_path)), Leftovers()
    (tmp_path / "out.csv").write_text("1")
    (tmp_path / "plots").mkdir()
    (tmp_path / "plots" / "1.png").write_text("1")
    assert [found.message(held, EchoKernel()), found.message(held, EchoKernel())] == [
        "In the code's own folder for temporary files, and lost when terp ends: out.csv, plots/1.png. "
        "Write files to keep below /etc.",
        "",
    ]


def test_where_the_working_directory_cannot_be_written_it_is_not_recommended(tmp_path: Path) -> None:
    held = Confinement(SandboxOptions("workspace"), "/", {"HOME": str(tmp_path)}, tiers=lambda *_: [DOCKER])
    held.temporary = str(tmp_path)
    (tmp_path / "out.csv").write_text("1")
    assert message(held) == (
        "In the code's own folder for temporary files, and lost when terp ends: out.csv."
    )


def test_what_programs_make_there_for_themselves_is_passed_over(tmp_path: Path) -> None:
    for name in ("tmpab_12xyz", "tmpab_12xyz.csv", "tmp.Xy12Zq89Ab", ".lock"):
        (tmp_path / name).write_text("1")
    (tmp_path / "empty.lock").touch()
    (tmp_path / "home" / ".rustup").mkdir(parents=True)
    (tmp_path / "home" / ".rustup" / "settings.toml").write_text("1")
    (tmp_path / "place" / "of" / "a mount").mkdir(parents=True)
    (tmp_path / "link").symlink_to("/etc/passwd")
    assert message(sandbox(tmp_path, str(tmp_path))) == ""


def test_of_many_files_a_few_are_named(tmp_path: Path) -> None:
    for number in range(7):
        (tmp_path / f"{number}.txt").write_text("1")
    assert ": 0.txt, 1.txt, 2.txt, 3.txt, 4.txt and 2 more. " in message(sandbox(tmp_path, str(tmp_path)))


def test_where_nothing_holds_the_code_nothing_is_lost(tmp_path: Path) -> None:
    assert message(sandbox(tmp_path, "")) == ""


def test_the_folder_is_there_once_it_was_asked_for_and_gone_when_it_is_closed() -> None:
    own = OwnTemporary()
    path = own.made()
    assert (path, Path(path).stat().st_mode & 0o777) == (own.made(), 0o700)
    Path(path, "file").touch()
    own.close()
    own.close()
    assert not os.path.lexists(path)
