"""The messages of a conversation, its turns, and the changes to them.

Every change passes `History.apply`, so that a store can write it down and repeat it.
"""

import re
from collections.abc import Callable, Iterator, Sequence

from terp.events.messages import Assistant, Attachment, Message, Result, User
from terp.text.dataclasses import dataclass, replace
from terp.text.note_mark import NoteMark


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A turn of the conversation: its number from 1, its prompt, and the index of its first message."""

    number: int
    prompt: str
    attachments: tuple[Attachment, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Appended:
    """A message was added; the first of a turn comes with it.

    `call_ids` are the ids in events of the calls of an `Assistant`.
    """

    message: Message
    turn: PastTurn | None = None
    call_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Truncated:
    """All but the first `left` messages were removed."""

    left: int


@dataclass(frozen=True, slots=True)
class Replaced:
    """All messages were replaced; `turns` are those that the new messages still have.

    If this `compacted` the conversation, the messages before can be restored.
    """

    messages: tuple[Message, ...]
    turns: tuple[PastTurn, ...]
    compacted: bool = False


@dataclass(frozen=True, slots=True)
class NoteAdded:
    """A note was added, which the model reads with the next turn."""

    text: str


Change = Appended | Truncated | Replaced | NoteAdded


@dataclass(frozen=True, slots=True)
class Snapshot:
    """The conversation before its last compaction, which left `compacted_to` messages."""

    messages: tuple[Message, ...]
    turns: tuple[PastTurn, ...]
    compacted_to: int

    def without(self, left: int, gone: Sequence[PastTurn]) -> "Snapshot | None":
        """Return it without the `gone` turns, whose removal left `left` messages; None if it lacks them."""
        if not left or not gone or gone[0].at != left:
            return None
        turn = next((turn for turn in self.turns if turn.number == gone[0].number), None)
        if turn is None:
            return None
        kept = tuple(one for one in self.turns if one.at < turn.at)
        return Snapshot(self.messages[: turn.at], kept, left)


class History:
    """The messages in order, and the `notes` that the model reads with the next turn.

    `snapshot` is the conversation before its last compaction, as long as it can be restored. Each of the
    `watchers` is called with every change, after it was made. Notes begin with the `mark`.
    """

    def __init__(self, messages: Sequence[Message] = ()) -> None:
        self.messages = list(messages)
        self.turns = list(_each_user(messages))
        self.notes: list[str] = []
        self._sent_notes: dict[tuple[int, str], tuple[str, ...]] = {}
        self.snapshot: Snapshot | None = None
        self.watchers: list[Callable[[Change], None]] = []
        self.mark = NoteMark()

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)

    @property
    def is_open(self) -> bool:
        """True if the last message is not the model's."""
        return bool(self.turns) and not isinstance(self.messages[-1], Assistant)

    def to_look_at(self) -> list[str]:
        """Names of pictures, new since the last reply, to be looked at: attached, or by `view_image`."""
        if self.turns and self.turns[-1].at == len(self.messages) - 1:
            return [one.name for one in self.turns[-1].attachments if one.image]
        names: list[str] = []
        for message in reversed(self.messages):
            if isinstance(message, Assistant):
                return names if any("view_image" in call.arguments for call in message.calls) else []
            if isinstance(message, Result) and message.images:
                named = rf"^{re.escape(self.mark.begins)}image: (.*?)(?:, \d+×\d+)?\]$"
                names[:0] = re.findall(named, message.text, re.MULTILINE)
        return []

    def apply(self, change: Change) -> None:
        """Make a change."""
        match change:
            case Appended(message=message, turn=turn):
                self.messages.append(message)
                if turn is not None:
                    self.turns.append(turn)
                    self._sent_notes[turn.number, turn.prompt] = tuple(self.notes)
                    self.notes.clear()
            case Truncated(left=left):
                gone = [turn for turn in self.turns if turn.at >= left]
                if self.snapshot is not None and left < self.snapshot.compacted_to:
                    self.snapshot = self.snapshot.without(left, gone)
                del self.messages[left:]
                del self.turns[len(self.turns) - len(gone) :]
                if gone:
                    self._restore_notes(gone[0])
            case Replaced(messages=messages, turns=turns, compacted=compacted):
                before = Snapshot(tuple(self.messages), tuple(self.turns), len(messages))
                self.snapshot = before if compacted else None
                self.messages[:] = messages
                self.turns[:] = turns
            case NoteAdded(text=text):
                self.notes.append(text)
        for watch in self.watchers:
            watch(change)

    def _restore_notes(self, gone: PastTurn) -> None:
        """Attach the notes of a removed turn to the next turn: they are still true."""
        notes = self._sent_notes.pop((gone.number, gone.prompt), ())
        self.notes[:0] = [note for note in notes if note not in self.notes]

    def begin(self, prompt: str, attachments: Sequence[Attachment] = (), *notes: str) -> None:
        """Begin a turn; the model reads the notes below its prompt."""
        attached = (self.mark.plain(attachment.note) for attachment in attachments if attachment.note)
        below = [self.mark.noted(note) for note in (*notes, *attached)]
        images = tuple(attachment.image for attachment in attachments if attachment.image)
        number = self.turns[-1].number + 1 if self.turns else 1
        turn = PastTurn(number, prompt, tuple(attachments), len(self.messages))
        self.apply(Appended(User("\n\n".join([prompt, *below]), images), turn))

    def note(self, text: str) -> None:
        """Add a note, which the model reads with the next turn."""
        self.apply(NoteAdded(self.mark.noted(text)))

    def append(self, message: Message, call_ids: Sequence[str] = ()) -> None:
        """Add the next message of the turn."""
        self.apply(Appended(message, None, tuple(call_ids)))

    def cut(self, left: int) -> None:
        """Remove all but the first `left` messages."""
        self.apply(Truncated(left))

    def undo_compaction(self) -> bool:
        """Restore the messages before the last `compact`, and keep those since; False if it cannot."""
        snapshot = self.snapshot
        if snapshot is None:
            return False
        grown = len(snapshot.messages) - snapshot.compacted_to
        since = [turn for turn in self.turns if turn.at >= snapshot.compacted_to]
        messages = (*snapshot.messages, *self.messages[snapshot.compacted_to :])
        turns = (*snapshot.turns, *(replace(turn, at=turn.at + grown) for turn in since))
        self.apply(Replaced(messages, turns))
        return True

    def replace(self, messages: Sequence[Message], *, compacted: bool = False) -> None:
        """Put other messages in place; a turn stays one if its prompt is among them.

        `undo_compaction` restores those that were `compacted`.
        """
        places = {id(message): at for at, message in enumerate(messages)}
        prompts = [id(self.messages[turn.at]) for turn in self.turns]
        turns = (
            replace(turn, at=places[prompt])
            for turn, prompt in zip(self.turns, prompts, strict=True)
            if prompt in places
        )
        self.apply(Replaced(tuple(messages), tuple(turns), compacted))

    def restart(self, messages: Sequence[Message]) -> None:
        """Begin another conversation, in which every message of the user begins a turn."""
        self.apply(Replaced(tuple(messages), tuple(_each_user(messages))))


def _each_user(messages: Sequence[Message]) -> Iterator[PastTurn]:
    number = 0
    for at, message in enumerate(messages):
        # A summary has the form of a user message, but begins no turn.
        if isinstance(message, User) and not message.said:
            number += 1
            yield PastTurn(number, message.text, (), at)
