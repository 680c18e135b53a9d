"""A problem in one file, in Markdown or in Python."""

import ast
import re
from collections.abc import Iterator

from terp.checks.solve.problem import Problem, checked
from terp.checks.solve.splitting import only_tests, without_tests
from terp.checks.solve.test import Pair
from terp.errors import SettingsError

_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*")
_FENCE = re.compile(r"(`{3,}|~{3,})\s*([\w+-]*)[^`]*")
_PARTS = {"example": "example", "interface": "interface", "signature": "interface", "test": "tests"}
_INPUT, _OUTPUT = ("input", "stdin"), ("output", "expected", "stdout")


def read_markdown(text: str, name: str) -> Problem:
    """The problem that a Markdown text describes.

    Below headings that begin with Example, Interface and Test stand those parts; all else is the description.
    Asserts in a fenced block of Python are tests, and so are fenced blocks `input` that one `output` follows.

    Raises:
        SettingsError: it describes none, or its tests are no Python.
    """
    parts = {"description": "", "example": "", "interface": "", "tests": ""}
    part, inside = "description", ""
    for line in text.splitlines():
        fence = _FENCE.fullmatch(line.strip())
        if inside:
            inside = "" if line.strip().startswith(inside) and fence and not fence[2] else inside
        elif fence:
            inside = fence[1]
        elif heading := _HEADING.fullmatch(line):
            word = heading[1].lower().rstrip("s:")
            part = next((to for begin, to in _PARTS.items() if word.startswith(begin)), "description")
        parts[part] += f"{line}\n"
    pairs = pairs_in(text)
    return checked(
        Problem(
            name,
            parts["description"],
            parts["example"],
            "" if pairs else _code(parts["interface"]),
            "" if pairs else _tests(text, parts["tests"]),
            pairs,
        )
    )


def is_python(text: str) -> bool:
    """Whether a text is Python with a docstring."""
    try:
        return bool(ast.get_docstring(ast.parse(text)))
    except (SyntaxError, ValueError, RecursionError):
        return False


def read_python(text: str, name: str) -> Problem:
    """The problem that a Python file describes: in its docstring, with its asserts as tests.

    All else is the interface.

    Raises:
        SettingsError: it is no Python, or has no docstring.
    """
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError) as error:
        line = getattr(error, "lineno", None)
        where = f"line {line}: " if line else ""
        raise SettingsError(
            [f"the problem {name} is no Python: {where}{getattr(error, 'msg', error)}."]
        ) from error
    described = ast.get_docstring(tree) or ""
    if not described:
        raise SettingsError([f"the problem {name} has no docstring that describes it."])
    lines = text.splitlines()
    del lines[tree.body[0].lineno - 1 : tree.body[0].end_lineno]
    code = "\n".join(lines)
    return checked(Problem(name, described, "", without_tests(code).strip(), only_tests(code)))


def pairs_in(text: str) -> tuple[Pair, ...]:
    """The pairs of input and expected output among the fenced blocks of a text."""
    pairs: list[Pair] = []
    before = ""
    waiting = False
    for language, block in blocks(text):
        if language in _INPUT:
            before, waiting = block, True
        elif language in _OUTPUT and waiting:
            pairs.append(Pair(before, block))
            waiting = False
    return tuple(pairs)


def blocks(text: str) -> Iterator[tuple[str, str]]:
    """The fenced blocks of a text with their language; one that is not closed goes on to its end."""
    mark, language, lines = "", "", list[str]()
    for line in text.splitlines():
        fence = _FENCE.fullmatch(line.strip())
        if mark and fence and fence[1].startswith(mark) and not fence[2]:
            yield language, "".join(f"{one}\n" for one in lines)
            mark, lines = "", []
        elif mark:
            lines.append(line)
        elif fence:
            mark, language = fence[1], fence[2].lower()
    if mark:
        yield language, "".join(f"{one}\n" for one in lines)


def _code(part: str) -> str:
    """The fenced code of a part, or all of it where none is fenced."""
    fenced = "".join(block for _, block in blocks(part))
    return fenced or "\n".join(line for line in part.splitlines() if not _HEADING.fullmatch(line)).strip()


def _tests(text: str, part: str) -> str:
    if part:
        return _code(part)
    asserts = (block for language, block in blocks(text) if language in ("", "python", "py"))
    return "\n".join(block for block in asserts if re.search(r"^assert\b", block, re.MULTILINE))
