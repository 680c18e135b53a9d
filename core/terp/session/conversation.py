"""The conversation with the model: each reply is requested, logged as it streams in, and added."""

from contextlib import aclosing
from itertools import count

from terp.errors import ContextFull
from terp.events import CodeDelta, ModelCalled, ModelRetrying, Noticed, ReasoningDelta
from terp.events.kernel import Kernels
from terp.events.log import EventLog
from terp.events.messages import Assistant, Result, ToolCall
from terp.events.model import CallDelta, Chunk, ReasoningChunk, Replied, Retrying, TextChunk, Tools, Usage
from terp.events.run_log import RunLog
from terp.kernels.environments.readiness import Warming
from terp.models import tool
from terp.models.repair.arguments import ArgumentsDecoder
from terp.session.answers.answer_text import AnswerText, new_filler
from terp.session.context.compaction import Compactor
from terp.session.context.request import ModelRequests, UsageMeter
from terp.session.resources import SessionResources
from terp.text.dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ModelReply:
    """A complete reply: its text, and its calls with their IDs in events.

    `is_last` is True if the model waits for no result of ours: the reply has no calls, or calls of tools that
    the client runs.
    """

    text: str
    calls: tuple[tuple[str, ToolCall], ...]
    is_last: bool


@dataclass(slots=True)
class _Incoming:
    """The received part of a reply."""

    shown: AnswerText
    meter: UsageMeter
    text: list[str] = field(default_factory=list)
    codes: list[ArgumentsDecoder] = field(default_factory=list)
    call_ids: list[str] = field(default_factory=list)
    begun: set[str] = field(default_factory=set)
    message: Assistant | None = None


class Conversation:
    """Adds the model's replies to a history, and logs the events of each reply as they happen.

    Links in replies lead to files of the session's `runs`. `warming` starts a kernel as soon as the model
    begins to write code for it. `calls` is the number of tool calls before the session was resumed.
    """

    def __init__(
        self,
        requests: ModelRequests,
        compactor: Compactor,
        runs: RunLog,
        kernels: Kernels,
        warming: Warming,
        resources: SessionResources,
        calls: int = 0,
    ) -> None:
        self.requests = requests
        self.history = requests.history
        self._compactor = compactor
        self._kernels = kernels
        self._warming = warming
        self._resources = resources
        self._log: EventLog = requests.log
        self._runs = runs
        self._call_numbers = count(calls + 1)

    async def reply(self, step: int) -> ModelReply:
        """Request the next reply and add it to the history.

        A conversation that is nearly too long for the model is compacted first; one that the model refuses as
        too long is compacted and sent once more. If the reply breaks off, or this is cancelled, the received
        text is kept.

        Raises:
            ModelError: there is no reply, or it cannot be paid for.
        """
        await self.requests.refresh_prompt()
        self._warn_of_unseen_pictures()
        self._log.append(ModelCalled(self.requests.model.name, step))
        await self._compactor.before_request()
        await self.requests.check_budget()
        try:
            return await self._streamed()
        except ContextFull:
            await self._compactor.refused()
            await self.requests.check_budget()
            return await self._streamed()

    def settle(self, why: str) -> None:
        """Answer every call that has no result yet with "Not run", so that the history stays valid."""
        answered: set[str] = set()
        for message in reversed(self.history.messages):
            if isinstance(message, Result):
                answered.add(message.call_id)
            if isinstance(message, Assistant):
                missing = [call for call in message.calls if call.id not in answered]
                for call in missing:
                    self.history.append(Result(call.id, self.history.mark.sentence(f"Not run: {why}")))
                return

    def _warn_of_unseen_pictures(self) -> None:
        """Show the user which new pictures the model does not see, because it reads text only."""
        names = self.history.to_look_at()
        if not names or self.requests.window.vision:
            return
        what = f"{', '.join(names)}: {'its name and size' if len(names) == 1 else 'names and sizes'} only."
        remedy = f"{self.requests.model.name} reads text only. If it sees pictures, set supports_vision."
        self._log.append(Noticed(what, remedy))

    async def _streamed(self) -> ModelReply:
        incoming = _Incoming(self._new_text(), UsageMeter(self.requests, self.requests.counted_tokens))
        try:
            messages, tools = self.requests.next
            tools = Tools(tools, self._resources.demands) if self._resources.demands else tools
            async with aclosing(self.requests.model.stream(messages, tools)) as chunks:
                async for chunk in chunks:
                    await self._take(chunk, incoming)
            await incoming.shown.finish()
            incoming.meter.finish()
        finally:
            incoming.shown.break_off()
            message = incoming.message
            if message is None and incoming.text:
                message = Assistant("".join(incoming.text))
            calls = message.calls if message else ()
            ids = [*incoming.call_ids, *(self._call_id() for _ in calls[len(incoming.call_ids) :])]
            if message is not None:
                self.history.append(message, ids[: len(calls)])
        if note := incoming.shown.report_failures():
            self.history.note(note)
        own = tuple((call_id, call) for call_id, call in zip(ids, calls, strict=False) if self._is_own(call))
        text = incoming.shown.whole(message.text if message else "")
        return ModelReply(text, own, not own or len(own) < len(calls))

    def _is_own(self, call: ToolCall) -> bool:
        return tool.plain_name(call.name) not in self._resources.outside

    def _new_text(self) -> AnswerText:
        filler = new_filler(self._kernels, self._resources) if self.requests.offers_code else None
        return AnswerText(self._log, self._runs, filler)

    async def _take(self, chunk: Chunk, incoming: _Incoming) -> None:
        if isinstance(chunk, TextChunk):
            incoming.text.append(chunk.text)
            await incoming.shown.feed(chunk.text)
            return
        await incoming.shown.finish()
        match chunk:
            case ReasoningChunk(text=text):
                self._log.append(ReasoningDelta(text))
            case CallDelta():
                self._take_call(chunk, incoming)
            case Usage():
                incoming.meter.take(chunk)
            case Retrying(attempt=attempt, reason=reason, delay_s=delay_s):
                incoming.shown = self._new_text()
                incoming.text.clear()
                incoming.codes.clear()
                incoming.call_ids.clear()
                self._log.append(ModelRetrying(attempt, reason, delay_s))
            case Replied(message=Assistant() as message):
                incoming.message = message
            case _:
                raise TypeError(
                    f"{self.requests.model.name} yielded {chunk!r}, no chunk of terp.events.model."
                )

    def _take_call(self, delta: CallDelta, incoming: _Incoming) -> None:
        while len(incoming.codes) <= delta.position:
            # Arguments of the client's own tools may look like code, but are none for a kernel here.
            name = "" if tool.plain_name(delta.name) in self._resources.outside else delta.name
            incoming.codes.append(ArgumentsDecoder(name, self._kernels.languages))
            incoming.call_ids.append(self._call_id())
        call_id = incoming.call_ids[delta.position]
        piece = incoming.codes[delta.position].feed(delta.arguments)
        if piece is None:
            return
        if call_id not in incoming.begun:
            incoming.begun.add(call_id)
            if self.requests.offers_code:
                self._warming.start(piece.language)
        self._log.append(CodeDelta(call_id, piece.language, piece.text))

    def _call_id(self) -> str:
        return f"c{next(self._call_numbers)}"
