"""Models that cannot call tools: code and results are exchanged in fenced blocks.

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
from terp.events.model import Chunk, Model, ModelWrapper, Retrying, Tools, demanded
from terp.models.repair.arguments import ArgumentsDecoder
from terp.models.repair.leaked_calls import PrintedCalls, lift_leaked_calls, without_leaked_tokens
from terp.models.tool import Call, Misunderstood, fresh_ids, understand
from terp.text.fences import marks_around
from terp.text.note_mark import NoteMark


class TextFallback(ModelWrapper):
    """A model that gets tools until it refuses them; from then on fenced blocks are used.

    With `fenced` it is never offered any. A printed call of the tool, or of one of `functions`, is a call.
    A request without tools wants no code: blocks in its reply are text. A model that is asked for fenced
    blocks gets the code of such a request in fences too.
    """

    def __init__(
        self, inner: Model, languages: Sequence[str], *, functions: Collection[str] = (), fenced: bool = False
    ) -> None:
        super().__init__(inner)
        self._languages = languages
        self._functions = functions
        self._fenced = fenced

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """Send one request; if its tools are refused, send it again at once without tools."""
        if not self._fenced:
            try:
                async with aclosing(self._with_tools(messages, tools)) as chunks:
                    async for chunk in chunks:
                        yield chunk
            except ToolsRejected as refusal:
                self._fenced = True
                yield Retrying(1, f"{refusal.message} Code is asked for in fenced blocks instead.", 0.0)
            else:
                return
        async with aclosing(self._in_fences(messages, tools)) as chunks:
            async for chunk in chunks:
                yield chunk

    def _with_tools(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]
    ) -> AsyncGenerator[Chunk, None]:
        chunks = self._inner.stream(messages, tools)
        if not tools:
            return chunks
        printed = PrintedCalls(self._languages, self._functions)
        return lift_leaked_calls(without_leaked_tokens(chunks), printed, fresh_ids(messages))

    async def _in_fences(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]
    ) -> AsyncGenerator[Chunk, None]:
        ids = fresh_ids(messages)
        read = partial(understand, languages=self._languages, functions=self._functions)
        written = as_fenced_text(messages, self._languages, read, instruct=bool(tools))
        kept = {name: value for name, value in demanded(tools).items() if name != "tool_choice"}
        chunks = self._inner.stream(written, Tools((), kept))
        if tools:
            chunks = lift_leaked_calls(chunks, PrintedCalls(self._languages, self._functions), ids)
        # Most models call tools, and never need this.
        from terp.models.repair.fenced_reply import FencedReply  # noqa: PLC0415

        reply = FencedReply(self._languages if tools else (), ids)
        async with aclosing(chunks):
            async for chunk in chunks:
                for translated in reply.take(chunk):
                    yield translated


def instruction(languages: Sequence[str]) -> str:
    """Return the part of the system prompt about running code. Equal languages result in equal text."""
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
    """Return the messages without calls and results: code in fences, its output as messages of the user.

    Consecutive messages of the user are joined, because the templates of many local models require
    that roles alternate. `read` returns the code of a call; `instruct`
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
