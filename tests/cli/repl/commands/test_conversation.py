from pathlib import Path

import pytest

from terp.errors import TerpError
from terp.events import ReasoningDelta, TextDelta, TurnStarted
from terp.events.kernel import Variable
from terp.session.rewind.rewinding import TakenBack, Written
from terp_cli.repl.commands.context import SavedSession
from terp_cli.repl.commands.every import all_commands
from tests.cli.repl.commands.talking import Kernel, Noted

TWO = ("plot iris.csv", "now in blue")


async def test_undo_forgets_the_whole_turn(tmp_path: Path) -> None:
    talk = Noted(tmp_path, prompts=TWO)
    assert await talk.does("/undo") == ["Forgot: 'now in blue'."]
    assert [turn.prompt for turn in talk.session.turns] == ["plot iris.csv"]


async def test_nothing_to_undo_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(TerpError, match="There is no turn"):
        await Noted(tmp_path).does("/undo")


async def test_retry_sends_the_last_message_as_if_for_the_first_time(tmp_path: Path) -> None:
    talk = Noted(tmp_path, prompts=TWO)
    assert await talk.does("/retry") == [("send", "now in blue")]
    assert len(talk.session.turns) == 1


async def test_retry_before_anything_was_said_says_so(tmp_path: Path) -> None:
    assert await Noted(tmp_path).does("/retry") == ["There is no message to send again."]


async def test_reset_begins_a_new_conversation_and_keeps_the_one_before(tmp_path: Path) -> None:
    talk = Noted(tmp_path, prompts=TWO)
    assert await talk.does("/reset") == []
    assert (talk.session.history, talk.session.forks) == ((), 1)
    assert await talk.does("/reset") == ["This conversation is new already."]


async def test_compact_passes_on_what_to_keep(tmp_path: Path) -> None:
    talk = Noted(tmp_path, prompts=TWO)
    assert await talk.does("/compact the columns") == [
        "All turns before the last are one summary now; /compact undo brings them back."
    ]
    assert talk.session.focus == "the columns"


async def test_compacting_is_taken_back_with_undo(tmp_path: Path) -> None:
    talk = Noted(tmp_path, prompts=TWO)
    assert await talk.does("/compact undo") == []
    assert talk.session.lengthened == 1
    assert [word for word, _ in all_commands().arguments(talk, "compact", "u")] == ["undo"]


async def test_fork_leaves_it_to_the_session_to_name_the_copy(tmp_path: Path) -> None:
    talk = Noted(tmp_path)
    assert await talk.does("/fork") == []
    assert talk.session.forks == 1


async def test_reasoning_is_that_of_the_last_turn(tmp_path: Path) -> None:
    events = (
        *(TurnStarted("a"), ReasoningDelta("old")),
        *(TurnStarted("b"), ReasoningDelta("I "), ReasoningDelta("think\nso"), TextDelta("x")),
    )
    assert await Noted(tmp_path, *events).does("/reasoning") == [("reasoning", "I think", "so")]


async def test_without_reasoning_that_is_said(tmp_path: Path) -> None:
    events = (TurnStarted("a"), ReasoningDelta("old"), TurnStarted("b"))
    assert await Noted(tmp_path, *events).does("/reasoning") == ["The last turn has no reasoning."]


async def test_sessions_are_listed_and_resumed(tmp_path: Path) -> None:
    talk = Noted(tmp_path)
    assert await talk.does("/sessions") == ["There is no earlier session of this directory."]
    assert await talk.does("/resume") == ["There is no earlier session of this directory."]
    talk.earlier = [SavedSession("2026-11-20-aa", "Plot iris", 3, 0.0), SavedSession("b", "x", 1, 0.0)]
    first, _ = await talk.does("/sessions")
    assert (first[:13], first[-18:]) == ("2026-11-20-aa", "3 turns  Plot iris")
    one, other, *asked = await talk.does("/resume")
    assert ((one[:17], other[:5]), asked) == (
        (" 1  2026-11-20-aa", " 2  b"),
        ["Which one? Its number or the beginning of its ID.", ("prefill", "/resume ")],
    )
    assert await talk.does("/resume b") == [("resume", "b")]
    assert await talk.does("/resume 1") == [("resume", "2026-11-20-aa")]


@pytest.mark.parametrize("yes", [False, True])
async def test_a_kernel_with_variables_ends_only_after_a_yes(tmp_path: Path, yes: bool) -> None:
    talk = Noted(tmp_path)
    talk.session.kernels = Kernel(tmp_path, [Variable("x", "int"), Variable("df", "DataFrame")])
    await talk.session.kernels.start()
    talk.yes = yes
    asked = ("ask", "python holds x, df. Resuming another session ends that. Resume?")
    assert await talk.does("/resume b") == [asked, *([("resume", "b")] if yes else [])]


async def test_quit_leaves(tmp_path: Path) -> None:
    assert await Noted(tmp_path).does("/exit") == [("leave",)]


TWO_TURNS = ("plot iris.csv", "now in blue")


async def test_without_a_number_the_turns_are_listed(tmp_path: Path) -> None:
    assert await Noted(tmp_path, prompts=TWO_TURNS).does("/rewind") == [
        "/rewind N goes back to before:",
        "  1  plot iris.csv",
        "  2  now in blue",
    ]


async def test_what_is_as_before_and_what_is_not_are_told_by_name(tmp_path: Path) -> None:
    talk = Noted(tmp_path, prompts=TWO_TURNS)
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
    talk = Noted(tmp_path, prompts=TWO_TURNS)
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
    talk = Noted(tmp_path, prompts=TWO_TURNS)
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
        await Noted(tmp_path, prompts=TWO_TURNS).does(line)


async def test_a_turn_that_there_is_not_asks_nothing(tmp_path: Path) -> None:
    with pytest.raises(TerpError, match="There is no turn 7"):
        await Noted(tmp_path, prompts=TWO_TURNS).does("/rewind 7")
