"""The runs that a replay repeats: those of a stored session, or of a recording of model calls."""

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from terp.events import Event
from terp.events.messages import ToolCall
from terp.events.outputs import Text
from terp.events.run_log import LoggedRun, RunLog
from terp.models.recording.file import RecordingEntry
from terp.models.tool import Call, understand
from terp.secrets.redactor import REDACTED
from terp.session.artifacts import with_picture
from terp.session.proposals import digest_of

_NOT_RUN = "Not run:"


def session_runs(events: Iterable[Event], folder: Path | None = None) -> list[LoggedRun]:
    """Return the runs of a session in order, without reruns: those of the model, and of code that was typed.

    Pictures that the events only name are read from the `folder` of the session.
    """
    runs = RunLog.of(events, (lambda display: with_picture(display, folder)) if folder else None).started
    return [run.closed() for run in runs if run.language and not run.is_rerun]


def is_whole(run: LoggedRun) -> bool:
    """Return True unless a secret was redacted from the code of a run."""
    if run.typed or not run.call_id:
        return REDACTED not in run.code
    return digest_of(run.code) == run.digest


def recorded_runs(entries: Sequence[RecordingEntry], languages: Sequence[str]) -> list[list[LoggedRun]]:
    """Return the runs of each conversation in a recording, in order; a title or a summary has none.

    The only output of a run is its tool result. Code without a result is left out: it is not known
    whether it ran.
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
    return [_runs(messages, languages) for messages in conversations]


def _runs(messages: Sequence[Mapping[str, Any]], languages: Sequence[str]) -> list[LoggedRun]:
    results = {message.get("of"): message["text"] for message in messages if message.get("role") == "result"}
    calls = (call for message in messages for call in message.get("calls") or ())
    runs: list[LoggedRun] = []
    for recorded in calls:
        call = understand(_call(recorded), languages)
        text = results.get(recorded.get("id"))
        if isinstance(call, Call) and text is not None and not text.startswith(_NOT_RUN):
            runs.append(LoggedRun("", call.language, call.code, "ok", outputs=(Text("stdout", text),)))
    return runs


def _call(recorded: Mapping[str, Any]) -> ToolCall:
    arguments = recorded.get("arguments", {})
    written = arguments if isinstance(arguments, str) else json.dumps(arguments)
    name, raw = str(recorded.get("name", "")), str(recorded.get("raw", ""))
    return ToolCall(str(recorded.get("id", "")), name, written, raw)
