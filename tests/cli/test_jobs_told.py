"""How each front end tells of code that runs in the background, and of its end."""

import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from terp import events as on
from terp.events.kernel import Kernel
from terp.events.outputs import Text
from terp.session.resources import Limits
from terp.testing import EchoKernel, Scripted, ScriptedModel, call, collect
from terp_cli.fronts.plain import PlainFront
from terp_cli.fronts.spoken import SpokenFront
from terp_cli.fronts.terminal import TerminalFront
from terp_cli.repl.repl import Toolbar
from terp_cli.terminal.window import TerminalWindow, WindowFeatures
from tests.cli.drawing import Clock, proposed
from tests.cli.repl.commands.here import Training
from tests.cli.screens import Watched
from tests.core.sessions import open_session

LEFT = on.JobChanged("c1", 1, "python", "background", 12.0)
ENDED = on.JobChanged("c1", 1, "python", "ended", 41.0)
EVENTS: Sequence[on.Event] = (
    on.TurnStarted("train"),
    proposed("train()"),
    on.CodeStarted("c1", 1),
    on.Printed("c1", Text("stdout", "step 1\n")),
    LEFT,
    on.ModelCalled("m", 2),
    on.TextDelta("It goes "),
    on.Printed("c1", Text("stdout", "step 2\n")),
    on.CodeFinished("c1", "ok", 41.0),
    ENDED,
    on.TextDelta("on."),
    on.TurnFinished("done", "It goes on."),
)


def test_on_a_screen_the_answer_is_whole_and_the_job_below_it() -> None:
    screen = Watched()
    painter = screen.painter()
    front = TerminalFront(lambda: screen.screen(painter), clock=Clock())
    for event in EVENTS:
        front.draw(event)
    front.say("next")
    rows = [row for row in screen.shown() if row]
    assert rows[rows.index("step 1") :] == [
        "step 1",
        "Runs in the background as job 1 (python), after 12 s.",
        "It goes on.",
        "── job 1 (python) has ended",
        "step 2",
        "✓ ran · 41 s",
        "next",
    ]


def test_in_plain_text_the_notes_name_the_job() -> None:
    answer, notes = io.StringIO(), io.StringIO()
    front = PlainFront(answer, notes)
    for event in EVENTS:
        front.take(event)
    assert answer.getvalue() == "It goes on.\n"
    assert notes.getvalue().partition("[output]\n")[2] == (
        "step 1\n[in the background as job 1, python]\n[job 1, python, has ended]\n[output]\nstep 2\n"
    )


def test_aloud_the_job_is_said_after_the_answer() -> None:
    stream = io.StringIO()
    front = SpokenFront(stream, clock=Clock())
    for event in EVENTS:
        front.draw(event)
    assert stream.getvalue().splitlines()[-6:] == [
        "Output: step 1",
        "Runs in the background as job 1, python, after 12 s.",
        "terp: It goes on.",
        "What came of job 1, python:",
        "Output: step 2",
        "Done in 41 s.",
    ]


class Two(EchoKernel):
    """Two kernels whose code runs until it is interrupted."""

    languages = ("python", "shell")

    def __init__(self) -> None:
        super().__init__()
        self._kernels = {language: Training() for language in self.languages}

    def get(self, language: str) -> Kernel:
        return self._kernels[language]

    async def aclose(self) -> None:
        for kernel in self._kernels.values():
            await kernel.interrupt()


@pytest.mark.parametrize(("jobs", "shown"), [(0, ""), (1, "1 job · "), (2, "2 jobs · ")])
async def test_the_toolbar_counts_jobs(tmp_path: Path, jobs: int, shown: str) -> None:
    limits = Limits(background_after_s=0.001)
    replies: list[Scripted] = [call("a"), "done", call("b", "shell"), "done"]
    session = open_session(tmp_path, ScriptedModel(*replies), Two(), limits=limits)
    for _ in range(jobs):
        await collect(session, "go")
    bar = Toolbar()
    assert bar.note(LEFT)
    line = " · ".join(part.text for part in bar.parts(session))
    assert line.endswith(f" · {shown}no sandbox · /help")
    assert ("job" in line) is bool(jobs)
    await session.aclose()


WINDOW = TerminalWindow(WindowFeatures(call="osc9"))


@pytest.mark.parametrize(
    ("window", "seconds", "written"),
    [
        (
            WINDOW.focused(False),
            41.0,
            "\x1b]9;terp ended: job 1 (python)\x1b\\",
        ),
        (WINDOW.focused(False), 9.0, ""),
        (WINDOW.focused(True), 41.0, ""),
    ],
    ids=["who is away is called", "not for a short one", "not who is here"],
)
def test_the_end_of_a_long_job_calls_who_is_away(
    window: TerminalWindow, seconds: float, written: str
) -> None:
    ended = on.JobChanged("c1", 1, "python", "ended", seconds)
    assert window.saw(ended, 50)[1] == written


def test_typed_code_that_went_to_the_background_leaves_the_title() -> None:
    window = TerminalWindow(WindowFeatures(title=True))
    running, _ = window.saw(on.CodeTyped("c1", "python", "train()"), 0)
    waiting, written = running.saw(LEFT, 12)
    assert (waiting.title, written) == ("terp · waiting", "\x1b]2;terp · waiting\x07")
