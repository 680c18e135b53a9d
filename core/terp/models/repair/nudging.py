"""A model that is asked again when it says nothing at all."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from terp.errors import RequestRejected, Unavailable
from terp.events.messages import Message, User
from terp.events.model import Chunk, Model, Replied, Retrying

NUDGES = (
    "Your last reply was empty. Please answer.",
    "Nothing arrived. Please answer in words, or call the tool.",
    "Still nothing. Say in one sentence what you found, or what keeps you from answering.",
    "Please answer now: text, or a call of the tool.",
)


class NudgingModel:
    """Follows an empty reply, one with neither text nor calls, with a nudge; up to four times.

    The nudge is sent, but is no part of the conversation afterwards.
    """

    def __init__(self, inner: Model) -> None:
        self._inner = inner

    @property
    def name(self) -> str:
        """The name of the model inside."""
        return self._inner.name

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """One reply that is not empty.

        Raises:
            RequestRejected: a content filter held the reply back.
            Unavailable: five replies were empty.
        """
        sent = messages
        for attempt, nudge in enumerate((*NUDGES, ""), start=1):
            async with aclosing(self._inner.stream(sent, tools)) as chunks:
                async for chunk in chunks:
                    if isinstance(chunk, Replied) and _is_empty(chunk):
                        break
                    yield chunk
                else:
                    return
            self._give_up_on(chunk)
            if nudge:
                yield Retrying(attempt, "the model's reply was empty", 0.0)
                sent = [*messages, User(nudge)]
        raise Unavailable(
            f"{self.name}: five replies in a row were empty.",
            "Try again, or pick another model with --model.",
        )

    async def aclose(self) -> None:
        """Close the model inside."""
        await self._inner.aclose()

    def _give_up_on(self, empty: Replied) -> None:
        if empty.finish_reason == "content_filter":
            raise RequestRejected(
                f"{self.name}: the provider's content filter held the reply back.",
                "Say it differently, or pick another model with --model.",
            )


def _is_empty(reply: Replied) -> bool:
    return not reply.message.calls and not reply.message.text.strip()
