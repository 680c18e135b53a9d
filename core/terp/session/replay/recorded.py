"""The code in a recording of model calls, and what the model was told of it."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from terp.events.messages import ToolCall
from terp.events.outputs import Text
from terp.models.recording.file import Entry
from terp.models.tool import Call, understand
from terp.session.cells import Cell

_NOT_RUN = "Not run:"


def recorded_cells(entries: Sequence[Entry], languages: Sequence[str]) -> list[list[Cell]]:
    """The code of each conversation in a recording, in order; a title or a summary of one is none.

    Its only output is what the model was told of it. Code of which the model was never told is left out:
    nobody knows whether it ran.
    """
    conversations: list[list[Mapping[str, Any]]] = []
    for entry in entries:
        messages = list((entry.request or {}).get("messages") or [])
        if not any(message.get("role") == "result" for message in messages):
            continue
        if conversations and messages[: len(conversations[-1])] == conversations[-1]:
            conversations[-1] = messages
        else:
            conversations.append(messages)
    return [_cells(messages, languages) for messages in conversations]


def _cells(messages: Sequence[Mapping[str, Any]], languages: Sequence[str]) -> list[Cell]:
    told = {message.get("of"): message["text"] for message in messages if message.get("role") == "result"}
    calls = (call for message in messages for call in message.get("calls") or ())
    found: list[Cell] = []
    for asked in calls:
        call = understand(_call(asked), languages)
        text = told.get(asked.get("id"))
        if isinstance(call, Call) and text is not None and not text.startswith(_NOT_RUN):
            found.append(Cell(call.language, call.code, (Text("stdout", text),), status="ok"))
    return found


def _call(asked: Mapping[str, Any]) -> ToolCall:
    arguments = asked.get("arguments", {})
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ToolCall(str(asked.get("id", "")), str(asked.get("name", "")), written, str(asked.get("raw", "")))
