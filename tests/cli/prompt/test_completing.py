import asyncio
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

from terp_cli.prompt.completing import Files, LineCompleter
from terp_cli.prompt.interface import PromptHost, Word


class Host(PromptHost):
    """The owner of a line in a folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__(Path(os.devnull))
        self._folder = folder

    @property
    def cwd(self) -> Path:
        return self._folder

    def commands(self) -> Iterable[Word]:
        return [("model", "which"), ("export", "write"), ("exit", "leave")]

    def arguments(self, name: str, begun: str) -> Iterable[Word]:
        return [("ipynb", "notebook"), ("html", "page")] if name == "export" else []

    async def names(self) -> Sequence[Word]:
        return [("df", "DataFrame"), ("model", "Model")]

    async def code(self, language: str, code: str) -> Sequence[str]:
        if language == "shell":
            return ["cargo", "cat"]
        return [name for name in ("df.head", "df.hist") if name.startswith(code)]


class Slow(Host):
    """One whose kernel never answers."""

    async def names(self) -> Sequence[Word]:
        await asyncio.Event().wait()
        return []


async def completed(line: str, given: PromptHost) -> list[str]:
    """The line after each completion of it."""
    document = Document(line)
    found = LineCompleter(given).get_completions_async(document, CompleteEvent())
    return [line[: len(line) + one.start_position] + one.text async for one in found]


@pytest.mark.parametrize(
    ("line", "after"),
    [
        ("/mo", ["/model"]),
        ("/", ["/model", "/export", "/exit"]),
        ("/ex", ["/export", "/exit"]),
        ("%exp", ["%export"]),
        ("/export ht", ["/export html"]),
        ("plot @mo", ["plot @model"]),
        ("@irs", ["@iris.csv"]),
        (">>> df.h", [">>> df.head", ">>> df.hist"]),
        ("!ls; ca", ["!ls; cargo", "!ls; cat"]),
        ("plain words", []),
        ("ada@mo", []),
    ],
)
async def test_what_stands_before_the_cursor_is_completed(
    tmp_path: Path, line: str, after: list[str]
) -> None:
    (tmp_path / "iris.csv").touch()
    assert await completed(line, Host(tmp_path)) == after


async def test_a_kernel_that_is_slow_to_answer_holds_no_key_up(tmp_path: Path) -> None:
    (tmp_path / "iris.csv").touch()
    assert await asyncio.wait_for(completed("@ir", Slow(tmp_path)), 5) == ["@iris.csv"]


def test_files_that_git_ignores_are_left_out_without_asking_git(tmp_path: Path) -> None:
    (tmp_path / "build").mkdir()
    (tmp_path / ".gitignore").write_text("# made\n*.log\n/build/\n")
    for name in ("a.log", "b.py", "build/c"):
        (tmp_path / name).touch()
    assert sorted(Files(tmp_path).like("")) == [".gitignore", "b.py"]


def test_what_begins_as_typed_comes_before_what_merely_holds_it(tmp_path: Path) -> None:
    for name in ("data.py", "a_long_test.py", "test_a.py"):
        (tmp_path / name).touch()
    assert Files(tmp_path).like("test") == ["test_a.py", "a_long_test.py"]


def test_a_name_with_spaces_is_quoted_in_the_message(tmp_path: Path) -> None:
    (tmp_path / "two words.png").touch()
    assert asyncio.run(completed("@two", Host(tmp_path))) == ['@"two words.png"']


def test_a_name_of_equal_letters_takes_no_longer_than_another(tmp_path: Path) -> None:
    (tmp_path / ("a" * 200)).touch()
    (tmp_path / ("a" * 200 + "b")).touch()
    assert Files(tmp_path).like("a" * 20 + "b") == ["a" * 200 + "b"]


def test_a_folder_above_is_that_above_the_working_directory_of_the_session(tmp_path: Path) -> None:
    (tmp_path / "work").mkdir()
    (tmp_path / "beside.csv").touch()
    assert Files(tmp_path / "work").like("../be") == ["../beside.csv"]
