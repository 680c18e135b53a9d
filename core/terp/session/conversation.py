"""The conversation with the model: what was said, what it costs, and how a reply comes in."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field
from itertools import count
from typing import TYPE_CHECKING, Any

from terp.errors import ContextFull
from terp.events import (
    CodeDelta,
    ModelCalled,
    ModelRetrying,
    Noticed,
    ReasoningDelta,
    UsageReported,
)
from terp.events.log import EventLog
from terp.events.messages import Assistant, Message, Result, System, ToolCall, without_extras
from terp.events.model import CallDelta, Chunk, Model, Reasoning, Replied, Retrying, Text, Tools, Usage
from terp.events.run_log import RunLog
from terp.models import tool
from terp.models.facts.window import Window
from terp.models.repair.arguments import ArgumentsDecoder
from terp.session.answers.answer_text import AnswerText
from terp.session.context.history import History
from terp.session.context.sent import SentMessages
from terp.session.context.shortening import Asking, Shortening
from terp.session.context.tokens import ExpectedTokens, message_tokens
from terp.session.cost.budget import Budget

if TYPE_CHECKING:
    from terp.session.answers.filling import Filling


@dataclass(frozen=True, slots=True)
class Reply:
    """A complete reply: its text, and its calls with the ids that events use for them.

    `is_last` tells that the model waits for nothing, or for what its caller has to find out.
    """

    text: str
    calls: tuple[tuple[str, ToolCall], ...]
    is_last: bool


@dataclass(slots=True)
class _Incoming:
    """What has come of a reply so far."""

    shown: AnswerText
    counted: float = 0.0
    text: list[str] = field(default_factory=list)
    codes: list[ArgumentsDecoder] = field(default_factory=list)
    call_ids: list[str] = field(default_factory=list)
    begun: set[str] = field(default_factory=set)
    message: Assistant | None = None
    began: float = field(default_factory=time.monotonic)
    is_counted: bool = False


class Conversation:
    """Messages in order, and the model they go to. Events of a reply are logged as they happen.

    `wants_kernel` is called with the language of a call as soon as the model begins to write its code.
    `besides`, where it is set, gives what the system prompt tells besides, asked before a request. `outside`
    gives further tools, by name, whose calls others answer: a reply with one is the last of its turn.
    `demands` gives what else is asked of a reply (`terp.events.model.Tools`). `fills` gives what fills the
    references in a reply, None while they are left alone. `calls` is how many calls there were before the
    conversation was resumed. `shortening` keeps it within the model's window, which `windows` tell by the
    model's name.
    """

    def __init__(
        self,
        model: Model,
        log: EventLog,
        *,
        system: str,
        languages: Sequence[str],
        history: History,
        wants_kernel: Callable[[str], None],
        calls: int = 0,
    ) -> None:
        self.model = model
        self.history = history
        self.budget = Budget(log.append)
        self.besides: Callable[[], Awaitable[str]] | None = None
        self.outside: Callable[[], Mapping[str, Mapping[str, Any]]] = dict
        self.demands: Callable[[], Mapping[str, Any]] = dict
        self.fills: Callable[[], Filling | None] = lambda: None
        self._log = log
        self._runs = RunLog(log)
        self.offers_code = True
        """Whether the model is offered to run code; without it, none of its code runs."""
        self._system = system
        self._told_besides = ""
        self._languages = languages
        self._tools = [tool.schema(languages)]
        self._wants_kernel = wants_kernel
        self._call_numbers = count(calls + 1)
        self._sent = SentMessages(history)
        self._tokens = ExpectedTokens(self._sent)
        self.windows: Callable[[str], Window] = lambda _: Window()
        asking = Asking(lambda: self.request, self.reply_to)
        self.shortening = Shortening(history, log, self._tokens, asking)
        self.shortening.window = lambda: self.windows(self.model.name)

    @property
    def expected_tokens(self) -> int:
        """How many tokens the next request has: a guess by its characters, and what was told of others."""
        return self.shortening.expected

    @property
    def request(self) -> tuple[Sequence[Message], Sequence[Mapping[str, Any]]]:
        """What the next request sends: the messages, the system prompt first, and the tools."""
        besides = self._told_besides if self.offers_code else ""
        system = System("\n\n".join(part for part in (self._system, besides) if part))
        own = self._tools if self.offers_code else []
        return [system, *self._sent.messages], [*own, *self.outside().values()]

    def brief(self, system: str, *, code: bool) -> None:
        """From now on the model is told `system`, and offered to run code or not."""
        self._system = system
        self.offers_code = code

    async def reply(self, step: int) -> Reply:
        """The model's next reply, which is added to the messages.

        A conversation that is nearly too long for the model is shortened before; one that the model refuses
        as too long is shortened, once, and sent again.
        If the reply breaks off, or this is cancelled, the text that had come is kept.

        Raises:
            ModelError: there is no reply, or it cannot be paid for.
        """
        if self.besides is not None:
            self._told_besides = await self.besides()
        self._tell_unseen()
        self._log.append(ModelCalled(self.model.name, step))
        await self.shortening.before_request()
        await self.budget.check(self.model.name, self.expected_tokens)
        try:
            return await self._streamed()
        except ContextFull:
            await self.shortening.refused()
            await self.budget.check(self.model.name, self.expected_tokens)
            return await self._streamed()

    async def reply_to(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> Assistant:
        """What the model says to messages that are not the conversation. It costs money all the same.

        Raises:
            ModelError: it says nothing, or that cannot be paid for.
        """
        expected = sum(map(message_tokens, messages)) * self._tokens.told_to_counted
        await self.budget.check(self.model.name, round(expected))
        incoming = _Incoming(AnswerText(self._log, self._runs))
        async with aclosing(self.model.stream(messages, tools)) as chunks:
            async for chunk in chunks:
                if isinstance(chunk, Usage | Retrying | Replied):
                    await self._take(chunk, incoming)
        self._count_untold(incoming)
        return incoming.message or Assistant("")

    def go_on_with(self, model: Model) -> None:
        """Send what follows to another model.

        Extras are for the provider that gave them: another one refuses its signatures and fields.
        """
        if model.name != self.model.name:
            self.drop_extras()
            self._tokens.forget()
        self.model = model

    def drop_extras(self) -> None:
        """Forget what earlier replies hold for the provider alone that gave them."""
        messages = [without_extras(message) for message in self.history]
        if messages != self.history.messages:
            self.history.replace(messages)

    def settle(self, why: str) -> None:
        """Answer every call that has no result yet with "Not run", so that the history stays valid."""
        answered: set[str] = set()
        for message in reversed(self.history.messages):
            if isinstance(message, Result):
                answered.add(message.call_id)
            if isinstance(message, Assistant):
                missing = [call for call in message.calls if call.id not in answered]
                for call in missing:
                    self.history.append(Result(call.id, f"Not run: {why}"))
                return

    def _tell_unseen(self) -> None:
        """Tell the user which pictures, of those that were to be looked at, the model does not see."""
        names = self.history.to_look_at()
        if not names or self.windows(self.model.name).vision:
            return
        what = f"{', '.join(names)}: {'its name and size' if len(names) == 1 else 'names and sizes'} only."
        remedy = f"{self.model.name} reads text only. If it sees pictures, set supports_vision."
        self._log.append(Noticed(what, remedy))

    async def _streamed(self) -> Reply:
        incoming = _Incoming(self._new_text(), self.shortening.counted)
        try:
            messages, tools = self.request
            async with aclosing(self.model.stream(messages, Tools(tools, self.demands()))) as chunks:
                async for chunk in chunks:
                    await self._take(chunk, incoming)
            await incoming.shown.finish()
            self._count_untold(incoming)
        finally:
            incoming.shown.break_off()
            message = incoming.message
            if message is None and incoming.text:
                message = Assistant("".join(incoming.text))
            calls = message.calls if message else ()
            ids = [*incoming.call_ids, *(self._call_id() for _ in calls[len(incoming.call_ids) :])]
            if message is not None:
                self.history.append(message, ids[: len(calls)])
        if note := incoming.shown.told():
            self.history.note(note)
        own = tuple((call_id, call) for call_id, call in zip(ids, calls, strict=False) if self._is_own(call))
        text = incoming.shown.whole(message.text if message else "")
        return Reply(text, own, not own or len(own) < len(calls))

    def _is_own(self, call: ToolCall) -> bool:
        return tool.plain_name(call.name) not in self.outside()

    def _new_text(self) -> AnswerText:
        return AnswerText(self._log, self._runs, self.fills() if self.offers_code else None)

    async def _take(self, chunk: Chunk, incoming: _Incoming) -> None:
        if isinstance(chunk, Text):
            incoming.text.append(chunk.text)
            await incoming.shown.feed(chunk.text)
            return
        await incoming.shown.finish()
        match chunk:
            case Reasoning(text=text):
                self._log.append(ReasoningDelta(text))
            case CallDelta():
                self._take_call(chunk, incoming)
            case Usage():
                self._tokens.learn(incoming.counted, chunk.input_tokens)
                self._take_usage(chunk, incoming)
            case Retrying(attempt=attempt, reason=reason, delay_s=delay_s):
                incoming.shown = self._new_text()
                incoming.text.clear()
                incoming.codes.clear()
                incoming.call_ids.clear()
                self._log.append(ModelRetrying(attempt, reason, delay_s))
            case Replied(message=message):
                incoming.message = message

    def _take_call(self, delta: CallDelta, incoming: _Incoming) -> None:
        while len(incoming.codes) <= delta.position:
            # What looks like code there is none of ours.
            name = "" if tool.plain_name(delta.name) in self.outside() else delta.name
            incoming.codes.append(ArgumentsDecoder(name, self._languages))
            incoming.call_ids.append(self._call_id())
        call_id = incoming.call_ids[delta.position]
        piece = incoming.codes[delta.position].feed(delta.arguments)
        if piece is None:
            return
        if call_id not in incoming.begun:
            incoming.begun.add(call_id)
            if self.offers_code:
                self._wants_kernel(piece.language)
        self._log.append(CodeDelta(call_id, piece.language, piece.text))

    def _count_untold(self, incoming: _Incoming) -> None:
        """A whole reply of which nothing is told was not for nothing: its cost is not known."""
        if not incoming.is_counted:
            self._take_usage(Usage(0, 0), incoming)

    def _take_usage(self, usage: Usage, incoming: _Incoming) -> None:
        incoming.is_counted = True
        used = UsageReported(
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_tokens,
            usage.cost_usd,
            self.model.name,
            round(time.monotonic() - incoming.began, 3),
        )
        # Of an empty reply more is asked for, which has a wait of its own.
        incoming.began = time.monotonic()
        self.budget.note(used)
        self._log.append(used)

    def _call_id(self) -> str:
        return f"c{next(self._call_numbers)}"
