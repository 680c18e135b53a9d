"""The MCP client in the place of a session's model: each of its calls is one reply."""

import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

from terp.events.messages import Assistant, Message, ToolCall, User
from terp.events.model import CallDelta, Chunk, Replied, TextChunk
from terp.models.tool import NAME

_TYPED = re.compile(r"(?:^|\n)>>> ?(.*)", re.DOTALL)
_NO_MODEL = "No model answers here: an MCP client calls the code. `>>> CODE` runs Python in the same kernel."


class ClientModel:
    """Implements `Model`: replies with the `next` call of the client, and with nothing once it has run.

    A prompt that the user types beside the client (`terp mcp-server --watch`) runs if it begins with `>>>`.
    It has no `name`: a stored session is resumed with the user's own model.
    """

    name = ""

    def __init__(self, client: str) -> None:
        self.client = client
        self.next: ToolCall | None = None

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """Yield the reply."""
        (call, self.next), last = (self.next, None), messages[-1]
        if not isinstance(last, User):
            yield Replied(Assistant(""))
            return
        if call is None and (typed := _TYPED.search(last.text)):
            call = call_of(f"typed-{len(messages)}", "python", typed[1])
        if call is None:
            yield TextChunk(_NO_MODEL)
            yield Replied(Assistant(_NO_MODEL))
            return
        yield CallDelta(0, call.name, call.arguments)
        yield Replied(Assistant("", (call,)))

    async def aclose(self) -> None:
        """Do nothing: the connection to the client is not the session's."""


def call_of(call_id: str, language: str, code: str) -> ToolCall:
    """Return a call of the one tool."""
    return ToolCall(call_id, NAME, json.dumps({"language": language, "code": code}))
