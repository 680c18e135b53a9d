"""The code for `/save`: the runs that computed the wanted names, and a check that they still do."""

import ast
import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from terp.analysis.effects.cells import python_in
from terp.analysis.slicing.cutting import KeptCell, Source, slice_of
from terp.errors import TerpError
from terp.events.kernel import Kernel, Kernels, Variable
from terp.events.outputs import BackCall, Display, Output, StreamName, Text
from terp.events.run_log import LoggedRun
from terp.events.settled import Displays
from terp.session.replay.difference import difference
from terp.session.resources import Limits
from terp.session.runs import CapturedRun
from terp.store.export.script import Distributions, needs, script_metadata
from terp.store.export.story import Part, Prompt, Story
from terp.store.export.words import unfinished
from terp.text.dataclasses import dataclass, replace
from terp.text.languages import language_of

_HEAD = "# /// script\n"
_LAST_LINES = 10
# A kernel has a backend for figures that only a kernel can show; a window would wait to be closed.
# Its traceback is quoted, and kernels ask programs for colours.
_ENVIRONMENT = {"MPLBACKEND": "Agg", "PYTHONIOENCODING": "utf-8", "PYTHON_COLORS": "0"}
_NOT_HERE = "tools that need terp are not there while saved code is checked"


class NothingToKeep(TerpError):
    """No code that ran has made the wanted names."""


@dataclass(frozen=True, slots=True)
class KeptCode:
    """The runs of a story to keep: `kept` has the reason for each, `of` is the number of all runs."""

    story: Story
    runs: tuple[LoggedRun, ...]
    kept: tuple[KeptCell, ...]
    of: int


def _counts(run: LoggedRun) -> bool:
    """Return True if variables may have their value from the run."""
    return run.ran and not (run.is_rerun or run.undone)


def cut_story(story: Story, wanted: Sequence[str]) -> KeptCode:
    """Return the code that made the `wanted` names, and the prompts before it.

    Without names it is the code of the last output.

    Raises:
        NothingToKeep: no code has made one of them, or shown anything.
    """
    runs = [part for part in story.parts if isinstance(part, LoggedRun) and _counts(part)]
    cells = [Source(run.code, run.language, run.fate == "ok") for run in runs]
    for name in wanted:
        if not any(name in one.names or one.why for one in slice_of(cells, [name])):
            raise NothingToKeep(f"No code of this session has made '{name}'.", "/vars lists what there is.")
    shown = [number for number, run in enumerate(runs) if run.fate == "ok" and run.outputs]
    if not (wanted or shown):
        raise NothingToKeep(
            "No code of this session has shown anything yet.", "Name a variable: /save FILE NAME."
        )
    if not wanted:
        cells = cells[: shown[-1] + 1]
    kept = slice_of(cells, wanted, frozenset() if wanted else {shown[-1]})
    left = tuple(runs[one.index] for one in kept)
    parts = tuple(_parts(story, {id(run) for run in left}))
    return KeptCode(replace(story, parts=parts), left, tuple(kept), len(runs))


def with_dependencies(story: Story, distributions: Distributions) -> Story:
    """Return the story with a first cell that names the packages it needs (PEP 723), for a notebook."""
    code = (part.code for part in story.parts if isinstance(part, LoggedRun) and part.language == "python")
    trees: list[ast.Module] = [tree for tree in map(python_in, code) if tree is not None]
    head = LoggedRun("", "python", script_metadata(needs(trees, distributions).distributions), "ok")
    return replace(story, parts=(head, *story.parts))


def _parts(story: Story, kept: set[int]) -> Iterator[Part]:
    prompt: Prompt | None = None
    for part in story.parts:
        if isinstance(part, Prompt):
            prompt = part
        elif id(part) in kept:
            if prompt is not None:
                yield prompt
            prompt = None
            yield part


async def differences(
    runs: Sequence[LoggedRun],
    kernels: Kernels,
    held: Mapping[str, Variable],
    limits: Limits,
    *,
    as_kept: Callable[[str], str] = str,
) -> list[str]:
    """Run `runs` in new `kernels`; return differences of outputs, and of the variables that are `held`.

    The kernels are closed. Runs that did not come to their end are left out, as in a notebook.

    Raises:
        TerpError: a kernel does not start.
    """
    displays = Displays()
    found: list[str] = []
    try:
        for run in runs:
            if unfinished(run):
                continue
            heard = CapturedRun((), displays, _refuse, limits.max_output_chars)
            await heard.run(kernels.get(run.language), run.code, timeout_s=limits.run_timeout_s)
            found.append(difference(run.outputs, heard.outputs, f"run {run.number}", as_kept=as_kept))
        if held:
            now = {one.name: one for one in await kernels.get("python").variables()}
            found += [_differs(one, now.get(one.name), as_kept) for one in held.values()]
    finally:
        await kernels.aclose()
    return [*filter(None, found)]


async def script_differences(
    script: Path,
    runs: Sequence[LoggedRun],
    kernels: Kernels,
    limits: Limits,
    *,
    as_kept: Callable[[str], str] = str,
) -> list[str]:
    """Run the script of `runs` as a program; return the differences of its output and exit status.

    The Python kernel of `kernels` starts it: it has their directory, Python, environment and sandbox. It
    shows no figures, and its stdin is empty.

    Raises:
        TerpError: the kernel does not start.
    """
    heard = CapturedRun((), Displays(), _refuse, limits.max_output_chars)
    await heard.run(kernels.get("python"), _started(script), timeout_s=limits.run_timeout_s)
    now = "".join(_said(heard.outputs, "stdout"))
    then = "".join(_printed(runs))
    found = [difference([Text("stdout", then)], [Text("stdout", now)], script.name, as_kept=as_kept)]
    written = await asyncio.to_thread(script.read_text, encoding="utf-8")
    if not written.startswith(_HEAD):
        found.append(f"{script.name} does not begin with the packages that it needs.")
    if heard.failed:
        errors = as_kept("".join(_said(heard.outputs, "stderr"))).rstrip().split("\n")
        found.append("\n".join([f"{script.name} did not run to its end.", *errors[-_LAST_LINES:]]).rstrip())
    return [*filter(None, found)]


def _started(script: Path) -> str:
    """Return code that runs the script, binds no name, and raises when the script fails."""
    environ = f"{{**__import__('os').environ, **{_ENVIRONMENT!r}}}"
    program = f"[__import__('sys').executable, '-u', {str(script)!r}]"
    return f"__import__('subprocess').run({program}, stdin=-3, env={environ}).check_returncode()"


def _printed(runs: Sequence[LoggedRun]) -> Iterator[str]:
    """Yield the expected output of a script: `display` prints there as well, last expressions do not."""
    for run in runs:
        if unfinished(run) or not language_of(run.language, ("python", "shell")):
            continue
        for output in run.outputs:
            yield from _said([output], "stdout")
            if isinstance(output, Display) and not output.is_result and not _is_drawn(output):
                yield f"{output.data.get('text/plain', '')}\n"


def _said(outputs: Iterable[Output], stream: StreamName) -> Iterator[str]:
    return (one.text for one in outputs if isinstance(one, Text) and one.stream == stream)


def _is_drawn(display: Display) -> bool:
    return any(mime.startswith("image/") for mime in display.data)


def _differs(then: Variable, now: Variable | None, as_kept: Callable[[str], str]) -> str:
    before, after = (Text("stdout", _described(one) if one else "") for one in (then, now))
    return difference([before], [after], then.name, as_kept=as_kept)


def _described(one: Variable) -> str:
    return f"{one.type} {'×'.join(map(str, one.shape))} {one.head}".strip()


async def _refuse(_: BackCall, kernel: Kernel) -> None:
    await kernel.answer(None, _NOT_HERE)
