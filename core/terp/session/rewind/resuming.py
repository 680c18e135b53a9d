"""Resuming a stored session in new kernels."""

from collections.abc import Sequence
from dataclasses import replace

from terp.events import Noticed, SessionResumed
from terp.events.kernel import Kernels
from terp.events.log import EventLog
from terp.events.messages import Result, ToolCall, User
from terp.models.tool import Misunderstood, understand
from terp.session.context.history import History
from terp.session.context.request import ModelRequests
from terp.session.keeping import LeftOver, Stored

_NAMED = 20
_PENDING = "Not run: terp ended before the user had decided about this code."
_STARTED = "terp ended while this code ran. What it had done by then is not known, and its output is lost."
_FINISHED = "This code ran to its end, but terp ended before its output was noted down."


class Resumption:
    """The state of a resumed session: a note to the model, and calls that were never decided.

    Its constructor completes the conversation: every call has a result, counters continue, and fields of
    another provider are dropped. `event` is for the user. Kernels that are still running have lost nothing.
    """

    def __init__(self, stored: Stored, requests: ModelRequests, kernels: Kernels) -> None:
        if stored.model != requests.model.name:
            requests.drop_extras()
        self.left_over = _undecided(stored.left_over)
        self._next_step = stored.step + 1
        calls = (understand(call, kernels.languages, call_id=call_id) for call_id, call in self.left_over)
        codes = tuple(call.code for call in calls if not isinstance(call, Misunderstood))
        turns = len(stored.history.turns)
        lost = stored.runs > 0 and not kernels.resumed
        gone = () if kernels.resumed else stored.gone
        self.event = SessionResumed(stored.folder.name, turns, lost, gone, codes)
        _settle(stored.history, stored.left_over)
        self._history = stored.history
        self._since = len(stored.history.messages)
        self._note = stored.history.mark.noted(_note(self.event))
        self._earlier = len(stored.history.notes)

    def note_again(self, note: str) -> None:
        """Add another note about the kernel to the next message."""
        self._note, self._since = self._history.mark.noted(note), len(self._history.messages)
        self._earlier = len(self._history.notes)

    def restored(self, names: Sequence[str]) -> None:
        """Leave variables that were restored out of the note on those that are gone."""
        gone = tuple(name for name in self.event.gone if name not in names)
        before = self._history.mark.noted(_note(self.event))
        self.event = replace(self.event, gone=gone)
        self._note = self._history.mark.noted(_note(self.event)) if self._note == before else self._note

    def note(self) -> str:
        """Return the note that the next message must have; "" if the conversation has it."""
        since = self._history.messages[self._since :]
        is_sent = any(isinstance(message, User | Result) and self._note in message.text for message in since)
        return "" if is_sent else self._note

    def note_among(self, notes: Sequence[str]) -> Sequence[str]:
        """Return all notes for the next message: `notes`, and `note` at its place in time."""
        earlier, self._earlier = self._earlier, 0
        new = self.note()
        return (*notes[:earlier], *([new] if new else []), *notes[earlier:])

    def forget_left_over(self) -> None:
        """Drop the calls that were never decided: the conversation takes another way."""
        self.left_over = ()

    def reopen(self) -> tuple[tuple[tuple[str, ToolCall], ...], int]:
        """Return the calls that were never decided, now without results, and the number of the next step."""
        left_over, self.left_over = self.left_over, ()
        if left_over:
            self._since = len(self._history.messages) - len(left_over)
            self._history.cut(self._since)
        return left_over, self._next_step if left_over else 1


def _undecided(left_over: Sequence[LeftOver]) -> tuple[tuple[str, ToolCall], ...]:
    # They are the last ones: a reply's calls run one by one.
    return tuple((left.call_id, left.call) for left in left_over if not (left.started or left.finished))


def _settle(history: History, left_over: Sequence[LeftOver]) -> None:
    for left in left_over:
        text = _FINISHED if left.finished else _STARTED if left.started else _PENDING
        history.append(Result(left.call.id, history.mark.sentence(text)))


def _note(event: SessionResumed) -> str:
    if not event.lost:
        return ""
    named = ", ".join(event.gone[:_NAMED]) + (" and others" if len(event.gone) > _NAMED else "")
    gone = f"these variables are gone: {named}" if named else "all variables of earlier runs are gone"
    return f"[This conversation was resumed. The kernel is new: {gone}; imports must be done again.]"


def resume(stored: Stored, requests: ModelRequests, kernels: Kernels, log: EventLog) -> Resumption:
    """Complete the conversation, log it for the user, and return its state."""
    resumption = Resumption(stored, requests, kernels)
    cut_off = () if kernels.resumed else stored.cut_off
    log.append(resumption.event)
    for number, code in cut_off:
        log.append(
            Noticed(
                f"Run {number} was cut off when terp ended, and its effects are not known: {code}",
                f"/out {number} shows what is kept of its output.",
            )
        )
    for job in stored.jobs:
        lost = f"{job} was lost: it still ran when terp ended."
        log.append(Noticed(lost))
        stored.history.note(f"[{lost}]")
    for notice in stored.notices:
        log.append(Noticed(notice))
    return resumption
