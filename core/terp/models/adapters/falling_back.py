"""A model in whose place another one answers while it cannot be reached."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from terp.errors import ModelError, RateLimited, Unavailable
from terp.events.messages import Assistant, Message, without_extras
from terp.events.model import Chunk, Model, Retrying


class FallingBackModel:
    """Asks the first of several models, and the next one when that is unreachable or rate-limited for good.

    Whatever had come of the failed reply is void, and no code of it has run. Who answered stays the one that
    is asked. `others` are opened when they are first wanted, and called by their names until then.
    """

    def __init__(self, first: Model, others: Sequence[tuple[str, Callable[[], Model]]]) -> None:
        self._present = first
        self._others = list(others)
        self._foreign: Message | None = None

    @property
    def name(self) -> str:
        """The name of the model that is asked now."""
        return self._present.name

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """One reply, with a `Retrying` before another model is asked.

        Raises:
            ModelError: no model is left; the message tells of all that failed.
        """
        failed: list[ModelError] = []
        while True:
            try:
                async with aclosing(self._present.stream(self._readable(messages), tools)) as chunks:
                    async for chunk in chunks:
                        yield chunk
                return
            except ModelError as error:
                # A stand-in without a key is passed over; that of the person's choice must be told.
                if not (failed or isinstance(error, RateLimited | Unavailable)):
                    raise
                failed.append(error)
                if not self._others:
                    raise _all_failed(failed) from error
                reason = f"{error.message} {self._others[0][0]} is asked instead."
            yield Retrying(len(failed), reason, 0.0)
            await self._go_on(messages)

    async def aclose(self) -> None:
        """Close the model that is asked; those before it are closed already."""
        await self._present.aclose()

    async def _go_on(self, messages: Sequence[Message]) -> None:
        _, opened = self._others.pop(0)
        before, self._present = self._present, opened()
        replies = (message for message in reversed(messages) if isinstance(message, Assistant))
        self._foreign = next(replies, None)
        await before.aclose()

    def _readable(self, messages: Sequence[Message]) -> Sequence[Message]:
        """The messages, without what only the provider of an earlier model understands."""
        if self._foreign is None or self._foreign not in messages:
            return messages
        end = len(messages) - list(reversed(messages)).index(self._foreign)
        return [*map(without_extras, messages[:end]), *messages[end:]]


def _all_failed(failed: Sequence[ModelError]) -> ModelError:
    """The first failure, in words that tell of the others; one alone as it is."""
    first = failed[0]
    if len(failed) == 1:
        return first
    told = " ".join(error.message for error in failed)
    return type(first)(told, first.remedy, status=first.status, retry_after_s=first.retry_after_s)
