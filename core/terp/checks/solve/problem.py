"""A problem as it is given: what is to be written, and the tests that come with it."""

from dataclasses import dataclass
from pathlib import Path

from terp.checks.solve.splitting import NoTests, split
from terp.checks.solve.test import GIVEN, Pair, Test
from terp.errors import SettingsError
from terp.settings.project.bounded import Refused, read_bounded

LARGEST = 10 * 1024
"""Bytes that one file of a problem may have."""
PARTS = ("DESCRIPTION", "EXAMPLE", "INTERFACE", "TEST")
_EXPECTED = (".out", ".ans")
_MOST_PAIRS = 100


@dataclass(frozen=True, slots=True)
class Problem:
    """What is to be solved.

    Without an `interface` and with `pairs` it wants a program that reads stdin and writes stdout; else
    functions or classes, which the asserts of `tests` call.
    """

    name: str
    description: str
    example: str = ""
    interface: str = ""
    tests: str = ""
    pairs: tuple[Pair, ...] = ()

    @property
    def is_program(self) -> bool:
        """Whether a program is wanted that reads stdin and writes stdout."""
        return bool(self.pairs)

    @property
    def given(self) -> tuple[Test, ...]:
        """The tests that come with it, which always have to pass."""
        pairs = tuple(Test(GIVEN, pair=pair) for pair in self.pairs)
        return (*pairs, *(Test(GIVEN, code) for code in split(self.tests)))


def read_folder(folder: Path) -> Problem:
    """The problem in a folder: files DESCRIPTION, EXAMPLE, INTERFACE and TEST, or pairs `N.in` and `N.out`.

    Raises:
        SettingsError: one of them is missing, too large or no text.
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


def text_of(path: Path) -> str:
    """The text of a file of a problem.

    Raises:
        SettingsError: it is too large, or no text.
    """
    try:
        return decoded(read_bounded(path, LARGEST), str(path))
    except Refused as why:
        raise SettingsError([f"{path} {why}: it is no file of a problem."]) from why


def decoded(content: bytes, name: str) -> str:
    """The text that `content` is.

    Raises:
        SettingsError: it is larger than a file of a problem may be, or no text.
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
    """The problem, if something is asked in it and its tests can be run.

    Raises:
        SettingsError: they cannot.
    """
    if not problem.description.strip():
        raise SettingsError([f"the problem {problem.name} has no description."])
    try:
        problem.given  # noqa: B018  (whether its tests can be read)
    except NoTests as why:
        raise SettingsError([f"the tests of the problem {problem.name} are no Python: {why}."]) from why
    return problem


def _pair(folder: Path, name: str, names: set[str]) -> Pair:
    stem = name.removesuffix(".in")
    expected = next((f"{stem}{end}" for end in _EXPECTED if f"{stem}{end}" in names), "")
    if not expected:
        raise SettingsError([f"the problem {folder} has {name}, but no {stem}.out to compare with."])
    return Pair(text_of(folder / name), text_of(folder / expected))
