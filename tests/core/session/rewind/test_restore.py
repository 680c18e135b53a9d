"""Turns taken back with what their code did: variables and files, and what is told of the rest."""

import asyncio
import os
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from terp.errors import KernelBusy, SessionError
from terp.events import HistoryRewound, Printed
from terp.kernels.jupyter.local import LocalKernels
from terp.person import AutoRun
from terp.session.rewind.rewind import ChangedFile, Restored
from terp.session.session import Session
from terp.testing import EchoKernel, ScriptedModel, collect
from terp.testing import call as call_of
from tests.core.kernels.running import ran
from tests.core.sessions import of, open_session
from tests.core.slow_kernels import has_ended, until

AGAIN = "# again\n"


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def kernels(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[LocalKernels, None]:
    kernels = LocalKernels(str(tmp_path_factory.mktemp("project")), environ=dict(os.environ))
    yield kernels
    await kernels.aclose()


@pytest.fixture
async def project(kernels: LocalKernels) -> Path:
    """The directory of a kernel that is new."""
    await kernels.get("python").restart()
    return Path(kernels.cwd)


async def talked(kernels: LocalKernels, folder: Path, *codes: str) -> tuple[Session, ScriptedModel]:
    """A session with a turn for each piece of code; what begins with `AGAIN` is for a later one."""
    calls = (call_of(code, "shell" if code.startswith("#sh") else "python", id=code) for code in codes)
    model = ScriptedModel(*(reply for call in calls for reply in ([call], "done")))
    session = Session(model, kernels, AutoRun(), folder=folder)
    turns = sum(not code.startswith(AGAIN) for code in codes)
    for number in range(1, turns + 1):
        await collect(session, f"turn {number}")
    return session, model


async def shown(kernels: LocalKernels, expression: str) -> str:
    return (await ran(kernels.get("python"), f"print({expression})")).stdout.strip()


async def test_variables_are_as_before_the_turn(kernels: LocalKernels, project: Path, tmp_path: Path) -> None:
    session, model = await talked(
        kernels,
        tmp_path,
        "items = [1]; rows = (i for i in 'abc')",
        "items.append(2); next(rows); x = 1",
        "items.clear(); del rows",
    )
    taken = await session.rewind.restore(2)
    assert taken == Restored(
        taken.turns,
        True,
        restored=("items",),
        removed=("x",),
        lost=(("rows", "its earlier value is gone: generator"),),
    )
    assert [turn.prompt for turn in taken.turns] == ["turn 2", "turn 3"]
    assert await shown(kernels, "items, 'x' in globals()") == "[1] False"
    assert of(HistoryRewound, [record.event for record in session.log.since(0)]) == [
        HistoryRewound(2, 1, "", undone=True)
    ]
    await collect(session, "again")
    assert model.requests[-1][-1].text == (
        "again\n\n[The conversation was taken back to before this message, and later turns were removed. "
        "Variables of the Python kernel are as they were then, too. Changed back: items. Removed: x. Could "
        "not be restored, so check before you use them: rows (its earlier value is gone: generator).]"
    )


async def test_a_table_that_was_changed_in_place_is_as_it_was(
    kernels: LocalKernels, project: Path, tmp_path: Path
) -> None:
    if (await ran(kernels.get("python"), "import pandas")).ended.status != "ok":
        pytest.skip("there is no pandas")
    session, _ = await talked(
        kernels,
        tmp_path,
        "import pandas as pd\ndf = pd.DataFrame({'a': [1, 2], 'b': [3, 4]})",
        "del df['b']; df['c'] = 0; df.loc[0, 'a'] = 9",
    )
    assert (await session.rewind.restore(2)).restored == ("df",)
    assert await shown(kernels, "df.to_dict('list')") == "{'a': [1, 2], 'b': [3, 4]}"


async def test_files_are_as_before_if_the_person_wants_that(
    kernels: LocalKernels, project: Path, tmp_path: Path
) -> None:
    (project / "old.txt").write_text("before")
    (project / "kept.txt").write_text("before")
    (project / "gone.txt").write_text("before")
    session, _ = await talked(
        kernels,
        tmp_path,
        "import os",
        "for name in 'old', 'new', 'kept': open(f'{name}.txt', 'w').write('after')\nos.remove('gone.txt')",
    )
    names = ("gone", "kept", "new", "old")
    paths = [str(project / f"{name}.txt") for name in names]
    written = [ChangedFile(path, restorable=True, new=path.endswith("new.txt")) for path in paths]
    assert await session.rewind.changed_files(2) == written
    taken = await session.rewind.restore(2, [path for path in paths if "kept" not in path])
    assert taken.files == tuple(path for path in paths if "kept" not in path)
    assert taken.files_lost == ((str(project / "kept.txt"), ""),)
    found = {name: path.read_text() for name in names if (path := project / f"{name}.txt").exists()}
    assert found == {"gone": "before", "kept": "after", "old": "before"}
    # The next run has changed none of them.
    assert (await ran(kernels.get("python"), "1")).ended.files == ()


async def test_a_file_that_something_else_has_changed_since_is_left(
    kernels: LocalKernels, project: Path, tmp_path: Path
) -> None:
    path = project / "a.txt"
    path.write_text("before")
    session, _ = await talked(kernels, tmp_path, "1", "_ = open('a.txt', 'w').write('after')")
    path.write_text("by an editor")
    told = [ChangedFile(str(path), restorable=False, why="something else has changed it since")]
    assert await session.rewind.changed_files(2) == told
    taken = await session.rewind.restore(2, [str(path)])
    assert (taken.files, taken.files_lost) == ((), ((str(path), told[0].why),))
    assert path.read_text() == "by an editor"


async def test_what_a_program_has_written_and_another_language_has_done_is_named(
    kernels: LocalKernels, project: Path, tmp_path: Path
) -> None:
    session, _ = await talked(kernels, tmp_path, "x = 1", "#sh\ny=2; echo by > by.txt", "x = 2")
    path = str(project / "by.txt")
    taken = await session.rewind.restore(2, [path])
    assert taken.files_lost == ((path, "no copy of it was saved"),)
    assert taken.notes == ("shell is not restored: its variables are as they are now",)
    assert await shown(kernels, "x") == "1"


async def test_a_copy_that_was_made_after_the_turn_had_written_is_not_taken_for_what_was_before(
    kernels: LocalKernels, project: Path, tmp_path: Path
) -> None:
    session, _ = await talked(
        kernels,
        tmp_path,
        "f = open('kept.txt', 'w'); f.write('abc'); f.flush()",
        "import os; f.write('def'); f.flush(); os.remove('kept.txt')",
    )
    path = str(project / "kept.txt")
    why = "the turn had written to it before it could be copied"
    assert await session.rewind.changed_files(2) == [ChangedFile(path, False, why)]
    taken = await session.rewind.restore(2, [path])
    assert (taken.files, taken.files_lost) == ((), ((path, why),))


async def test_a_file_that_another_language_has_written_as_well_is_left(
    kernels: LocalKernels, project: Path, tmp_path: Path
) -> None:
    (project / "both.txt").write_text("before\n")
    model = ScriptedModel(
        [call_of("x = 1")],
        "one",
        [call_of("echo shell >> both.txt", "shell")],
        [call_of("open('both.txt', 'a').write('python')")],
        "two",
    )
    session = Session(model, kernels, AutoRun(), folder=tmp_path)
    await collect(session, "turn 1")
    await collect(session, "turn 2")
    path = str(project / "both.txt")
    taken = await session.rewind.restore(2, [path])
    assert taken.files == ()
    assert (path, "shell code has changed it as well") in taken.files_lost


async def test_what_was_lost_with_a_kernel_is_named(
    kernels: LocalKernels, project: Path, tmp_path: Path
) -> None:
    session, _ = await talked(
        kernels, tmp_path, "x = 1; y = 2", "import os, signal; z = 1; os._exit(0)", "x = 3"
    )
    taken = await session.rewind.restore(2)
    assert taken.removed == ("x",)
    assert taken.lost == tuple((name, "the kernel was restarted since") for name in "xy")


async def test_what_was_taken_back_can_be_done_again_and_taken_back_again(
    kernels: LocalKernels, project: Path, tmp_path: Path
) -> None:
    session, _ = await talked(
        kernels, tmp_path, "x = [1]", "x.append(2)", "x.append(3)", AGAIN + "x.append('other')"
    )
    await session.rewind.restore(3)
    await collect(session, "turn 3")
    assert await shown(kernels, "x") == "[1, 2, 'other']"
    await session.rewind.restore(2)
    assert await shown(kernels, "x") == "[1]"


async def test_under_code_that_runs_in_the_background_nothing_is_taken_back(
    kernels: LocalKernels, project: Path, tmp_path: Path
) -> None:
    waits = (
        "import pathlib, time\nprint('begun', flush=True)\n"
        "while not pathlib.Path('go').exists():\n    time.sleep(0.01)\nx += 1"
    )
    session, _ = await talked(kernels, tmp_path, "x = 1", f"{AGAIN}{waits}", f"{AGAIN}x += 1")
    turn = asyncio.create_task(collect(session, "turn 2"))
    await until(session, lambda event: isinstance(event, Printed))
    assert session.jobs.detach()
    await turn
    with pytest.raises(KernelBusy, match="Code in the background runs in the Python kernel, so nothing"):
        await session.rewind.restore(2)
    assert [turn.number for turn in session.turns] == [1, 2]
    (project / "go").touch()
    await until(session, has_ended)
    taken = await session.rewind.restore(2)
    assert taken.restored == ("x",)
    assert await shown(kernels, "x") == "1"


async def test_after_an_undo_of_the_conversation_the_older_turn_is_still_found(
    kernels: LocalKernels, project: Path, tmp_path: Path
) -> None:
    session, _ = await talked(kernels, tmp_path, "x = [1]", "x.append(2)", AGAIN + "x.append(3)")
    session.rewind.undo()
    await collect(session, "turn 2")
    await session.rewind.restore(2)
    assert await shown(kernels, "x") == "[1, 2]"


async def test_a_kernel_that_keeps_nothing_says_so(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel("one", [call_of("x = 1", id="a")], "two"))
    await collect(session, "a")
    await collect(session, "b")
    taken = await session.rewind.restore(2)
    assert (taken.variables, taken.notes) == (
        False,
        ("variables are as they are now: this kernel keeps none of them",),
    )
    assert of(HistoryRewound, [record.event for record in session.log.since(0)]) == [HistoryRewound(1, 1)]


async def test_where_no_code_ran_there_is_nothing_to_tell(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    session = Session(ScriptedModel("one", "two"), kernels, AutoRun(), folder=tmp_path / "session")
    await collect(session, "a")
    await collect(session, "b")
    taken = await session.rewind.restore(2)
    assert taken == Restored(taken.turns)


async def test_a_turn_that_there_is_not_is_told(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel(), EchoKernel())
    await collect(session, "a")
    with pytest.raises(SessionError, match="There is no turn 2; the last one is 1"):
        await session.rewind.restore(2)
