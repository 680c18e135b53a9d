"""What a provider is told to cache that does not do so unasked: Claude's, wherever it runs.

A mark stands behind the system prompt, with the tools before it; behind the last request, which is cached
already; and behind this one. A provider takes four at most, and looks back only some twenty blocks from each:
without the second one a step with many results would find nothing.
"""

from collections.abc import Mapping, Sequence
from typing import Any

_MARK = {"cache_control": {"type": "ephemeral"}}

Sent = Mapping[str, Any]
"""A message in the form of chat completions."""


def ends(messages: Sequence[Sent]) -> list[int]:
    """The places of the messages that are marked, in order."""
    replies = [at for at, message in enumerate(messages) if message["role"] == "assistant"]
    last_request = [replies[-1] - 1] if replies else []
    system = [0] if messages and messages[0]["role"] == "system" else []
    return sorted({at for at in (*system, *last_request, len(messages) - 1) if at >= 0})


def marked(messages: Sequence[Sent]) -> list[Sent]:
    """The messages with their marks, as OpenRouter takes them: in a part of the content."""
    places = set(ends(messages))
    return [_marked(message) if at in places else message for at, message in enumerate(messages)]


def _marked(message: Sent) -> Sent:
    content = message["content"]
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    texts = [at for at, part in enumerate(parts) if part["type"] == "text"]
    if texts:
        parts[texts[-1]] = {**parts[texts[-1]], **_MARK}
    return {**message, "content": parts}
