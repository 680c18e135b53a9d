"""A story cut down to the code that has made what is wanted."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from terp.analysis.effects.cells import python_in
from terp.analysis.slicing.cutting import Kept, Source, slice_of
from terp.errors import TerpError
from terp.events.log import Record
from terp.session.cells import AGAIN
from terp.store.export.imports import Distributions, needs
from terp.store.export.script import script_metadata
from terp.store.export.story import Part, Prompt, Run, Story


class NothingToKeep(TerpError):
    """No code that ran has made what is wanted."""


@dataclass(frozen=True, slots=True)
class Cut:
    """What is left of a story: `kept` says of each of its `runs` why, `of` is how many there were."""

    story: Story
    runs: tuple[Run, ...]
    kept: tuple[Kept, ...]
    of: int


def told_once(records: Sequence[Record]) -> list[Record]:
    """The records without those of code that was only run again."""
    return [one for one in records if not getattr(one.event, "call_id", "").startswith(AGAIN)]


def cut_story(story: Story, wanted: Sequence[str]) -> Cut:
    """The code that has made the names that are wanted, and the prompts before it.

    Without names it is what the last run that showed something has shown.

    Raises:
        NothingToKeep: no code has made one of them, or shown anything.
    """
    runs = [part for part in story.parts if isinstance(part, Run) and part.ran]
    cells = [Source(run.code, run.language, run.fate == "ok") for run in runs]
    for name in wanted:
        if not any(name in one.names or one.why for one in slice_of(cells, [name])):
            raise NothingToKeep(f"No code of this session has made '{name}'.", "/vars lists what there is.")
    shown = [number for number, run in enumerate(runs) if run.fate == "ok" and run.outputs]
    if not (wanted or shown):
        raise NothingToKeep(
            "No code of this session has shown anything yet.", "/save FILE NAME says what to keep."
        )
    if not wanted:
        cells = cells[: shown[-1] + 1]
    kept = slice_of(cells, wanted, frozenset() if wanted else {shown[-1]})
    left = tuple(runs[one.index] for one in kept)
    parts = tuple(_parts(story, {id(run) for run in left}))
    return Cut(replace(story, parts=parts), left, tuple(kept), len(runs))


def with_dependencies(story: Story, distributions: Distributions) -> Story:
    """The story with a first cell that says which packages it needs (PEP 723), for a notebook."""
    code = (part.code for part in story.parts if isinstance(part, Run) and part.language == "python")
    trees: list[ast.Module] = [tree for tree in map(python_in, code) if tree is not None]
    head = Run("python", script_metadata(needs(trees, distributions).distributions), "ok")
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
