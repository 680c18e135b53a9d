"""Compaction: a conversation is made shorter so that it fits the context window of its model.

First the oldest outputs are cut. Where that is not enough, one message replaces what came before the last
turn: the user's own words, the model's summary, and what terp knows of files and variables. The system prompt
is no part of the history, and stays.
"""

import dataclasses
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any

from terp.errors import ContextFull, SessionError
from terp.events import CompactionReason, HistoryCompacted
from terp.events.log import EventLog
from terp.events.messages import Assistant, Message, Result, System, User
from terp.session.context.history import History, PastTurn
from terp.session.context.request import ModelRequests, message_tokens, picture_tokens
from terp.session.context.summary import REQUEST, Listing, Summary, summary_message
from terp.text.note_mark import NoteMark
from terp.text.plain import head_and_tail

CUT, SUMMARY = "outputs cut", "summed up"

_KEPT_OF_RESULT = 400
# A result that was cut once, and says so, is not cut again.
_LONG_RESULT = 2 * _KEPT_OF_RESULT
_RECENT_RESULTS = 2
# What stays word for word, of the room that there is: the last turns, or the last steps of a long one.
_STAYS = 0.5
# What would free less than this of it is not worth a summary.
_WORTH = 0.2
# A first turn that is no longer stays whole: it mostly says what all of it is about.
_SHORT_TURN = 400
# A conversation that could not be made short enough is tried again when it has grown by this factor.
_GROWN = 1.2

Write = Callable[[Sequence[Message]], Awaitable[Summary]]
"""Writes the summary of messages that are left out."""
Facts = Callable[[], Awaitable[Sequence[Listing]]]


class Compactor:
    """Compacts a history before the context window is full, when the model refuses it, or on demand.

    `facts` returns those of files and variables, which are added to a summary.
    """

    def __init__(self, history: History, log: EventLog, requests: ModelRequests, facts: Facts) -> None:
        self._history = history
        self._log = log
        self._requests = requests
        self._facts = facts
        self._failed_at = 0.0
        self._paused = False

    async def before_request(self) -> None:
        """Compact the history if the next request would come too close to the context window.

        Raises:
            ModelError: the model that was to write the summary failed.
        """
        # Nothing of a first message could be left out, and looking up the window takes 5 ms.
        if self._paused or len(self._history.messages) < 2:
            return
        most, expected = self._requests.window.most, self._requests.expected_tokens
        if not most or expected <= max(most, self._failed_at * _GROWN):
            return
        try:
            await self._compact("full")
        except ContextFull:
            # The model may accept it all the same.
            self._failed_at = expected
        else:
            self._failed_at = self._requests.expected_tokens

    async def refused(self) -> None:
        """Compact a history that the model has refused as too long.

        Raises:
            ContextFull: nothing is left to compact.
            ModelError: the model that was to write the summary failed.
        """
        await self._compact("refused")

    async def summarise(self, focus: str) -> None:
        """Replace all turns before the last by a summary that keeps most of `focus`.

        Raises:
            ModelError: there is no summary; nothing has changed.
        """
        write = partial(self._summary, focus=focus, refused=False)
        messages = await summarised(self._history, self._room(), write)
        self._replace(messages, SUMMARY, "asked")

    def undo(self) -> None:
        """Restore the whole history. It is compacted again only when the model refuses it.

        Raises:
            SessionError: it was not compacted, or its summary was removed since.
        """
        before = self._requests.expected_tokens
        if not self._history.undo_compaction():
            raise SessionError("There is no compaction to undo.")
        self._paused = True
        self._report(before, "", "undone")

    async def _compact(self, reason: CompactionReason) -> None:
        write = partial(self._summary, focus="", refused=reason == "refused")
        self._replace(*await compacted(self._history, self._room(), write), reason)

    def _replace(self, messages: Sequence[Message], how: str, reason: CompactionReason) -> None:
        before = self._requests.expected_tokens
        self._history.replace(messages, compacted=True)
        self._paused = False
        self._report(before, how, reason)

    def _report(self, before: int, how: str, reason: CompactionReason) -> None:
        after, window = self._requests.expected_tokens, self._requests.window.tokens
        self._log.append(HistoryCompacted(before, after, how, reason, window))

    def _room(self) -> float:
        """Return the tokens that the messages may have, as they are counted here."""
        requests = self._requests
        goal = requests.window.goal(requests.expected_tokens) / requests.estimate.correction
        beside = max(0.0, requests.counted_tokens - requests.estimate.conversation)
        return max(goal - beside, goal / 4)

    async def _summary(self, older: Sequence[Message], focus: str, *, refused: bool) -> Summary:
        request = User(f"{REQUEST} Above all keep: {focus}" if focus else REQUEST)
        # The provider has cached the whole conversation.
        notes = "" if refused else await self._notes(request, *self._requests.next)
        mark = self._history.mark
        known = [System(mark.explanation, mark.word)] if mark.word else []
        notes = notes or await self._notes(request, [*known, *older])
        return Summary(notes, await self._facts())

    async def _notes(
        self, request: User, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> str:
        try:
            return (await self._requests.answer([*messages, request], tools)).text
        except ContextFull:
            # The user's words and the facts are kept all the same.
            return ""


async def compacted(history: History, room: float, write: Write) -> tuple[list[Message], str]:
    """Return messages of about `room` tokens, and how they were made: `CUT` or `SUMMARY`.

    Raises:
        ContextFull: nothing is left to shorten.
        ModelError: the model that was to write the summary failed.
    """
    shorter = _with_short_results(history.messages, history.mark)
    if size(shorter) <= room:
        return shorter, CUT
    first, older, last = _divided(shorter, room * _STAYS)
    if size(older) >= _WORTH * size(shorter):
        return [*first, await _summary(history, older, room, write), *last], SUMMARY
    if shorter != history.messages:
        return shorter, CUT
    raise ContextFull(
        "The conversation is longer than the model can read, and nothing is left to shorten.",
        "Start a new session, or pick a model with a larger context window with --model.",
    )


async def summarised(history: History, room: float, write: Write) -> list[Message]:
    """Return the messages of a history in which all turns before the last are one summary.

    Raises:
        ContextFull: there are no turns before the last.
        ModelError: the model that was to write the summary failed.
    """
    *older, last = _groups(history.messages, User) or [[]]
    if not older:
        raise ContextFull("There is nothing to compact: the last turn is always kept whole.")
    return [await _summary(history, _flat(older), room, write), *last]


def size(messages: Sequence[Message]) -> float:
    """Return the tokens of messages, counted by their characters."""
    return sum(message_tokens(message) + picture_tokens(message) for message in messages)


def _with_short_results(messages: Sequence[Message], mark: NoteMark) -> list[Message]:
    results = [at for at, message in enumerate(messages) if isinstance(message, Result)]
    old = set(results[:-_RECENT_RESULTS])
    return [_short(message, mark) if at in old else message for at, message in enumerate(messages)]


def _short(message: Message, mark: NoteMark) -> Message:
    if not isinstance(message, Result):
        return message
    text = message.text
    if len(text) > _LONG_RESULT:
        text = head_and_tail(text, _KEPT_OF_RESULT, mark)
    return dataclasses.replace(message, text=text, images=())


def _groups(messages: Sequence[Message], begins: type[Message]) -> list[list[Message]]:
    """Return the messages in groups, each from a message of the kind `begins` to before the next."""
    groups: list[list[Message]] = []
    for message in messages:
        if isinstance(message, begins) or not groups:
            groups.append([])
        groups[-1].append(message)
    return groups


def _divided(
    messages: Sequence[Message], room: float
) -> tuple[Sequence[Message], Sequence[Message], Sequence[Message]]:
    """Split messages into the first turn if it stays, those to leave out, and those that stay at the end.

    The last turn always stays; if it is too long, its prompt and its last steps do.
    """
    *earlier, last = _groups(messages, User) or [[]]
    if size(last) > room:
        prompt, steps = last[:1], _groups(last[1:], Assistant)
        kept = _fitting(steps, room - size(prompt)) or steps[-1:]
        gone = [message for step in steps[: len(steps) - len(kept)] for message in step]
        return [], [*_flat(earlier), *gone], [*prompt, *_flat(kept)]
    kept = _fitting(earlier, room - size(last))
    left_out = earlier[: len(earlier) - len(kept)]
    stays = len(left_out) > 1 and size(left_out[0]) <= _SHORT_TURN and not _is_summary(left_out[0])
    first = left_out.pop(0) if stays else []
    return first, _flat(left_out), [*_flat(kept), *last]


def _fitting(groups: Sequence[list[Message]], room: float) -> list[list[Message]]:
    """Return the last groups that together fit into `room` tokens."""
    at = len(groups)
    while at and (room := room - size(groups[at - 1])) >= 0:
        at -= 1
    return list(groups[at:])


def _flat(groups: Sequence[Sequence[Message]]) -> list[Message]:
    return [message for group in groups for message in group]


def _is_summary(turn: Sequence[Message]) -> bool:
    return isinstance(turn[0], User) and bool(turn[0].said)


async def _summary(history: History, older: Sequence[Message], room: float, write: Write) -> User:
    prompts = {id(history.messages[turn.at]): turn for turn in history.turns}
    said: list[str] = []
    for message in older:
        if isinstance(message, User):
            own = _words(prompts[id(message)]) if id(message) in prompts else message.text
            said += [words for words in message.said or [own] if words]
    return summary_message(said, await write(older), room)


def _words(turn: PastTurn) -> str:
    names = ", ".join(attachment.name for attachment in turn.attachments)
    return f"{turn.prompt} [attached: {names}]" if names else turn.prompt
