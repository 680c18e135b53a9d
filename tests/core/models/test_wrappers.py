"""What every model around a model owes the one behind it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from terp.events.messages import User
from terp.events.model import Model
from terp.models.recording.models import RecordingModel, ReplayModel
from terp.models.repair.fences import TextFallback
from terp.models.tool import schema
from tests.core.models.fakes import FakeModel, said

LANGUAGES = ("python",)
WRAPPERS: dict[str, Callable[[Model, Path], Model]] = {
    "fences": lambda inner, _: TextFallback(inner, LANGUAGES, fenced=True),
    "text fallback": lambda inner, _: TextFallback(inner, LANGUAGES),
    "recording": RecordingModel,
    "replay of new": lambda inner, path: ReplayModel(path, "new", inner),
}


@pytest.mark.parametrize("wrapper", WRAPPERS)
async def test_closing_the_stream_closes_the_one_behind_at_once(wrapper: str, tmp_path: Path) -> None:
    inner = FakeModel(said("Hello there"))
    stream = WRAPPERS[wrapper](inner, tmp_path / "calls.jsonl").stream([User("go")], [schema(LANGUAGES)])
    await anext(stream)
    assert inner.streaming == 1
    await stream.aclose()
    assert inner.streaming == 0


@pytest.mark.parametrize("wrapper", WRAPPERS)
async def test_it_has_the_name_of_the_model_behind_and_closes_it(wrapper: str, tmp_path: Path) -> None:
    inner = FakeModel(said("Hello"))
    model = WRAPPERS[wrapper](inner, tmp_path / "calls.jsonl")
    await model.aclose()
    await model.aclose()
    assert (model.name, inner.closed) == ("fake/model", True)
