"""What tests of a session share: one with fakes for parts, and ways to read its events."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from terp.events import (
    Event,
    UsageReported,
)
from terp.events.kernel import Kernels
from terp.events.messages import Assistant, Message, Result
from terp.person import AutoRun, Person
from terp.session.resources import Limits, SessionResources
from terp.session.session import Session
from terp.testing import EchoKernel, ScriptedModel


def open_session(
    tmp_path: Path,
    model: ScriptedModel,
    kernels: Kernels | None = None,
    person: Person | None = None,
    limits: Limits | None = None,
) -> Session:
    return Session(
        model,
        kernels or EchoKernel(),
        person or AutoRun(),
        folder=tmp_path / "session",
        resources=SessionResources(limits=limits or Limits()),
    )


def of(kind: type[Any], events: Sequence[Event]) -> list[Any]:
    return [event for event in events if isinstance(event, kind)]


def untimed(events: Iterable[Event]) -> list[Event]:
    """The events without what depends on the clock."""
    return [replace(event, seconds=0.0) if isinstance(event, UsageReported) else event for event in events]


def results(session: Session) -> list[str]:
    """The results of all calls, with `note` in place of the word that marks notes."""
    mark = session.resources.note_mark
    texts = [message.text for message in session.history if isinstance(message, Result)]
    return [text.replace(mark.begins, "[note: ") for text in texts] if mark.word else texts


def unanswered(history: Sequence[Message]) -> list[str]:
    """Ids of calls without a result, of results without a call, and of calls answered twice."""
    asked = [call.id for message in history if isinstance(message, Assistant) for call in message.calls]
    answered = [message.call_id for message in history if isinstance(message, Result)]
    return sorted(set(asked) ^ set(answered)) + [name for name in answered if answered.count(name) > 1]
