"""Models that cannot call tools: code comes and goes in fenced blocks.

Every block in a language that can run is a call, and all of a reply's blocks run, in their order: a
later one may need what an earlier one defined, and each result tells the model what ran. What counts
as a block is written in `fence_scanner`.
"""

import json
from collections.abc import AsyncGenerator, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from terp.errors import ToolsRejected
from terp.languages import language_of
from terp.messages import Assistant, Message, ToolCall
from terp.models.control_tokens import ControlTokenFilter
from terp.models.fence_scanner import Closed, Code, FenceScanner, Opened, Piece, Prose
from terp.models.fenced_history import as_fenced_text
from terp.models.leaked_calls import LeakedCalls, callable_names, lift_leaked_calls
from terp.models.printed_calls import PrintedCalls
from terp.models.protocol import CallDelta, Chunk, Model, Replied, Retrying, Text
from terp.models.tool_calls import fresh_ids, tool_call
from terp.tool import NAME, understand

_CUT_OFF = ("length", "max_tokens")


class FencedModel:
    """A model that is asked for fenced blocks instead of tool calls.

    The model behind gets no tools. A request without tools wants no code: its history is put into
    fences all the same, and blocks in its reply are text.
    """

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
        """One request of the model behind; fenced blocks of its reply are calls."""
        languages = self._languages if tools else ()
        ids = fresh_ids(messages)
        chunks = self._inner.stream(self._written(messages, instruct=bool(tools)))
        if tools:
            names = callable_names(self._languages, self._aliases, self._functions)
            chunks = lift_leaked_calls(chunks, PrintedCalls(names), ids)
        reply = _FencedReply(languages, self._aliases, ids)
        async with aclosing(chunks):
            async for chunk in chunks:
                for translated in reply.take(chunk):
                    yield translated

    def _written(self, messages: Sequence[Message], *, instruct: bool) -> list[Message]:
        read = partial(
            understand, languages=self._languages, aliases=self._aliases, functions=self._functions
        )
        return as_fenced_text(messages, self._languages, read, instruct=instruct)

    async def aclose(self) -> None:
        """Close the model behind."""
        await self._inner.aclose()


class _FencedReply:
    """Translates the chunks of one reply."""

    def __init__(
        self, languages: Sequence[str], aliases: Mapping[str, str] | None, ids: Iterator[str]
    ) -> None:
        self._languages = languages
        self._aliases = aliases
        self._ids = ids
        self._begin()

    def _begin(self) -> None:
        self._tokens = ControlTokenFilter()
        self._scanner = FenceScanner(lambda word: language_of(word, self._languages, self._aliases))
        self._text: list[str] = []
        self._calls: list[_Call] = []
        self._theirs: dict[int, _Call] = {}

    def take(self, chunk: Chunk) -> Iterator[Chunk]:
        """What a chunk of the model behind becomes."""
        match chunk:
            case Text(text=text):
                yield from self._translated(self._scanner.feed(self._tokens.feed(text)))
            case CallDelta():
                yield self._their_call(chunk)
            case Replied():
                yield from self._translated(self._scanner.feed(self._tokens.finish()))
                yield from self._translated(self._scanner.finish())
                yield from self._ended(chunk)
            case Retrying():
                self._begin()
                yield chunk
            case _:
                yield chunk

    def _translated(self, pieces: Sequence[Piece]) -> Iterator[Chunk]:
        for piece in pieces:
            match piece:
                case Prose(text=text):
                    self._text.append(text)
                    yield Text(text)
                case Opened(language=language):
                    self._calls.append(_Call(len(self._calls), NAME))
                    yield self._calls[-1].add(f'{{"language": {_quoted(language)}, "code": "')
                case Code(text=code):
                    yield self._calls[-1].add(_quoted(code)[1:-1])
                case Closed():
                    yield self._calls[-1].add('"}')

    def _their_call(self, delta: CallDelta) -> Chunk:
        if delta.position not in self._theirs:
            self._theirs[delta.position] = _Call(len(self._calls), delta.name)
            self._calls.append(self._theirs[delta.position])
        return self._theirs[delta.position].add(delta.arguments)

    def _ended(self, replied: Replied) -> Iterator[Chunk]:
        # A reply that simply stops has forgotten the fence; one that was cut off has not said it all.
        if self._scanner.in_code and replied.finish_reason not in _CUT_OFF:
            yield from self._translated([Closed()])
        message = replied.message
        for position, call in self._theirs.items():
            call.complete = message.calls[position]
        calls = tuple(call.complete or call.built(next(self._ids)) for call in self._calls)
        ended = Assistant("".join(self._text), calls, message.reasoning, message.extras)
        yield Replied(ended, replied.finish_reason)


class _Call:
    """One call of the reply while it is put together."""

    def __init__(self, position: int, name: str) -> None:
        self._position = position
        self._name = name
        self._arguments: list[str] = []
        self.complete: ToolCall | None = None

    def add(self, arguments: str) -> CallDelta:
        """The chunk for the next piece of the arguments."""
        self._arguments.append(arguments)
        return CallDelta(self._position, self._name if len(self._arguments) == 1 else "", arguments)

    def built(self, call_id: str) -> ToolCall:
        """The call for the history; one that was cut off keeps what came, and is told so when it is read."""
        return tool_call(call_id, self._name, "".join(self._arguments))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


class TextFallback:
    """A model that is offered tools until it refuses them, and asked for fenced blocks from then on."""

    def __init__(self, inner: Model, fenced: Model) -> None:
        self._inner = inner
        self._fenced = fenced
        self._refuses_tools = False

    @property
    def name(self) -> str:
        """The name of the model behind."""
        return self._inner.name

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """One request; when its tools are refused, the same again without, at once."""
        if not self._refuses_tools:
            try:
                async with aclosing(self._inner.stream(messages, tools)) as chunks:
                    async for chunk in chunks:
                        yield chunk
            except ToolsRejected as refusal:
                self._refuses_tools = True
                yield Retrying(1, f"{refusal.message} Code is asked for in fenced blocks instead.", 0.0)
            else:
                return
        async with aclosing(self._fenced.stream(messages, tools)) as chunks:
            async for chunk in chunks:
                yield chunk

    async def aclose(self) -> None:
        """Close the model behind."""
        await self._inner.aclose()


def with_text_fallback(
    inner: Model,
    languages: Sequence[str],
    *,
    aliases: Mapping[str, str] | None = None,
    functions: Collection[str] = (),
) -> TextFallback:
    """`inner` with tools as long as it takes them, else with fenced blocks; printed calls count in both."""
    return TextFallback(
        LeakedCalls(inner, languages, aliases=aliases, functions=functions),
        FencedModel(inner, languages, aliases=aliases, functions=functions),
    )
