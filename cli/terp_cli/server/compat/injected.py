"""A model whose next reply a client has written: its code runs before the model itself is asked."""

import json
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from terp.events import Event
from terp.events.messages import Assistant, Attachment, Message, ToolCall
from terp.events.model import Chunk, Model, Replied
from terp.models.tool import NAME
from terp.session.session import Session


class InjectedModel:
    """Replies once with the client's code, and then with what the model behind says.

    `expect` is told the code with that reply, and "" once the model itself is asked.
    """

    def __init__(self, inner: Model, language: str, code: str, expect: Callable[[str], None]) -> None:
        self._inner = inner
        self._language = language
        self._code = code
        self._expect = expect
        self._replied = False

    @property
    def name(self) -> str:
        """The name of the model behind."""
        return self._inner.name

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """The code without a request, then requests of the model behind."""
        if not self._replied:
            self._replied = True
            self._expect(self._code)
            arguments = json.dumps({"language": self._language, "code": self._code})
            call = ToolCall(f"call_{secrets.token_hex(8)}", NAME, arguments)
            yield Replied(Assistant("", (call,)), "tool_calls")
            return
        self._expect("")
        async with aclosing(self._inner.stream(messages, tools)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def aclose(self) -> None:
        """Close the model behind."""
        await self._inner.aclose()


async def turn_with(
    session: Session,
    prompt: str,
    attachments: Sequence[Attachment],
    *,
    language: str,
    code: str,
    expect: Callable[[str], None],
) -> AsyncGenerator[Event, None]:
    """A turn whose first reply is this code, of which `expect` is told while it is to be proposed."""
    model = session.model
    session.model = InjectedModel(model, language, code, expect)
    try:
        async with aclosing(session.turn(prompt, attachments)) as events:
            async for event in events:
                yield event
    finally:
        session.model = model
        expect("")
