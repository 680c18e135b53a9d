"""Ways to write recordings and to read them, for the tests about them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from terp.events.messages import Message, User
from terp.events.model import Model, Replied
from terp.models.recording.models import RecordingModel
from tests.core.models.fakes import collect

GO = [User("go")]


async def record(path: Path, *conversations: Sequence[Message], inner: Model, **options: Any) -> None:
    model = RecordingModel(inner, path, **options)
    for messages in conversations:
        await collect(model, messages)


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path: Path, *lines: dict[str, Any] | str) -> Path:
    path.write_text("\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines))
    return path


def in_turn(*replies: str) -> list[dict[str, Any]]:
    return [{"request": None, "reply": [{"text": reply}]} for reply in replies]


async def answer(model: Model, messages: Sequence[Message] = GO) -> str:
    *_, replied = await collect(model, messages)
    assert isinstance(replied, Replied)
    return replied.message.text
