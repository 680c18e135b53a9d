"""Undoing turns: in the conversation, and with the changes of their code to variables and files."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from terp.errors import KernelBusy, SessionError
from terp.events import HistoryRewound, SessionForked, TurnStarted
from terp.events.kernel import KeepsPast, Kernels
from terp.events.log import EventLog
from terp.events.performed import FILE_EFFECTS
from terp.events.run_log import RERUN_PROMPT, LoggedRun, RunLog
from terp.kernels.jupyter.reports import texts_in
from terp.session.context.compaction import Compactor
from terp.session.context.history import History, PastTurn
from terp.session.foreground import Foreground
from terp.session.keeping import Keeping
from terp.session.rewind.held_files import HeldFiles
from terp.text.dataclasses import dataclass, replace
from terp.text.wording import first_names

if TYPE_CHECKING:
    from terp.session.rewind.resuming import Resumption

_PYTHON = "python"
_NAMED = 20


@dataclass(frozen=True, slots=True)
class ChangedFile:
    """A file that code has changed since a checkpoint.

    `why` says why it cannot be restored. A `new` one did not exist then, so restoring deletes it.
    """

    path: str
    restorable: bool
    why: str = ""
    new: bool = False


@dataclass(frozen=True, slots=True)
class Restored:
    """The result of restoring a checkpoint: `turns` were removed from the conversation.

    `restored` are the variables that were changed and are as they were, `removed` those that were new,
    `lost` those that stay as they are, each with the reason. `files` were restored, `files_lost` stay as
    they are, with the reason. `notes` are sentences about the rest. Without `variables` none was touched.
    """

    turns: Sequence[PastTurn]
    variables: bool = False
    restored: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    lost: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    files_lost: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


class Rewind:
    """Undoes turns of a session, and logs an event for each change.

    A change of the history drops the calls that a `resumption` has left over.
    """

    def __init__(
        self,
        history: History,
        log: EventLog,
        kernels: Kernels,
        foreground: Foreground,
        compactor: Compactor,
        keeper: Keeping | None,
        resumption: "Resumption | None",
    ) -> None:
        self._history = history
        self._log = log
        self._runs = RunLog(log)
        self._kernels = kernels
        self._foreground = foreground
        self._compactor = compactor
        self._keeper = keeper
        self._resumption = resumption

    def prepare(self) -> None:
        """Prepare for a change of the history: calls that an earlier process left over are dropped.

        Raises:
            RuntimeError: a turn of this session is running.
        """
        self._foreground.check_idle()
        if self._resumption is not None:
            self._resumption.forget_left_over()

    def undo(self) -> PastTurn:
        """Remove the last turn from the conversation and return its prompt.

        The changes of its code stay. `Session.turn(past.prompt, past.attachments)` sends it again.

        Raises:
            SessionError: there is none.
            RuntimeError: a turn of this session is running.
        """
        self.prepare()
        if not self._history.turns:
            raise SessionError("There is no turn to undo.")
        return self._remove(self._history.turns[-1:])[0]

    def remove_turns(self, number: int, *, copy: bool = False, undone: bool = False) -> Sequence[PastTurn]:
        """Remove turn `number` and all later turns from the conversation, and return them.

        The changes of their code stay. With `copy` a copy of the session is stored before, if it is stored.

        Raises:
            SessionError: there is no such turn.
            RuntimeError: a turn of this session is running.
        """
        self._check(number)
        turns = self._history.turns
        at = next(at for at, turn in enumerate(turns) if turn.number == number)
        return self._remove(turns[at:], self._copied() if copy else "", undone=undone)

    async def changed_files(self, number: int) -> Sequence[ChangedFile]:
        """Return the files that code has changed since turn `number` began, as far as they differ now.

        Raises:
            SessionError: there is no such turn.
            KernelBusy: a background job runs in the Python kernel and could change them meanwhile.
            RuntimeError: a turn of this session is running.
        """
        self._check(number)
        checkpoint = self._checkpoint(number)
        kernel = self._kernels.get(_PYTHON) if _PYTHON in self._kernels.languages else None
        if kernel is not None and kernel.running:
            # It would go on with names that have changed under it; once it is over, all of this is possible.
            raise KernelBusy(
                "Code in the background runs in the Python kernel, so nothing can be restored there.",
                f"Wait for its end, or stop it with /jobs; /rewind {number} chat changes no variables.",
            )
        saved = await self._saved_since(checkpoint)
        rows: Sequence[Sequence[str]] = ()
        # A holder has saved more, and before any other could write.
        if checkpoint and isinstance(kernel, KeepsPast) and not saved.is_held(_PYTHON):
            rows = await kernel.written(checkpoint)
        rows = [*(row for row in rows if row[0] not in saved.first), *saved.rows()]
        known = {
            path: ChangedFile(path, can in ("put back", "remove"), why, can == "remove")
            for path, can, why in rows
        }
        same = {path for path, can, _ in rows if can == "same"}
        copied = set(known)
        for path, language, started_at in self._files_since(checkpoint):
            held = saved.is_held(language)
            if path not in copied or (held and not saved.is_held(language, started_at)):
                known[path] = ChangedFile(path, False, "no copy of it was saved")
            elif not held and (language != _PYTHON or path in saved.first):
                # It may have done so before the copy of it was made.
                known[path] = ChangedFile(path, False, f"{language} code has changed it as well")
        return [one for path, one in sorted(known.items()) if path not in same]

    async def restore(self, number: int, paths: Sequence[str] = (), *, copy: bool = False) -> Restored:
        """Undo turn `number` and all later turns, with the changes of their code to variables.

        Files at `paths` are restored, all others stay. The next message to the model says so. `copy` as in
        `remove_turns`.

        Raises:
            SessionError: there is no such turn.
            KernelBusy: a background job runs in the kernel, or it does not answer; nothing was restored.
            RuntimeError: a turn of this session is running.
        """
        files = await self.changed_files(number)
        # Something may have begun while the kernel was asked.
        self._check(number)
        wanted = [one.path for one in files if one.restorable and one.path in paths]
        checkpoint = self._checkpoint(number)
        results: list[Restored] = []

        async def restore() -> None:
            results.append(await self._restored(checkpoint, wanted, files))

        if not await self._foreground.run_silently(restore()):
            raise SessionError("Interrupted; the conversation is as it was.")
        [restored] = results
        turns = self.remove_turns(number, copy=copy, undone=restored.variables)
        restored = replace(restored, turns=turns)
        self._history.note(note(restored))
        return restored

    def reset(self, *, copy: bool = False) -> None:
        """Begin a new conversation; the kernels and their variables stay. `copy` as in `remove_turns`.

        Raises:
            RuntimeError: a turn of this session is running.
        """
        self.prepare()
        if self._history.messages:
            removed = len(self._history.turns)
            copied = self._copied() if copy else ""
            self._history.restart(())
            self._log.append(HistoryRewound(removed, 0, copied))

    def undo_compaction(self) -> None:
        """Restore the messages that were last compacted, and keep those since.

        From here on nothing is compacted automatically until the model refuses the conversation as too long.

        Raises:
            SessionError: nothing was compacted, or its turns were removed since.
            RuntimeError: a turn of this session is running.
        """
        self.prepare()
        self._compactor.undo()

    def fork(self) -> str:
        """Store a copy of the session as it is now, and return its id. This session continues.

        Raises:
            SessionError: this session is not stored.
            RuntimeError: a turn of this session is running.
        """
        copy = self._copy()
        self._log.append(SessionForked(copy))
        return copy

    def _copy(self) -> str:
        self._foreground.check_idle()
        if self._keeper is None:
            raise SessionError("This session is not stored, so there is nothing to fork.")
        return self._keeper.copy()

    def _check(self, number: int) -> None:
        """Raise unless turn `number` exists and no turn is running."""
        self.prepare()
        turns = self._history.turns
        if not any(turn.number == number for turn in turns):
            raise SessionError(*_no_turn(number, turns))

    def _copied(self) -> str:
        """Return the id of a copy; "" if the session is not, or not any more, stored."""
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

    def _checkpoint(self, number: int) -> int:
        """Return the number of the record with which a turn began; 0 if that is not known."""
        started: list[tuple[int, str]] = []
        for record in self._log.since(0):
            match record.event:
                case TurnStarted(prompt=prompt, continued=False) if prompt != RERUN_PROMPT:
                    started.append((record.number, prompt))
                case HistoryRewound(removed=removed):
                    del started[max(0, len(started) - removed) :]
                case _:
                    pass
        for turn, (at, prompt) in zip(reversed(self._history.turns), reversed(started), strict=False):
            if turn.prompt != prompt:
                return 0
            if turn.number == number:
                return at
        return 0

    async def _restored(
        self, checkpoint: int, paths: Sequence[str], files: Sequence[ChangedFile]
    ) -> Restored:
        since = self._since(checkpoint)
        notes = [
            f"{language} is not restored: its variables are as they are now"
            for language in sorted({run.language for run in since if run.started_at >= checkpoint})
            if language != _PYTHON
        ]
        saved = await self._saved_since(checkpoint)
        if any(not run.finished_at and not saved.is_held(run.language, run.started_at) for run in since):
            notes.append("the changes of interrupted code to files are not known")
        if saved.more:
            notes.append(f"{saved.more:,} more changes to files are not known: there were too many")
        # Before the variables: then the kernel notes how the files are.
        done = await saved.restore([path for path in paths if path in saved.first])
        try:
            answer = await self._answer(checkpoint, [path for path in paths if path not in saved.first])
        except KernelBusy as busy:
            if not done:
                raise
            answer = {"refused": str(busy)}
        differ = {one.path for one in files}
        # It knows only its own changes: a file that another kernel made may be gone, as it was before.
        own = {path: (what, why) for path, what, why in texts_in(answer.get("files"), 3) if path in differ}
        done = own | done
        lost = [(path, why) for path, (what, why) in done.items() if what == "left"]
        lost += [(one.path, one.why) for one in files if not one.restorable]
        lost += [(one.path, one.why) for one in files if one.restorable and one.path not in done]
        lost += [(path, why) for path, (what, why) in done.items() if what == "not"]
        return Restored(
            (),
            bool(answer.get("done")),
            _names(answer, "back"),
            _names(answer, "gone"),
            tuple(self._lost(answer, checkpoint)),
            tuple(path for path, (what, _) in done.items() if what in ("back", "removed")),
            tuple(sorted(dict(lost).items())),
            (*notes, *_names(answer, "notes"), *_refusal(answer)),
        )

    async def _saved_since(self, checkpoint: int) -> HeldFiles:
        """Return the files that the holders of the kernels have saved, of those in which code ran."""
        languages = {run.language for run in self._since(checkpoint)} & set(self._kernels.languages)
        kernels = {language: self._kernels.get(language) for language in sorted(languages)}
        ended = {language: self._runs.names.ended_at(language) for language in languages}
        return await HeldFiles.since(checkpoint, kernels, ended)

    async def _answer(self, checkpoint: int, paths: Sequence[str]) -> Mapping[str, Any]:
        if not checkpoint:
            return {"refused": "the beginning of this turn is not known any more"}
        if _PYTHON not in self._kernels.languages:
            return {"refused": "no Python runs here"}
        kernel = self._kernels.get(_PYTHON)
        if not isinstance(kernel, KeepsPast):
            return {"refused": "this kernel keeps none of them"}
        answer = await kernel.take_back(checkpoint, paths)
        if answer is None and kernel.generation:
            return {"refused": "no kernel runs, or it is somebody else's"}
        return answer or {}

    def _since(self, checkpoint: int) -> Sequence[LoggedRun]:
        """Return the runs that ran after a checkpoint, also those that had started before it."""
        if not checkpoint:
            return []
        return [run for run in self._runs.started if max(run.started_at, run.finished_at) >= checkpoint]

    def _lost(self, answer: Mapping[str, Any], checkpoint: int) -> Sequence[tuple[str, str]]:
        """Return the variables that are not restored; after a restart of the kernel, all earlier ones."""
        lost = [(name, why) for name, why in texts_in(answer.get("lost"), 2)]
        if not checkpoint or self._runs.names.ended_at(_PYTHON) < checkpoint:
            return lost
        before = RunLog()
        for record in self._log.since(0):
            if record.number < checkpoint:
                before.take(record.event)
        return [*lost, *((name, "the kernel was restarted since") for name in before.names.of(_PYTHON))]

    def _files_since(self, checkpoint: int) -> set[tuple[str, str, int]]:
        """Return the files that runs have changed, with the language of the code and the start of the run."""
        found: set[tuple[str, str, int]] = set()
        for run in self._since(checkpoint):
            changed = [(one.path, one.source) for one in run.files]
            changed += [
                (one.what, one.to) for one in run.effects if one.verb in FILE_EFFECTS and not one.refused
            ]
            found |= {(path, run.language, run.started_at) for both in changed for path in both if path}
        return found


def note(restored: Restored) -> str:
    """Return the note to the model."""
    parts = ["The conversation was taken back to before this message, and later turns were removed."]
    if restored.variables:
        parts.append("Variables of the Python kernel are as they were then, too.")
        parts += _list("Changed back", restored.restored) + _list("Removed", restored.removed)
    else:
        parts.append("What the code of those turns did to variables was not taken back.")
    lost = [f"{name} ({why})" for name, why in restored.lost]
    parts += _list("Could not be restored, so check before you use them", lost)
    parts += _list("Files restored", restored.files)
    parts += _list("Files as those turns have left them", [path for path, _ in restored.files_lost])
    parts += [f"{one[:1].upper()}{one[1:]}." for one in restored.notes]
    return f"[{' '.join(parts)}]"


def _no_turn(number: int, turns: Sequence[PastTurn]) -> tuple[str, str]:
    """Return why a turn cannot be rewound to, and the remedy."""
    if not turns:
        return "There is no turn to rewind to.", ""
    if number > turns[-1].number or number < 1:
        return f"There is no turn {number}; the last one is {turns[-1].number}.", ""
    why = f"Turn {number} is part of a summary, and cannot be rewound to separately."
    return why, "/compact undo restores it."


def _list(title: str, names: Sequence[str]) -> list[str]:
    return [f"{title}: {first_names(names, _NAMED)}."] if names else []


def _names(answer: Mapping[str, Any], key: str) -> tuple[str, ...]:
    found = answer.get(key)
    return tuple(str(one) for one in found) if isinstance(found, list) else ()


def _refusal(answer: Mapping[str, Any]) -> tuple[str, ...]:
    why = answer.get("refused")
    return (f"variables are as they are now: {why}",) if why else ()
