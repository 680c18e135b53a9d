"""What a model should know about an error besides its text, because models keep making the mistake."""

from terp.events.outputs import Error

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
