"""Commands on code that runs in the background."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

from terp.events import JobChanged
from terp.session.past_runs import PastRun, past_runs
from terp_cli.repl.commands.code import full_output, numbered, runs_of
from terp_cli.repl.commands.rows import columns, counted
from terp_cli.repl.commands.table import misused
from terp_cli.repl.commands.talk import Talk
from terp_cli.terminal.sanitise import one_line

if TYPE_CHECKING:
    from terp.session.job import Job

_LINES = 20


async def leave(talk: Talk, _: str) -> None:
    """The code that runs goes on in the background."""
    if not talk.session.jobs.leave():
        talk.say("No code runs that could go on in the background.")


async def jobs(talk: Talk, what: str) -> None:
    """Which jobs there are; what one has put out; the end of one."""
    word, _, number = what.partition(" ")
    if word == "stop":
        await _stop(talk, number.strip())
    elif what:
        _show(talk, what)
    else:
        _list(talk)


def arguments(talk: Talk, begun: str) -> Iterable[str]:
    """What can follow `/jobs` and begins like this."""
    words = [*map(str, _known(talk)), *(f"stop {number}" for number in talk.session.jobs.running)]
    return [word for word in words if word.startswith(begun)]


async def _stop(talk: Talk, number: str) -> None:
    running = talk.session.jobs.running
    if not number and len(running) == 1:
        number = str(next(iter(running)))
    if not number:
        raise misused("jobs", "stop needs the number of a job.")
    if not (number.isdecimal() and await talk.session.jobs.stop(int(number))):
        raise misused("jobs", f"no job '{one_line(number)}' is running.")
    if job := running.get(int(number)):
        talk.say(f"{job.title} does not answer. /jobs stop {number} again ends its kernel and the variables.")


def _list(talk: Talk) -> None:
    from terp_cli.render.status import elapsed  # noqa: PLC0415  (rich is not needed before)

    running, rows = talk.session.jobs.running, []
    for number, run in _known(talk).items():
        job = running.get(number)
        code = next((line.strip() for line in run.code.splitlines() if line.strip()), "")
        rows.append(
            (str(number), run.language, elapsed(job.seconds if job else run.seconds), _state(job, run), code)
        )
    if not rows:
        talk.say("No code has gone on in the background. /bg lets it, or Ctrl+B, while it runs.")
        return
    talk.show(columns(rows, talk.width, ("bold", "", "dim", "", "dim")))


def _state(job: "Job | None", run: PastRun) -> str:
    if job is not None:
        return "wants a line" if job.asks else "running"
    return run.status or "lost"


def _show(talk: Talk, number: str) -> None:
    run = _known(talk).get(int(number)) if number.isdecimal() else None
    if run is None:
        raise misused("jobs", f"there is no job '{one_line(number)}'.")
    lines = list(full_output(numbered(runs_of(talk), str(run.number), "jobs")))
    if not any(line.strip() for line in lines):
        talk.say(f"Job {number} has put out nothing so far.")
        return
    left_out = len(lines) - _LINES
    more = f", without {counted(left_out, 'line')} that /out {run.number} has" if left_out > 0 else ""
    talk.say("", f"Output of job {number} so far{more}:", *lines[-_LINES:], "")


def _known(talk: Talk) -> dict[int, PastRun]:
    """The jobs of this session by their numbers, those that have ended as well."""
    events = [record.event for record in talk.session.log.since(talk.session.log.resumed_at)]
    runs = {run.call_id: run for run in past_runs(events)}
    known = {event.job: event.call_id for event in events if isinstance(event, JobChanged)}
    return {number: runs[call_id] for number, call_id in known.items() if call_id in runs}
