"""The conversation that all clients of the protocol share: it handles their frames and returns answers."""

import asyncio
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

from terp.events.messages import Attachment
from terp.person import Decline, Run
from terp.session.session import Session
from terp_cli.server.compat.accumulating import (
    NOTHING_BEGUN,
    Draft,
    Frame,
    Message,
    Misplaced,
    accumulate,
    begins_message,
    forget_oldest,
    read_frame,
)
from terp_cli.server.compat.client_settings import ClientSettings
from terp_cli.server.compat.feed import Feed
from terp_cli.server.compat.frames import COMPLETE, LogFollower
from terp_cli.server.compat.model_input import asked_in, conversation_of, text_of, turn_with, with_files
from terp_cli.server.compat.opening import SharedSession
from terp_cli.server.failures import RequestRefused
from terp_cli.server.sessions import Sessions
from terp_cli.server.turns import Asking, ServedTurn

# Those of weeks, with their pictures, would fill the memory. The model's history is bounded elsewhere.
_MOST_REMEMBERED = 64_000_000
_RUN_THIS = "Run this code."
_NOTHING_TO_RUN = "There is no code to run."
_NOT_SHOWN = "The code that waits was not shown here yet."


class SharedConversation:
    """The conversation of all clients: handles their frames in order, and adds its answers to `feed`.

    `messages` are in the protocol's form, as clients load and read them. Only the newest are stored.
    """

    def __init__(self, sessions: Sessions, wanted: ClientSettings, feed: Feed) -> None:
        self.messages: list[Message] = []
        self.feed = feed
        self.shared = SharedSession(sessions, wanted, self._show, self._began)
        self._said = self._seen = self._shown_at = 0
        self._answer_from: int | None = None
        self._is_own = False
        self._turn: ServedTurn | None = None
        self._taking = asyncio.Lock()

    @property
    def answering(self) -> bool:
        """Return True until the `complete` frame of the current answer."""
        listening = self.shared.listening
        return listening is not None and listening.frames.answering

    async def take(
        self, chunk: Frame | str | bytes, *, seen: int | None = None, draft: Draft | None = None
    ) -> int | None:
        """Handle a frame once it is whole; return the number of the first frame of its answer.

        `seen` is the number of frames of `feed` that the sender has got: a `go` can only approve code among
        them. `draft` is the sender's unfinished message; without it, the one that all such senders share.

        Raises:
            Misplaced, RequestRefused, TerpError: it cannot be done.
        """
        async with self._taking:
            self._seen, self._answer_from = self.feed.last if seen is None else seen, None
            frame = chunk if isinstance(chunk, bytes) else read_frame(chunk)
            frames = [frame] if draft is None else draft.taken(frame)
            if self.answering and any("start" in one for one in (frame, *frames) if isinstance(one, Mapping)):
                await self._end_turn()
            for one in frames:
                await self._add(one)
            return self._answer_from

    async def _add(self, frame: Frame | bytes) -> None:
        if isinstance(frame, bytes):
            accumulate(self.messages, frame)
            return
        alone = begins_message(self.messages, frame)
        accumulate(self.messages, frame)
        if "end" in frame or (alone and self.messages[-1].get("type") == "command"):
            await self._act()

    async def load(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Replace the conversation by other messages; waiting code is dropped."""
        async with self._taking:
            await self._end_turn()
            self.replace(messages)

    def replace(self, messages: Sequence[Mapping[str, Any]]) -> None:
        """Replace the messages while no turn runs."""
        served = self.shared.served
        if served is not None:
            served.session.history = ()
        self.messages[:] = [{"role": "user", "content": "", **message} for message in messages]
        self._said = 0

    async def respond(self, *, run_code: bool | None) -> None:
        """Answer the messages, or with `run_code` run the code that waits; return at the end of that.

        Without it, where that is said, no code of the answer runs.

        Raises:
            Misplaced, RequestRefused, TerpError: it cannot be done.
        """
        self.shared.asks = run_code is False
        try:
            async with self._taking:
                self._seen = self.feed.last
                await (self._go() if run_code else self._respond())
            while self.answering:
                await self.feed.changed.wait()
        finally:
            self.shared.asks = False

    async def end(self) -> None:
        """End the running or waiting turn without a frame."""
        async with self._taking:
            await self._end_turn()

    async def _act(self) -> None:
        if not self.messages:
            raise Misplaced(NOTHING_BEGUN)
        if self.messages[-1].get("type") == "command":
            await self._command(text_of(self.messages.pop()).strip())
        else:
            await self._respond()

    async def _command(self, word: str) -> None:
        match word:
            case "go":
                await self._go()
            case "stop":
                await self._stop()
            case _:
                raise Misplaced(f"There is no command {word[:40]!r}; there are go and stop.")

    async def _stop(self) -> None:
        await self._end_turn()
        self._answer_from = self.feed.last
        self.feed.add([COMPLETE])

    async def _go(self) -> None:
        """Run the code that was shown last, exactly as shown."""
        person, listening = self.shared.person, self.shared.listening
        if person is not None and listening is not None and person.proposed is not None:
            if self._seen < self._shown_at:
                raise Misplaced(_NOT_SHOWN)
            proposed = person.proposed
            self._answer_from = self.feed.last
            listening.served.questions.decide(proposed.call_id, proposed.digest, Run(proposed.code, "client"))
            listening.frames.answering = self._is_own = True
            return
        last = self.messages[-1] if self.messages else {}
        if self.answering or last.get("type") != "code" or last.get("role") == "computer":
            raise Misplaced(_NOTHING_TO_RUN)
        await self._run_own(last)

    async def _run_own(self, message: Message) -> None:
        """Run code that a client has sent, before the model is asked."""
        language, code = str(message.get("format") or "python"), text_of(message)
        listening = await self._opened()
        prompt, attachments = await self._before(listening, self.messages[self._said : -1])
        assert self.shared.person is not None
        listening.frames.shown_already = code
        expect = self.shared.person.expect
        asked = partial(turn_with, prompt=prompt or _RUN_THIS, attachments=attachments)
        await self._ask(listening, partial(asked, language=language, code=code, expect=expect))

    async def _respond(self) -> None:
        """Answer the messages since the last answer."""
        await self._end_turn()
        listening = await self._opened()
        new = self.messages[self._said :]
        if not new:
            raise Misplaced("Nothing was asked.")
        if new[-1].get("role") == "assistant" and new[-1].get("type") == "code":
            # It waits for a `go`, unless nobody wants to be asked.
            await (self._go() if self.shared.unasked else self._stop())
            return
        prompt, attachments = await self._before(listening, new)
        listening.frames.shown_already = ""
        await self._ask(listening, partial(Session.turn, prompt=prompt, attachments=attachments))

    async def _opened(self) -> LogFollower:
        """Return the session; one with an empty history gets all messages."""
        listening = await self.shared.opened()
        if not listening.served.session.history:
            self._said = 0
        return listening

    async def _before(
        self, listening: LogFollower, new: Sequence[Message]
    ) -> tuple[str, tuple[Attachment, ...]]:
        """Return the prompt at the end of new messages; add the messages before it to the history."""
        at = len(new)
        while at and new[at - 1].get("role") not in ("assistant", "computer"):
            at -= 1
        if at:
            session = listening.served.session
            session.history = (*session.history, *conversation_of(new[:at]))
        return asked_in(await with_files(new[at:], listening.served.files))

    async def _ask(self, listening: LogFollower, asking: Asking) -> None:
        await self.shared.adapt(listening)
        forget_oldest(self.messages, _MOST_REMEMBERED)
        self._said = len(self.messages)
        self.feed.begin()
        self._answer_from = self.feed.last
        self._turn = listening.served.ask(asking)
        listening.frames.answering = self._is_own = True

    async def _end_turn(self) -> None:
        """End the running and the waiting turns silently; a message that was begun is closed."""
        listening, person = self.shared.listening, self.shared.person
        if listening is None or person is None:
            return
        listening.catch_up()
        if not (listening.frames.answering or person.proposed):
            return
        listening.frames.hushed = True
        if not self._decline(listening):
            # Until it is over, no other frame is taken that could stop it once more.
            listening.served.turns.drop_waiting()
            await listening.served.end_turn()
        if self._turn is not None:
            await asyncio.wait({self._turn.ended})
        await listening.served.session.idle()
        listening.catch_up()
        listening.frames.hushed = listening.frames.answering = False
        self.feed.changed.notify()

    def _decline(self, listening: LogFollower) -> bool:
        """Decline code that waits for an answer; return True if there was any."""
        proposed = self.shared.person.proposed if self.shared.person else None
        if proposed is None:
            return False
        try:
            listening.served.questions.decide(proposed.call_id, proposed.digest, Decline("", stop=True))
        except RequestRefused:
            # Somebody else has answered meanwhile.
            return False
        return True

    def _show(self, frames: Sequence[Frame]) -> None:
        for frame in frames:
            if frame["role"] != "server":
                accumulate(self.messages, frame)
        self._said = len(self.messages)
        self.feed.add(frames, keep=self._is_own)
        if COMPLETE in frames:
            self._shown_at = self.feed.last - 1

    def _began(self, asked: str) -> None:
        """Note the start of a turn; add the prompt of another interface's client to the messages."""
        if not (self._is_own and self.answering):
            self._is_own = False
            self.messages.append({"role": "user", "type": "message", "content": asked})
            forget_oldest(self.messages, _MOST_REMEMBERED)
            self._said = len(self.messages)
