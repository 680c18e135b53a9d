"""A Jupyter traceback as the model should read it: the person's own frames, the libraries' folded."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from terp.events.outputs import Error
from terp.text.plain import without_escapes

_CONTEXT = 2
_LIBRARY = re.compile(r"site-packages|dist-packages|/lib/python3|\.pyx:|\.pxi:|<frozen |<__array_function__")
_CHAINED = ("The above exception was the direct cause", "During handling of the above exception")
_NUMBERED = re.compile(r"^(?:-+> *)?\s*\d+ ?")


def readable(error: Error, cwd: str) -> str:
    """`error` as text: whole for the cell and for files below `cwd`, counted for everything else.

    Of a frame that is shown, the failing line and two lines around it are kept; line numbers are
    those of the code as it was sent, since nothing rewrites it.
    """
    blocks = [without_escapes(block).strip("\n") for block in error.traceback]
    lines = list(
        _folded(_without_causes([block for block in blocks if block and not _is_rule(block)], cwd), cwd)
    )
    last = f"{error.name}: {error.value}" if error.value else error.name
    if not lines:
        return without_escapes(last)
    return "\n".join(lines)


def _without_causes(blocks: Sequence[str], cwd: str) -> Sequence[str]:
    """The blocks without errors of a library that it has raised again in the same words."""
    chained = next((at for at, block in enumerate(blocks) if block.startswith(_CHAINED)), 0)
    if not chained:
        return blocks
    own = any(_is_frame(block) and _is_own(block, cwd) for block in blocks[:chained])
    rest = _without_causes(blocks[chained + 1 :], cwd)
    again = blocks[chained - 1] in rest
    return rest if again and not own else [*blocks[: chained + 1], *rest]


def _is_rule(block: str) -> bool:
    return set(block) == {"-"}


def _folded(blocks: Sequence[str], cwd: str) -> Iterable[str]:
    for own, group in groupby(blocks, lambda block: not _is_frame(block) or _is_own(block, cwd)):
        if own:
            yield from _without_repeats(group)
        else:
            yield _fold(len(list(group)), "library frame")


def _without_repeats(blocks: Iterable[str]) -> Iterable[str]:
    """A function that calls itself without end leaves thousands of equal frames."""
    for block, group in groupby(blocks):
        yield _around(block) if _is_frame(block) else block
        if again := len(list(group)) - 1:
            yield _fold(again, "more equal frame")


def _fold(count: int, what: str) -> str:
    return f"  [{count:,} {what}{'s' if count > 1 else ''}]"


def _is_frame(block: str) -> bool:
    return block.startswith(("Cell In[", "File "))


def _is_own(block: str, cwd: str) -> bool:
    if block.startswith("Cell In["):
        return True
    path = block.removeprefix("File ").split("\n", 1)[0].split(":", 1)[0]
    if _LIBRARY.search(path):
        return False
    return Path(path).expanduser().is_relative_to(cwd) if path.startswith(("/", "~")) else "/" not in path


def _around(block: str) -> str:
    head, *lines = block.split("\n")
    failing = next((at for at, line in enumerate(lines) if line.startswith("-")), None)
    if failing is None:
        return block
    kept = lines[max(0, failing - _CONTEXT) : failing + _CONTEXT + 1]
    while kept and not _NUMBERED.sub("", kept[-1]).strip():
        kept.pop()
    return "\n".join([head, *kept])
