"""What is noted of all sessions' calls, whatever happens to the file."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.events import UsageReported
from terp.session.cost.budget import Tally, tally_of
from terp.session.cost.ledger import Ledger, LedgerAccount, UsageEntry, tallies

NOON = 1_795_348_800.0  # 22 November 2026
USED = UsageReported(1_000, 20, 400, 0.5, "openai/a", 1.5)
MONTH = "2026-11"
WRITER = """
import sys
from pathlib import Path
from terp.events import UsageReported
from terp.session.cost.ledger import Ledger
for number in range(200):
    Ledger(Path(sys.argv[1]), lambda: 1_795_348_800.0).add(
        "work", sys.argv[2], UsageReported(number, 1, 0, 0.25, "openai/" + "a" * 200, 0.5)
    )
"""


def ledger(folder: Path, now: float = NOON) -> Ledger:
    return Ledger(folder / "usage", lambda: now)


def file(folder: Path) -> Path:
    return folder / "usage" / f"{MONTH}.jsonl"


def test_a_call_is_noted_and_read_back(tmp_path: Path) -> None:
    ledger(tmp_path).add("work", "s1", USED)
    ledger(tmp_path).add("play", "s2", UsageReported(1, 2, 0, None, "mine/b", 0.5))
    assert list(ledger(tmp_path).entries(MONTH)) == [
        UsageEntry(NOON, "work", "s1", USED),
        UsageEntry(NOON, "play", "s2", UsageReported(1, 2, 0, None, "mine/b", 0.5)),
    ]


def test_nothing_was_spent_before_there_is_a_file(tmp_path: Path) -> None:
    assert list(ledger(tmp_path).entries(MONTH)) == []
    assert (ledger(tmp_path).spent_usd("work"), ledger(tmp_path).months()) == (0.0, [])


def test_only_its_owner_can_read_it(tmp_path: Path) -> None:
    ledger(tmp_path).add("work", "s1", USED)
    assert (file(tmp_path).stat().st_mode & 0o777, file(tmp_path).parent.stat().st_mode & 0o777) == (
        0o600,
        0o700,
    )


def test_each_month_has_a_file_and_a_sum_of_its_own(tmp_path: Path) -> None:
    ledger(tmp_path, NOON - 40 * 86_400).add("work", "s1", USED)
    one = ledger(tmp_path)
    one.add("work", "s2", USED)
    assert one.months() == ["2026-10", "2026-11"]
    assert one.spent_usd("work") == 0.5


def test_the_sum_begins_anew_with_the_month(tmp_path: Path) -> None:
    times = [NOON, NOON, NOON + 15 * 86_400]
    one = Ledger(tmp_path / "usage", lambda: times[0])
    one.add("work", "s1", USED)
    assert one.spent_usd("work") == 0.5
    times[0] = times[-1]
    assert one.spent_usd("work") == 0.0


def test_what_other_sessions_spend_meanwhile_is_read(tmp_path: Path) -> None:
    mine, theirs = ledger(tmp_path), ledger(tmp_path)
    mine.add("work", "s1", USED)
    assert mine.spent_usd("work") == 0.5
    theirs.add("work", "s2", USED)
    theirs.add("play", "s3", USED)
    assert (mine.spent_usd("work"), mine.spent_usd("play")) == (1.0, 0.5)


def test_terps_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    folder = tmp_path / "usage"
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(folder), f"s{number}"]) for number in range(4)
    ]
    assert [writer.wait() for writer in writers] == [0] * 4
    by_session = tallies(ledger(tmp_path).entries(MONTH), lambda entry: (entry.session,))
    one = Tally(200, sum(range(200)), 200, 0, 50.0, 0, 100.0)
    assert by_session == {(f"s{number}",): one for number in range(4)}


@given(calls=st.integers(1, 6), data=st.data())
def test_whatever_is_cut_off_at_the_end_costs_no_more_than_the_last_call(
    calls: int, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        for number in range(calls):
            ledger(place).add("work", f"s{number}", USED)
        whole = file(place).read_bytes()
        line = len(whole) // calls
        os.truncate(file(place), data.draw(st.integers(len(whole) - line, len(whole))))
        reader = ledger(place)
        torn = reader.spent_usd("work")
        assert torn in (0.5 * (calls - 1), 0.5 * calls)
        ledger(place).add("work", "after", USED)
        # What was left of the torn line may be a whole one.
        assert reader.spent_usd("work") in (0.5 * calls, 0.5 * (calls + 1))
        assert ledger(place).spent_usd("work") == reader.spent_usd("work")
        assert [entry.session for entry in ledger(place).entries(MONTH)][-1] == "after"


@given(st.lists(st.binary(max_size=40), max_size=8), st.integers(0, 7))
def test_lines_of_anything_else_are_passed_over(rubbish: list[bytes], at: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        ledger(place).add("work", "s1", USED)
        good = file(place).read_bytes()
        file(place).write_bytes(
            b"".join(b"\n" + line for line in rubbish[:at])
            + good
            + b"".join(b"\n" + line for line in rubbish[at:])
        )
        assert [entry.used for entry in ledger(place).entries(MONTH)] == [USED]


def test_an_account_counts_what_could_not_be_written(tmp_path: Path) -> None:
    (tmp_path / "usage").write_text("no folder")
    account = LedgerAccount(ledger(tmp_path), "work", "s1")
    with pytest.raises(OSError, match="File exists"):
        account.note(USED)
    (tmp_path / "usage").unlink()
    account.note(USED)
    assert account.spent_usd() == 1.0


def test_an_account_goes_on_under_another_profile(tmp_path: Path) -> None:
    account = LedgerAccount(ledger(tmp_path), "work", "s1")
    account.note(USED)
    account.profile = "play"
    account.note(USED)
    account.note(USED)
    by_profile = tallies(ledger(tmp_path).entries(MONTH), lambda entry: (entry.profile,))
    assert by_profile == {("play",): tally_of([USED, USED]), ("work",): tally_of([USED])}
