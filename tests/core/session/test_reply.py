"""What a turn came to, gathered from its events."""

from dataclasses import replace
from pathlib import Path

from terp.events import CodeFinished, JobChanged, TurnFinished
from terp.events.outputs import Display, Error, FileChange, RunEnded, RunItem, Text
from terp.session.cost.budget import Tally
from terp.session.reply import CodeRun, Reply, reply_of
from terp.testing import EchoKernel, ScriptedModel, call, collect
from tests.core.sessions import open_session

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


async def test_a_reply_has_the_answer_and_every_run_in_order(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel([call("1")], [call("2")], "3"))
    reply = reply_of(await collect(session, "go"))
    assert replace(reply.used, seconds=0.0) == Tally(3, 30, 15, 0, 0.003)
    assert replace(reply, used=Tally()) == Reply(
        "3",
        "done",
        code_log=(
            CodeRun("python", "1", "ok", (Text("stdout", "1\n"),)),
            CodeRun("python", "2", "ok", (Text("stdout", "2\n"),)),
        ),
        input_tokens=30,
        output_tokens=15,
        cost_usd=0.003,
    )


async def test_text_pictures_and_errors_of_a_run_stay_in_order(tmp_path: Path) -> None:
    outputs: list[RunItem] = [
        Text("stdout", "A\n"),
        Display({"image/png": PIXEL}),
        Display({"image/png": PIXEL}),
        Error("ZeroDivisionError", "division by zero"),
        RunEnded("error"),
    ]
    session = open_session(tmp_path, ScriptedModel([call("x")], "ok"), EchoKernel({"x": outputs}))
    reply = reply_of(await collect(session, "go"))
    first, second = reply.images
    assert reply.code_log[0].text == f"A\n{first}\n{second}\nZeroDivisionError: division by zero\n"
    assert [error.name for error in reply.errors] == ["ZeroDivisionError"]
    assert reply.files == (first, second)


async def test_a_file_that_a_later_run_deleted_is_not_delivered(tmp_path: Path) -> None:
    kernel = EchoKernel(
        {
            "make": [RunEnded("ok", files=(FileChange("/a", "created"), FileChange("/b", "created")))],
            "drop": [RunEnded("ok", files=(FileChange("/a", "deleted"),))],
        }
    )
    session = open_session(tmp_path, ScriptedModel([call("make")], [call("drop")], "ok"), kernel)
    assert reply_of(await collect(session, "go")).files == ("/b",)


async def test_the_second_reply_does_not_repeat_the_first_ones_runs(tmp_path: Path) -> None:
    session = open_session(tmp_path, ScriptedModel([call("1")], "one", "two"))
    await collect(session, "go")
    assert reply_of(await collect(session, "again")).code_log == ()


def test_a_reply_prints_as_its_answer() -> None:
    assert str(Reply("42", "done")) == "42"


def test_the_end_of_a_job_of_an_earlier_turn_is_no_run_of_this_one() -> None:
    ended = (CodeFinished("c1", "ok", 41.0), JobChanged("c1", 1, "python", "ended", 41.0))
    assert reply_of((*ended, TurnFinished("done", "ok"))) == Reply("ok", "done", cost_usd=0)
