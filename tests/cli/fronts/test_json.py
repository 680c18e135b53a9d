"""A turn as JSON."""

import io
import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from terp import events as on
from terp.events import outputs as out
from terp.events.wire import from_json
from terp.session.cost.budget import Tally
from terp_cli.fronts.json import ResultFront, StreamFront, write_end

EVENTS: list[on.Event] = [
    on.TurnStarted("go"),
    on.CodeProposed("c1", "python", "1+1", "d", "/w", 0, "none"),
    on.CodeStarted("c1", 1),
    on.Printed("c1", out.Text("stdout", "2\n")),
    on.CodeFinished("c1", "ok", 0.1, (out.FileChange("/w/a.csv", "created", 3),)),
    on.TextDelta("Größe "),
    on.TextDelta("2", "{{n}}"),
    on.UsageReported(10, 5, 0, 0.25, "openai/a", 1.5),
    on.CheckStarted("pytest", 1),
    on.CheckFinished(
        1,
        passed=False,
        status=1,
        why="Exit status 1.",
        output="1 failed",
        seconds=0.5,
        changed=("test_a.py",),
        left=0,
    ),
    on.Noticed("Not filled in: {{x}} (there is no variable of that name).", "Left as written."),
    on.TurnFinished("done", "Größe 2"),
]


CHECK = {
    "attempt": 1,
    "passed": False,
    "status": 1,
    "why": "Exit status 1.",
    "output": "1 failed",
    "seconds": 0.5,
    "changed": ["test_a.py"],
    "missing": [],
    "new": [],
    "results": [],
}


async def stream() -> AsyncIterator[on.Event]:
    for event in EVENTS:
        yield event


async def test_the_stream_is_one_event_a_line() -> None:
    lines = io.StringIO()
    await StreamFront(lines).show(stream())
    assert [from_json(json.loads(line)) for line in lines.getvalue().splitlines()] == EVENTS


async def test_the_result_is_one_object() -> None:
    result = io.StringIO()
    session = Tally(3, 40, 20, 8, 0.5, 1, 2.25)
    front = ResultFront(result, {"session": "s", "model": "m"}, used=lambda: session)
    await front.show(stream())
    front.finish(EVENTS, [Path("/o/a.csv")])
    assert json.loads(result.getvalue()) == {
        "version": 1,
        "stop_reason": "done",
        "answer": "Größe 2",
        "computed": {"{{n}}": "2"},
        "error": "",
        "remedy": "",
        "notices": ["Not filled in: {{x}} (there is no variable of that name)."],
        "code_log": [
            {
                "language": "python",
                "code": "1+1",
                "status": "ok",
                "output": "2\n",
                "changes": [],
                "stopped_at": None,
            }
        ],
        "checks": [CHECK],
        "files": ["/w/a.csv"],
        "images": [],
        "usage": {
            "calls": 1,
            "input_tokens": 10,
            "output_tokens": 5,
            "cached_tokens": 0,
            "cost_usd": 0.25,
            "unpriced_calls": 0,
            "seconds": 1.5,
        },
        "session_usage": {
            "calls": 3,
            "input_tokens": 40,
            "output_tokens": 20,
            "cached_tokens": 8,
            "cost_usd": None,
            "unpriced_calls": 1,
            "seconds": 2.25,
        },
        "session": "s",
        "model": "m",
        "collected": ["/o/a.csv"],
    }


def failed(output_format: str) -> dict[str, Any]:
    written = io.StringIO()
    write_end(written, output_format, on.TurnFinished("usage", "", "wrong"))
    result: dict[str, Any] = json.loads(written.getvalue())
    return result


def test_a_turn_that_could_not_begin_has_a_result_too() -> None:
    assert (failed("json")["stop_reason"], failed("json")["error"]) == ("usage", "wrong")
    assert from_json(failed("stream-json")) == on.TurnFinished("usage", "", "wrong")
