"""Retries around an adapter: after a failure that may pass, after an empty reply, and with another model."""

import asyncio
import random
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from terp.errors import ModelError, RateLimited, RequestRejected, Unavailable
from terp.events.messages import Assistant, Message, User, without_extras
from terp.events.model import Chunk, Model, ModelWrapper, Replied, Retrying

_FIRST_DELAY_S = 1.0
_LONGEST_DELAY_S = 30.0
_LONGEST_ASKED_S = 60.0
NUDGES = (
    "Your last reply was empty. Please answer.",
    "Nothing arrived. Please answer in words, or call the tool.",
    "Still nothing. Say in one sentence what you found, or what keeps you from answering.",
    "Please answer now: text, or a call of the tool.",
)


class RetryingModel(ModelWrapper):
    """Sends a request up to `retries` times more, each time after a longer wait.

    A wait that the provider requests is respected, up to a minute; a longer one fails the request at once.
    No code of a reply has run before the reply is complete, so the chunks of a failed one are void.
    `sleep` and `chance` (a number from 0 to 1) can be replaced in tests.
    """

    def __init__(
        self,
        inner: Model,
        *,
        retries: int = 3,
        sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
        chance: Callable[[], float] = random.random,
    ) -> None:
        super().__init__(inner)
        self._retries = retries
        self._sleep = sleep
        self._chance = chance

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """Yield one reply, with a `Retrying` before each wait."""
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


class NudgingModel(ModelWrapper):
    """Repeats a request after an empty reply (no text, no calls) with a nudge to answer; up to four times.

    The nudge is sent, but is no part of the conversation afterwards.
    """

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """Yield one reply that is not empty.

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

    def _give_up_on(self, empty: Replied) -> None:
        if empty.finish_reason == "content_filter":
            raise RequestRejected(
                f"{self.name}: the provider's content filter held the reply back.",
                "Say it differently, or pick another model with --model.",
            )


def _is_empty(reply: Replied) -> bool:
    return not reply.message.calls and not reply.message.text.strip()


class FallingBackModel(ModelWrapper):
    """Uses the first of several models; switches to the next if that is unreachable or stays rate-limited.

    The received part of a failed reply is void, and no code of it has run. The model that answered is
    used from then on. `others` are opened at their first use; until then they are names.
    """

    def __init__(self, first: Model, others: Sequence[tuple[str, Callable[[], Model]]]) -> None:
        super().__init__(first)
        self._others = list(others)
        self._foreign: Message | None = None

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """Yield one reply, with a `Retrying` before a switch to another model.

        Raises:
            ModelError: no model is left; the message names all failures.
        """
        failed: list[ModelError] = []
        while True:
            try:
                async with aclosing(self._inner.stream(self._readable(messages), tools)) as chunks:
                    async for chunk in chunks:
                        yield chunk
                return
            except ModelError as error:
                # A fallback without a key is passed over; the failure of the user's own choice must be shown.
                if not (failed or isinstance(error, RateLimited | Unavailable)):
                    raise
                failed.append(error)
                if not self._others:
                    raise _all_failed(failed) from error
                reason = f"{error.message} {self._others[0][0]} is asked instead."
            yield Retrying(len(failed), reason, 0.0)
            await self._open_next(messages)

    async def _open_next(self, messages: Sequence[Message]) -> None:
        _, opened = self._others.pop(0)
        before, self._inner = self._inner, opened()
        replies = (message for message in reversed(messages) if isinstance(message, Assistant))
        self._foreign = next(replies, None)
        await before.aclose()

    def _readable(self, messages: Sequence[Message]) -> Sequence[Message]:
        """Return the messages without fields that only the provider of an earlier model understands."""
        if self._foreign is None or self._foreign not in messages:
            return messages
        end = len(messages) - list(reversed(messages)).index(self._foreign)
        return [*map(without_extras, messages[:end]), *messages[end:]]


def _all_failed(failed: Sequence[ModelError]) -> ModelError:
    """Return the first failure, with the messages of the others."""
    first = failed[0]
    if len(failed) == 1:
        return first
    message = " ".join(error.message for error in failed)
    return type(first)(message, first.remedy, status=first.status, retry_after_s=first.retry_after_s)
