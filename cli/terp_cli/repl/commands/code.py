"""Commands on code that ran: variables, outputs, copies, the kernel itself."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from terp.events.outputs import Display, Text
from terp.session.context.namespaces import Namespaces
from terp.session.rewind.renewing import renew
from terp.store.export.story import Answer, Run, Story
from terp.store.export.telling import story_of
from terp.store.export.words import output_text
from terp_cli.fronts.listings import language_rows, tool_rows
from terp_cli.repl.commands.rows import columns, counted, size_of
from terp_cli.repl.commands.table import misused
from terp_cli.repl.commands.talk import Talk
from terp_cli.terminal.clipboard import copied

if TYPE_CHECKING:
    from terp.events.kernel import Variable

_MARKS = {"python": ">>> ", "shell": "!"}


async def variables(talk: Talk, name: str) -> None:
    """The variables of the kernels; of one language, or those whose names hold `name`."""
    namespaces = Namespaces(talk.session.kernels)
    started = namespaces.started
    if not started:
        talk.say("The kernel has not started, so there are no variables.")
        return
    # A language that runs comes before a variable that is called like it.
    if only := [kernel for kernel in started if kernel.language == name]:
        started, name = only, ""
    tables: dict[str, list[Variable]] = {}
    for language, one in await namespaces.variables():
        if name in one.name and language in [kernel.language for kernel in started]:
            tables.setdefault(language, []).append(one)
    _show_tables(talk, tables, titled=len(started) > 1)
    silent = [kernel.language for kernel in started if not namespaces.tells(kernel)]
    if silent:
        talk.say(f"The variables of {' and '.join(silent)} cannot be listed.")
    elif not tables:
        talk.say(f"No variable's name holds '{name}'." if name else "There are no variables.")


def _show_tables(talk: Talk, tables: "Mapping[str, Sequence[Variable]]", *, titled: bool) -> None:
    from terp_cli.render.output.variables import variables_table  # noqa: PLC0415  (rich is not needed before)

    for language, found in tables.items():
        if titled:
            talk.say(f"{language}:")
        talk.show(variables_table(found, talk.width))


def started_languages(talk: Talk, begun: str) -> list[str]:
    """The languages whose kernels hold variables, of those that begin like this."""
    started = Namespaces(talk.session.kernels).started
    return [kernel.language for kernel in started if kernel.language.startswith(begun)]


async def which_languages(talk: Talk, _: str) -> None:
    """Which languages run here, and how to get the others."""
    talk.show(columns(language_rows(talk.session.kernels.known()), talk.width, ("bold", "", "dim")))


async def which_tools(talk: Talk, _: str) -> None:
    """The functions that the model can call, and where they come from."""
    toolbox, servers = talk.session.equipment.toolbox, talk.session.equipment.servers
    tools = (*toolbox.tools, *(servers.tools if servers else ()))
    if tools:
        talk.show(columns(tool_rows(tools), talk.width, ("bold", "", "dim")))
    else:
        talk.say("There are no tools: they are functions of the Python kernel, and Python does not run here.")
    talk.say(*toolbox.problems)


async def out(talk: Talk, number: str) -> None:
    """The full output of a run; without a number, which runs there are."""
    runs = runs_of(talk)
    if number:
        run = numbered(runs, number, "out")
        await talk.page(full_output(run), f"out[{run.count}]")
        return
    if not runs:
        talk.say("Nothing ran yet.")
        return
    lines = [(f"{run.count}", run.language, run.fate, _summary(run)) for run in runs]
    talk.show(columns(lines, talk.width, ("bold", "dim", "", "")))


async def code(talk: Talk, number: str) -> None:
    """All code of a run, the last one without a number; also of one that waits for an answer."""
    runs = [part for part in _story(talk).parts if isinstance(part, Run)]
    if number:
        runs = [numbered(runs, number, "code")]
    if not runs:
        talk.say("There is no code yet.")
        return
    run = runs[-1]
    await talk.page(run.code.split("\n"), f"code of run {run.count}" if run.count else "code")


def run_numbers(talk: Talk, begun: str) -> Iterable[str]:
    """The numbers of runs that begin like this."""
    return (str(run.count) for run in runs_of(talk) if str(run.count).startswith(begun))


async def copy(talk: Talk, what: str) -> None:
    """The answer, the code or an output, on the clipboard."""
    story = _story(talk)
    kind, _, number = what.partition(" ")
    runs = [part for part in story.parts if isinstance(part, Run)]
    if kind in ("", "answer"):
        answers = [part.text for part in story.parts if isinstance(part, Answer)]
        label, text = "the last answer", answers[-1] if answers else ""
    elif kind == "code":
        run = numbered(runs, number, "copy") if number else runs[-1] if runs else None
        label, text = "the code", run.code if run else ""
    else:
        run = numbered(runs, kind, "copy")
        label, text = f"the output of run {run.count}", "\n".join(full_output(run))
    if not text.strip():
        talk.say("There is nothing to copy yet.")
        return
    how = await copied(text, talk.environ, talk.write)
    lines = text.rstrip("\n").count("\n") + 1
    talk.say(f"Copied {label}: {counted(lines, 'line')}, {counted(len(text), 'character')}. {how}")


def copyable(talk: Talk, begun: str) -> list[str]:
    """What can be copied and begins like this."""
    return [word for word in ("answer", "code", *run_numbers(talk, "")) if word.startswith(begun)]


async def edit(talk: Talk, number: str) -> None:
    """Code on the input line, to be changed and run there."""
    runs = [part for part in _story(talk).parts if isinstance(part, Run) and part.code]
    if not runs:
        talk.say("There is no code yet.")
        return
    run = numbered(runs, number, "edit") if number else runs[-1]
    if run.language not in _MARKS:
        raise misused("edit", f"{run.language} cannot be typed here.")
    talk.prefill(_MARKS[run.language] + run.code)


async def restart(talk: Talk, language: str) -> None:
    """A fresh kernel."""
    kernels = talk.session.kernels
    kernel = kernels.get(language or kernels.languages[0])
    if not kernel.generation:
        talk.say(f"The {kernel.language} kernel has not started yet.")
        return
    await renew(kernel, talk.session.teach)
    talk.say(f"The {kernel.language} kernel is new: its variables are gone, files are still there.")


def languages(talk: Talk, begun: str) -> list[str]:
    """The languages that begin like this."""
    return [language for language in talk.session.kernels.languages if language.startswith(begun)]


def _story(talk: Talk) -> Story:
    return story_of(talk.session.log.since(0), talk.session.folder)


def runs_of(talk: Talk) -> list[Run]:
    """The code that ran, oldest first."""
    return [part for part in _story(talk).parts if isinstance(part, Run) and part.ran]


def numbered(runs: Sequence[Run], number: str, command: str) -> Run:
    """The run of this number, for `/command`.

    Raises:
        Misused: there is none.
    """
    # Numbers begin anew where a kernel of an older session did: the last one is meant.
    for run in reversed(runs):
        if number.isdecimal() and run.count == int(number):
            return run
    raise misused(command, f"there is no run '{number}'.")


def _summary(run: Run) -> str:
    pictures = sum(isinstance(output, Display) and bool(output.path) for output in run.outputs)
    size = _size(run)
    parts = [size_of(size) if size else "", counted(pictures, "picture") if pictures else ""]
    told = ", ".join(part for part in parts if part) or "no output"
    return f"{told}  {run.code.strip().splitlines()[0] if run.code.strip() else ''}"


def _size(run: Run) -> int:
    try:
        kept = Path(run.output_path).stat().st_size if run.output_path else 0
    except OSError:
        kept = 0
    return max(kept, _shown(run))


def _shown(run: Run) -> int:
    texts = (output.text for output in run.outputs if isinstance(output, Text))
    return sum(len(text.encode(errors="replace")) for text in texts)


def full_output(run: Run) -> Iterator[str]:
    """The lines of all that a run put out, and the paths of its pictures that no line names."""
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
