"""Commands on what runs in the background."""

from pathlib import Path

import pytest

from terp.events import CodeFinished, Event, JobChanged
from terp.events.outputs import Text
from terp.models.tool import Call
from terp.session.job import Job
from terp.testing import EchoKernel
from terp_cli.repl.commands.every import all_commands
from terp_cli.repl.commands.table import Misused
from tests.cli.repl.commands.talking import Noted
from tests.core.store.export.scripted import ran, turn


async def free(_: Job) -> None:
    """The person may be asked."""


def job() -> Job:
    made = Job(Call("c1", "python", "import time\ntrain()"), EchoKernel(), free)
    made.number = 1
    return made


def talking(tmp_path: Path, *outputs: Text, ended: bool = False) -> Noted:
    """A talk with a job that runs, or has ended after 41 s."""
    *begun, _ = ran("c1", "import time\ntrain()", *outputs)
    events: list[Event] = [*begun, JobChanged("c1", 1, "python", "background", 2.0)]
    if ended:
        events += [CodeFinished("c1", "error", 41.0), JobChanged("c1", 1, "python", "ended", 41.0)]
    talk = Noted(tmp_path, *turn("go", *events))
    if not ended:
        talk.session.jobs.running[1] = job()
    return talk


async def test_jobs_are_listed_with_their_state(tmp_path: Path) -> None:
    (running,) = await talking(tmp_path).does("/jobs")
    number, language, _, *rest = [cell.strip() for cell in running.split("  ") if cell.strip()]
    assert (number, language, rest) == ("1", "python", ["running", "import time"])
    assert await talking(tmp_path, ended=True).does("/jobs") == ["1  python  41 s  error  import time"]


async def test_without_jobs_the_way_to_have_one_is_told(tmp_path: Path) -> None:
    assert await Noted(tmp_path).does("/jobs") == [
        "No code has gone on in the background. /bg lets it, or Ctrl+B, while it runs."
    ]


async def test_the_end_of_what_a_job_has_put_out_is_shown(tmp_path: Path) -> None:
    few = talking(tmp_path, Text("stdout", "one\ntwo\n"))
    assert await few.does("/jobs 1") == ["", "Output of job 1 so far:", "one", "two", ""]
    many = talking(tmp_path, Text("stdout", "\n".join(map(str, range(1, 31)))))
    said = await many.does("/jobs 1")
    assert said[1] == "Output of job 1 so far, without 10 lines that /out 1 has:"
    assert said[2:-1] == [str(number) for number in range(11, 31)]
    assert await talking(tmp_path).does("/jobs 1") == ["Job 1 has put out nothing so far."]


async def test_a_job_is_stopped_by_its_number_or_as_the_only_one(tmp_path: Path) -> None:
    for line in ("/jobs stop 1", "/jobs stop"):
        talk = talking(tmp_path)
        assert (await talk.does(line), talk.session.jobs.asked) == ([], [1])


async def test_a_job_that_does_not_answer_is_said_with_what_ends_it(tmp_path: Path) -> None:
    talk = talking(tmp_path)
    talk.session.jobs.answer = False
    assert await talk.does("/jobs stop 1") == [
        "Job 1 (python) does not answer. /jobs stop 1 again ends its kernel and the variables."
    ]


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("/jobs 7", "there is no job '7'."),
        ("/jobs x", "there is no job 'x'."),
        ("/jobs stop 7", "no job '7' is running."),
        ("/jobs stop x", "no job 'x' is running."),
    ],
)
async def test_a_job_that_there_is_not_is_said(tmp_path: Path, line: str, why: str) -> None:
    with pytest.raises(Misused) as misused:
        await talking(tmp_path).does(line)
    assert misused.value.message == f"/jobs: {why}"


async def test_stop_needs_a_number_where_nothing_runs(tmp_path: Path) -> None:
    with pytest.raises(Misused, match="stop needs the number of a job"):
        await Noted(tmp_path).does("/jobs stop")


async def test_bg_says_when_there_is_nothing_to_let_go(tmp_path: Path) -> None:
    assert await Noted(tmp_path).does("/bg") == ["No code runs that could go on in the background."]
    assert await talking(tmp_path).does("/bg") == []


async def test_quit_asks_before_it_ends_jobs(tmp_path: Path) -> None:
    talk = talking(tmp_path)
    asked = ("ask", "1 job still runs: leave, and end it?")
    assert await talk.does("/quit") == [asked]
    talk.yes = True
    assert await talk.does("/quit") == [asked, ("leave",)]


def test_numbers_of_jobs_are_completed(tmp_path: Path) -> None:
    found = all_commands().arguments(talking(tmp_path), "jobs", "")
    assert [word for word, _ in found] == ["1", "stop 1"]


@pytest.mark.parametrize(
    ("line", "at_once"),
    [("/bg", True), ("%jobs stop 1", True), ("/undo", False), ("/", False), ("/no", False), ("bg", False)],
)
def test_what_does_not_wait_for_the_end_of_a_turn(line: str, at_once: bool) -> None:
    assert all_commands().is_at_once(line) is at_once
