"""Errors of code as the model reads them: short tracebacks, hints, and a test whether two are the same."""

import re
from collections.abc import Iterable, Sequence
from itertools import groupby
from pathlib import Path

from terp.events.outputs import Error
from terp.events.run_log import KernelNames
from terp.text.plain import without_escapes

_CONTEXT = 2
_LIBRARY = re.compile(r"site-packages|dist-packages|/lib/python3|\.pyx:|\.pxi:|<frozen |<__array_function__")
_CHAINED = ("The above exception was the direct cause", "During handling of the above exception")
_NUMBERED = re.compile(r"^(?:-+> *)?\s*\d+ ?")
_UNDEFINED = re.compile(r"name '(\w+)' is not defined")

# Where the code interpreters that models were trained on keep the files of the user.
_ELSEWHERE = "/mnt/data"
# What differs from run to run and says nothing: addresses, times, dates, process ids, private folders.
_PASSING = re.compile(
    r"0x[0-9a-fA-F]+"
    r"|\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:[.,]\d+)?)?"
    r"|\b\d\d:\d\d:\d\d(?:[.,]\d+)?"
    r"|\b\d+(?:[.,]\d+)? ?(?:ns|µs|us|ms|s|sec|seconds|minutes)\b"
    r"|(?<=pid )\d+|(?<=\[)\d+(?=\])"
    r"|/tmp/[\w./-]+"
)
_LINE = re.compile(r"^-+> *\d+ (.*)$", re.MULTILINE)


def readable(error: Error, cwd: str) -> str:
    """Return `error` as text: whole for the cell and for files below `cwd`, counted for everything else.

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
    """Return the blocks without errors that a library has raised again in the same words."""
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
    """Yield frames, equal ones counted: endless recursion leaves thousands."""
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


def misplaced(language: str, code: str) -> str:
    """Return a hint for shell code that failed because it is Python; else ""."""
    if language != "shell":
        return ""
    import ast  # noqa: PLC0415  (little code fails in a shell)

    try:
        nodes = list(ast.walk(ast.parse(code)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    kinds = (ast.Import, ast.ImportFrom, ast.FunctionDef, ast.ClassDef, ast.For, ast.With, ast.Call)
    is_python = any(isinstance(node, kinds) for node in nodes)
    return "This is Python in a shell: execute it with language python." if is_python else ""


def hint(error: Error, cwd: str) -> str:
    """Return a sentence that helps to correct the code; "" if there is none."""
    if _ELSEWHERE in error.value and not cwd.startswith(_ELSEWHERE):
        return f"{_ELSEWHERE} is not used here. Files are in the working directory, {cwd}."
    return ""


def lost_name(names: KernelNames, error: Error | None) -> str:
    """Return a sentence if a name is missing because its kernel has restarted; else ""."""
    found = _UNDEFINED.match(error.value) if error is not None and error.name == "NameError" else None
    if found is None or not names.have_ended:
        return ""
    if found[1] in names.lost:
        return f"{found[1]} is gone: the kernel has restarted since it was set. Set it again."
    return "The kernel has restarted: names and imports from before are gone."


def normal(text: str) -> str:
    """Return a text without the parts that differ between two runs that fail in the same way."""
    # Spaces can be part of an escape sequence, so they are equal before it is removed.
    return " ".join(_PASSING.sub("…", without_escapes(" ".join(text.split()))).split())


def signature(error: Error) -> Sequence[str]:
    """Return the key by which errors are the same: type, message and the lines that raised them."""
    lines = _LINE.findall(without_escapes("\n".join(error.traceback)))
    return (error.name, normal(error.value), *(line.strip() for line in lines[:1]))
