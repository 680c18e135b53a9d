"""A model that is asked again when it fails in a way that may pass."""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from terp.errors import ModelError
from terp.events.messages import Message
from terp.events.model import Chunk, Model, Retrying

_FIRST_DELAY_S = 1.0
_LONGEST_DELAY_S = 30.0
_LONGEST_ASKED_S = 60.0


class RetryingModel:
    """Sends a request up to `retries` times more, each time after a longer wait.

    A wait the provider asks for is kept to, up to a minute; one that is longer ends the request at once.
    No code of a reply has run before the reply is complete, so what came of a failed one is simply void.
    `sleep` and `chance` (a number from 0 to 1) are there to be replaced in tests.
    """

    def __init__(
        self,
        inner: Model,
        *,
        retries: int = 3,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self._inner = inner
        self._retries = retries
        self._sleep = sleep
        self._chance = chance

    @property
    def name(self) -> str:
        """The name of the model inside."""
        return self._inner.name

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """One reply, with a `Retrying` before each wait."""
        attempt = 0
        while True:
            try:
                async with aclosing(self._inner.stream(messages, tools)) as chunks:
                    async for chunk in chunks:
                        yield chunk
                return
            except ModelError as error:
                attempt += 1
                if not error.retryable or attempt > self._retries:
                    raise
                delay_s = self._delay_s(error, attempt)
                reason = error.message
            yield Retrying(attempt, reason, delay_s)
            await self._sleep(delay_s)

    async def aclose(self) -> None:
        """Close the model inside."""
        await self._inner.aclose()

    def _delay_s(self, error: ModelError, attempt: int) -> float:
        asked = error.retry_after_s
        if asked is not None and asked > _LONGEST_ASKED_S:
            raise type(error)(
                error.message,
                f"Try again in {_in_words(asked)}, as the provider asks, or pick another model with --model.",
                status=error.status,
                retry_after_s=asked,
            ) from error
        # Half of it is left to chance, so that many clients do not come back together.
        own = min(_LONGEST_DELAY_S, _FIRST_DELAY_S * 2 ** (attempt - 1)) * (0.5 + self._chance() / 2)
        return own if asked is None else asked + self._chance() / 4


def _in_words(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.0f} s"
    if seconds < 7200:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.0f} hours"
