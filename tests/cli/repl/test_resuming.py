"""Stored sessions as rows."""

from pathlib import Path

import pytest

from terp.store.catalogue import SessionEntry
from terp_cli.repl.resuming import age, picks_of, row, when


def entry(number: int, title: str, **more: object) -> SessionEntry:
    name = f"2025-11-2{number}-{number:08x}"
    facts = {"cwd": "/work", "turns": number, "started": 1.7e9, "used": 1.7e9, "model": "a/b", **more}
    return SessionEntry(name, Path("/state") / name, title=title, **facts)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "1 min ago"),
        (7_199, "1 h ago"),
        (86_400 * 40, "40 d ago"),
    ],
)
def test_an_age_has_its_largest_unit(seconds: float, shown: str) -> None:
    assert age(1_000_000, 1_000_000 + seconds) == shown


def test_a_session_is_picked_by_title_age_turns_and_folder() -> None:
    [pick] = picks_of([entry(3, "About apples")])
    title, _, turns, folder = pick.cells
    assert (title, turns, folder) == ("About apples", "3 turns", "/work")
    assert pick.also == f"2025-11-23-00000003 {when(1.7e9)}"


def test_the_preview_of_a_damaged_session_says_so() -> None:
    [pick] = picks_of([entry(1, "x")])
    assert pick.preview is not None
    assert "cannot be read" in pick.preview()


def test_a_row_tells_what_is_special_and_hides_nothing() -> None:
    special = entry(3, "evil \x1b[2J\nname", open=True, forked_from="2025-11-21-00000001")
    shown = row(special, with_directory=True)
    assert shown.startswith(f"2025-11-23-00000003  {when(1.7e9)}    3 turns  /work  evil ")
    assert shown.endswith(" (open) (copy of 2025-11-21-00000001)")
    assert "\x1b" not in shown
