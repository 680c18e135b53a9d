"""How many tokens the next request has, as far as that can be told without a tokenizer.

A tokenizer takes half a second to load, and 10 ms for every 20 000 characters. Characters are counted by
their kinds instead, each message once, and what the provider says of one request corrects the guess at the
next.
"""

import base64
import json
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from terp.events.messages import Assistant, Image, Message, Result, System, User
from terp.session.context.sent import SentMessages
from terp.text import pictures

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
# A provider that tells less or more does not count the request: some leave out what they had cached.
_LEAST_TOLD, _MOST_TOLD = 1 / 3, 4.0


def text_tokens(text: str) -> float:
    """The tokens of a text by the kinds of its characters: rather too many than too few."""
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
    """The tokens of a message without its pictures."""
    match message:
        case System(text=text) | User(text=text) | Result(text=text):
            return _A_MESSAGE + text_tokens(text)
        case Assistant(text=text, calls=calls, reasoning=reasoning, extras=extras):
            called = sum(_A_CALL + text_tokens(call.arguments) for call in calls)
            # Reasoning goes back only to a provider that wants its own fields again.
            return _A_MESSAGE + text_tokens(text) + called + (text_tokens(reasoning) if extras else 0.0)


def picture_tokens(message: Message) -> float:
    """The tokens of a message's pictures, for a model that sees them."""
    images = message.images if isinstance(message, User | Result) else ()
    return sum(map(_a_picture, images))


class ExpectedTokens:
    """Counts a conversation as it is sent: a new message costs its own length, and none is counted twice.

    After messages were replaced by others they are counted once more. Nothing is counted before
    somebody asks.
    """

    def __init__(self, sent: SentMessages) -> None:
        self._sent = sent
        # What the first so many messages come to, with and without their pictures.
        self._upto = [(0.0, 0.0)]
        self._system = ("", 0.0)
        self._tools: tuple[Sequence[Mapping[str, Any]], float] = ((), 0.0)
        self.told_to_counted = 1.0
        """What providers tell for each token that is counted: 1 until one has."""
        sent.watchers.append(self._changed)

    @property
    def conversation(self) -> float:
        """What the messages alone come to, with their pictures."""
        self._count()
        return sum(self._upto[-1])

    def counted(
        self, system: str, tools: Sequence[Mapping[str, Any]], sees: Callable[[], bool] = lambda: True
    ) -> float:
        """A request with this system prompt and these tools, by its characters.

        `sees` tells whether the model sees pictures; it is asked only where there are any.
        """
        self._count()
        if system != self._system[0]:
            self._system = (system, message_tokens(System(system)))
        if tools != self._tools[0]:
            self._tools = (tools, text_tokens(json.dumps(list(tools), ensure_ascii=False)) if tools else 0.0)
        words, seen = self._upto[-1]
        return self._system[1] + self._tools[1] + words + (seen if seen and sees() else 0.0)

    def learn(self, counted: float, told: int) -> None:
        """The provider has told how many tokens a request had, of which so many were `counted`."""
        if counted and _LEAST_TOLD <= told / counted <= _MOST_TOLD:
            self.told_to_counted = told / counted

    def forget(self) -> None:
        """What was learned is another model's."""
        self.told_to_counted = 1.0

    def _count(self) -> None:
        messages = self._sent.messages
        for message in islice(messages, len(self._upto) - 1, None):
            words, seen = self._upto[-1]
            self._upto.append((words + message_tokens(message), seen + picture_tokens(message)))

    def _changed(self, at: int) -> None:
        del self._upto[at + 1 :]


def _a_picture(image: Image) -> float:
    try:
        size = pictures.size(base64.b64decode(image.data[:_HEAD_OF_PICTURE]))
    except ValueError:
        size = None
    if size is None:
        return _MOST_A_PICTURE
    return min(_MOST_A_PICTURE, max(_LEAST_A_PICTURE, size[0] * size[1] / _PIXELS_A_TOKEN))
