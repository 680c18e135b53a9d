"""Choosing a session by its number or by words."""

from collections.abc import Iterator
from pathlib import Path

from terp.store.catalogue import SessionEntry
from terp_cli.repl.resuming import matching, pick, row, when


def entry(number: int, title: str, **more: object) -> SessionEntry:
    name = f"2025-11-2{number}-{number:08x}"
    facts = {"cwd": "/work", "turns": number, "started": 1.7e9, "used": 1.7e9, "model": "a/b", **more}
    return SessionEntry(name, Path("/state") / name, title=title, **facts)  # type: ignore[arg-type]


APPLES, PEARS = entry(1, "About apples"), entry(2, "About pears")


class Typing:
    """A person with a keyboard; `shown` is what they saw."""

    def __init__(self, *lines: str) -> None:
        self.shown: list[str] = []
        self._lines: Iterator[str] = iter(lines)

    def ask(self, prompt: str) -> str:
        try:
            return next(self._lines)
        except StopIteration:
            raise EOFError from None

    def pick(self, *entries: SessionEntry) -> SessionEntry | None:
        return pick(entries, self.ask, self.shown.append, all_directories=False)


def test_every_word_must_stand_somewhere() -> None:
    assert matching([APPLES, PEARS], "ABOUT pear") == [PEARS]
    assert matching([APPLES, PEARS], "work") == [APPLES, PEARS]
    assert matching([APPLES, PEARS], "2025-11-21") == [APPLES]
    assert matching([APPLES, PEARS], "apples pears") == []
    assert matching([APPLES, PEARS], "") == [APPLES, PEARS]


def test_a_session_is_chosen_by_its_number() -> None:
    assert Typing("2\n").pick(APPLES, PEARS) == PEARS


def test_words_make_the_list_shorter() -> None:
    person = Typing("pears", "1")
    assert person.pick(APPLES, PEARS) == PEARS
    assert person.shown[2:] == [f"  1  {row(PEARS)}"]


def test_words_that_are_nowhere_leave_the_list_as_it_was() -> None:
    person = Typing("plums", "1")
    assert person.pick(APPLES, PEARS) == APPLES
    assert person.shown[2] == "No session has 'plums' in its title, directory, id or date."


def test_nothing_is_chosen_by_leaving() -> None:
    assert [Typing(*lines).pick(APPLES) for lines in ((), ("",), ("q",))] == [None, None, None]


def test_a_long_list_is_cut_and_says_so() -> None:
    person = Typing()
    person.pick(*(entry(number, "x") for number in range(20)))
    assert person.shown[-1] == "     and 5 more: search for a word"


def test_a_row_tells_what_is_special_and_hides_nothing() -> None:
    special = entry(3, "evil \x1b[2J\nname", open=True, forked_from="2025-11-21-00000001")
    shown = row(special, with_directory=True)
    assert shown.startswith(f"2025-11-23-00000003  {when(1.7e9)}    3 turns  /work  evil ")
    assert shown.endswith(" (open) (copy of 2025-11-21-00000001)")
    assert "\x1b" not in shown
