"""Hints for the model beside the text of an error."""

import re

from terp.events.outputs import Error
from terp.events.run_log import Names

_UNDEFINED = re.compile(r"name '(\w+)' is not defined")

# Where the code interpreters that models were trained on keep the files of the user.
_ELSEWHERE = "/mnt/data"


def misplaced(language: str, code: str) -> str:
    """What is to be known of code for a shell that has failed there; "" where it is no Python."""
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
    """A sentence that helps to correct the code; "" when there is none."""
    if _ELSEWHERE in error.value and not cwd.startswith(_ELSEWHERE):
        return f"{_ELSEWHERE} is not used here. Files are in the working directory, {cwd}."
    return ""


def lost_name(names: Names, error: Error | None) -> str:
    """Return a sentence if a name is missing because its kernel has restarted; else ""."""
    found = _UNDEFINED.match(error.value) if error is not None and error.name == "NameError" else None
    if found is None or not names.have_ended:
        return ""
    if found[1] in names.lost:
        return f"{found[1]} is gone: the kernel has restarted since it was set. Set it again."
    return "The kernel has restarted: names and imports from before are gone."
