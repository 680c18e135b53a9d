"""Models that cannot call tools: code comes and goes in fenced blocks.

Every block in a language that can run is a call, and all of a reply's blocks run, in their order: a
later one may need what an earlier one defined, and each result shows the model what ran. The rules
for blocks stand in `fenced_reply`.
"""

from collections.abc import AsyncGenerator, Callable, Collection, Mapping, Sequence
from contextlib import aclosing
from functools import partial
from typing import Any

from terp.errors import ToolsRejected
from terp.events.messages import Assistant, Message, Result, System, ToolCall, User
from terp.events.model import Chunk, Model, Retrying, Tools, demanded
from terp.models.repair.arguments import ArgumentsDecoder
from terp.models.repair.leaked_calls import LeakedCalls, PrintedCalls, callable_names, lift_leaked_calls
from terp.models.tool import Call, Misunderstood, fresh_ids, understand
from terp.text.fences import marks_around
from terp.text.note_mark import NoteMark


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
        """Send one request of the model behind; fenced blocks of its reply are calls."""
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
        """Send one request; if its tools are refused, send it again at once without tools."""
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


def instruction(languages: Sequence[str]) -> str:
    """Return the part of the system prompt about running code. Equal languages give equal text."""
    return (
        "You can run code on the user's machine. Write it as one fenced block, with the language after "
        "the opening fence, and then stop:\n\n"
        f"```{languages[0]}\n{_example(languages[0])}\n```\n\n"
        f"Languages that run: {', '.join(languages)}. The block is run when your message ends. The next "
        "message is its output; never write that output yourself. Variables and imports stay from one "
        "block to the next. Label code that is only to be read with `text`. When nothing is left to run, "
        "answer without such a block."
    )


def as_fenced_text(
    messages: Sequence[Message],
    languages: Sequence[str],
    read: Callable[[ToolCall], Call | Misunderstood],
    *,
    instruct: bool = True,
) -> list[Message]:
    """Return the messages without calls and results: code in fences, and its output as the user's words.

    Messages of the user that come to stand side by side become one, because the templates of many
    local models demand that the speakers take turns. `read` returns the code of a call; `instruct`
    adds the instruction.
    """
    written: list[Message] = []
    asked: dict[str, str] = {}
    mark = NoteMark()
    if instruct and not any(isinstance(message, System) for message in messages):
        written.append(System(instruction(languages)))
    for message in messages:
        match message:
            case System(text=text, note_word=note_word):
                mark = NoteMark(note_word)
                written.append(System(f"{text}\n\n{instruction(languages)}" if instruct else text, note_word))
            case User():
                _add_user(written, message)
            case Assistant():
                asked |= _labels(message.calls)
                if said := _with_code(message, languages, read):
                    written.append(Assistant(said, (), message.reasoning, message.extras))
            case Result(call_id=call_id, text=text, images=images):
                label = mark.sentence(asked.get(call_id, "Output of the code:"))
                _add_user(written, User(f"{label}\n{text}", images))
    return written


def _example(language: str) -> str:
    return {"python": "print(6 * 7)", "shell": "ls", "bash": "ls"}.get(language.casefold(), "1 + 1")


def _labels(calls: Sequence[ToolCall]) -> dict[str, str]:
    if len(calls) == 1:
        return {calls[0].id: "Output of the code:"}
    return {
        call.id: f"Output of block {number} of {len(calls)}:" for number, call in enumerate(calls, start=1)
    }


def _add_user(written: list[Message], message: User) -> None:
    if written and isinstance(last := written[-1], User):
        written[-1] = User(f"{last.text}\n\n{message.text}", last.images + message.images)
    else:
        written.append(message)


def _with_code(
    message: Assistant, languages: Sequence[str], read: Callable[[ToolCall], Call | Misunderstood]
) -> str:
    blocks = [_block(call, read(call), languages) for call in message.calls]
    return "\n\n".join(part for part in [message.text.rstrip("\n"), *blocks] if part)


def _block(call: ToolCall, meant: Call | Misunderstood, languages: Sequence[str]) -> str:
    if isinstance(meant, Call):
        language, code = meant.language, meant.code
    else:
        # A call that was cut off is written as far as it went; its result says what was wrong.
        shown = ArgumentsDecoder(call.name, languages).feed(call.raw or call.arguments)
        language, code = (shown.language, shown.text) if shown else ("", call.raw or call.arguments)
    fence = marks_around(code)
    return f"{fence}{language}\n{code}\n{fence}"
