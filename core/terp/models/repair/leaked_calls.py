"""A model whose tool calls may arrive as text: weak models, and servers without the right template.

Text is held back only as long as it may still be such a call; any other text streams at once.
"""

from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from typing import Any

from terp.events.messages import Message
from terp.events.model import CallDelta, Chunk, Model, Replied, Retrying, Text
from terp.models.repair.control_tokens import TokensAroundFilter, without_tokens_around
from terp.models.repair.printed_calls import PrintedCalls
from terp.models.repair.tool_calls import fresh_ids, tool_call
from terp.models.tool import tool_names

_CHECK_EACH = 2000


async def lift_leaked_calls(
    chunks: AsyncGenerator[Chunk, None], reader: PrintedCalls, ids: Iterator[str]
) -> AsyncGenerator[Chunk, None]:
    """The chunks of a reply, with a printed call in place of the text that printed it."""
    held = _HeldText(reader)
    async with aclosing(chunks):
        async for chunk in chunks:
            match chunk:
                case Text(text=text):
                    if released := held.add(text):
                        yield Text(released)
                    continue
                case Retrying():
                    held = _HeldText(reader)
                case CallDelta():
                    if released := held.release():
                        yield Text(released)
                case Replied():
                    for last in _ending(chunk, reader, held.release(), ids):
                        yield last
                    continue
                case _:
                    pass
            yield chunk


def _ending(replied: Replied, reader: PrintedCalls, held: str, ids: Iterator[str]) -> Iterator[Chunk]:
    leaked = reader.calls(held) if held else []
    if held and not leaked:
        yield Text(held)
    for position, call in enumerate(leaked):
        yield CallDelta(position, call.name, call.written)
    if leaked:
        calls = tuple(tool_call(next(ids), call.name, call.written) for call in leaked)
        replied = replace(replied, message=replace(replied.message, text="", calls=calls))
    yield replied


class _HeldText:
    """The beginning of a reply, kept back as long as it may become a call."""

    def __init__(self, reader: PrintedCalls) -> None:
        self._reader = reader
        self._pieces: list[str] = []
        self._length = 0
        self._next_check = 0
        self._holding = True

    def add(self, text: str) -> str:
        """What can be passed on now."""
        if not self._holding:
            return text
        self._pieces.append(text)
        self._length += len(text)
        if self._length < self._next_check:
            return ""
        # A long text that may still be a call is one; looking at it ever less often keeps this linear.
        self._next_check = self._length * 5 // 4 if self._length > _CHECK_EACH else 0
        return "" if self._reader.may_become_calls("".join(self._pieces)) else self.release()

    def release(self) -> str:
        """All that is held, for good."""
        text = "".join(self._pieces)
        self._pieces, self._holding = [], False
        return text


async def without_leaked_tokens(chunks: AsyncGenerator[Chunk, None]) -> AsyncGenerator[Chunk, None]:
    """The chunks of a reply, without the control tokens of a template around its text."""
    tokens = TokensAroundFilter()
    async with aclosing(chunks):
        async for chunk in chunks:
            match chunk:
                case Text(text=text):
                    if passed := tokens.feed(text):
                        yield Text(passed)
                    continue
                case Retrying():
                    tokens = TokensAroundFilter()
                case Replied(message=message):
                    if rest := tokens.finish():
                        yield Text(rest)
                    text = without_tokens_around(message.text)
                    chunk = replace(chunk, message=replace(message, text=text))  # noqa: PLW2901
                case _:
                    pass
            yield chunk


class LeakedCalls:
    """A model whose printed tool calls are calls. Without tools in the request it changes nothing."""

    def __init__(
        self,
        inner: Model,
        languages: Sequence[str],
        *,
        aliases: Mapping[str, str] | None = None,
        functions: Collection[str] = (),
    ) -> None:
        self._inner = inner
        self._languages = languages
        self._aliases = aliases
        self._functions = functions

    @property
    def name(self) -> str:
        """The name of the model behind."""
        return self._inner.name

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """One request of the model behind, with printed calls lifted out of its text."""
        chunks = self._inner.stream(messages, tools)
        if tools:
            reader = PrintedCalls(callable_names(self._languages, self._aliases, self._functions))
            chunks = lift_leaked_calls(without_leaked_tokens(chunks), reader, fresh_ids(messages))
        async with aclosing(chunks):
            async for chunk in chunks:
                yield chunk

    async def aclose(self) -> None:
        """Close the model behind."""
        await self._inner.aclose()


def callable_names(
    languages: Sequence[str], aliases: Mapping[str, str] | None, functions: Collection[str]
) -> frozenset[str]:
    """Every name, in lower case, that a printed call may have."""
    return frozenset([*tool_names(languages, aliases), *(name.casefold() for name in functions)])
