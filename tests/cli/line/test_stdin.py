"""What comes in on stdin."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from terp.errors import SettingsError
from terp.text.peek import Room
from terp_cli.line.piped import Piped, prelude, read_prompt, take_data
from terp_cli.line.stdin import source_of


class Pipe:
    """A pipe with something in it, open at its end or not."""

    def __init__(self, content: bytes, *, ended: bool = True) -> None:
        self.read, self.write = os.pipe()
        os.write(self.write, content)
        if ended:
            self.end()

    def end(self) -> None:
        os.close(self.write)


class Told:
    """Keeps the lines for the user."""

    def __init__(self) -> None:
        self.reported: list[str] = []
        self.warned: list[str] = []
        self.report, self.warn = self.reported.append, self.warned.append


@pytest.fixture
def told() -> Told:
    return Told()


def taken(pipe: Pipe, folder: Path, told: Told, room: Room | None = None, **limits: float) -> Piped:
    try:
        return take_data(pipe.read, lambda: folder, told, room=room, **limits)  # type: ignore[arg-type]
    finally:
        os.close(pipe.read)


def test_data_is_kept_in_a_file_and_described(tmp_path: Path, told: Told) -> None:
    piped = taken(Pipe(b"a,b\n1,2\n"), tmp_path, told)
    assert piped.path.read_bytes() == b"a,b\n1,2\n"
    assert piped.path == tmp_path / "stdin.csv"
    assert piped.attachment.note == (
        "[Data was piped in: 8 bytes, comma-separated values] In Python, stdin_path is the path of a file "
        "with all of it, and stdin_data its content as str; all 2 lines:\na,b\n1,2"
    )
    assert (told.reported, told.warned) == ([], [])


def test_the_model_is_told_20_lines_of_long_data(tmp_path: Path, told: Told) -> None:
    piped = taken(Pipe(b"".join(b"line %d\n" % n for n in range(1000))), tmp_path, told)
    assert "line 19" in piped.attachment.note
    assert "line 20" not in piped.attachment.note


def test_the_file_is_readable_by_its_owner_alone(tmp_path: Path, told: Told) -> None:
    piped = taken(Pipe(b"x"), tmp_path, told)
    assert piped.path.stat().st_mode & 0o777 == 0o600


def test_small_data_is_told_whole(tmp_path: Path, told: Told) -> None:
    piped = taken(Pipe(b"".join(b"line %d\n" % n for n in range(100))), tmp_path, told)
    assert piped.attachment.note.partition("; ")[2].splitlines() == [
        "all 100 lines:",
        *(f"line {n}" for n in range(100)),
    ]


def test_without_code_the_data_is_told_as_far_as_there_is_room(tmp_path: Path, told: Told) -> None:
    piped = taken(Pipe(b"line\n" * 100), tmp_path, told, Room(None, whole=54))
    assert piped.attachment.note == (
        "[Data was piped in: 500 bytes, text] its first 10 lines:" + "\nline" * 10
    )
    assert told.reported == ["stdin is cut: the model reads its first 10 lines of 500 bytes."]


def test_an_empty_stdin_is_data_of_no_bytes(tmp_path: Path, told: Told) -> None:
    piped = taken(Pipe(b""), tmp_path, told)
    assert piped.attachment.note == (
        "[Data was piped in: 0 bytes] In Python, stdin_path is the path of a file with all of it, and "
        "stdin_data its content as str."
    )
    assert (piped.path.read_bytes(), piped.prelude) == (b"", prelude(str(piped.path), "utf-8"))


def test_data_that_comes_late_is_waited_for_with_a_line(tmp_path: Path, told: Told) -> None:
    pipe = Pipe(b"", ended=False)

    def send(line: str) -> None:
        told.warned.append(line)
        os.write(pipe.write, b"late")
        pipe.end()

    told.warn = send
    assert taken(pipe, tmp_path, told, patience_s=0.01).path.read_bytes() == b"late"
    assert told.warned == ["waiting for stdin (Ctrl-D ends it, -n does not read it)"]


def test_endless_data_is_cut_with_a_line(tmp_path: Path, told: Told) -> None:
    piped = taken(Pipe(b"x" * 5000), tmp_path, told, limit=1000)
    assert piped.path.stat().st_size == 1000
    assert told.reported == ["stdin is longer than 1,000 bytes; the rest of it is left out."]


def test_binary_data_is_bytes(tmp_path: Path, told: Told) -> None:
    piped = taken(Pipe(bytes(range(256))), tmp_path, told)
    assert piped.path.name == "stdin.bin"
    assert "its content as bytes" in piped.attachment.note


def test_a_prompt_is_all_of_stdin_without_its_last_line_end(told: Told) -> None:
    assert read_prompt(Pipe("Größe?\nbitte\n".encode()).read, told.warn) == "Größe?\nbitte"


def test_a_prompt_that_is_data_is_refused(told: Told) -> None:
    with pytest.raises(SettingsError, match="longer than 10 bytes; to pass it as data"):
        read_prompt(Pipe(b"x" * 11).read, told.warn, limit=10)


@pytest.fixture
def null() -> Iterator[int]:
    descriptor = os.open(os.devnull, os.O_RDONLY)
    yield descriptor
    os.close(descriptor)


def test_the_kinds_of_stdin_are_told_apart(null: int, tmp_path: Path) -> None:
    pipe = Pipe(b"x")
    ours, theirs = os.openpty()
    folder = os.open(tmp_path, os.O_RDONLY)
    assert [source_of(one) for one in (null, folder, theirs, pipe.read)] == [
        "nothing",
        "nothing",
        "terminal",
        "data",
    ]
    for descriptor in (ours, theirs, folder, pipe.read):
        os.close(descriptor)
    assert source_of(pipe.read) == "nothing"


LAZY = """
import sys
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell(history_length=0)
shell.history_manager.enabled = False
shell.run_cell(sys.argv[1], silent=True)
for name in sys.argv[2:]:
    shell.run_cell(name)
"""


def in_a_kernel(code: str, *cells: str, folder: Path) -> str:
    command = [sys.executable, "-c", LAZY, code, *cells]
    env = {**os.environ, "IPYTHONDIR": str(folder), "IPY_TEST_SIMPLE_PROMPT": "1"}
    return subprocess.run(command, capture_output=True, text=True, check=True, env=env).stdout


def test_the_data_is_read_when_a_cell_first_names_it(tmp_path: Path) -> None:
    path = tmp_path / "stdin.txt"
    path.write_text("one")
    said = in_a_kernel(
        prelude(str(path), "utf-8"),
        "print(open(stdin_path).read(), 'stdin' + '_data' in globals(), '_bind_stdin' in globals())",
        "open(stdin_path, 'w').write('two')",
        "print(type(stdin_data), stdin_data)",
        folder=tmp_path,
    )
    assert [line for line in said.splitlines() if not line.startswith("Out")] == [
        "one False False",
        "<class 'str'> two",
    ]


def test_the_data_is_there_again_after_a_reset(tmp_path: Path) -> None:
    path = tmp_path / "stdin.txt"
    path.write_text("one")
    said = in_a_kernel(
        prelude(str(path), "utf-8"),
        "print(stdin_data)",
        "%reset -f",
        "print('stdin' + '_path' in globals())",
        "print(stdin_data, open(stdin_path).read())",
        folder=tmp_path,
    )
    assert said.splitlines() == ["one", "False", "one one"]


def test_binary_data_arrives_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "stdin.bin"
    path.write_bytes(bytes(range(256)))
    said = in_a_kernel(prelude(str(path), ""), "print(stdin_data == bytes(range(256)))", folder=tmp_path)
    assert said == "True\n"
