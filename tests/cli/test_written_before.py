"""A session and a recording that an earlier terp wrote, before names in it changed, are read by this one.

Both are in `written_before`. In the session the user attached a file, ran code in Python and a shell, met an
error, declined code, answered `input()`, rewound a turn, ran code themselves, detached a job, compacted the
conversation, resumed it, and terp was killed while code ran.
"""

import json
import shutil
from pathlib import Path

import pytest

from terp.store.reading import StoredLog, read
from tests.cli.running import Result, Terp
from tests.loopback import Call

BEFORE = Path(__file__).parent / "written_before"
ID = "2026-11-28-f695bc68"
RECORDING = BEFORE / "recording.jsonl"


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    """The program, with the session among those that it stores, and with the files that its code needs."""
    program = Terp(tmp_path)
    shutil.copytree(BEFORE / ID, program.home / "sessions" / ID)
    (program.cwd / "numbers.csv").write_text("day,count\nmon,3\ntue,4\n")
    (program.cwd / "n.txt").write_text("41")
    (program.cwd / "done").touch()
    return program


@pytest.fixture(scope="module")
def stored() -> StoredLog:
    return read(BEFORE / ID)


def test_every_line_of_the_session_is_read(stored: StoredLog) -> None:
    assert stored.notices == ()
    log = BEFORE / ID / "events.jsonl"
    assert stored.end == log.stat().st_size
    written = {line["event"] for line in map(json.loads, log.read_text().splitlines()) if line.get("event")}
    read_again = {record.event.__class__.__name__ for record in stored.events.records}
    assert {name.replace("_", "") for name in written} <= {name.lower() for name in read_again}


def test_the_conversation_and_its_figures_are_what_they_were(stored: StoredLog) -> None:
    assert [turn.prompt for turn in stored.history.turns] == [
        "Wait beside the conversation.",
        "What is the sum again?",
        "Print total.",
        "Work until done.",
    ]
    assert (stored.runs, stored.last_run, stored.calls, stored.step) == (11, 11, 11, 1)
    assert (stored.used.input_tokens, stored.used.output_tokens) == (200, 100)
    assert [(left.call.name, left.started, left.finished) for left in stored.left_over] == [
        ("execute", True, False)
    ]


def test_the_session_is_listed_by_its_first_prompt(terp: Terp) -> None:
    (listed,) = json.loads(terp("sessions", "--all", "--json").out)["sessions"]
    assert {"id": ID, "title": "Add up the counts.", "turns": 4}.items() <= listed.items()


def test_the_session_is_resumed_with_what_was_cut_off(terp: Terp) -> None:
    result = terp.asked([Call(code="print(6 + 1)"), "Seven."], "-y", "-r", ID, "And now?")
    assert (result.code, result.out) == (0, "Seven.\n")
    assert "Run 11 was cut off when terp ended" in result.notes
    sent = [message["content"] for message in result.requests[0]["messages"]]
    assert any("terp ended while this code ran." in text for text in sent if text)
    assert "And now?" in sent[-1]


@pytest.mark.parametrize("form", ["md", "html", "py", "ipynb"])
def test_the_session_is_exported(terp: Terp, form: str) -> None:
    result = terp("export", form, ID, "-o", f"out.{form}")
    assert (result.code, result.out) == (0, f"out.{form}\n")
    written = (terp.cwd / f"out.{form}").read_text()
    for text in [
        "Add up the counts.",
        "Set total to -1.",
        "sum.txt",
        "typed",
        "There are two rows; the sum is",
    ]:
        assert text in written
    assert ("keep the file" in written) is (form != "py")


def test_the_session_is_replayed(terp: Terp) -> None:
    result = terp("replay", ID, "--fresh", "--cwd", str(terp.cwd))
    # Code that was rewound runs again too, and run 8 reads what it has set.
    different = "--- run 8 then\n+++ run 8 now\n@@ -1 +1 @@\n-14\n+-2\n"
    summary = "9 of 11 runs printed the same as before, 1 something else, 1 left out.\n"
    cut_off = "terp: run 11 of 11 is left out: it did not run to its end.\n"
    assert result == Result(1, different + summary, cut_off)


def test_the_recording_answers_for_the_model(terp: Terp) -> None:
    result = terp("-y", "--replay", str(RECORDING), "--replay-mode", "sequence", "Add one.")
    assert (result.code, result.out) == (0, "It is 42.\n")


def test_the_code_of_the_recording_is_replayed(terp: Terp) -> None:
    result = terp("replay", str(RECORDING), "--fresh")
    assert (result.code, result.out) == (0, "2 of 2 runs printed the same as before.\n")
