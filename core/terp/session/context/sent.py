"""The messages of a history as they are sent: long results that the model has answered are shortened.

The history itself keeps them whole. To shorten a message makes a provider read all that follows it anew,
so it is done in batches. What is shortened follows from the messages alone: a session that is resumed or
rewound sends the same bytes as before.
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import replace

from terp.events.messages import Assistant, Message, Result
from terp.session.context.history import Change, Cut, History, Replaced
from terp.text.headtail import HeadTail

# Characters of a result that is shortened, and how long one is that is worth it.
_KEPT, _LONG = 600, 2_400
# A batch leaves out at least so many characters, of several results, and such a part of all that is sent.
# By any rule a shortened result is read once whole and its head and tail once more. Ten outputs of 5,800
# characters (`bench.requests`) send, read anew and pay, where the cache costs a tenth, so much of a session
# without this: with 16,000 characters 56, 110 and 88 %, with 8,000 45, 108 and 83 %, each at once 38, 105
# and 78 %. But at once Claude, which caches up to marked messages, would never find the conversation.
_LEAST, _RESULTS, _SHARE = 8_000, 2, 0.5
# The text of a long result says where all of it is (`terp.session.observation`), and how much it lacks.
_STAYS = re.compile(r"^\[this output stays in .+\]$", re.MULTILINE)
_LACKS = re.compile(r"^\[… (?:([\d,]+) lines? \()?([\d,]+) characters\)? left out.*\n", re.MULTILINE)


class SentMessages:
    """Follows a history.

    Each of the `watchers` is told from which place on messages are others than before.
    """

    def __init__(self, history: History) -> None:
        self.watchers: list[Callable[[int], None]] = []
        self._history = history
        self._begin_again()
        history.watchers.append(self._changed)

    @property
    def messages(self) -> Sequence[Message]:
        """All messages, in order; not to be changed."""
        for message in self._history.messages[len(self._messages) :]:
            self._take(message)
        return self._messages

    def _take(self, message: Message) -> None:
        if isinstance(message, Assistant):
            self._shorten_answered()
        if isinstance(message, Result) and len(message.text) > _LONG and _STAYS.search(message.text):
            self._shorter[len(self._messages)] = replace(message, text=_short(message.text))
        self._messages.append(message)
        self._size += _characters(message)

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
        if isinstance(change, Cut | Replaced):
            # A conversation that is not so long any more may have had less of it shortened.
            self._begin_again()

    def _begin_again(self) -> None:
        self._messages: list[Message] = []
        self._shorter: dict[int, Result] = {}
        self._size = 0
        for watch in self.watchers:
            watch(0)


def _characters(message: Message) -> int:
    called = sum(len(call.arguments) for call in message.calls) if isinstance(message, Assistant) else 0
    return len(message.text) + called


def _short(text: str) -> str:
    """The head and the tail, which says where all of it is."""
    short = HeadTail(_KEPT)
    short.add(text)
    if lacks := _LACKS.search(text):
        lines, characters = (int((number or "0").replace(",", "")) for number in lacks.groups())
        short.lacks(lines - 1, characters - len(lacks[0]))
    return short.text()
