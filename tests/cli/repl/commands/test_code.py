import base64
from pathlib import Path

import pytest

from terp.events import CodeFinished, TextDelta
from terp.events.kernel import Variable
from terp.events.outputs import Display, Text
from terp_cli.repl.commands.table import Misused
from tests.cli.repl.commands.talking import Noted
from tests.core.store.export.scripted import ran, turn


def worked(tmp_path: Path) -> Noted:
    """A turn with two runs: the first shows its end alone, and has all of its output in a file."""
    whole = tmp_path / "c1.txt"
    whole.write_text("one\ntwo\nthree\n", encoding="utf-8")
    *first, _ = ran("c1", "print(all)", Text("stdout", "three\n"), Display({}, path="/s/c1-1.png"))
    second = ran("c2", "ls", Text("stdout", "a.csv\n"), count=2, language="shell")
    ended = CodeFinished("c1", "ok", 1.0, output_path=str(whole))
    return Noted(tmp_path, *turn("go", *first, ended, *second, TextDelta("There are\ntwo.")))


async def test_runs_are_listed_with_their_numbers(tmp_path: Path) -> None:
    assert await worked(tmp_path).does("/out") == [
        "1  python  ok  14 bytes, 1 picture  print(all)",
        "2  shell   ok  6 bytes  ls",
    ]


async def test_the_full_output_of_a_run_is_paged(tmp_path: Path) -> None:
    talk = worked(tmp_path)
    assert await talk.does("/out 1") == [("out[1]", "one", "two", "three", "/s/c1-1.png")]
    assert await talk.does("/out 2") == [("out[2]", "a.csv")]


async def test_a_picture_that_the_output_names_is_paged_once(tmp_path: Path) -> None:
    whole = tmp_path / "c1.txt"
    whole.write_text("drawn\n[image: /s/c1-1.png, 8×4]\n", encoding="utf-8")
    *first, _ = ran("c1", "plot()", Text("stdout", "drawn\n"), Display({}, path="/s/c1-1.png"))
    talk = Noted(tmp_path, *turn("go", *first, CodeFinished("c1", "ok", 1.0, output_path=str(whole))))
    assert await talk.does("/out 1") == [("out[1]", "drawn", "[image: /s/c1-1.png, 8×4]")]


async def test_a_file_that_is_gone_leaves_what_was_shown(tmp_path: Path) -> None:
    talk = worked(tmp_path)
    (tmp_path / "c1.txt").unlink()
    ((_, why, *rest),) = await talk.does("/out 1")
    assert why.endswith("c1.txt cannot be read: No such file or directory; this is what was shown]")
    assert rest == ["three", "/s/c1-1.png"]


async def test_a_run_that_was_killed_shows_what_it_had_put_out(tmp_path: Path) -> None:
    *killed, _ = ran("c1", "wait()", Text("stdout", "tick 1\n"), Text("stdout", "tick 2\n"))
    talk = Noted(tmp_path, *turn("go", *killed))
    assert await talk.does("/out") == ["1  python  died  14 bytes  wait()"]
    assert (await talk.does("/out 1"))[-1] == ("out[1]", "tick 1", "tick 2")
    file = talk.session.folder / "outputs/1.txt"
    file.parent.mkdir(parents=True)
    file.write_text("tick 1\ntick 2\nmore than was shown\n")
    assert (await talk.does("/out 1"))[-1] == ("out[1]", "tick 1", "tick 2", "more than was shown")


async def test_the_code_of_a_run_is_paged_whole_and_the_last_without_a_number(tmp_path: Path) -> None:
    events = [*ran("c1", "x = 1\ny = 2"), *ran("c2", "z = 3", count=2)]
    talk = Noted(tmp_path, *turn("go", *events))
    assert await talk.does("/code 1") == [("code of run 1", "x = 1", "y = 2")]
    assert await talk.does("/code") == [("code of run 2", "z = 3")]
    assert await Noted(tmp_path).does("/code") == ["There is no code yet."]


async def test_a_run_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(Misused, match="/out: there is no run '9'"):
        await worked(tmp_path).does("/out 9")


@pytest.mark.parametrize(
    ("line", "text", "said"),
    [
        ("/copy", "There are\ntwo.", "Copied the last answer: 2 lines, 14 characters."),
        ("/copy code", "ls", "Copied the code: 1 line, 2 characters."),
        ("/copy code 1", "print(all)", "Copied the code: 1 line, 10 characters."),
        ("/copy 2", "a.csv", "Copied the output of run 2: 1 line, 5 characters."),
    ],
)
async def test_what_is_copied_is_said(tmp_path: Path, line: str, text: str, said: str) -> None:
    (_, sequence), told = await worked(tmp_path).does(line)
    assert base64.b64decode(sequence.removeprefix("\x1b]52;c;").removesuffix("\x07")).decode() == text
    assert told.startswith(said)


async def test_nothing_to_copy_is_said_so(tmp_path: Path) -> None:
    assert await Noted(tmp_path).does("/copy") == ["There is nothing to copy yet."]


async def test_code_comes_back_to_the_input_line(tmp_path: Path) -> None:
    talk = worked(tmp_path)
    assert await talk.does("/edit") == [("prefill", "!ls")]
    assert await talk.does("/edit 1") == [("prefill", ">>> print(all)")]


async def test_variables_are_listed_once_the_kernel_runs(tmp_path: Path) -> None:
    talk = Noted(tmp_path)
    assert await talk.does("/vars") == ["The kernel has not started, so there are no variables."]
    await talk.session.kernels.start()
    assert await talk.does("/vars") == ["There are no variables."]
    talk.session.kernels.held = [
        Variable("売上", "DataFrame", (10, 2), 1_200, "x" * 100),
        Variable("n\x1b", "int", (), 28, "7\n8"),
    ]
    assert await talk.does("/vars") == [
        "name  type       shape      size  head",
        f"売上  DataFrame   10×2    1.2 kB  {'x' * 45}…",
        "n^[   int               28 bytes  7^J8",
    ]
    assert await talk.does("/vars zz") == ["No variable's name holds 'zz'."]


async def test_a_restart_is_told(tmp_path: Path) -> None:
    talk = Noted(tmp_path)
    assert await talk.does("/restart") == ["The python kernel has not started yet."]
    await talk.session.kernels.start()
    await talk.does("/restart")
    assert talk.session.kernels.generation == 2
    assert talk.session.taught == [
        "[The user had the python kernel started anew: its variables and imports are gone.]"
    ]
