"""A secret that comes in two pieces, through each way that events leave a session."""

import io
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from terp.events import CodeFinished, CodeStarted, Event, Printed
from terp.events.log import EventLog, Record
from terp.events.messages import Assistant, User
from terp.events.model import Chunk, ReasoningChunk, Replied, TextChunk
from terp.events.outputs import Display, Text
from terp.models.recording.models import RecordingModel
from terp.secrets.redactor import Redactor
from terp.store.forms import Header
from terp.store.journal import NAME
from terp.store.keeping import Keeper
from terp_cli.fronts.json import StreamFront
from terp_cli.server.transcript import Transcript
from tests.core.events.drawn import events
from tests.core.models.fakes import FakeModel

SECRET = "p4ssw0rd-of-mine"
HALF, REST = SECRET[:8], SECRET[8:]
CALL = "the call"
END = CodeFinished(CALL, "ok", 0.1)
Outlet = Callable[[Sequence[Event]], Coroutine[Any, Any, list[dict[str, Any]]]]


def redactor() -> Redactor:
    return Redactor((SECRET,))


async def log(events: Sequence[Event]) -> list[dict[str, Any]]:
    with TemporaryDirectory() as folder:
        keeper = Keeper(Path(folder, "s"), Header("s", "/w", 1.5e9, "0"), redactor)
        for number, event in enumerate(events, 1):
            keeper.event(Record(number, 0.0, event))
        keeper.close()
        lines = Path(folder, "s", NAME).read_bytes().split(b"\n")[:-1]
    return [json.loads(line) for line in lines]


async def stream_json(events: Sequence[Event]) -> list[dict[str, Any]]:
    async def shown() -> AsyncIterator[Event]:
        for event in events:
            yield event

    lines = io.StringIO()
    await StreamFront(lines, redactor).show(shown())
    return [json.loads(line) for line in lines.getvalue().split("\n")[:-1]]


async def server(events: Sequence[Event]) -> list[dict[str, Any]]:
    records = EventLog()
    for event in events:
        records.append(event)
    batch = await Transcript(records, redactor).since(0)
    return [json.loads(one.json) for one in batch.events]


outlets = pytest.mark.parametrize("outlet", [log, stream_json, server])


def printed(line: dict[str, Any]) -> str:
    """The text of a line that is output of the call; the kind of any other output."""
    return str(line["output"].get("text", line["output"]["kind"]))


async def outputs(outlet: Outlet, *between: Event) -> list[str]:
    said = [Printed(CALL, Text("stdout", text)) for text in (f"see {HALF}", f"{REST} here\n")]
    lines = await outlet([CodeStarted(CALL, 1), said[0], *between, said[1], END])
    return [printed(line) for line in lines if line.get("event") == "printed" and line["call_id"] == CALL]


@outlets
@settings(max_examples=50)
@given(between=st.lists(events, max_size=2))
async def test_no_event_beside_a_run_parts_its_secret(outlet: Outlet, between: list[Event]) -> None:
    assert await outputs(outlet, *between) == ["see ", "[redacted] here\n"]


@outlets
async def test_text_in_which_a_secret_may_begin_comes_before_the_picture_that_follows(outlet: Outlet) -> None:
    picture = Printed(CALL, Display({"text/plain": "<figure>"}))
    assert await outputs(outlet, picture) == ["see ", HALF, "display", f"{REST} here\n"]


async def test_a_recording_redacts_each_text_of_a_reply_as_one(tmp_path: Path) -> None:
    reply: list[Chunk] = [
        TextChunk(f"see {HALF}"),
        ReasoningChunk("hm"),
        TextChunk(f"{REST} here"),
        Replied(Assistant("")),
    ]
    model = RecordingModel(FakeModel(reply), tmp_path / "calls", redactor=redactor())
    _ = [chunk async for chunk in model.stream([User("go")])]
    (line,) = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["reply"] == [
        {"text_pieces": ["see [redacted]"]},
        {"reasoning_pieces": ["hm"]},
        {"text_pieces": [" here"]},
    ]
