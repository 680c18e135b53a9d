"""Tool calls that terp puts together itself, from text or from a recording."""

import json
from collections.abc import Iterator, Mapping, Sequence
from itertools import count
from typing import Any

from terp.events.messages import Assistant, Message, ToolCall


def fresh_ids(messages: Sequence[Message]) -> Iterator[str]:
    """Ids that no call in `messages` has: the same ones every time for the same conversation.

    Nine letters and digits is the one form that every provider takes (Mistral's API insists).
    """
    used = ids_in(messages)
    for number in count(len(used) + 1):
        if (call_id := f"call{number:05}") not in used:
            yield call_id


def ids_in(messages: Sequence[Message]) -> set[str]:
    """The ids of all calls in `messages`."""
    return {call.id for message in messages if isinstance(message, Assistant) for call in message.calls}


def tool_call(call_id: str, name: str, written: str, extras: Mapping[str, Any] | None = None) -> ToolCall:
    """The call for the history; arguments that are no JSON object are kept in `raw` alone."""
    try:
        usable = isinstance(json.loads(written), dict)
    except (ValueError, RecursionError):
        usable = False
    return ToolCall(call_id, name, written if usable else "{}", "" if usable else written, extras or {})
