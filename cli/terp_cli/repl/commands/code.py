"""Commands on code that ran or runs: variables, outputs, copies, jobs, the kernel itself."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len, set_cell_size
from rich.style import Style
from rich.text import Text as Row

from terp.errors import TerpError
from terp.events import JobChanged
from terp.events.changes import delta_line, delta_words, file_name, lines_text, shape_text
from terp.events.kernel import Variable
from terp.events.outputs import Display, Text
from terp.events.performed import effect_line
from terp.events.run_log import LoggedRun, RunLog
from terp.session.context.namespaces import Namespaces
from terp.store.export.story import Answer, Story, story_of
from terp.store.export.words import output_text
from terp.text.dataclasses import dataclass
from terp.text.files import size_text
from terp.text.paths import typed_path
from terp.text.plain import counted
from terp_cli.fronts.listings import language_rows, skill_rows, tool_rows
from terp_cli.prompt.interface import Pick
from terp_cli.render import look
from terp_cli.render.diff import diff_rows, spoken_diff
from terp_cli.render.status import elapsed
from terp_cli.repl.commands.rows import columns, short_line
from terp_cli.repl.commands.table import misused, unquoted
from terp_cli.repl.context import ReplContext
from terp_cli.terminal.desktop import copied, open_file
from terp_cli.terminal.sanitise import one_line

if TYPE_CHECKING:
    from terp.session.jobs import Job

_MARKS = {"python": ">>> ", "shell": "!"}
_FEW = 12
"""Lines that are shown in the conversation, without a pager."""


async def variables(context: ReplContext, name: str) -> None:
    """Show the variables of the kernels; of one language, or those whose names contain `name`."""
    namespaces = Namespaces(context.session.kernels)
    started = namespaces.started
    if not started:
        context.say("The kernel has not started, so there are no variables.")
        return
    # A language that runs comes before a variable that is called like it.
    if only := [kernel for kernel in started if kernel.language == name]:
        started, name = only, ""
    tables: dict[str, list[Variable]] = {}
    for language, one in await namespaces.variables():
        if name in one.name and language in [kernel.language for kernel in started]:
            tables.setdefault(language, []).append(one)
    _show_tables(context, tables, titled=len(started) > 1)
    silent = [kernel.language for kernel in started if not namespaces.can_list(kernel)]
    if silent:
        context.say(f"The variables of {' and '.join(silent)} cannot be listed.")
    elif not tables:
        context.say(f"No variable's name holds '{name}'." if name else "There are no variables.")


def _show_tables(context: ReplContext, tables: Mapping[str, Sequence[Variable]], *, titled: bool) -> None:
    for language, found in tables.items():
        if titled:
            context.say(f"{language}:")
        context.show(variables_table(found, context.width))


def started_languages(context: ReplContext, begun: str) -> list[str]:
    """Return the languages that begin with `begun` and whose kernels have variables."""
    started = Namespaces(context.session.kernels).started
    return [kernel.language for kernel in started if kernel.language.startswith(begun)]


async def which_languages(context: ReplContext, _: str) -> None:
    """List the languages that run here, and how to install the others."""
    context.show(columns(language_rows(context.session.kernels.known()), context.width, ("bold", "", "dim")))


async def which_tools(context: ReplContext, _: str) -> None:
    """List the functions that the model can call, and their sources."""
    toolbox, servers = context.session.resources.toolbox, context.session.resources.servers
    tools = (*toolbox.tools, *(servers.tools if servers else ()))
    if tools:
        context.show(columns(tool_rows(tools), context.width, ("bold", "", "dim")))
    else:
        context.say(
            "There are no tools: they are functions of the Python kernel, and Python does not run here."
        )
    context.say(*toolbox.problems)


_SKILL_CHARS = 100


async def which_skills(context: ReplContext, _: str) -> None:
    """List the skills, and the mistakes in others."""
    skills = context.session.resources.toolbox.skills
    if skills.by_name:
        rows = [(name, short_line(about, _SKILL_CHARS), where) for name, about, where in skill_rows(skills)]
        context.show(columns(rows, context.width, ("bold", "", "dim")))
    else:
        context.say("There are no skills. `terp docs skills` says where they are read from.")
    context.say(*skills.problems)


async def out(context: ReplContext, number: str) -> None:
    """Show the full output of a run; without a number, of one that the user picks."""
    runs = runs_of(context)
    if number:
        run = numbered(runs, number, "out")
        output = full_output(run)
        if (first := next(output, None)) is None:
            context.say(f"Run {run.number}: no output{' yet' if run.fate == 'running' else ''}.")
            return
        await context.page(chain([first], output), f"out[{run.number}]")
        return
    if not runs:
        context.say("Nothing ran yet.")
        return
    picks = [
        Pick(
            (f"{run.number}  {_first_line(run)}", run.language, run.fate, _summary(run)),
            preview=_beginning(run),
        )
        for run in runs
    ]
    if (at := await context.prompt.pick("Output of which run?", picks, len(picks) - 1)) is not None:
        await out(context, str(runs[at].number))


def _beginning(run: LoggedRun) -> Callable[[], str]:
    return lambda: "\n".join(islice(full_output(run), _LINES))


async def code(context: ReplContext, number: str) -> None:
    """Show all code of a run, by default the last; also code that waits for approval."""
    runs = [part for part in _story(context).parts if isinstance(part, LoggedRun)]
    if number:
        runs = [numbered(runs, number, "code")]
    if not runs:
        context.say("There is no code yet.")
        return
    run = runs[-1]
    name = f"code of run {run.number}" if run.number else "code"
    await context.page(run.code.split("\n"), name, few=_FEW)


async def effects(context: ReplContext, number: str) -> None:
    """Show what a run did, as the system reported it; without a number, the last run."""
    runs = runs_of(context)
    run = numbered(runs, number, "effects") if number else next(reversed(runs), None)
    if run is None:
        context.say("Nothing ran yet.")
    elif not run.effects:
        why = "They are while effects are held (approve: effect)." if run.finished_at else "It has not ended."
        context.say(f"No effects of run {run.number} were reported. {why}")
    else:
        lines = [effect_line(effect) for effect in run.effects]
        await context.page(lines, f"effects of run {run.number}", few=_FEW)


async def diff(context: ReplContext, number: str) -> None:
    """Show how a run changed text files, by default the last that did; or how runs changed a variable."""
    runs = runs_of(context)
    if number.isidentifier():
        await _variable_diff(context, number, runs)
        return
    if number and not number.isdecimal():
        raise misused("diff", "it takes the number of a run, or the name of a variable without a part of it.")
    changed = [run for run in runs if any(one.action == "modified" for one in run.files)]
    run = numbered(runs, number, "diff") if number else next(reversed(changed), None)
    files = [one for one in run.files if one.action == "modified"] if run else []
    if run is None or not files:
        context.say(f"Run {run.number} changed no file." if run else "No file was changed yet.")
        return
    for one in files:
        name = file_name(one.path, context.session.kernels.cwd)
        if one.diff and context.settings.screen_reader:
            context.say(*spoken_diff(name, lines_text(one), one.diff))
        elif one.diff:
            context.show(diff_rows(name, lines_text(one), one.diff, context.width))
        else:
            context.say(f"{name}: {lines_text(one) or size_text(one.size)}; no diff is stored.")


async def _variable_diff(context: ReplContext, name: str, runs: Sequence[LoggedRun]) -> None:
    """Show the changes of a variable by run, and the rows and cells of a table that the last one changed."""
    changed = [(run, one) for run in runs for one in run.changes if one.name == name]
    if not changed:
        raise misused("diff", f"no run has changed a variable '{name}'.")
    told = delta_words if context.settings.screen_reader else delta_line
    rows = [(f"run {run.number}", told([one])) for run, one in changed[-_FEW:]]
    kernel = context.session.kernels.get("python")
    # Kernels of other kinds have none.
    if (difference := getattr(kernel, "difference", None)) and changed[-1][1].action == "changed":
        rows += await difference(name)
    context.show(columns(rows, context.width, ("bold", ""), wraps=True))


def changeable(context: ReplContext, begun: str) -> Iterable[str]:
    """Return the numbers of runs, and the names that runs have changed, that begin with `begun`."""
    names = {change.name: None for run in runs_of(context) for change in run.changes}
    return (*run_numbers(context, begun), *(name for name in names if name.startswith(begun)))


def run_numbers(context: ReplContext, begun: str) -> Iterable[str]:
    """Return the numbers of runs that begin with `begun`."""
    return (str(run.number) for run in runs_of(context) if str(run.number).startswith(begun))


async def copy(context: ReplContext, what: str) -> None:
    """Copy the answer, the code or an output to the clipboard."""
    story = _story(context)
    kind, _, number = what.partition(" ")
    runs = [part for part in story.parts if isinstance(part, LoggedRun)]
    if kind in ("", "answer"):
        answers = [part.text for part in story.parts if isinstance(part, Answer)]
        label, text = "the last answer", answers[-1] if answers else ""
    elif kind == "code":
        run = numbered(runs, number, "copy") if number else runs[-1] if runs else None
        label, text = "the code", run.code if run else ""
    else:
        run = numbered(runs, kind, "copy")
        label, text = f"the output of run {run.number}", "\n".join(full_output(run))
    if not text.strip():
        context.say("There is nothing to copy yet.")
        return
    how = await copied(text, context.environ, context.prompt.emit)
    lines = text.rstrip("\n").count("\n") + 1
    context.say(f"Copied {label}: {counted(lines, 'line')}, {counted(len(text), 'character')}. {how}")


def copyable(context: ReplContext, begun: str) -> list[str]:
    """Return the completions of `/copy`'s argument that begin with `begun`."""
    return [word for word in ("answer", "code", *run_numbers(context, "")) if word.startswith(begun)]


async def edit(context: ReplContext, number: str) -> None:
    """Put code on the input line, for the user to change and run."""
    runs = [part for part in _story(context).parts if isinstance(part, LoggedRun) and part.code]
    if not runs:
        context.say("There is no code yet.")
        return
    run = numbered(runs, number, "edit") if number else runs[-1]
    if run.language not in _MARKS:
        raise misused("edit", f"{run.language} cannot be typed here.")
    context.prompt.prefill(_MARKS[run.language] + run.code)


async def restart(context: ReplContext, language: str) -> None:
    """Restart the kernel."""
    kernels = context.session.kernels
    kernel = kernels.get(language or kernels.languages[0])
    if not kernel.generation:
        context.say(f"The {kernel.language} kernel has not started yet.")
        return
    await context.session.restart_kernel(kernel)
    context.say(f"The {kernel.language} kernel is new: its variables are gone, files are still there.")


def languages(context: ReplContext, begun: str) -> list[str]:
    """Return the languages that begin with `begun`."""
    return [language for language in context.session.kernels.languages if language.startswith(begun)]


def _story(context: ReplContext) -> Story:
    return story_of(context.session.log.since(0), context.session.folder)


def runs_of(context: ReplContext) -> list[LoggedRun]:
    """Return the code that ran, oldest first."""
    return [part for part in _story(context).parts if isinstance(part, LoggedRun) and part.ran]


def numbered(runs: Sequence[LoggedRun], number: str, command: str) -> LoggedRun:
    """Return the run with this number; `command` is named in the error.

    Raises:
        Misused: there is no such run.
    """
    # Numbers begin again with each new kernel of a resumed session: the last one is meant.
    for run in reversed(runs):
        if number.isdecimal() and run.number == int(number):
            return run
    raise misused(command, f"there is no run '{number}'.")


def _summary(run: LoggedRun) -> str:
    pictures = sum(isinstance(output, Display) and bool(output.path) for output in run.outputs)
    size = _size(run)
    parts = [size_text(size) if size else "", counted(pictures, "picture") if pictures else ""]
    return ", ".join(part for part in parts if part) or "no output"


def _first_line(run: LoggedRun) -> str:
    return run.code.strip().partition("\n")[0]


def _size(run: LoggedRun) -> int:
    try:
        kept = Path(run.output_path).stat().st_size if run.output_path else 0
    except OSError:
        kept = 0
    return max(kept, _shown(run))


def _shown(run: LoggedRun) -> int:
    texts = (output.text for output in run.outputs if isinstance(output, Text))
    return sum(len(text.encode(errors="replace")) for text in texts)


def full_output(run: LoggedRun) -> Iterator[str]:
    """Return the lines of a run's output, and the paths of pictures that no line mentions."""
    unnamed = [output.path for output in run.outputs if isinstance(output, Display) and output.path]
    try:
        # Of a run that was killed, the last lines may not have reached the file.
        if run.output_path and Path(run.output_path).stat().st_size >= _shown(run):
            with Path(run.output_path).open(encoding="utf-8", errors="replace") as file:
                for line in file:
                    unnamed = [path for path in unnamed if path not in line]
                    yield line.rstrip("\n")
            yield from unnamed
            return
    except OSError as error:
        yield f"[{run.output_path} cannot be read: {error.strerror}; this is what was shown]"
    for output in run.outputs:
        if isinstance(output, Display) and output.path:
            yield output.path
        else:
            yield from output_text(output, run).rstrip("\n").split("\n")


_LINES = 20


async def detach(context: ReplContext, _: str) -> None:
    """Move the running code to the background."""
    if not context.session.jobs.detach():
        context.say("No code is running that could continue in the background.")


async def jobs(context: ReplContext, what: str) -> None:
    """List the jobs, show the output of one, or stop one."""
    word, _, number = what.partition(" ")
    if word == "stop":
        await _stop(context, number.strip())
    elif what:
        _show_job(context, what)
    else:
        _list_jobs(context)


def job_arguments(context: ReplContext, begun: str) -> Iterable[str]:
    """Return the completions of `/jobs`' argument that begin with `begun`."""
    words = [*map(str, _known(context)), *(f"stop {number}" for number in context.session.jobs.running)]
    return [word for word in words if word.startswith(begun)]


async def _stop(context: ReplContext, number: str) -> None:
    running = context.session.jobs.running
    if not number and len(running) == 1:
        number = str(next(iter(running)))
    if not number:
        raise misused("jobs", "stop needs the number of a job.")
    if not (number.isdecimal() and await context.session.jobs.stop(int(number))):
        raise misused("jobs", f"no job '{one_line(number)}' is running.")
    if job := running.get(int(number)):
        context.say(
            f"{job.title} does not answer. /jobs stop {number} again ends its kernel and the variables."
        )


def _list_jobs(context: ReplContext) -> None:
    running, rows = context.session.jobs.running, []
    for number, run in _known(context).items():
        job = running.get(number)
        code = next((line.strip() for line in run.code.splitlines() if line.strip()), "")
        rows.append(
            (str(number), run.language, elapsed(job.seconds if job else run.seconds), _state(job, run), code)
        )
    if not rows:
        context.say("No code runs in the background. /bg moves running code there; so does Ctrl+B.")
        return
    context.show(columns(rows, context.width, ("bold", "", "dim", "", "dim")))


def _state(job: "Job | None", run: LoggedRun) -> str:
    if job is not None:
        return "wants a line" if job.asks else "running"
    return run.fate if run.is_over else "lost"


def _show_job(context: ReplContext, number: str) -> None:
    run = _known(context).get(int(number)) if number.isdecimal() else None
    if run is None:
        raise misused("jobs", f"there is no job '{one_line(number)}'.")
    lines = list(full_output(numbered(runs_of(context), str(run.number), "jobs")))
    if not any(line.strip() for line in lines):
        context.say(f"Job {number}: no output yet.")
        return
    left_out = len(lines) - _LINES
    more = f", without {counted(left_out, 'line')} that /out {run.number} has" if left_out > 0 else ""
    context.say("", f"Output of job {number} so far{more}:", *lines[-_LINES:], "")


def _known(context: ReplContext) -> dict[int, LoggedRun]:
    """Return the jobs of this session by number, including ended ones."""
    events = [record.event for record in context.session.log.since(context.session.log.resumed_at)]
    runs = {run.call_id: run for run in RunLog.of(events).started}
    known = {event.job: event.call_id for event in events if isinstance(event, JobChanged)}
    return {number: runs[call_id] for number, call_id in known.items() if call_id in runs}


async def open_shown(context: ReplContext, what: str) -> None:
    """Open the last page or picture, that of a run, or a file in the program for its type."""
    path = _file(context, what) or _saved(context, what)
    if path is None:
        context.say("No run has shown a page or a picture yet. /open PATH opens a file.")
        return
    shown = one_line(str(path))
    try:
        await asyncio.to_thread(open_file, path, context.environ)
    except TerpError as error:
        # The path is what is left to do it by hand.
        raise TerpError(f"{shown} is not opened. {error.message}", error.remedy) from error
    context.say(f"Opened {shown}.")


def runs_with_pictures(context: ReplContext, begun: str) -> list[str]:
    """The numbers of runs that have shown something, and begin like this."""
    return [str(run.number) for run in _runs_that_showed(context) if str(run.number).startswith(begun)]


def _file(context: ReplContext, what: str) -> Path | None:
    """Return the named file; None for a number, or no argument."""
    if not what or what.isdecimal():
        return None
    kernels = context.session.kernels
    path = Path(kernels.get(kernels.languages[0]).cwd) / typed_path(unquoted(what))
    if not path.exists():
        raise misused("open", f"there is no file '{one_line(what)}'.")
    return path.absolute()


def _saved(context: ReplContext, number: str) -> Path | None:
    runs = [run for run in _runs_that_showed(context) if not number or run.number == int(number)]
    if number and not runs:
        raise misused("open", f"run '{number}' has shown no page and no picture that is still there.")
    return _paths(runs[-1])[-1] if runs else None


def _runs_that_showed(context: ReplContext) -> list[LoggedRun]:
    return [part for part in _story(context).parts if isinstance(part, LoggedRun) and _paths(part)]


def _paths(run: LoggedRun) -> Sequence[Path]:
    saved = [Path(output.path) for output in run.outputs if isinstance(output, Display) and output.path]
    return [path.absolute() for path in saved if path.exists()]


_GAP = 2
# A narrower look at a value says nothing.
_LEAST_HEAD = 8
_FULL = 5_000


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    widest: int
    style: Style
    right: bool = False


_COLUMNS = (
    _Column("name", 32, look.BOLD),
    _Column("type", 20, look.PLAIN),
    _Column("shape", 20, look.PLAIN, right=True),
    _Column("size", 10, look.PLAIN, right=True),
    _Column("head", 300, look.DIM),
)


def variables_table(variables: Sequence[Variable], width: int) -> list[Row]:
    """Return a header and a row for each variable, at most `width` cells wide.

    Columns that do not fit are omitted from the right: first the value, then size, shape and type.
    Numbers are aligned to the right.
    """
    if not variables:
        return [Row("There are no variables.", look.DIM)]
    cells = [_cells(variable) for variable in variables]
    widths = _widths(cells, max(1, width))
    header = _row([column.title for column in _COLUMNS], widths, header=True)
    rows = [header, *(_row(row, widths) for row in cells)]
    if len(variables) >= _FULL:
        rows.append(Row(_cut(f"the first {_FULL:,} are shown", width), look.DIM))
    return rows


def _cells(variable: Variable) -> list[str]:
    size = "" if variable.size is None else size_text(variable.size)
    fields = (variable.name, variable.type, shape_text(variable.shape), size, variable.head)
    return [one_line(text) for text in fields]


def _widths(cells: Sequence[Sequence[str]], width: int) -> list[int]:
    """Return the widths of the columns that fit; the last of them gets the room it needs."""
    widths: list[int] = []
    for column, texts in zip(_COLUMNS, zip(*cells, strict=True), strict=True):
        wanted = min(column.widest, max(cell_len(column.title), *map(cell_len, texts)))
        room = width - sum(widths) - _GAP * len(widths)
        least = _LEAST_HEAD if column.title == "head" else wanted
        if widths and room < min(wanted, least):
            break
        widths.append(min(wanted, room))
    return widths


def _row(texts: Sequence[str], widths: Sequence[int], *, header: bool = False) -> Row:
    row = Row()
    for at, (column, text, width) in enumerate(zip(_COLUMNS, texts, widths, strict=False)):
        shown = _cut(text, width)
        pad = " " * (width - cell_len(shown))
        row.append(" " * (_GAP if at else 0))
        row.append(pad + shown if column.right else shown + pad, look.DIM if header else column.style)
    row.rstrip()
    return row


def _cut(text: str, width: int) -> str:
    if cell_len(text) <= width:
        return text
    return set_cell_size(text, max(0, width - 1)).rstrip() + "…"
