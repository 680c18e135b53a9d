import stat
import subprocess
import sys
import tempfile
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from terp_cli.prompt.message import LockedHistory


def test_entries_come_back_newest_first(tmp_path: Path) -> None:
    history = LockedHistory(tmp_path / "state" / "history")
    for entry in ("first", "two\nlines", "+plus"):
        history.store_string(entry)
    assert list(history.load_history_strings()) == ["+plus", "two\nlines", "first"]


def test_only_the_owner_can_read_it(tmp_path: Path) -> None:
    path = tmp_path / "state" / "history"
    LockedHistory(path).store_string("secret")
    modes = [stat.S_IMODE(each.stat().st_mode) for each in (path.parent, path)]
    assert modes == [0o700, 0o600]


def test_a_file_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    path = tmp_path / "history"
    path.touch(0o644)
    LockedHistory(path).store_string("secret")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_a_history_that_cannot_be_kept_is_forgotten(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    history = LockedHistory(tmp_path / "file" / "history")
    history.store_string("lost")
    assert list(history.load_history_strings()) == []


def test_two_sessions_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "history"
    code = (
        "import sys; from pathlib import Path; from terp_cli.prompt.message import LockedHistory\n"
        "history = LockedHistory(Path(sys.argv[1]))\n"
        "for at in range(200): history.store_string(f'{sys.argv[2]}{at}\\nmore')"
    )
    ran = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(path), name], env={"PYTHONPATH": ":".join(sys.path)}
        )
        for name in "ab"
    ]
    assert [each.wait(60) for each in ran] == [0, 0]
    entries = list(LockedHistory(path).load_history_strings())
    assert sorted(entries) == sorted(f"{name}{at}\nmore" for name in "ab" for at in range(200))


words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


@given(entries=st.lists(words, max_size=5))
def test_any_text_survives(entries: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        history = LockedHistory(Path(folder, "history"))
        for entry in entries:
            history.store_string(entry)
        assert list(history.load_history_strings()) == entries[::-1]


def test_half_a_character_is_no_reason_to_fail(tmp_path: Path) -> None:
    history = LockedHistory(tmp_path / "history")
    history.store_string("a\ud83d and \udce9")
    assert list(history.load_history_strings()) == ["a? and ?"]
