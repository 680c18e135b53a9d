"""The program in a real tmux whose window changes its size while a reply streams."""

import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import overload

import pytest

from tests.cli.running import TIMEOUT_S, Terp, to
from tests.loopback import Loopback

pytestmark = pytest.mark.skipif(shutil.which("tmux") is None, reason="tmux is not installed")

Size = tuple[int, int]


class Gated(Sequence[str]):
    """Parts of a reply; the server sends each once it is let through."""

    def __init__(self, parts: Sequence[str]) -> None:
        self._parts = parts
        self._gates = [threading.Event() for _ in parts]

    def open(self, number: int) -> None:
        """Let a part through."""
        self._gates[number].set()

    def __len__(self) -> int:
        return len(self._parts)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[str]: ...
    def __getitem__(self, at: int | slice) -> str | Sequence[str]:
        if isinstance(at, int) and at < len(self._parts):
            self._gates[at].wait(TIMEOUT_S)
        return self._parts[at]


class Tmux:
    """A server of tmux with one window, which runs a command."""

    def __init__(self, folder: Path, size: Size, command: Sequence[str], terp: Terp) -> None:
        self._socket = folder / "tmux"
        environ = {**terp.environ, "SHELL": "/bin/sh"}
        del environ["TERM"]
        window = ["new-session", "-d", "-x", str(size[0]), "-y", str(size[1]), "-c", str(terp.cwd), *command]
        manual = ["set", "-g", "window-size", "manual"]
        subprocess.run([*self._tmux, *window, ";", *manual], check=True, env=environ)

    @property
    def _tmux(self) -> list[str]:
        return ["tmux", "-S", str(self._socket), "-f", os.devnull]

    def __call__(self, *arguments: str) -> str:
        """Run a command of tmux; return what it prints."""
        return subprocess.run([*self._tmux, *arguments], check=True, capture_output=True, text=True).stdout

    def resize(self, size: Size) -> None:
        """Change the size of the window."""
        self("resize-window", "-x", str(size[0]), "-y", str(size[1]))

    def shown(self) -> str:
        """The scrollback and the screen, without blanks and the lines of tables."""
        return re.sub(r"[\s─│]", "", self("capture-pane", "-p", "-S", "-"))

    def wait(self, until: Callable[[str], bool]) -> str:
        """Return what is shown as soon as it is so."""
        deadline = time.monotonic() + TIMEOUT_S
        while not until(shown := self.shown()):
            assert time.monotonic() < deadline, shown
        return shown


@pytest.fixture
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A folder for the socket, whose path must be short; tmux ends with the test."""
    folder = tmp_path_factory.mktemp("t")
    yield folder
    subprocess.run(["tmux", "-S", str(folder / "tmux"), "kill-server"], check=False, capture_output=True)


WORDS = [f"q{number:03}z" for number in range(180)]
PARAGRAPH = " ".join(WORDS)
TABLE = "| a | b | c |\n|---|---|---|\n" + "".join(
    f"| {' | '.join(WORDS[at : at + 3])} |\n" for at in range(0, len(WORDS), 3)
)
ITEMS = "".join(f"- {' '.join(WORDS[at : at + 30])}\n" for at in range(0, len(WORDS), 30))
CHANGES = [
    pytest.param(PARAGRAPH, [(30, 30), (100, 30)], id="paragraph"),
    pytest.param(PARAGRAPH, [(30, 16), (100, 40)], id="paragraph-lower"),
    pytest.param(PARAGRAPH, [(130, 30), (100, 30)], id="paragraph-wider"),
    pytest.param(TABLE, [(100, 10), (100, 30)], id="table-lower"),
    pytest.param(ITEMS, [(30, 30), (100, 30)], id="items"),
]


def thirds(text: str) -> list[str]:
    """The text in three parts."""
    return [text[len(text) * at // 3 : len(text) * (at + 1) // 3] for at in range(3)]


def last_word(text: str) -> str:
    """The last whole word of a text."""
    return str(re.findall(r"q\d\d\dz", text)[-1])


def is_shown(word: str) -> Callable[[str], bool]:
    """A condition on what the screen shows."""
    return lambda shown: word in shown


@pytest.mark.parametrize(("text", "sizes"), CHANGES)
def test_each_word_of_a_reply_stands_once(
    text: str, sizes: Sequence[Size], tmp_path: Path, folder: Path
) -> None:
    parts = thirds(text)
    reply, terp = Gated(parts), Terp(tmp_path)
    with Loopback([reply]) as server:
        tmux = Tmux(folder, (100, 30), [sys.executable, "-m", "terp_cli", *to(server)], terp)
        tmux.wait(lambda shown: "›" in shown)
        tmux("send-keys", "go", "Enter", "typed ahead")
        for number, (part, size) in enumerate(zip(parts, [*sizes, (100, 30)], strict=True)):
            reply.open(number)
            shown = tmux.wait(is_shown(last_word(part)))
            tmux.resize(size)
    assert re.findall(r"q\d\d\dz", shown) == WORDS
