"""Ids for tool calls that came without one."""

from collections.abc import Iterator, Sequence
from itertools import count

from terp.messages import Assistant, Message


def fresh_ids(messages: Sequence[Message]) -> Iterator[str]:
    """Ids that no call in `messages` has: the same ones every time for the same conversation.

    Nine letters and digits is the one form that every provider takes (Mistral's API insists).
    """
    used = {call.id for message in messages if isinstance(message, Assistant) for call in message.calls}
    for number in count(len(used) + 1):
        if (call_id := f"call{number:05}") not in used:
            yield call_id
