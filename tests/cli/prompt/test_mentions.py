from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp_cli.prompt.mentions import Mentions, as_mentions, mention, mentions
from terp_cli.repl.missed_mentions import missed
from tests.awkward import NAMES


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("iris.csv", "two words.png", "src/main.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize(
    ("message", "files", "names"),
    [
        ("look at @iris.csv.", ["iris.csv"], []),
        ("@iris.csv, then @iris.csv again", ["iris.csv"], []),
        ('(see @"two words.png")', ["two words.png"], []),
        ('see @"two words.png"', ["two words.png"], []),
        ("@src/main.py and @df", ["src/main.py"], ["df"]),
        ("plot @df, please", [], ["df"]),
        ("mail ada@example.org", [], []),
        ("@missing.csv and @src", [], ["src"]),
        ("no mention @ all", [], []),
    ],
)
def test_a_message_names_files_that_exist_and_what_may_be_variables(
    folder: Path, message: str, files: list[str], names: list[str]
) -> None:
    found = mentions(message, folder)
    assert (found.files, found.names) == (tuple(str(folder / name) for name in files), tuple(names))


def test_what_names_no_file_is_known_by_where_it_stands(folder: Path) -> None:
    message = '@app.route("/")\nsee @irs.csv, @"no file", (@x) and @name!'
    others = ('app.route("/"', "irs.csv", "no file")
    assert mentions(message, folder) == Mentions((), ("name",), others, frozenset(others[:1]))


@pytest.mark.parametrize(
    ("word", "told"),
    [
        ("irs.csv", "there is no such file. Did you mean @iris.csv?"),
        ("src/mian.py", "there is no such file. Did you mean @src/main.py?"),
        ("../none.csv", "there is no such file."),
        ("src", "it is a directory. Name the files in it."),
        ("salse", "there is no such file or variable. Did you mean @sales?"),
        ("nosuchvar", "there is no such file or variable."),
    ],
)
def test_a_mistyped_mention_is_told(folder: Path, word: str, told: str) -> None:
    assert missed(word, folder, ["sales"], opens_line=False) == f"Nothing is attached for @{word}: {told}"


@pytest.mark.parametrize("word", ["dataclass", "property", "app.route", "pytest.fixture", "types/node", "x)"])
def test_what_may_be_a_decorator_or_a_package_is_no_mistake(folder: Path, word: str) -> None:
    assert missed(word, folder, ["sales"], opens_line=False) == ""


def test_a_word_that_opens_a_line_may_be_any_decorator(folder: Path) -> None:
    assert missed("cached", folder, ["sales"], opens_line=True) == ""


def test_a_dropped_file_becomes_a_mention(folder: Path) -> None:
    assert as_mentions(f"'{folder}/two words.png' ") == f'@"{folder}/two words.png" '


@pytest.mark.parametrize(
    "name", ["two words.png", "50%25.csv", 'a "b" c', 'it\'s "it"', "back\\slash x", "end \\"]
)
def test_a_dropped_address_of_a_file_names_that_file(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    for host in ("", "localhost"):
        message = as_mentions(f"file://{host}{quote(str(tmp_path / name))}")
        assert mentions(message, Path("/")) == Mentions((str(tmp_path / name),), ())


@pytest.mark.parametrize(
    "pasted", ["file://elsewhere/etc/passwd", "hello", "iris.csv", "/no/such/file", "it's", "", "a\nb"]
)
def test_any_other_paste_stays_text(pasted: str) -> None:
    assert as_mentions(pasted) == ""


@given(st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1))
def test_a_file_of_any_name_can_be_mentioned(name: str) -> None:
    if name in (".", "..") or len(name.encode()) > 255:
        return
    with TemporaryDirectory() as folder:
        Path(folder, name).touch()
        found = mentions(f"sum {mention(name)} up", Path(folder))
    assert [Path(file).name for file in found.files] == [name]


@pytest.mark.parametrize("name", NAMES)
def test_a_file_of_an_awkward_name_can_be_mentioned(tmp_path: Path, name: str) -> None:
    (tmp_path / name).touch()
    found = mentions(f"sum {mention(name)} up", tmp_path)
    assert [Path(file).name for file in found.files] == [name]
