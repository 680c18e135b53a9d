"""The lines about variables and about where code stood."""

import pytest

from terp.events.changes import by_folder, delta_line, described_files, file_groups, stopped_line
from terp.events.outputs import FileChange, Held, StoppedAt, VariableChange
from terp.text.files import size_text


def test_a_delta_is_one_line() -> None:
    changes = [
        VariableChange("df", "new", "DataFrame", (10_000, 12), 9_400_000),
        VariableChange("n", "new", "int", (), 28),
        VariableChange("model", "changed", "Pipeline"),
        VariableChange("xs", "changed", "list", (3,), 120),
        VariableChange("tmp", "removed"),
    ]
    assert delta_line(changes) == "+df DataFrame 10,000×12 9.4 MB · +n int · ~model · ~xs list 3 · −tmp"
    assert delta_line(()) == ""


def test_a_long_delta_counts_its_rest() -> None:
    changes = [VariableChange(f"v{n}", "removed") for n in range(20)]
    assert delta_line(changes, 1_000).endswith(" · −v11 · and 1,008 more")
    assert delta_line((), 7) == "7 names were added or removed"


@pytest.mark.parametrize(
    ("size", "text"), [(0, "0 bytes"), (999, "999 bytes"), (9_400_000, "9.4 MB"), (5 * 10**13, "50000.0 GB")]
)
def test_sizes_have_units(size: int, text: str) -> None:
    assert size_text(size) == text


@pytest.mark.parametrize(
    ("stopped", "line"),
    [
        (StoppedAt(3), "line 3"),
        (
            StoppedAt(7, "fit", "total = sum(xs)", values=(Held("i", "41"), Held("xs", "list of 10,000"))),
            "line 7 in fit: total = sum(xs)   (i = 41, xs = list of 10,000)",
        ),
        (StoppedAt(2, "", "time.sleep(9)", "time.sleep"), "line 2 (in time.sleep): time.sleep(9)"),
        (StoppedAt(2, "f", run=4), "line 2 of run 4 in f"),
        (StoppedAt(2, "f", file="/a.py"), "line 2 of /a.py in f"),
    ],
)
def test_a_place_is_one_line(stopped: StoppedAt, line: str) -> None:
    assert stopped_line(stopped) == line


def test_few_files_are_told_one_by_one_and_what_is_lost_first() -> None:
    made, lost = FileChange("/w/a.csv", "created", 3), FileChange("/w/b.csv", "deleted")
    assert list(file_groups([made, lost])) == [[lost], [made]]


def test_many_files_are_told_by_folder() -> None:
    moved = [
        FileChange(f"/w/{2019 + one % 2}/{one}.txt", "moved", 1, source=f"/w/{one}.txt") for one in range(9)
    ]
    lost = FileChange("/w/b.csv", "deleted")
    assert list(file_groups([*moved, lost])) == [[lost], moved]
    assert by_folder(moved) == "2019/ 5, 2020/ 4"


def test_files_are_named_from_the_working_directory_where_they_are_below_it() -> None:
    moved = FileChange("/w/done/a.txt", "moved", 1, source="/v/a.txt")
    there = FileChange("/w/b.txt", "created", 1, "gate", "/s/1-b.txt")
    assert [described_files([one], "/w") for one in (moved, there)] == [
        "/v/a.txt → done/a.txt",
        "/s/1-b.txt copy of /w/b.txt at gate",
    ]
