"""Going back in a conversation: taking turns out of it, and keeping it as it was under another name."""

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from terp.errors import SessionError
from terp.events import HistoryRewound, SessionForked
from terp.events.kernel import Kernels
from terp.events.log import EventLog
from terp.session.context.history import History, PastTurn

if TYPE_CHECKING:
    from terp.session.rewind.rewinding import Rewinding


class Past:
    """What can be done to the turns of a session, each with the event that tells it.

    `copy` makes another session of this one and gives its id; it and `leave`, which is told before the
    conversation takes another way, raise `RuntimeError` while a turn of the session is going on. `lengthen`
    brings back what was shortened, `alone` does something while nothing else happens in the session.
    """

    def __init__(
        self,
        history: History,
        log: EventLog,
        copy: Callable[[], str],
        leave: Callable[[], None],
        lengthen: Callable[[], None],
        kernels: Kernels,
        alone: Callable[[Awaitable[None]], Awaitable[bool]],
    ) -> None:
        self._history = history
        self._log = log
        self._copy = copy
        self._leave = leave
        self._lengthen = lengthen
        self._kernels = kernels
        self._alone = alone

    @property
    def with_code(self) -> "Rewinding":
        """What takes turns back together with what their code did to variables and files."""
        from terp.session.rewind.rewinding import Rewinding  # noqa: PLC0415  (few sessions go back)

        return Rewinding(self, self._log, self._kernels, self._history, self._alone)

    def undo(self) -> PastTurn:
        """Take the last turn out of the conversation, whole; what was asked in it.

        What its code did stays. `Session.turn(past.prompt, past.attachments)` asks the same again.

        Raises:
            SessionError: there is none.
            RuntimeError: a turn of this session is going on.
        """
        self._leave()
        if not self._history.turns:
            raise SessionError("There is no turn to undo.")
        return self._remove(self._history.turns[-1:])[0]

    def rewind(self, number: int, *, copy: bool = False, undone: bool = False) -> Sequence[PastTurn]:
        """Take turn `number` and all after it out of the conversation; what was asked in them.

        With `copy` the conversation as it was is kept as another session, if this one is kept. `undone` tells
        that variables are as they were, too: `Rewinding` has seen to that.

        Raises:
            SessionError: there is no such turn.
            RuntimeError: a turn of this session is going on.
        """
        self.check(number)
        turns = self._history.turns
        at = next(at for at, turn in enumerate(turns) if turn.number == number)
        return self._remove(turns[at:], self._copied() if copy else "", undone=undone)

    def check(self, number: int) -> None:
        """Nothing, if there is a turn `number` that can be gone back to now.

        Raises:
            SessionError: there is no such turn.
            RuntimeError: a turn of this session is going on.
        """
        self._leave()
        turns = self._history.turns
        if not any(turn.number == number for turn in turns):
            raise SessionError(*_no_turn(number, turns))

    def reset(self, *, copy: bool = False) -> None:
        """Begin a new conversation; the kernels and their variables stay.

        With `copy` the conversation as it was is kept as another session, if this one is kept.

        Raises:
            RuntimeError: a turn of this session is going on.
        """
        self._leave()
        if self._history.messages:
            removed = len(self._history.turns)
            copied = self._copied() if copy else ""
            self._history.restart(())
            self._log.append(HistoryRewound(removed, 0, copied))

    def lengthen(self) -> None:
        """Bring back what was last shortened, by `Session.compact` or by itself, with what was said since.

        From here on the conversation is not shortened by itself until the model refuses it as too long.

        Raises:
            SessionError: nothing was shortened, or the conversation has taken another way since.
            RuntimeError: a turn of this session is going on.
        """
        self._leave()
        self._lengthen()

    def fork(self) -> str:
        """Keep the conversation as it is now as another session, too; its id. This one goes on.

        Raises:
            SessionError: this session is not kept.
            RuntimeError: a turn of this session is going on.
        """
        copy = self._copy()
        self._log.append(SessionForked(copy))
        return copy

    def _copied(self) -> str:
        """The id of a copy; "" where the session is not, or not any more, kept."""
        try:
            return self._copy()
        except SessionError:
            return ""

    def _remove(
        self, turns: Sequence[PastTurn], copy: str = "", *, undone: bool = False
    ) -> Sequence[PastTurn]:
        self._history.cut(turns[0].at)
        self._log.append(HistoryRewound(len(turns), len(self._history.turns), copy, undone))
        return tuple(turns)


def _no_turn(number: int, turns: Sequence[PastTurn]) -> tuple[str, str]:
    """Why it cannot be gone back to, and what to do."""
    if not turns:
        return "There is no turn to go back to.", ""
    if number > turns[-1].number or number < 1:
        return f"There is no turn {number}; the last one is {turns[-1].number}.", ""
    why = f"Turn {number} is part of a summary, and cannot be gone back to by itself."
    return why, "/compact undo brings it back."
