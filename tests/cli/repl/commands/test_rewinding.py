from pathlib import Path

import pytest

from terp.errors import TerpError
from terp.session.rewind.rewinding import TakenBack, Written
from tests.cli.repl.commands.talking import Noted

TWO = ("plot iris.csv", "now in blue")


async def test_without_a_number_the_turns_are_listed(tmp_path: Path) -> None:
    assert await Noted(tmp_path, prompts=TWO).does("/rewind") == [
        "/rewind N goes back to before:",
        "  1  plot iris.csv",
        "  2  now in blue",
    ]


async def test_what_is_as_before_and_what_is_not_are_told_by_name(tmp_path: Path) -> None:
    talk = Noted(tmp_path, prompts=TWO)
    talk.session.taken = TakenBack(
        (),
        True,
        back=("df", "items"),
        removed=("x",),
        lost=(("rows", "generator"),),
        files_lost=((str(tmp_path / "big.bin"), "900 MB is too large to be kept"), ("/etc/a", "it differs")),
        notes=("the working directory is /work again",),
    )
    assert await talk.does("/rewind 2") == [
        "Back to before: 'now in blue'.",
        "As they were: df, items.",
        "Removed: x.",
        "Not restored, and as they are now: rows (generator).",
        "Files as they are now: big.bin (900 MB is too large to be kept), /etc/a (it differs).",
        "The working directory is /work again.",
        ("prefill", "now in blue"),
    ]


@pytest.mark.parametrize(("yes", "put_back"), [(True, ["a.csv", "new.csv"]), (False, [])])
async def test_files_are_put_back_once_the_person_agrees(
    tmp_path: Path, yes: bool, put_back: list[str]
) -> None:
    talk = Noted(tmp_path, prompts=TWO)
    talk.yes = yes
    talk.session.files = [
        Written(str(tmp_path / "a.csv"), can=True),
        Written(str(tmp_path / "new.csv"), can=True, new=True),
        Written(str(tmp_path / "b.csv"), can=False, why="something else has changed it since"),
    ]
    assert (await talk.does("/rewind 2"))[:2] == [
        ("ask", "Restore a.csv and delete new.csv?"),
        "Back to before: 'now in blue'.",
    ]
    assert talk.session.wanted == [str(tmp_path / name) for name in put_back]


async def test_the_conversation_alone_can_be_taken_back(tmp_path: Path) -> None:
    talk = Noted(tmp_path, prompts=TWO)
    talk.session.files = [Written(str(tmp_path / "a.csv"), can=True)]
    assert await talk.does("/rewind 1 chat") == [
        "Back to before: 'plot iris.csv'.",
        ("prefill", "plot iris.csv"),
    ]
    assert talk.session.turns == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("/rewind x", "/rewind: 'x' is not the number of a turn"),
        ("/rewind 1 all", "/rewind: 'all' is not 'chat'"),
    ],
)
async def test_it_takes_a_number_and_a_word(tmp_path: Path, line: str, why: str) -> None:
    with pytest.raises(TerpError, match=why):
        await Noted(tmp_path, prompts=TWO).does(line)


async def test_a_turn_that_there_is_not_asks_nothing(tmp_path: Path) -> None:
    with pytest.raises(TerpError, match="There is no turn 7"):
        await Noted(tmp_path, prompts=TWO).does("/rewind 7")
