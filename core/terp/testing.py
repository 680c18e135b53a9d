"""Fakes for tests: a scripted model, a kernel that echoes code, a scripted person.

They are real implementations of the protocols without a network, a process or a human, for tests of
terp and of what is built on it.
"""

import asyncio
import json
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing
from typing import Any

from terp.errors import NobodyThere
from terp.events import CodeProposed, Event
from terp.events.kernel import KernelListener, OnlyKernel, WrittenValue
from terp.events.messages import Assistant, Message, ToolCall
from terp.events.model import CallDelta, Chunk, Replied, TextChunk, Usage
from terp.events.outputs import BackCall, InputRequest, Output, RunEnded, RunItem, RunStarted
from terp.events.outputs import Text as Printed
from terp.person import Choice, Consent, Decline, Run
from terp.session.session import Session

Part = str | ToolCall
Scripted = Part | Sequence[Part | Chunk] | Exception


def call(code: str, language: str = "python", *, id: str = "") -> ToolCall:  # noqa: A002  # the wire's word
    """Return a tool call of `execute`, as a model would write it."""
    return ToolCall(id, "execute", json.dumps({"language": language, "code": code}))


class ScriptedModel:
    """A model that gives its replies in order: text, calls, lists of both, chunks, or an exception to raise.

    `requests` has the messages of every request, `tools` its tools with
    further fields. After its last reply the model answers "done".
    """

    name = "scripted/model"

    def __init__(self, *replies: Scripted, chunk: int = 4) -> None:
        self.requests: list[list[Message]] = []
        self.tools: list[Sequence[Mapping[str, Any]]] = []
        self.closed = False
        self._replies = list(replies)
        self._chunk = chunk

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """Yield the next reply in pieces."""
        self.requests.append(list(messages))
        self.tools.append(tools)
        reply = self._replies.pop(0) if self._replies else "done"
        if isinstance(reply, Exception):
            raise reply
        parts = [reply] if isinstance(reply, str | ToolCall) else list(reply)
        for chunk in self._chunks(parts, len(self.requests)):
            # A real model lets others run between its chunks.
            await asyncio.sleep(0)
            yield chunk

    async def aclose(self) -> None:
        """Note that it was closed."""
        self.closed = True

    def _chunks(self, parts: Sequence[Part | Chunk], number: int) -> Iterable[Chunk]:
        text, calls = "", list[ToolCall]()
        for part in parts:
            if isinstance(part, str):
                text += part
                yield from (TextChunk(piece) for piece in self._pieces(part))
            elif isinstance(part, ToolCall):
                position = len(calls)
                calls.append(
                    ToolCall(part.id or f"call_{number}_{position}", part.name, part.arguments, part.raw)
                )
                yield CallDelta(position, part.name, "")
                yield from (
                    CallDelta(position, "", piece) for piece in self._pieces(part.raw or part.arguments)
                )
            else:
                yield part
        if not any(isinstance(part, Replied) for part in parts):
            yield Usage(10, 5, 0, 0.001)
            yield Replied(Assistant(text, tuple(calls)), "tool_calls" if calls else "stop")

    def _pieces(self, text: str) -> Iterable[str]:
        return (text[at : at + self._chunk] for at in range(0, len(text), self._chunk))


class EchoKernel(OnlyKernel):
    """A kernel, and the only one of its `Kernels`, that prints the code it is given.

    `replies` maps code to the items a run of it yields instead of the echo; a function is called
    for them; after a question it waits for the answer, unless it dies next. `ran` keeps all code that
    reached it; `values` are those of variables, whatever their keys and format. The code
    `EchoKernel.ENDLESS` runs until it is interrupted.
    """

    ENDLESS = "while True: pass"
    language = "python"
    cwd = "/somewhere"

    def __init__(self, replies: Mapping[str, Sequence[RunItem]] | None = None) -> None:
        self.ran: list[str] = []
        self.typed: list[str | None] = []
        self.answers: list[tuple[Any, str]] = []
        self.closed = False
        self.values: dict[str, WrittenValue] = {}
        self._replies = replies or {}
        self._interrupted = asyncio.Event()
        self._busy = asyncio.Event()
        self._asked: asyncio.Event | None = None
        self._listeners: list[KernelListener] = []

    def listen(self, listener: KernelListener) -> Callable[[], None]:
        """Call `listener` at starts, and for output of `put_out_late`."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def put_out_late(self, run_id: str, output: Output) -> None:
        """Report `output` as if it came after its run had ended."""
        for listener in self._listeners:
            listener.late_output(run_id, output)

    async def rest(self) -> Sequence[str]:
        """Report that it stopped, if it was started."""
        started, self.generation = self.generation, 0
        for listener in self._listeners if started else ():
            listener.changed(self.language, "stopped", "")
        return (self.language,) if started else ()

    async def execute(
        self, code: str, *, run_id: str = "", number: int = 0, timeout_s: float = 0.0, moment: int = 0
    ) -> AsyncGenerator[RunItem, None]:
        """Yield the scripted items for `code`, or its echo."""
        self.running = run_id
        try:
            async with aclosing(self._items(code)) as items:
                async for item in items:
                    yield item
        finally:
            self.running = ""

    async def _items(self, code: str) -> AsyncGenerator[RunItem, None]:
        await self.start()
        self.ran.append(code)
        self._interrupted.clear()
        yield RunStarted(len(self.ran))
        if code == self.ENDLESS:
            self._busy.set()
            await self._interrupted.wait()
            yield RunEnded("interrupted")
            return
        items = list(self._replies.get(code, [Printed("stdout", code + "\n")]))
        if not any(isinstance(item, RunEnded) for item in items):
            items.append(RunEnded("ok"))
        for item in items:
            if self._asked is not None and not (isinstance(item, RunEnded) and item.status == "died"):
                await self._asked.wait()
                if self._interrupted.is_set():
                    yield RunEnded("interrupted")
                    return
            self._asked = asyncio.Event() if isinstance(item, InputRequest | BackCall) else None
            yield item

    async def busy(self) -> None:
        """Return when `ENDLESS` runs."""
        await self._busy.wait()

    async def type_in(self, text: str | None) -> None:
        """Keep the line."""
        self.typed.append(text)
        self._answered()

    async def answer(self, value: Any, error: str = "") -> None:
        """Keep the answer."""
        self.answers.append((value, error))
        self._answered()

    async def interrupt(self) -> None:
        """End `ENDLESS`, and a wait for an answer."""
        self._interrupted.set()
        self._answered()

    async def value(self, name: str, keys: Sequence[Any], spec: str) -> WrittenValue:
        """Return the value of the name in `values`."""
        return self.values.get(name, WrittenValue(why="there is no variable of that name"))

    def _answered(self) -> None:
        if self._asked is not None:
            self._asked.set()

    async def aclose(self) -> None:
        """Note that it was closed."""
        self.closed = True


class ScriptedPerson:
    """A person that gives decisions in order: `Run`, `Decline`, a line, True or False, or an exception.

    "run" stands for consent to whatever is proposed. After the last decision it declines everything, and
    raises for input. `shown` has every proposal.
    """

    def __init__(self, *decisions: Run | Decline | str | bool | Exception) -> None:
        self.shown: list[CodeProposed] = []
        self._decisions = list(decisions)

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Return the next decision."""
        self.shown.append(proposed)
        decision = self._next(Decline("the script is at its end"))
        if decision == "run":
            return Run(proposed.code)
        assert isinstance(decision, Run | Decline)
        return decision

    async def allow(self, request: Consent) -> bool | Decline:
        """Return the next decision."""
        decision = self._next(False)
        return decision if isinstance(decision, Decline) else bool(decision)

    async def choose(self, choice: Choice) -> str | Decline:
        """Return the next decision, a letter."""
        decision = self._next("")
        return decision if isinstance(decision, Decline) else str(decision)

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """Return the next line.

        Raises:
            NobodyThere: the script is at its end.
        """
        line = self._next(NobodyThere("Nobody is there to type."))
        assert isinstance(line, str)
        return line

    def _next(self, default: Any) -> Any:
        decision = self._decisions.pop(0) if self._decisions else default
        if isinstance(decision, Exception):
            raise decision
        return decision


async def collect(session: Session, prompt: str) -> list[Event]:
    """Return all events of one turn."""
    async with aclosing(session.turn(prompt)) as events:
        return [event async for event in events]
