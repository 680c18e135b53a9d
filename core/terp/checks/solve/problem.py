"""A problem and its tests, read from a folder, a Markdown file or a Python file."""

import ast
import os
import re
from pathlib import Path
from typing import Literal

from terp.checks.solve.code import NoTests, blocks, only_tests, parsed, split, tree_of, without_tests
from terp.errors import SettingsError
from terp.text.dataclasses import dataclass
from terp.text.fences import opening_fence
from terp.text.files import Refused, read_bounded

Source = Literal["given", "human", "ai"]
Status = Literal["new", "passed", "failed", "timeout", "dropped"]
GIVEN: Source = "given"
HUMAN: Source = "human"
AI: Source = "ai"


@dataclass(frozen=True, slots=True)
class Pair:
    """An input of a program, and the output that it has to write."""

    input: str
    expected: str


@dataclass(frozen=True, slots=True)
class Test:
    """One assert with its setup, or one pair of input and output.

    `error` is the reason why it failed or was dropped. A test of the model counts once it is `confirmed` by
    other code that was written without knowing the solution. A test without confirmation may cause one
    revision of the solution; then it is `revised`.
    """

    __test__ = False
    source: Source
    code: str = ""
    pair: Pair | None = None
    status: Status = "new"
    error: str = ""
    confirmed: bool = False
    revised: bool = False

    @property
    def is_anchor(self) -> bool:
        """True for a test of the problem or of the user, which every solution has to pass."""
        return self.source != AI

    @property
    def counts(self) -> bool:
        """True if a solution has to pass it: an anchor, or a confirmed test of the model."""
        return self.status != "dropped" and (self.is_anchor or self.confirmed)

    @property
    def is_doubtful(self) -> bool:
        """True for a test of the model that is neither confirmed nor dropped."""
        return self.status != "dropped" and not (self.is_anchor or self.confirmed)

    @property
    def has_failed(self) -> bool:
        """True if the last solution did not pass it."""
        return self.status in ("failed", "timeout")

    @property
    def shown(self) -> str:
        """The test as text."""
        if self.pair is None:
            return self.code
        return f"input:\n{self.pair.input.rstrip()}\nexpected output:\n{self.pair.expected.rstrip()}"


LARGEST = 10 * 1024
"""Maximum size of one file of a problem, in bytes."""
PARTS = ("DESCRIPTION", "EXAMPLE", "INTERFACE", "TEST")
_EXPECTED = (".out", ".ans")
_MOST_PAIRS = 100


@dataclass(frozen=True, slots=True)
class Problem:
    """A programming problem.

    With `pairs`, the solution is a program that reads stdin and writes stdout. Otherwise the solution has the
    functions or classes of `interface`, which the asserts of `tests` call.
    """

    name: str
    description: str
    example: str = ""
    interface: str = ""
    tests: str = ""
    pairs: tuple[Pair, ...] = ()

    @property
    def is_program(self) -> bool:
        """True if the solution is a program that reads stdin and writes stdout."""
        return bool(self.pairs)

    @property
    def given(self) -> tuple[Test, ...]:
        """The tests that belong to the problem."""
        pairs = tuple(Test(GIVEN, pair=pair) for pair in self.pairs)
        return (*pairs, *(Test(GIVEN, code) for code in split(self.tests)))


def read_folder(folder: Path) -> Problem:
    """Read a problem from files DESCRIPTION, EXAMPLE, INTERFACE and TEST, or with pairs `N.in` and `N.out`.

    Raises:
        SettingsError: a file is missing, too large or no text.
    """
    try:
        names = {path.name for path in folder.iterdir()}
    except OSError as error:
        raise SettingsError([f"the problem {folder} cannot be read: {error.strerror}."]) from error
    inputs = sorted(name for name in names if name.endswith(".in"))
    wanted = ("DESCRIPTION",) if inputs else PARTS
    if missing := [name for name in wanted if name not in names]:
        raise SettingsError(
            [
                f"the problem {folder} has no {', '.join(missing)}: it needs DESCRIPTION, EXAMPLE, INTERFACE "
                "and TEST, or DESCRIPTION and pairs of input and expected output, 1.in and 1.out."
            ]
        )
    texts = {name: text_of(folder / name) for name in PARTS if name in names}
    pairs = tuple(_pair(folder, name, names) for name in inputs[:_MOST_PAIRS])
    return checked(
        Problem(
            folder.resolve().name,
            texts["DESCRIPTION"],
            texts.get("EXAMPLE", ""),
            texts.get("INTERFACE", ""),
            texts.get("TEST", ""),
            pairs,
        )
    )


def problem_in(given: Problem | str | os.PathLike[str]) -> Problem:
    """Return a problem: itself, or in a folder or file that is there, or in a text in Markdown or Python.

    Raises:
        SettingsError: it cannot be read, or is incomplete.
    """
    if isinstance(given, Problem):
        return given
    if isinstance(given, str) and not _is_path(given):
        return read_text(given, "text")
    return read_path(Path(given), str(given))


def _is_path(text: str) -> bool:
    """Return True for the path of a problem, even if there is nothing."""
    named = re.fullmatch(r"\S+\.(md|py)", text) is not None
    return named or ("\n" not in text and os.path.exists(text))  # noqa: PTH110  (of any text)


def read_path(path: Path, named: str) -> Problem:
    """Read a problem from a folder, a .md or a .py file.

    Raises:
        SettingsError: it cannot be read, or is incomplete.
    """
    if path.is_dir():
        return read_folder(path)
    if not path.exists():
        raise SettingsError([f"there is no problem '{named}': no such folder or file."])
    if path.suffix not in (".md", ".py"):
        raise SettingsError(
            [f"'{named}' is no problem: a problem is a folder, a .md or .py file, or - for stdin."]
        )
    text = text_of(path)
    return read_python(text, path.stem) if path.suffix == ".py" else read_markdown(text, path.stem)


def read_text(text: str, name: str) -> Problem:
    """Read a problem from text: Python with a docstring, or Markdown.

    Raises:
        SettingsError: it has no description, or its tests are no Python.
    """
    return read_python(text, name) if is_python(text) else read_markdown(text, name)


def text_of(path: Path) -> str:
    """Read a file of a problem.

    Raises:
        SettingsError: it is too large, or no text.
    """
    try:
        return decoded(read_bounded(path, LARGEST), str(path))
    except Refused as why:
        raise SettingsError([f"{path} {why}: it is no file of a problem."]) from why


def decoded(content: bytes, name: str) -> str:
    """Decode the content of a file of a problem.

    Raises:
        SettingsError: it is too large, or no text in UTF-8.
    """
    if len(content) > LARGEST:
        raise SettingsError([f"{name} is larger than 10 KB: it is no file of a problem."])
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise SettingsError([f"{name} is no text in UTF-8."])
    return text.replace("\r\n", "\n")


def checked(problem: Problem) -> Problem:
    """Return the problem, if it is complete.

    Raises:
        SettingsError: it has no description, or its tests are no Python.
    """
    if not problem.description.strip():
        raise SettingsError([f"the problem {problem.name} has no description."])
    try:
        problem.given  # noqa: B018  (reads the tests)
    except NoTests as why:
        raise SettingsError([f"the tests of the problem {problem.name} are no Python: {why}."]) from why
    return problem


def _pair(folder: Path, name: str, names: set[str]) -> Pair:
    stem = name.removesuffix(".in")
    expected = next((f"{stem}{end}" for end in _EXPECTED if f"{stem}{end}" in names), "")
    if not expected:
        raise SettingsError([f"the problem {folder} has {name}, but no {stem}.out to compare with."])
    return Pair(text_of(folder / name), text_of(folder / expected))


_HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*\s*")
_HEADED = {"example": "example", "interface": "interface", "signature": "interface", "test": "tests"}
_INPUT, _OUTPUT = ("input", "stdin"), ("output", "expected", "stdout")


def read_markdown(text: str, name: str) -> Problem:
    """Read a problem from Markdown text.

    Headings that begin with Example, Interface and Test start those parts; the rest is the description.
    Tests are asserts in fenced blocks of Python, and fenced blocks `input`, each followed by one `output`.

    Raises:
        SettingsError: it has no description, or its tests are no Python.
    """
    parts = {"description": "", "example": "", "interface": "", "tests": ""}
    part, fence = "description", None
    for line in text.splitlines():
        if fence is not None:
            fence = None if fence.is_closed_by(line.strip()) else fence
        elif fence := opening_fence(line.strip()):
            pass
        elif heading := _HEADING.fullmatch(line):
            word = heading[1].lower().rstrip("s:")
            part = next((to for begin, to in _HEADED.items() if word.startswith(begin)), "description")
        parts[part] += f"{line}\n"
    pairs = pairs_in(text)
    return checked(
        Problem(
            name,
            parts["description"],
            parts["example"],
            "" if pairs else _code(parts["interface"]),
            "" if pairs else _tests_of(text, parts["tests"]),
            pairs,
        )
    )


def is_python(text: str) -> bool:
    """Return True for Python with a docstring."""
    tree = parsed(text)
    return tree is not None and bool(ast.get_docstring(tree))


def read_python(text: str, name: str) -> Problem:
    """Read a problem from a Python file: its docstring describes it, its asserts are the tests.

    The rest is the interface.

    Raises:
        SettingsError: it is no Python, or has no docstring.
    """
    try:
        tree = tree_of(text)
    except NoTests as error:
        raise SettingsError([f"the problem {name} is no Python: {error.message}."]) from error
    described = ast.get_docstring(tree) or ""
    if not described:
        raise SettingsError([f"the problem {name} has no docstring that describes it."])
    lines = text.splitlines()
    del lines[tree.body[0].lineno - 1 : tree.body[0].end_lineno]
    code = "\n".join(lines)
    return checked(Problem(name, described, "", without_tests(code).strip(), only_tests(code)))


def pairs_in(text: str) -> tuple[Pair, ...]:
    """Return the pairs of input and expected output among the fenced blocks of a text."""
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


def _code(part: str) -> str:
    """Return the fenced code of a part; all of the part if none is fenced."""
    fenced = "".join(block for _, block in blocks(part))
    return fenced or "\n".join(line for line in part.splitlines() if not _HEADING.fullmatch(line)).strip()


def _tests_of(text: str, part: str) -> str:
    if part:
        return _code(part)
    asserts = (block for language, block in blocks(text) if language in ("", "python", "py"))
    return "\n".join(block for block in asserts if re.search(r"^assert\b", block, re.MULTILINE))
