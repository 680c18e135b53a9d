"""The runs of a session by their numbers: what each was, and where its full output is."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from terp.errors import UnknownRun
from terp.events import CodeFinished, CodeProposed, CodeStarted, CodeTyped, Event, Printed, SessionResumed
from terp.events.changes import grouped
from terp.events.log import EventLog
from terp.events.outputs import Display, DisplayUpdate, RunStatus

RUN_OUTPUT = "run_output"
"""The service by which `out[N]` in a kernel finds the output of a run."""
_MOST_NAMED = 20


@dataclass(frozen=True, slots=True)
class PastRun:
    """One run. `status` is None while it goes on; `path` is the file with all text that it put out.

    `path` is "" when it put out none.
    """

    number: int
    call_id: str
    language: str = ""
    code: str = ""
    status: RunStatus | None = None
    seconds: float = 0.0
    path: str = ""
    images: tuple[str, ...] = ()


def _nowhere(_: int) -> str:
    return ""


def past_runs(events: Iterable[Event], spooled: Callable[[int], str] = _nowhere) -> list[PastRun]:
    """The runs that a session's events tell of, oldest first.

    `spooled` is the file with what a run had put out when terp was killed; "" when there is none.
    """
    asked: dict[str, CodeProposed | CodeTyped] = {}
    runs: dict[str, PastRun] = {}
    for event in events:
        match event:
            case CodeProposed(call_id=call_id) | CodeTyped(call_id=call_id):
                asked[call_id] = event
            case CodeStarted(call_id=call_id, execution_count=number):
                about = asked.get(call_id)
                known = (about.language, about.code) if about else ("", "")
                runs[call_id] = PastRun(number, call_id, *known)
            case Printed(call_id=call_id, output=Display(path=path) | DisplayUpdate(path=path)):
                if path and call_id in runs and path not in runs[call_id].images:
                    runs[call_id] = replace(runs[call_id], images=(*runs[call_id].images, path))
            case SessionResumed():
                # What the end of terp broke off has no end of its own.
                for run in [run for run in runs.values() if run.status is None]:
                    runs[run.call_id] = replace(run, status="died", path=spooled(run.number))
            case CodeFinished(call_id=call_id, status=status, seconds=seconds, output_path=path):
                if call_id in runs:
                    runs[call_id] = replace(runs[call_id], status=status, seconds=seconds, path=path)
            case _:
                pass
    return list(runs.values())


def find_run(runs: Sequence[PastRun], number: int) -> PastRun:
    """The run of that number that is over; a negative one counts from the end, -1 is the last.

    Raises:
        UnknownRun: there is none; the message tells which there are.
    """
    over = [run for run in runs if run.status is not None]
    if number < 0 and -number <= len(over):
        return over[number]
    found = next((run for run in over if run.number == number), None)
    if found is None:
        going_on = any(run.number == number and run.status is None for run in runs)
        what = f"Run {number} is still going on." if going_on else f"There is no run {number}."
        raise UnknownRun(f"{what} {_there_are([run.number for run in over])}")
    return found


def recalling(
    log: EventLog, spooled: Callable[[int], str] = _nowhere
) -> Callable[[Mapping[str, Any]], Awaitable[Mapping[str, Any]]]:
    """The service that tells code in a kernel about a run: where its output is, and how it ended.

    Its argument is the `number` of the run; it raises what `find_run` does.
    """

    async def recall(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        run = find_run(
            past_runs((record.event for record in log.since(0)), spooled), int(arguments["number"])
        )
        return {
            "number": run.number,
            # A fork has a copy of its own, and its code sees no other.
            "path": run.path and (spooled(run.number) or run.path),
            "status": run.status,
            "language": run.language,
            "images": list(run.images),
        }

    return recall


def _there_are(numbers: Sequence[int]) -> str:
    if not numbers:
        return "No run of this session is over."
    named = ", ".join(map(str, numbers[-_MOST_NAMED:]))
    earlier = len(numbers) - _MOST_NAMED
    return f"There are {f'{grouped(earlier)} earlier ones and ' if earlier > 0 else ''}{named}."
