"""Keeps a conversation within what its model reads: when it is shortened, and what the model is told then."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from terp.errors import ContextFull, SessionError
from terp.events import CompactionReason, HistoryCompacted
from terp.events.log import EventLog
from terp.events.messages import Assistant, Message, User
from terp.models.facts.window import Window
from terp.session.context.compaction import SUMMARY, compacted, summarised
from terp.session.context.history import History
from terp.session.context.summary import REQUEST, Listing, Told
from terp.session.context.tokens import ExpectedTokens

# What could not be made short enough is tried again when it has grown by so much.
_GROWN = 1.2

Request = tuple[Sequence[Message], Sequence[Mapping[str, Any]]]


async def _no_facts() -> Sequence[Listing]:
    return ()


@dataclass(frozen=True, slots=True)
class Asking:
    """Requests of a conversation: the `next` one as it stands; and `answered`, which sends another one."""

    next: Callable[[], Request]
    answered: Callable[[Sequence[Message], Sequence[Mapping[str, Any]]], Awaitable[Assistant]]


class Shortening:
    """Shortens a history before the window of its model is full, when the model refuses it, or on demand.

    `window` and `facts` are set by whoever knows them: without, the window is not known, and of variables and
    files nothing is told.
    """

    def __init__(self, history: History, log: EventLog, tokens: ExpectedTokens, asking: Asking) -> None:
        self.window: Callable[[], Window] = Window
        self.facts: Callable[[], Awaitable[Sequence[Listing]]] = _no_facts
        self._history = history
        self._log = log
        self._tokens = tokens
        self._asking = asking
        self._left_at = 0.0
        self._waits = False

    @property
    def expected(self) -> int:
        """The tokens of the next request."""
        return round(self.counted * self._tokens.told_to_counted)

    @property
    def counted(self) -> float:
        """The same by its characters alone."""
        messages, tools = self._asking.next()
        return self._tokens.counted(messages[0].text, tools, lambda: self.window().vision)

    async def before_request(self) -> None:
        """Shorten the history if the next request would come too near to the window.

        Raises:
            ModelError: the model that was to write the summary failed.
        """
        # Of a first message nothing could be left out, and looking up the window takes a moment.
        if self._waits or len(self._history.messages) < 2:
            return
        most, expected = self.window().most, self.expected
        if not most or expected <= max(most, self._left_at * _GROWN):
            return
        try:
            await self._compact("full")
        except ContextFull:
            # The model may take it all the same.
            self._left_at = expected
        else:
            self._left_at = self.expected

    async def refused(self) -> None:
        """Shorten a history that the model has refused as too long.

        Raises:
            ContextFull: nothing is left to shorten.
            ModelError: the model that was to write the summary failed.
        """
        await self._compact("refused")

    async def asked(self, focus: str) -> None:
        """Replace all turns before the last by a summary that keeps most of `focus`.

        Raises:
            ModelError: there is no summary; nothing has changed.
        """

        async def write(older: Sequence[Message]) -> Told:
            return await self._told(older, focus, refused=False)

        messages = await summarised(self._history, self._room(), write)
        self._shorten(messages, SUMMARY, "asked")

    def undo(self) -> None:
        """Have the whole history back. It is not shortened by itself again until the model refuses it.

        Raises:
            SessionError: it was not shortened, or has taken another way since.
        """
        before = self.expected
        if not self._history.lengthen():
            raise SessionError("There is no shortening to take back.")
        self._waits = True
        self._log.append(HistoryCompacted(before, self.expected, "", "undone", self.window().tokens))

    async def _compact(self, reason: CompactionReason) -> None:
        async def write(older: Sequence[Message]) -> Told:
            return await self._told(older, "", refused=reason == "refused")

        self._shorten(*await compacted(self._history, self._room(), write), reason)

    def _shorten(self, messages: Sequence[Message], how: str, reason: CompactionReason) -> None:
        before = self.expected
        self._history.shorten(messages)
        self._waits = False
        self._log.append(HistoryCompacted(before, self.expected, how, reason, self.window().tokens))

    def _room(self) -> float:
        """What the messages may come to, counted by their characters."""
        goal = self.window().goal(self.expected) / self._tokens.told_to_counted
        return max(goal - max(0.0, self.counted - self._tokens.conversation), goal / 4)

    async def _told(self, older: Sequence[Message], focus: str, *, refused: bool) -> Told:
        request = User(f"{REQUEST} Above all keep: {focus}" if focus else REQUEST)
        notes = "" if refused else await self._notes_on_all(request)
        return Told(notes or await self._notes_on(older, request), await self.facts())

    async def _notes_on_all(self, request: User) -> str:
        """The model's notes on the whole conversation, which its provider has cached; "" for none."""
        messages, tools = self._asking.next()
        try:
            return (await self._asking.answered([*messages, request], tools)).text
        except ContextFull:
            return ""

    async def _notes_on(self, older: Sequence[Message], request: User) -> str:
        try:
            return (await self._asking.answered([*older, request], ())).text
        except ContextFull:
            # Even the part to be left out is too long: the person's words and the facts are what is kept.
            return ""
