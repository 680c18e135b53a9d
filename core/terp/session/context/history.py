"""The messages of a conversation and its turns, and every way in which they change.

All changes pass `History.apply`, so that whoever keeps them can do them again.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from terp.events.messages import Assistant, Attachment, Message, Result, User


@dataclass(frozen=True, slots=True)
class PastTurn:
    """A turn of the conversation: its number, counted from 1, what was asked, and its first message."""

    number: int
    prompt: str
    attachments: tuple[Attachment, ...]
    at: int


@dataclass(frozen=True, slots=True)
class Said:
    """A message was added; the first of a turn comes with it.

    `call_ids` are what events call the calls of an `Assistant`.
    """

    message: Message
    turn: PastTurn | None = None
    call_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Cut:
    """Only the first `left` messages are left."""

    left: int


@dataclass(frozen=True, slots=True)
class Replaced:
    """The messages are now these, and the turns those that can still be told apart in them.

    Where they are the same ones `shortened`, those before can come back.
    """

    messages: tuple[Message, ...]
    turns: tuple[PastTurn, ...]
    shortened: bool = False


@dataclass(frozen=True, slots=True)
class Noted:
    """The model is to be told this with the next turn."""

    text: str


Change = Said | Cut | Replaced | Noted


@dataclass(frozen=True, slots=True)
class Whole:
    """The conversation before it was last shortened, and to how many messages that was."""

    messages: tuple[Message, ...]
    turns: tuple[PastTurn, ...]
    shortened_to: int

    def without(self, left: int, gone: Sequence[PastTurn]) -> "Whole | None":
        """The same without turns that were taken out, so that `left` messages are; None if it has no such."""
        if not left or not gone or gone[0].at != left:
            return None
        turn = next((turn for turn in self.turns if turn.number == gone[0].number), None)
        if turn is None:
            return None
        kept = tuple(one for one in self.turns if one.at < turn.at)
        return Whole(self.messages[: turn.at], kept, left)


class History:
    """What was said, in order, and the `notes` that go with the next turn.

    `whole` is what it was before it was last shortened, until it takes another way than since.
    Each of the `watchers` is told every change after it was made.
    """

    def __init__(self, messages: Sequence[Message] = ()) -> None:
        self.messages = list(messages)
        self.turns = list(_each_user(messages))
        self.notes: list[str] = []
        self._told: dict[tuple[int, str], tuple[str, ...]] = {}
        self.whole: Whole | None = None
        self.watchers: list[Callable[[Change], None]] = []

    def __iter__(self) -> Iterator[Message]:
        return iter(self.messages)

    @property
    def is_open(self) -> bool:
        """Whether the model has not said anything to what came last."""
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
                names[:0] = re.findall(r"^\[image: (.*?)(?:, \d+×\d+)?\]$", message.text, re.MULTILINE)
        return []

    def apply(self, change: Change) -> None:
        """Make a change."""
        match change:
            case Said(message=message, turn=turn):
                self.messages.append(message)
                if turn is not None:
                    self.turns.append(turn)
                    self._told[turn.number, turn.prompt] = tuple(self.notes)
                    self.notes.clear()
            case Cut(left=left):
                gone = [turn for turn in self.turns if turn.at >= left]
                if self.whole is not None and left < self.whole.shortened_to:
                    self.whole = self.whole.without(left, gone)
                del self.messages[left:]
                del self.turns[len(self.turns) - len(gone) :]
                if gone:
                    self._tell_again(gone[0])
            case Replaced(messages=messages, turns=turns, shortened=shortened):
                before = Whole(tuple(self.messages), tuple(self.turns), len(messages))
                self.whole = before if shortened else None
                self.messages[:] = messages
                self.turns[:] = turns
            case Noted(text=text):
                self.notes.append(text)
        for watch in self.watchers:
            watch(change)

    def _tell_again(self, gone: PastTurn) -> None:
        """What went with a turn that is gone goes with the next one: it was so before that turn."""
        told = self._told.pop((gone.number, gone.prompt), ())
        self.notes[:0] = [note for note in told if note not in self.notes]

    def begin(self, prompt: str, attachments: Sequence[Attachment] = (), *notes: str) -> None:
        """A new turn, with what the model is told beside the prompt."""
        told = [*notes, *(attachment.note for attachment in attachments if attachment.note)]
        images = tuple(attachment.image for attachment in attachments if attachment.image)
        number = self.turns[-1].number + 1 if self.turns else 1
        turn = PastTurn(number, prompt, tuple(attachments), len(self.messages))
        self.apply(Said(User("\n\n".join([prompt, *told]), images), turn))

    def note(self, text: str) -> None:
        """The model is to be told `text` with the next turn."""
        self.apply(Noted(text))

    def append(self, message: Message, call_ids: Sequence[str] = ()) -> None:
        """The next message of the turn."""
        self.apply(Said(message, None, tuple(call_ids)))

    def cut(self, left: int) -> None:
        """Forget all but the first `left` messages."""
        self.apply(Cut(left))

    def shorten(self, messages: Sequence[Message]) -> None:
        """Fewer messages for the same conversation, until `lengthen` brings back what there was."""
        self._replace(messages, shortened=True)

    def lengthen(self) -> bool:
        """Have again what there was before the last `shorten`, and what was said since; False without."""
        whole = self.whole
        if whole is None:
            return False
        grown = len(whole.messages) - whole.shortened_to
        since = [turn for turn in self.turns if turn.at >= whole.shortened_to]
        messages = (*whole.messages, *self.messages[whole.shortened_to :])
        turns = (*whole.turns, *(replace(turn, at=turn.at + grown) for turn in since))
        self.apply(Replaced(messages, turns))
        return True

    def replace(self, messages: Sequence[Message]) -> None:
        """Other messages for the same conversation: a turn stays one if its prompt is still there."""
        self._replace(messages, shortened=False)

    def _replace(self, messages: Sequence[Message], *, shortened: bool) -> None:
        places = {id(message): at for at, message in enumerate(messages)}
        prompts = [id(self.messages[turn.at]) for turn in self.turns]
        turns = (
            replace(turn, at=places[prompt])
            for turn, prompt in zip(self.turns, prompts, strict=True)
            if prompt in places
        )
        self.apply(Replaced(tuple(messages), tuple(turns), shortened))

    def restart(self, messages: Sequence[Message]) -> None:
        """Another conversation, in which every message of the person begins a turn."""
        self.apply(Replaced(tuple(messages), tuple(_each_user(messages))))


def _each_user(messages: Sequence[Message]) -> Iterator[PastTurn]:
    number = 0
    for at, message in enumerate(messages):
        # A summary is told as if the person had said it, and begins no turn.
        if isinstance(message, User) and not message.said:
            number += 1
            yield PastTurn(number, message.text, (), at)
