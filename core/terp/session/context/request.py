"""The next request: its messages as they are sent, its tokens, and the model that answers it.

The history keeps long results whole. Requests send results that the model has answered as head and tail. A
provider reads all that follows a changed message without its cache, so results are shortened in batches.
Which ones are shortened follows from the messages only: a session that is resumed or rewound sends the same
bytes as before.

No tokenizer is used for the estimate: loading one takes half a second, and each 20,000 characters 10 ms.
Characters are counted by their kinds instead, each message once, and the count that the provider reports for
one request corrects the estimate of the next.
"""

import base64
import json
import re
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from itertools import islice
from typing import TYPE_CHECKING, Any

from terp.events import ModelRetrying, UsageReported
from terp.events.log import EventLog
from terp.events.messages import Assistant, Image, Message, Result, System, User, without_extras
from terp.events.model import Model, Replied, Retrying, Usage
from terp.models import tool
from terp.models.facts.model_facts import Window
from terp.session.context.history import Change, History, Replaced, Truncated
from terp.text import pictures
from terp.text.dataclasses import dataclass, replace
from terp.text.note_mark import NoteMark
from terp.text.plain import HeadTail

if TYPE_CHECKING:
    from terp.session.cost.budget import Budget
    from terp.session.resources import SessionResources

# Characters of a result that is shortened, and how long one is that is worth it.
_KEPT, _LONG = 600, 2_400
# A batch leaves out at least so many characters, of several results, and such a part of all that is sent.
# By any rule the provider reads a shortened result once whole, and its head and tail once more.
# Ten outputs of 5,800 characters (`bench.requests`), in percent of the same session without shortening, if a
# cached token costs a tenth:
#                            sent   read without the cache   cost
#   batches of 16,000          56                      110     88
#   batches of 8,000           45                      108     83
#   each result at once        38                      105     78
# Each at once is not used: Claude caches up to marked messages, and would never find the conversation.
_LEAST, _RESULTS, _SHARE = 8_000, 2, 0.5
# The text of a long result says where all of it is (`terp.session.observation`), and how much it lacks.
_STAYS = r"^{}this output stays in .+\]$"
_LACKS = r"^{}… (?:([\d,]+) lines? \()?([\d,]+) characters\)? left out.*\n"


# Fitted to o200k_base and cl100k_base over prose, code, tables and listings: within 8 % for prose and code.
# Bytes that continue a character count as cl100k_base has them, which takes the most for Chinese.
_A_WORD, _A_LETTER, _A_DIGIT, _A_SIGN, _A_CONTINUATION = 0.5, 0.17, 0.85, 0.55, 0.55
# What has letters but no words, such as base64, takes more of them.
_LONG_WORD, _MORE_A_LETTER = 12, 0.3
# Every byte of UTF-8 by its kind. One pass with such a table is thirty times as fast as taking kinds out.
_LETTER, _DIGIT, _SIGN, _SPACE, _CONTINUATION, _OTHER = b"a", b"0", b"!", b" ", b"\x80", b"\xff"
_KINDS = (
    _OTHER * 9
    + _SPACE * 5
    + _OTHER * 18
    + _SPACE
    + _SIGN * 15
    + _DIGIT * 10
    + _SIGN * 7
    + _LETTER * 26
    + _SIGN * 6
    + _LETTER * 26
    + _SIGN * 4
    + _OTHER
    + _CONTINUATION * 64
    + _OTHER * 64
)
# What a message costs beside its words (OpenAI's cookbook on counting tokens), and a call beside its own.
_A_MESSAGE, _A_CALL = 4.0, 8.0
# Anthropic's rule, which takes the most; OpenAI and Gemini have tiles of 170 and 258.
_PIXELS_A_TOKEN, _MOST_A_PICTURE, _LEAST_A_PICTURE = 750, 1_600.0, 85.0
_HEAD_OF_PICTURE = 4_096
# A report beyond these factors is no count of the request: some providers leave out cached tokens.
_LEAST_REPORTED, _MOST_REPORTED = 1 / 3, 4.0


def text_tokens(text: str) -> float:
    """Return the tokens of a text by the kinds of its characters: rather too many than too few."""
    kinds = text.encode("utf-8", "replace").translate(_KINDS)
    # A run of spaces, which most often begins a line, parts two words at most.
    words = 1 + max(0, kinds.count(_SPACE) - 2 * kinds.count(_SPACE * 2))
    letters = kinds.count(_LETTER)
    return (
        words * _A_WORD
        + letters * _A_LETTER
        + max(0, letters - words * _LONG_WORD) * _MORE_A_LETTER
        + kinds.count(_DIGIT) * _A_DIGIT
        + kinds.count(_SIGN) * _A_SIGN
        + kinds.count(_CONTINUATION) * _A_CONTINUATION
    )


def message_tokens(message: Message) -> float:
    """Return the tokens of a message without its pictures."""
    match message:
        case System(text=text) | User(text=text) | Result(text=text):
            return _A_MESSAGE + text_tokens(text)
        case Assistant(text=text, calls=calls, reasoning=reasoning, extras=extras):
            called = sum(_A_CALL + text_tokens(call.arguments) for call in calls)
            # Reasoning goes back only to a provider that wants its own fields again.
            return _A_MESSAGE + text_tokens(text) + called + (text_tokens(reasoning) if extras else 0.0)


def picture_tokens(message: Message) -> float:
    """Return the tokens of a message's pictures, for a model that sees them."""
    images = message.images if isinstance(message, User | Result) else ()
    return sum(map(_a_picture, images))


class SentMessages:
    """The messages of a history as they are sent.

    Each of the `watchers` is called with the place from which on messages have changed.
    """

    def __init__(self, history: History) -> None:
        self.watchers: list[Callable[[int], None]] = []
        self._history = history
        self._restart()
        history.watchers.append(self._changed)

    @property
    def messages(self) -> Sequence[Message]:
        """All messages, in order; callers must not change the list."""
        for message in self._history.messages[len(self._messages) :]:
            self._take(message)
        return self._messages

    def _take(self, message: Message) -> None:
        if isinstance(message, Assistant):
            self._shorten_answered()
        if isinstance(message, Result) and len(message.text) > _LONG and self._stays(message.text):
            self._shorter[len(self._messages)] = replace(message, text=_short(message.text, self._mark))
        self._messages.append(message)
        self._size += _characters(message)

    @property
    def _mark(self) -> NoteMark:
        return self._history.mark

    def _stays(self, text: str) -> bool:
        """Return True if a result says that code can read all of its output again."""
        return _pattern(_STAYS, self._mark).search(text) is not None

    def _shorten_answered(self) -> None:
        less = sum(_characters(self._messages[at]) - len(one.text) for at, one in self._shorter.items())
        if len(self._shorter) < _RESULTS or less < max(_LEAST, self._size * _SHARE):
            return
        for at, one in self._shorter.items():
            self._messages[at] = one
        first = min(self._shorter)
        self._size -= less
        self._shorter.clear()
        for watch in self.watchers:
            watch(first)

    def _changed(self, change: Change) -> None:
        if isinstance(change, Truncated | Replaced):
            # A conversation that became shorter may need less of it shortened.
            self._restart()

    def _restart(self) -> None:
        self._messages: list[Message] = []
        self._shorter: dict[int, Result] = {}
        self._size = 0
        for watch in self.watchers:
            watch(0)


@dataclass(frozen=True, slots=True)
class RequestTokens:
    """The estimated tokens of a request, by its parts; `conversation` includes pictures."""

    system: int
    tools: int
    conversation: int
    is_corrected: bool
    """True if the estimate is corrected by the provider's count of an earlier request."""

    @property
    def total(self) -> int:
        """The tokens of the whole request."""
        return self.system + self.tools + self.conversation


class TokenEstimate:
    """Estimates the tokens of the next request: each message is counted once, when it is first needed.

    Messages that were replaced are counted again.
    """

    def __init__(self, sent: SentMessages) -> None:
        self._sent = sent
        # Sums over the first n messages: the tokens of their texts, and of their pictures.
        self._sums = [(0.0, 0.0)]
        self._system = ("", 0.0)
        self._tools: tuple[Sequence[Mapping[str, Any]], float] = ((), 0.0)
        self.correction = 1.0
        """Tokens that the provider reports for each token counted here: 1 until it has reported some."""
        sent.watchers.append(self._changed)

    @property
    def conversation(self) -> float:
        """The tokens of the messages and their pictures, without the correction."""
        return sum(self._counted())

    def counted(
        self, system: str, tools: Sequence[Mapping[str, Any]], sees: Callable[[], bool] = lambda: True
    ) -> float:
        """Return the tokens of a request with this system prompt and these tools, without the correction.

        `sees` says if the model sees pictures; it is called only if there are any.
        """
        return sum(self.parts(system, tools, sees))

    def parts(
        self, system: str, tools: Sequence[Mapping[str, Any]], sees: Callable[[], bool]
    ) -> tuple[float, float, float]:
        """Return the same for system prompt, tools and conversation apart."""
        words, seen = self._counted()
        if system != self._system[0]:
            self._system = (system, message_tokens(System(system)))
        if tools != self._tools[0]:
            self._tools = (tools, text_tokens(json.dumps(list(tools), ensure_ascii=False)) if tools else 0.0)
        return self._system[1], self._tools[1], words + (seen if seen and sees() else 0.0)

    def learn(self, counted: float, reported: int) -> None:
        """Correct the estimate by the provider's count of a request that was `counted` here."""
        if counted and _LEAST_REPORTED <= reported / counted <= _MOST_REPORTED:
            self.correction = reported / counted

    def forget(self) -> None:
        """Drop the correction: the model has changed."""
        self.correction = 1.0

    def _counted(self) -> tuple[float, float]:
        for message in islice(self._sent.messages, len(self._sums) - 1, None):
            words, seen = self._sums[-1]
            self._sums.append((words + message_tokens(message), seen + picture_tokens(message)))
        return self._sums[-1]

    def _changed(self, at: int) -> None:
        del self._sums[at + 1 :]


class UsageMeter:
    """Records the usage of one call of the model, once or more often; `counted` tokens were expected."""

    def __init__(self, requests: "ModelRequests", counted: float = 0.0) -> None:
        self._requests = requests
        self._counted = counted
        self._began = time.monotonic()
        self._reported = False

    def take(self, usage: Usage) -> None:
        """Log and add up the reported usage."""
        self._reported = True
        self._requests.estimate.learn(self._counted, usage.input_tokens)
        used = UsageReported(
            usage.input_tokens,
            usage.output_tokens,
            usage.cached_tokens,
            usage.cost_usd,
            self._requests.model.name,
            round(time.monotonic() - self._began, 3),
        )
        # An empty reply is requested again, and that request has a time of its own.
        self._began = time.monotonic()
        self._requests.budget.note(used)
        self._requests.log.append(used)

    def finish(self) -> None:
        """Record a whole reply without any report: it was not free, its cost is unknown."""
        if not self._reported:
            self.take(Usage(0, 0))


class ModelRequests:
    """The requests of a conversation: the model, the content of the next request, and the costs.

    `system` is the system prompt. While `offers_code` is False the model has no tool and its code never runs.
    """

    def __init__(
        self,
        model: Model,
        log: EventLog,
        history: History,
        languages: Sequence[str],
        budget: "Budget",
        resources: "SessionResources",
        system: str = "",
    ) -> None:
        self.model = model
        self.log = log
        self.budget = budget
        self.system = system
        self.offers_code = True
        self.history = history
        self._sent = SentMessages(history)
        self.estimate = TokenEstimate(self._sent)
        self._resources = resources
        self._tools = [tool.schema(languages)]
        self._more_prompt: list[str] = []

    @property
    def next(self) -> tuple[Sequence[Message], Sequence[Mapping[str, Any]]]:
        """The next request: the messages, the system prompt first, and the tools."""
        more = self._more_prompt if self.offers_code else []
        prompt = "\n\n".join(part for part in (self.system, *more) if part)
        system = System(prompt, self._resources.note_mark.word)
        own = self._tools if self.offers_code else []
        return [system, *self._sent.messages], [*own, *self._resources.outside.values()]

    @property
    def window(self) -> Window:
        """The context window of the model."""
        return self._resources.windows(self.model.name)

    @property
    def counted_tokens(self) -> float:
        """The tokens of the next request, counted by its characters."""
        messages, tools = self.next
        return self.estimate.counted(messages[0].text, tools, lambda: self.window.vision)

    @property
    def expected_tokens(self) -> int:
        """The tokens of the next request, corrected by what the provider has reported."""
        return round(self.counted_tokens * self.estimate.correction)

    def tokens(self, prompt: str = "") -> RequestTokens:
        """Return the expected tokens of the next request by its parts, with `prompt` added to it."""
        messages, tools = self.next
        parts = self.estimate.parts(messages[0].text, tools, lambda: self.window.vision)
        added = message_tokens(User(prompt)) if prompt else 0.0
        factor = self.estimate.correction
        system, own, conversation = (round(part * factor) for part in (*parts[:2], parts[2] + added))
        return RequestTokens(system, own, conversation, factor != 1.0)

    async def refresh_prompt(self) -> None:
        """Update the parts of the system prompt that can change between requests."""
        self._more_prompt = [await part.text() for part in self._resources.prompt_parts]

    async def check_budget(self) -> None:
        """Raise unless the next request stays within the cost limits.

        Raises:
            ModelError: it would exceed a limit, or its price is not known.
        """
        await self.budget.check(self.model.name, self.expected_tokens)

    async def answer(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()) -> Assistant:
        """Return the model's reply to messages other than the conversation. It costs money all the same.

        Raises:
            ModelError: there is no reply, or it cannot be paid for.
        """
        expected = sum(map(message_tokens, messages)) * self.estimate.correction
        await self.budget.check(self.model.name, round(expected))
        meter, reply = UsageMeter(self), Assistant("")
        async with aclosing(self.model.stream(messages, tools)) as chunks:
            async for chunk in chunks:
                match chunk:
                    case Usage():
                        meter.take(chunk)
                    case Retrying(attempt=attempt, reason=reason, delay_s=delay_s):
                        self.log.append(ModelRetrying(attempt, reason, delay_s))
                    case Replied(message=reply):
                        pass
        meter.finish()
        return reply

    def use(self, model: Model) -> None:
        """Send all further requests to another model."""
        if model.name != self.model.name:
            self.drop_extras()
            self.estimate.forget()
        self.model = model

    def drop_extras(self) -> None:
        """Remove fields that earlier replies hold for their provider: another provider refuses them."""
        messages = [without_extras(message) for message in self.history]
        if messages != self.history.messages:
            self.history.replace(messages)


def _characters(message: Message) -> int:
    called = sum(len(call.arguments) for call in message.calls) if isinstance(message, Assistant) else 0
    return len(message.text) + called


def _pattern(form: str, mark: NoteMark) -> re.Pattern[str]:
    return re.compile(form.format(re.escape(mark.begins)), re.MULTILINE)


def _short(text: str, mark: NoteMark) -> str:
    """Return the head and the tail of a result; its tail says where all of it is."""
    short = HeadTail(_KEPT, mark)
    short.add(text)
    if lacks := _pattern(_LACKS, mark).search(text):
        lines, characters = (int((number or "0").replace(",", "")) for number in lacks.groups())
        short.lacks(lines - 1, characters - len(lacks[0]))
    return short.text()


def _a_picture(image: Image) -> float:
    try:
        size = pictures.size(base64.b64decode(image.data[:_HEAD_OF_PICTURE]))
    except ValueError:
        size = None
    if size is None:
        return _MOST_A_PICTURE
    return min(_MOST_A_PICTURE, max(_LEAST_A_PICTURE, size[0] * size[1] / _PIXELS_A_TOKEN))
