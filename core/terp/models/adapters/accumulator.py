"""Streamed chunks of chat completions, assembled to one reply.

Both adapters use it. Providers differ in every field; the rules here were derived from
recorded streams of 32 providers.
"""

import json
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from terp.events.messages import Assistant, ToolCall
from terp.events.model import CallDelta, Chunk, ReasoningChunk, Replied, TextChunk, Usage
from terp.models.adapters.thinking import ReasoningDetails, ThinkingBlocks, ThinkTags, merge_fields
from terp.text.dataclasses import dataclass, field
from terp.text.plain import mended

# Anthropic's ids of calls that it runs itself, and answers itself: they are no wish of ours to run.
_RUN_ELSEWHERE = ("srvtoolu_", "mcptoolu_")
_CALL_FIELDS = frozenset({"index", "id", "type", "function"})
_FUNCTION_FIELDS = frozenset({"name", "arguments"})
Price = Callable[[int, int, int, int], float | None]
"""The cost in USD of (input, output, cached, cache-written) tokens, or None when it is not known."""

_INPUT = ("prompt_tokens", "input_tokens")
_OUTPUT = ("completion_tokens", "output_tokens")
# xAI's unit of account: 10¹⁰ ticks are a dollar.
_TICKS_PER_USD = 10**10


@dataclass(slots=True)
class _Call:
    """A tool call whose pieces are still arriving."""

    position: int
    id: str = ""
    latest_id: str = ""
    name: str = ""
    announced: bool = False
    elsewhere: bool = False
    pieces: list[str] = field(default_factory=list)
    extras: dict[str, Any] = field(default_factory=dict)

    def complete(self) -> bool:
        return _is_object("".join(self.pieces))

    def tool_call(self) -> ToolCall:
        raw = "".join(self.pieces)
        usable = _is_object(raw)
        return ToolCall(
            id=self.id or f"call_{secrets.token_hex(16)}",
            name=self.name or "unnamed",
            arguments=raw if usable else "{}",
            raw="" if usable else raw,
            extras=self.extras,
        )


class Accumulator:
    """Converter of chunks in OpenAI's form (mappings) into chunks of `Model`, and at the end the reply."""

    def __init__(self, price: Price = lambda *_: None) -> None:
        self._price = price
        self._text: list[str] = []
        self._half = ""
        self._reasoning: list[str] = []
        self._calls: list[_Call] = []
        self._at_index: dict[int, _Call] = {}
        self._spoken: dict[str, list[str]] = {"reasoning_content": [], "reasoning": []}
        self._thinking = ThinkingBlocks()
        self._tags = ThinkTags()
        self._details = ReasoningDetails()
        self._items: list[Any] = []
        self._fields: dict[str, Any] = {}
        self._usage: Mapping[str, Any] | None = None
        self._first: int | None = None
        self.finish_reason = ""

    def feed(self, chunk: Mapping[str, Any]) -> Sequence[Chunk]:
        """Return what this chunk adds to the reply. Unknown and empty fields add nothing."""
        # Groq sends it beside the choices where no stream_options ask for it.
        usage = chunk.get("usage") or (chunk.get("x_groq") or {}).get("usage")
        if usage:
            self._note_usage(usage)
        choices = chunk.get("choices")
        if not choices:
            return ()
        if self._first is None:
            self._first = choices[0].get("index") or 0
        # Of several replies to one request the first is read.
        first = [choice for choice in choices if (choice.get("index") or 0) == self._first]
        if len(first) == 1:
            return self._choice(first[0])
        return [piece for choice in first for piece in self._choice(choice)]

    def finish(self) -> Sequence[Chunk]:
        """Return the text held back, `Usage` if the provider reported any, and `Replied`. Called once."""
        rest = list(self._parted(*self._tags.feed("\ufffd"))) if self._half else []
        rest += self._parted(*self._tags.finish())
        text, reasoning = "".join(self._text), "".join(self._reasoning)
        calls = tuple(call.tool_call() for call in self._calls if call.name or call.pieces)
        reply = Replied(Assistant(text, calls, reasoning, self._extras()), self.finish_reason)
        usage = [used(self._usage, self._price)] if self._usage else []
        return [*rest, *usage, reply]

    def _extras(self) -> dict[str, Any]:
        found = {
            "thinking_blocks": self._thinking.blocks,
            "reasoning_details": self._details.blocks,
            "reasoning_items": self._items,
            "provider_specific_fields": self._fields,
            **{name: "".join(words) for name, words in self._spoken.items()},
        }
        return {name: value for name, value in found.items() if value}

    def _choice(self, choice: Mapping[str, Any]) -> Sequence[Chunk]:
        if reason := choice.get("finish_reason"):
            self.finish_reason = str(reason)
            # Moonshot puts the usage into the choice.
            self._note_usage(choice.get("usage"))
        delta = choice.get("delta")
        if delta is None:
            # A server that was asked for a stream and answered with one whole reply.
            delta = choice.get("message")
        if not delta:
            return ()
        if len(delta) == 1 and type(content := delta.get("content")) is str and content.isascii():
            if not content or self._half or not self._tags.over:
                return list(self._say(content))
            self._text.append(content)
            return (TextChunk(content),)
        return list(self._delta(delta))

    def _delta(self, delta: Mapping[str, Any]) -> Iterator[Chunk]:
        yield from self._reason(delta)
        content = delta.get("content")
        if isinstance(content, str):
            yield from self._say(content)
        elif content:
            yield from self._parts(content)
        for fragment in delta.get("tool_calls") or ():
            yield from self._fragment(fragment)
        if fields := delta.get("provider_specific_fields"):
            merge_fields(self._fields, fields)

    def _say(self, text: str) -> Iterator[Chunk]:
        if not text:
            return
        text, self._half = self._half + text, ""
        if "\ud800" <= text[-1] <= "\udbff":
            # Half of a surrogate pair: the other half comes with the next chunk.
            text, self._half = text[:-1], text[-1]
        if text := mended(text):
            yield from self._parted(*self._tags.feed(text))

    def _parted(self, reasoning: str, answer: str) -> Iterator[Chunk]:
        if reasoning:
            yield from self._think(reasoning)
        if answer:
            self._text.append(answer)
            yield TextChunk(answer)

    def _think(self, text: str) -> Iterator[Chunk]:
        if text := mended(text):
            self._reasoning.append(text)
            yield ReasoningChunk(text)

    def _reason(self, delta: Mapping[str, Any]) -> Iterator[Chunk]:
        # OpenRouter sends the same words in `reasoning` and `reasoning_details`, litellm adds a third copy
        # in `reasoning_content`: one is shown, all are kept for the way back.
        content, plain = delta.get("reasoning_content"), delta.get("reasoning")
        if isinstance(content, str):
            self._spoken["reasoning_content"].append(content)
        if isinstance(plain, str):
            self._spoken["reasoning"].append(plain)
        shown = content or plain
        if isinstance(shown, str):
            yield from self._think(shown)
        if blocks := delta.get("thinking_blocks"):
            self._thinking.feed(blocks)
        if items := delta.get("reasoning_items"):
            # Sealed reasoning of the Responses API, which litellm's bridge passes on.
            self._items.extend(items)
        if details := delta.get("reasoning_details"):
            self._details.feed(details)

    def _parts(self, parts: Sequence[Mapping[str, Any] | str]) -> Iterator[Chunk]:
        """Return the chunks for content that is a list (Mistral's reasoning models, proxies of Anthropic)."""
        for part in parts:
            if isinstance(part, str):
                yield from self._say(part)
            elif part.get("type") == "thinking":
                thinking = part.get("thinking") or ""
                if not isinstance(thinking, str):
                    thinking = "".join(p.get("text", "") for p in thinking)
                yield from self._think(thinking)
            else:
                yield from self._say(part.get("text") or "")

    def _fragment(self, fragment: Mapping[str, Any]) -> Iterator[Chunk]:
        function: Mapping[str, Any] = fragment.get("function") or {}
        arguments = function.get("arguments") or ""
        if not isinstance(arguments, str):
            arguments = json.dumps(arguments)
        call = self._call_of(fragment.get("index") or 0, fragment.get("id") or "", function.get("name") or "")
        if call.elsewhere:
            return
        self._keep_extras(call, fragment, function)
        if arguments:
            call.pieces.append(arguments)
        if call.announced:
            if arguments:
                yield CallDelta(call.position, "", arguments)
        elif call.name:
            call.announced = True
            yield CallDelta(call.position, call.name, "".join(call.pieces))

    def _call_of(self, index: int, call_id: str, name: str) -> _Call:
        """Return the call a fragment belongs to; a new one when it begins one.

        An id that changes without a name continues the call (Kimi changes ids within a call). A name comes
        once or in every fragment, never in parts.
        """
        call = self._at_index.get(index)
        if call is None or _begins(call, call_id, name):
            call = _Call(position=len(self._calls))
            self._at_index[index] = call
            if call_id.startswith(_RUN_ELSEWHERE):
                call.elsewhere = True
            else:
                self._calls.append(call)
        call.id = call.id or call_id
        call.latest_id = call_id or call.latest_id
        call.name = call.name or name
        return call

    def _keep_extras(self, call: _Call, fragment: Mapping[str, Any], function: Mapping[str, Any]) -> None:
        if not fragment.keys() <= _CALL_FIELDS:
            call.extras.update({k: v for k, v in fragment.items() if k not in _CALL_FIELDS and v is not None})
        if not function.keys() <= _FUNCTION_FIELDS:
            more = {k: v for k, v in function.items() if k not in _FUNCTION_FIELDS and v is not None}
            if more:
                call.extras.setdefault("function", {}).update(more)

    def _note_usage(self, usage: Mapping[str, Any] | None) -> None:
        if usage and counts_tokens(usage):
            self._usage = usage


def _begins(call: _Call, call_id: str, name: str) -> bool:
    """Return True if a fragment with this id and name, at the index of `call`, is of another call."""
    if not name or not call.name:
        return False
    if call_id:
        return call_id != call.latest_id
    return call.complete()


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False


def counts_tokens(usage: Mapping[str, Any]) -> bool:
    """Return True if a usage has non-zero counts: some servers send zeros with every chunk but one."""
    return bool(_count(usage, *_INPUT) or _count(usage, *_OUTPUT))


def used(usage: Mapping[str, Any], price: Price) -> Usage:
    """Return the tokens, and the cost: as the provider reports it, else by `price`."""
    read, written = _count(usage, *_INPUT), _count(usage, *_OUTPUT)
    details = usage.get("prompt_tokens_details") or usage.get("input_tokens_details") or {}
    cached = _count(details, "cached_tokens") or _count(usage, "prompt_cache_hit_tokens", "cached_tokens")
    stored = _count(usage, "cache_creation_input_tokens") or _count(details, "cache_write_tokens")
    if cached > read:
        # Azure counts what Grok had cached beside the input; others count it in.
        read += cached
    thought = _count(usage.get("completion_tokens_details") or {}, "reasoning_tokens")
    thought = thought or _count(usage, "reasoning_tokens")
    if thought and _count(usage, "total_tokens") == read + written + thought:
        # xAI and Gemini count reasoning beside the output, and bill it as output; others count it in.
        written += thought
    reported = _reported_cost(usage)
    return Usage(
        read, written, cached, price(read, written, cached, stored) if reported is None else reported
    )


def _reported_cost(usage: Mapping[str, Any]) -> float | None:
    cost = usage.get("cost")
    if isinstance(cost, Mapping):
        cost = cost.get("total_cost")
    if cost is None and (ticks := _count(usage, "cost_in_usd_ticks")):
        return ticks / _TICKS_PER_USD
    return float(cost) if isinstance(cost, int | float) and not isinstance(cost, bool) else None


def _count(counts: Mapping[str, Any], *names: str) -> int:
    for name in names:
        value = counts.get(name)
        if isinstance(value, int):
            return value
    return 0
