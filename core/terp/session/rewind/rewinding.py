"""Going back in a session with all that its code did: the conversation, variables and files."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from terp.errors import KernelBusy, SessionError
from terp.events import HistoryRewound, TurnStarted
from terp.events.kernel import KeepsPast, Kernels
from terp.events.log import EventLog
from terp.events.run_log import LoggedRun, RunLog
from terp.session.context.history import History, PastTurn
from terp.session.replay.rerun import RERUN_PROMPT
from terp.session.rewind.past import Past

_PYTHON = "python"
_NAMED = 20


@dataclass(frozen=True, slots=True)
class Written:
    """A file that code has written to since a turn began: whether it can be made what it was, or why not.

    One that is `new` was not there then, so going back deletes it.
    """

    path: str
    can: bool
    why: str = ""
    new: bool = False


@dataclass(frozen=True, slots=True)
class TakenBack:
    """What came of going back.

    `back` are the variables that were changed and are as they were, `removed` those that were made since,
    `lost` those that are as they are now, each with what is in the way of more. `files` are those that were
    put back, `files_lost` those that are as they are now, with the reason. `notes` are sentences about the
    rest. Without `variables` none was touched.
    """

    turns: Sequence[PastTurn]
    variables: bool = False
    back: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    lost: tuple[tuple[str, str], ...] = ()
    files: tuple[str, ...] = ()
    files_lost: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = ()


class Rewinding:
    """Takes back turns, and tells the model. `alone` lets nothing else happen in the session."""

    def __init__(
        self,
        past: Past,
        log: EventLog,
        kernels: Kernels,
        history: History,
        alone: Callable[[Awaitable[None]], Awaitable[bool]],
    ) -> None:
        self._past = past
        self._log = log
        self._runs = RunLog(log)
        self._kernels = kernels
        self._history = history
        self._alone = alone

    def began(self, number: int) -> int:
        """Where in the log a turn began; 0 where that is not known."""
        started: list[tuple[int, str]] = []
        for record in self._log.since(0):
            match record.event:
                case TurnStarted(prompt=prompt, goes_on=False) if prompt != RERUN_PROMPT:
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

    async def written(self, number: int) -> Sequence[Written]:
        """The files that code has written to since turn `number` began, as far as they differ now.

        Raises:
            SessionError: there is no such turn.
            KernelBusy: code in the background may still change what it would be about.
            RuntimeError: a turn of this session is going on.
        """
        self._past.check(number)
        moment = self.began(number)
        kernel = self._kernels.get(_PYTHON) if _PYTHON in self._kernels.languages else None
        if kernel is not None and kernel.running:
            # It would go on with names that have changed under it; once it is over, all of this is possible.
            raise KernelBusy(
                "Code in the background runs in the Python kernel, so nothing can be taken back there.",
                f"Wait for its end, or stop it with /jobs; /rewind {number} chat leaves it alone.",
            )
        rows: Sequence[Sequence[str]] = ()
        if moment and isinstance(kernel, KeepsPast):
            rows = await kernel.written(moment)
        known = {
            path: Written(path, can in ("put back", "remove"), why, can == "remove")
            for path, can, why in rows
        }
        same = {path for path, can, _ in rows if can == "same"}
        copied = set(known)
        for path, language in self._changed_files(moment):
            if path not in copied:
                known[path] = Written(path, False, "no copy of it was kept")
            elif language != _PYTHON:
                # It may have done so before Python's copy of it was made.
                known[path] = Written(path, False, f"{language} code has changed it as well")
        return [one for path, one in sorted(known.items()) if path not in same]

    async def go(self, number: int, paths: Sequence[str] = (), *, copy: bool = False) -> TakenBack:
        """Take back turn `number` and all after it, with what their code did; what came of it.

        Files at `paths` are put back, all others stay. The model is told with the next message.

        Raises:
            SessionError: there is no such turn.
            KernelBusy: code in the background runs there, or it does not answer; nothing was taken back.
            RuntimeError: a turn of this session is going on.
        """
        files = await self.written(number)
        # Something may have begun while the kernel was asked.
        self._past.check(number)
        wanted = [one.path for one in files if one.can and one.path in paths]
        moment = self.began(number)
        told: list[TakenBack] = []

        async def take() -> None:
            told.append(await self._taken(moment, wanted, files))

        if not await self._alone(take()):
            raise SessionError("Interrupted; the conversation is as it was.")
        taken = replace(told[0], turns=self._past.rewind(number, copy=copy, undone=told[0].variables))
        self._history.note(note(taken))
        return taken

    async def _taken(self, moment: int, paths: Sequence[str], files: Sequence[Written]) -> TakenBack:
        since = self._since(moment)
        notes = [
            f"{language} is not taken back: its variables are as they are now"
            for language in sorted({run.language for run in since if run.started_at >= moment})
            if language != _PYTHON
        ]
        if any(run.fate == "running" or not run.finished_at for run in since):
            notes.append("what code that did not come to its end has done to files is not known")
        answer = await self._answer(moment, paths)
        done = {path: (what, why) for path, what, why in _rows(answer, "files", 3)}
        lost = [(path, why) for path, (what, why) in done.items() if what == "left"]
        lost += [(one.path, one.why) for one in files if not one.can]
        lost += [(one.path, one.why) for one in files if one.can and one.path not in done]
        lost += [(path, why) for path, (what, why) in done.items() if what == "not"]
        return TakenBack(
            (),
            bool(answer.get("done")),
            _names(answer, "back"),
            _names(answer, "gone"),
            tuple(self._lost(answer, moment)),
            tuple(path for path, (what, _) in done.items() if what in ("back", "removed")),
            tuple(sorted(dict(lost).items())),
            (*notes, *_names(answer, "notes"), *_refusal(answer)),
        )

    def _since(self, moment: int) -> Sequence[LoggedRun]:
        """Return the runs that ran after a record, as far as they have not ended before it."""
        if not moment:
            return []
        return [run for run in self._runs.started if max(run.started_at, run.finished_at) >= moment]

    async def _answer(self, moment: int, paths: Sequence[str]) -> Mapping[str, Any]:
        if not moment:
            return {"refused": "where this turn began is not known any more"}
        if _PYTHON not in self._kernels.languages:
            return {"refused": "no Python runs here"}
        kernel = self._kernels.get(_PYTHON)
        if not isinstance(kernel, KeepsPast):
            return {"refused": "this kernel keeps none of them"}
        told = await kernel.take_back(moment, paths)
        if told is None and kernel.generation:
            return {"refused": "no kernel runs, or it is somebody else's"}
        return told or {}

    def _lost(self, answer: Mapping[str, Any], moment: int) -> Sequence[tuple[str, str]]:
        """Return what is not restored; after a restart of the kernel that is all that it held before."""
        lost = [(str(name), str(why)) for name, why in _rows(answer, "lost", 2)]
        if not moment or self._runs.names.ended_at(_PYTHON) < moment:
            return lost
        before = RunLog()
        for record in self._log.since(0):
            if record.number < moment:
                before.take(record.event)
        return [*lost, *((name, "the kernel was restarted since") for name in before.names.of(_PYTHON))]

    def _changed_files(self, moment: int) -> set[tuple[str, str]]:
        """The files that runs have changed since, as far as terp has seen it, where the kernels run.

        Each comes with the language of the code.
        """
        return {
            (path, run.language)
            for run in self._since(moment)
            for change in run.files
            for path in (change.path, change.source)
            if path
        }


def note(taken: TakenBack) -> str:
    """What the model is told."""
    said = ["The conversation was taken back to before this message, and later turns were removed."]
    if taken.variables:
        said.append("Variables of the Python kernel are as they were then, too.")
        said += _list("Changed back", taken.back) + _list("Removed", taken.removed)
    else:
        said.append("What the code of those turns did to variables was not taken back.")
    lost = [f"{name} ({why})" for name, why in taken.lost]
    said += _list("Could not be restored, so check before you use them", lost)
    said += _list("Files put back", taken.files)
    said += _list("Files as those turns have left them", [path for path, _ in taken.files_lost])
    said += [f"{one[:1].upper()}{one[1:]}." for one in taken.notes]
    return f"[{' '.join(said)}]"


def _list(title: str, names: Sequence[str]) -> list[str]:
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return [f"{title}: {', '.join(names[:_NAMED])}{more}."] if names else []


def _names(answer: Mapping[str, Any], key: str) -> tuple[str, ...]:
    found = answer.get(key)
    return tuple(str(one) for one in found) if isinstance(found, list) else ()


def _rows(answer: Mapping[str, Any], key: str, length: int) -> list[Sequence[str]]:
    """Rows of an answer; code in the kernel can forge it."""
    found = answer.get(key)
    rows = found if isinstance(found, list) else []
    return [[str(part) for part in row] for row in rows if isinstance(row, list) and len(row) == length]


def _refusal(answer: Mapping[str, Any]) -> tuple[str, ...]:
    why = answer.get("refused")
    return (f"variables are as they are now: {why}",) if why else ()
