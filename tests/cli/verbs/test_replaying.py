"""`terp replay`: what a session ran, run again without a model, and compared."""

import json
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.cli.running import Result, Terp
from tests.loopback import Call

SAME = "2 of 2 runs printed the same as before.\n"


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    return Terp(tmp_path)


def session_in(terp: Terp) -> Path:
    """The folder of a new session that has read a file, and printed an address."""
    (terp.cwd / "n.txt").write_text("41")
    terp.asked(
        [
            Call(code="n = int(open('n.txt').read())\nprint(object(), 0.1 + 0.2)"),
            Call(code="n + 1"),
            "It is 42.",
        ],
        "-y",
        "add one",
    )
    (folder,) = (terp.home / "sessions").glob("2*")
    return folder


@dataclass(frozen=True)
class Kept:
    """A session that tests replay and do not go on with, and the program that has kept it."""

    terp: Terp
    folder: Path

    @property
    def read(self) -> Path:
        """The file that its code has read."""
        return self.terp.cwd / "n.txt"


@pytest.fixture(scope="module")
def kept_once(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    terp = Terp(tmp_path_factory.mktemp("kept"))
    return Kept(terp, session_in(terp))


@pytest.fixture
def kept(kept_once: Kept) -> Kept:
    kept_once.read.write_text("41")
    return kept_once


def test_a_session_that_says_the_same_passes(kept: Kept) -> None:
    assert kept.terp("replay", kept.folder.name, "--fresh") == Result(0, SAME, "")


def test_a_planted_change_is_found(kept: Kept) -> None:
    kept.read.write_text("42")
    told = "--- run 2 then\n+++ run 2 now\n@@ -1 +1 @@\n-42\n+43\n"
    expected = f"{told}1 of 2 runs printed the same as before, 1 something else.\n"
    assert kept.terp("replay", kept.folder.name, "--fresh") == Result(1, expected, "")


def test_a_folder_is_replayed_where_one_is(kept: Kept, tmp_path: Path) -> None:
    (tmp_path / "n.txt").write_text("41")
    kept.read.unlink()
    assert kept.terp("replay", str(kept.folder), "--fresh", "--cwd", str(tmp_path)).out == SAME


def test_without_fresh_nothing_runs(kept: Kept) -> None:
    result = kept.terp("replay", kept.folder.name)
    first = "  1  python   n = int(open('n.txt').read())  (and 1 line more)\n"
    assert (result.code, result.out) == (0, f"{first}  2  python   n + 1\n")
    assert "nothing was run" in result.notes


def test_what_a_rule_denies_is_left_out(kept: Kept) -> None:
    result = kept.terp("replay", kept.folder.name, "--fresh", "--deny", "effects: reads")
    assert result.notes.startswith("terp: run 1 of 2 is left out: ")
    assert "effects: reads" in result.notes
    assert result.code == 1


def test_a_replay_that_leaves_all_out_has_not_succeeded(terp: Terp) -> None:
    terp.asked([Call(code="open('n.txt', 'w').write('41')"), "Done."], "-y", "write it")
    (folder,) = (terp.home / "sessions").glob("2*")
    result = terp("replay", folder.name, "--fresh", "--deny", "effects: writes")
    assert (result.code, result.out) == (1, "0 of 1 runs printed the same as before, 1 left out.\n")


def test_what_was_forgotten_between_is_forgotten_again(terp: Terp) -> None:
    session = session_in(terp)
    terp.asked([Call(code="print('n' in globals())"), "No."], "-y", "-c", "is n there?")
    assert terp("replay", session.name, "--fresh").out == SAME.replace("2", "3")


def test_a_session_in_which_nothing_ran_fails(terp: Terp) -> None:
    terp.asked(["Hello."], "hi")
    result = terp("replay", "2", "--fresh")
    assert (result.code, result.out) == (1, "")
    assert result.notes == "terp: No code of '2' has run, so nothing can be replayed.\n"


def test_a_recording_is_run_again_as_well(terp: Terp) -> None:
    (terp.cwd / "n.txt").write_text("41")
    code = "print(int(open('n.txt').read()) + 1, object())"
    terp.asked([Call(code=code), "It is 42."], "-y", "--record", "r.jsonl", "add one")
    assert terp("replay", "r.jsonl", "--fresh").out == "1 of 1 runs printed the same as before.\n"
    (terp.cwd / "n.txt").write_text("1")
    result = terp("replay", "r.jsonl", "--fresh")
    assert (result.code, "-42 <object object at <address>>\n+2 " in result.out) == (1, True)


def test_what_is_pinned_or_skipped_in_a_recording_counts(terp: Terp) -> None:
    terp.asked([Call(code="print(1)"), "One."], "-y", "--record", "r.jsonl", "go")
    entries = [json.loads(line) for line in (terp.cwd / "r.jsonl").read_text().splitlines()]
    lines = (json.dumps({**entry, "skip": True}) for entry in entries)
    (terp.cwd / "r.jsonl").write_text("\n".join(lines))
    assert terp("replay", "r.jsonl", "--fresh").code == 1


def test_effects_of_replayed_code_are_not_asked_about(terp: Terp) -> None:
    code = "print(open('n.txt', 'w').write('1'))"
    (terp.cwd / "n.txt").write_text("41")
    terp.asked([Call(code=code), "Done."], "-y", "write")
    (folder,) = (terp.home / "sessions").glob("2*")
    assert terp("replay", str(folder), "--fresh", "--approve", "effect").out == (
        "1 of 1 runs printed the same as before.\n"
    )
