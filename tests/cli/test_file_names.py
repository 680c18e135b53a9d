"""Files of any name, given to the program and taken from it."""

from pathlib import Path

import pytest

from tests.cli.running import Terp, said
from tests.loopback import Call, Scripted


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    return Terp(tmp_path)


@pytest.mark.parametrize(
    "name", ["-rf.csv", "line\nbreak.csv", "🎉 売上.csv", "~nobody.csv", "a" * 251 + ".csv"]
)
def test_a_file_of_any_name_can_be_attached(terp: Terp, tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text("a,b\n1,2\n")
    result = terp.asked(["ok"], "-f", f"../{name}", "look")
    there = str(tmp_path / name)
    shown = there if there.isprintable() else repr(there)
    assert said(result.requests[0])[-1][1].startswith(
        f"look\n\n[note: Attachment: {shown}] It is at that path"
    )
    assert list(terp.cwd.iterdir()) == []


def test_a_file_whose_name_begins_with_a_dash_is_no_flag(terp: Terp) -> None:
    (terp.cwd / "-rf.csv").write_text("a,b\n")
    for flags in (("-f", "-rf.csv"), ("--file=-rf.csv",), ("-f-rf.csv",)):
        result = terp.asked(["ok"], *flags, "look")
        assert "[note: Attachment: -rf.csv]" in said(result.requests[0])[-1][1]


def test_files_of_any_name_are_collected_in_a_folder_of_any_name(terp: Terp) -> None:
    names = ("line\nbreak", "-rf", "🎉 売上", "a" * 255)
    script: list[Scripted] = [Call(code=f"for name in {names!r}: open(name, 'w').write(name)"), "done"]
    result = terp.asked(script, "-y", "--out", "--a\n🎉 out", "make it")
    assert sorted(path.read_text() for path in (terp.cwd / "--a\n🎉 out").iterdir()) == sorted(names)
    assert result.notes.count("\n[collected] ") == len(names)
