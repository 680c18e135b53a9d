import os
import re
from collections.abc import Sequence
from pathlib import Path

import pytest

from terp.errors import TerpError
from terp.events import HistoryRewound, ReasoningDelta, SessionForked, TextDelta, TurnStarted
from terp.events.kernel import Variable
from terp.session.rewind.rewind import Restored
from terp.settings.profile_file import short_path
from terp.store.catalogue import Catalogue
from terp.store.forms import Header
from terp.store.keeping import Keeper
from terp.store.titles import read_title
from terp.testing import EchoKernel, collect
from terp_cli.render.rewound import outcome
from tests.cli.repl.commands.here import ID, Here
from tests.core.opening.test_checkpoints import opened
from tests.core.store.keeping import kept, redactor

TWO = ("plot iris.csv", "now in blue")


async def talked(folder: Path, kernels: EchoKernel | None = None) -> Here:
    return await Here(folder, kernels=kernels).asked(*TWO)


def prompts(here: Here) -> list[str]:
    return [turn.prompt for turn in here.session.turns]


async def test_undo_forgets_the_whole_turn(tmp_path: Path) -> None:
    here = await talked(tmp_path)
    assert await here.does("/undo") == ["Forgot: 'now in blue'."]
    assert prompts(here) == ["plot iris.csv"]


async def test_nothing_to_undo_is_said_so(tmp_path: Path) -> None:
    with pytest.raises(TerpError, match="There is no turn"):
        await Here(tmp_path).does("/undo")


async def test_retry_sends_the_last_message_as_if_for_the_first_time(tmp_path: Path) -> None:
    here = await talked(tmp_path)
    assert await here.does("/retry") == []
    assert (list(here.next), prompts(here)) == ([("now in blue", ())], ["plot iris.csv"])


async def test_retry_before_anything_was_said_says_so(tmp_path: Path) -> None:
    assert await Here(tmp_path).does("/retry") == ["There is no message to send again."]


async def test_reset_begins_a_new_conversation_and_keeps_the_one_before(tmp_path: Path) -> None:
    here = Here(tmp_path, session=kept(tmp_path / "sessions" / ID, "a plot"))
    await here.asked("plot iris.csv")
    assert await here.does("/reset") == []
    (rewound,) = here.happened(HistoryRewound)
    assert isinstance(rewound, HistoryRewound)
    assert here.session.history == ()
    assert (tmp_path / "sessions" / rewound.copy).is_dir()
    assert await here.does("/reset") == ["This conversation is still empty."]


async def test_compact_passes_on_what_to_keep(tmp_path: Path) -> None:
    here = await talked(tmp_path)
    assert await here.does("/compact the columns") == [
        "A summary replaced all turns before the last; /compact undo restores them."
    ]
    assert any("the columns" in message.text for message in here.model.requests[-1])


async def test_compacting_is_taken_back_with_undo(tmp_path: Path) -> None:
    here = await talked(tmp_path)
    before = here.session.history
    await here.does("/compact")
    assert here.session.history != before
    assert await here.does("/compact undo") == []
    assert here.session.history == before
    assert here.offered("compact", "u") == ["undo"]


async def test_fork_leaves_it_to_the_session_to_name_the_copy(tmp_path: Path) -> None:
    here = Here(tmp_path, session=kept(tmp_path / "sessions" / ID, "a plot"))
    await here.asked("plot iris.csv")
    assert await here.does("/fork") == []
    (forked,) = here.happened(SessionForked)
    assert isinstance(forked, SessionForked)
    assert (tmp_path / "sessions" / forked.copy).is_dir()


async def test_reasoning_is_that_of_the_last_turn(tmp_path: Path) -> None:
    events = (
        *(TurnStarted("a"), ReasoningDelta("old")),
        *(TurnStarted("b"), ReasoningDelta("I "), ReasoningDelta("think\nso"), TextDelta("x")),
    )
    here = Here(tmp_path, *events)
    assert await here.does("/reasoning") == []
    assert here.paged("reasoning") == ["I think", "so"]


async def test_without_reasoning_that_is_said(tmp_path: Path) -> None:
    events = (TurnStarted("a"), ReasoningDelta("old"), TurnStarted("b"))
    assert await Here(tmp_path, *events).does("/reasoning") == ["The last turn has no reasoning."]


async def stored(here: Here, folder: Path, name: str, *asked: str) -> None:
    """Store a session of this directory, with these prompts."""
    path = here.places.sessions / name
    keeper = Keeper(path, Header(name, str(folder.resolve()), 1.5e9, "0.1.0"), redactor)
    session = kept(path, keeper=keeper)
    for prompt in asked:
        await collect(session, prompt)
    await session.aclose()


async def test_planning_continues_in_a_session_that_is_resumed(tmp_path: Path) -> None:
    here = Here(tmp_path)
    await stored(here, tmp_path, "2026-11-20-bb", "x")
    await here.does("/plan")
    await here.does("/resume 2026-11-20-bb")
    assert here.approval == "plan"


async def test_sessions_are_listed_and_resumed(tmp_path: Path) -> None:
    here = Here(tmp_path)
    none = ["There is no earlier session of this directory."]
    assert (await here.does("/sessions"), await here.does("/resume")) == (none, none)
    await stored(here, tmp_path, "2026-11-20-bb", "x")
    # Two writes within one tick of the file system's clock have no order.
    for log in tmp_path.rglob("2026-11-20-bb/events.jsonl"):
        os.utime(log, (log.stat().st_atime, log.stat().st_mtime - 1))
    await stored(here, tmp_path, "2026-11-20-aa", "Plot iris", "again", "and again")
    folder = short_path(tmp_path.resolve())
    assert await here.does("/resume") == [
        "Resume which session?",
        f"* Plot iris  just now  3 turns  {folder}",
        f"  x  just now  1 turn  {folder}",
    ]
    assert here.session.folder.name == ID
    await here.does("/resume 2026-11-20-b")
    assert (here.session.folder.name, prompts(here)) == ("2026-11-20-bb", ["x"])
    here.picking.picked = 0
    await here.does("/sessions")
    assert here.session.folder.name == "2026-11-20-aa"
    await here.session.aclose()


async def test_a_session_is_renamed_and_a_new_conversation_has_no_title(tmp_path: Path) -> None:
    here = Here(tmp_path)
    await stored(here, tmp_path, "2026-11-20-bb", "x")
    await here.does("/resume 2026-11-20-bb")
    assert await here.does("/rename Sales of  May") == ["The session is called 'Sales of May' now."]
    titles = [one.title for one in Catalogue(here.places.sessions).listed()]
    assert titles == ["Sales of May"]
    await here.does("/reset")
    assert sorted(one.title for one in Catalogue(here.places.sessions).listed()) == ["", "Sales of May"]
    await here.does("/rename Sales of June")
    await here.does("/reset")
    assert read_title(here.session.folder) == "Sales of June"
    await here.session.aclose()


async def test_a_session_without_a_turn_has_no_title_to_change(tmp_path: Path) -> None:
    with pytest.raises(TerpError, match="not stored yet"):
        await Here(tmp_path).does("/rename x")


class Holding(EchoKernel):
    """A kernel with two variables."""

    async def variables(self) -> Sequence[Variable]:
        return [Variable("x", "int"), Variable("df", "DataFrame")]


@pytest.mark.parametrize(("yes", "session"), [(False, ID), (True, "2026-11-20-bb")])
async def test_a_kernel_with_variables_ends_only_after_a_yes(tmp_path: Path, yes: bool, session: str) -> None:
    here = Here(tmp_path, kernels=Holding())
    await stored(here, tmp_path, "2026-11-20-bb", "x")
    await here.session.kernels.get("python").start()
    here.user.yes = yes
    asked = "? python holds x, df. Resuming another session ends that. Resume?"
    assert await here.does("/resume 2026-11-20-bb") == [asked]
    assert here.session.folder.name == session
    await here.session.aclose()


async def test_quit_leaves(tmp_path: Path) -> None:
    here = Here(tmp_path)
    assert (await here.does("/exit"), here.left) == ([], True)


async def test_without_a_number_the_turn_is_picked(tmp_path: Path) -> None:
    here = await talked(tmp_path)
    turns = ["Go back to before which turn?", "  1  plot iris.csv", "* 2  now in blue"]
    assert await here.does("/rewind") == turns
    here.picking.picked = 1
    told = await here.does("/rewind")
    assert (told[3], told[-1]) == ("Back to before: 'now in blue'.", "now in blue")


def test_what_is_as_before_and_what_is_not_are_shown_by_name(tmp_path: Path) -> None:
    taken = Restored(
        (),
        True,
        restored=("df", "items"),
        removed=("x",),
        lost=(("rows", "generator"),),
        files_lost=((str(tmp_path / "big.bin"), "900 MB is too large to be kept"), ("/etc/a", "it differs")),
        notes=("the working directory is /work again",),
    )
    assert outcome(str(tmp_path), taken, set()) == [
        "As they were: df, items.",
        "Removed: x.",
        "Not restored, unchanged: rows (generator).",
        "Files as they are now: big.bin (900 MB is too large to be kept), /etc/a (it differs).",
        "The working directory is /work again.",
    ]


class Past(EchoKernel):
    """A kernel that has kept copies of files, and restores those that are wanted."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.cwd = str(folder)
        self.wanted: Sequence[str] = ()

    async def written(self, moment: int) -> Sequence[Sequence[str]]:
        return [
            [f"{self.cwd}/a.csv", "put back", ""],
            [f"{self.cwd}/new.csv", "remove", ""],
            [f"{self.cwd}/b.csv", "not", "something else has changed it since"],
        ]

    async def take_back(self, moment: int, paths: Sequence[str]) -> dict[str, object]:
        self.wanted = paths
        return {"done": True, "files": [[path, "back", ""] for path in paths]}


@pytest.mark.parametrize(("yes", "restored"), [(True, ["a.csv", "new.csv"]), (False, [])])
async def test_files_are_restored_once_the_user_agrees(
    tmp_path: Path, yes: bool, restored: list[str]
) -> None:
    kernel = Past(tmp_path)
    here = await talked(tmp_path, kernels=kernel)
    here.user.yes = yes
    asked, back, *_, prefilled = await here.does("/rewind 2")
    assert (asked, back, prefilled) == (
        "? Restore a.csv and delete new.csv?",
        "Back to before: 'now in blue'.",
        "now in blue",
    )
    assert kernel.wanted == [f"{tmp_path}/{name}" for name in restored]
    assert prompts(here) == ["plot iris.csv"]


async def test_only_the_conversation_can_be_taken_back(tmp_path: Path) -> None:
    here = await talked(tmp_path, kernels=Past(tmp_path))
    assert await here.does("/rewind 1 chat") == ["Back to before: 'plot iris.csv'.", "plot iris.csv"]
    assert prompts(here) == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("/rewind x", "/rewind: 'x' is not the number of a turn"),
        ("/rewind 1 all", "/rewind: 'all' is not 'chat'"),
    ],
)
async def test_it_takes_a_number_and_a_word(tmp_path: Path, line: str, why: str) -> None:
    here = await talked(tmp_path)
    with pytest.raises(TerpError, match=why):
        await here.does(line)


async def test_a_turn_that_there_is_not_asks_nothing(tmp_path: Path) -> None:
    here = await talked(tmp_path, kernels=Past(tmp_path))
    with pytest.raises(TerpError, match="There is no turn 7"):
        await here.does("/rewind 7")
    assert here.out.getvalue() == ""


async def test_a_checkpoint_is_saved_listed_completed_loaded_and_removed(tmp_path: Path) -> None:
    async with opened(tmp_path, "x = 1; gen = (i for i in 'ab')") as session:
        here = Here(tmp_path, session=session)
        await here.asked("go")
        [saved] = await here.does("/checkpoint first")
        assert re.fullmatch(r"Saved in \d+\.\d s: x · 1 not kept: gen", saved)
        listed = await here.does("/checkpoint list")
        assert listed[0].startswith("first  ")
        assert listed[1:] == ["  gen is not kept: generator"]
        assert here.offered("checkpoint", "l") == ["list", "load"]
        await here.does("/restart")
        await here.does("/checkpoint load first")
        assert [one.name for one in await session.kernels.get("python").variables()] == ["x"]
        assert await here.does("/checkpoint drop first") == ["Removed checkpoint first."]
        assert await here.does("/checkpoint list") == ["There is no checkpoint. /checkpoint saves one."]
        for line in (
            "/checkpoint a b",
            "/checkpoint auto",
            "/checkpoint drop",
            "/checkpoint ../a",
            "/checkpoint load first",
        ):
            with pytest.raises(TerpError):
                await here.does(line)


async def test_a_session_that_is_not_stored_has_no_checkpoints(tmp_path: Path) -> None:
    here = Here(tmp_path)
    with pytest.raises(TerpError, match="This session has no checkpoints"):
        await here.does("/checkpoint")
