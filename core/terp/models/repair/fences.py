"""Models that cannot call tools: code comes and goes in fenced blocks.

Every block in a language that can run is a call, and all of a reply's blocks run, in their order: a
later one may need what an earlier one defined, and each result tells the model what ran. What counts
as a block is written in `fence_scanner`.
"""

from collections.abc import AsyncGenerator, Collection, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from terp.errors import ToolsRejected
from terp.events.messages import Message
from terp.events.model import Chunk, Model, Retrying, Tools, demanded
from terp.models.repair.fenced_history import as_fenced_text
from terp.models.repair.leaked_calls import LeakedCalls, callable_names, lift_leaked_calls
from terp.models.repair.printed_calls import PrintedCalls
from terp.models.repair.tool_calls import fresh_ids
from terp.models.tool import understand


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
        kept = {name: value for name, value in demanded(tools).items() if name != "tool_choice"}
        chunks = self._inner.stream(self._written(messages, instruct=bool(tools)), Tools((), kept))
        if tools:
            names = callable_names(self._languages, self._aliases, self._functions)
            chunks = lift_leaked_calls(chunks, PrintedCalls(names), ids)
        # Most models call tools, and never need this.
        from terp.models.repair.fenced_reply import FencedReply  # noqa: PLC0415

        reply = FencedReply(languages, self._aliases, ids)
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
