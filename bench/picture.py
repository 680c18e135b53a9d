"""`python -m bench.picture`: play `terp demo` on a terminal and write its end as docs/demo.svg.

The terminal is a pseudo-terminal of 80 columns that claims to draw pictures by iTerm2's protocol. What the
program writes is shown as it is: text, colours and the plot. Only the rows before the last run are left out.
"""

import fcntl
import os
import pty
import re
import select
import shutil
import struct
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from html import escape
from itertools import groupby
from pathlib import Path

import pyte
from pyte.screens import Char

SVG = Path(__file__).resolve().parents[1] / "docs" / "demo.svg"
COLUMNS, ROWS = 80, 400
CELL_WIDTH, CELL_HEIGHT = 9.0, 19.0
_QUESTION = "or say what to do instead"
_PICTURE = re.compile(rb"\x1b\]1337;File=[^:]*width=(\d+);height=(\d+)[^:]*:([A-Za-z0-9+/=]+)\x07")
_FIRST_ROW = "── python"
_LIMIT_S = 120.0
# The answers of a dark terminal with cells of 10 × 20 pixels to terp's queries.
_ANSWERS = {
    b"\x1b]11;?": b"\x1b]11;rgb:1818/1818/2525\x1b\\",
    b"\x1b[16t": b"\x1b[6;20;10t",
    b"\x1b[c": b"\x1b[?62;22c",
}
_FONTS = "ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace"
_GROUND, _INK = "#181825", "#cdd6f4"
_COLOURS = {
    "black": "#45475a", "red": "#f38ba8", "green": "#a6e3a1", "brown": "#f9e2af", "blue": "#89b4fa",
    "magenta": "#f5c2e7", "cyan": "#94e2d5", "white": "#bac2de", "brightblack": "#6c7086",
    "brightblue": "#89b4fa",
}  # fmt: skip


@dataclass
class Screen:
    """The screen of the terminal, and each picture on it: its row, columns, rows and data in base64."""

    text: pyte.Screen = field(default_factory=lambda: pyte.Screen(COLUMNS, ROWS))
    pictures: list[tuple[int, int, int, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._stream = pyte.ByteStream(self.text)
        self._held = b""

    def feed(self, data: bytes) -> None:
        """Draw what the program wrote."""
        data, self._held = self._held + data, b""
        while found := _PICTURE.search(data):
            self._stream.feed(data[: found.start()])
            width, height, content = found.groups()
            self.pictures.append((self.text.cursor.y, int(width), int(height), content.decode()))
            data = data[found.end() :]
        if (begun := data.find(b"\x1b]1337;")) >= 0:
            data, self._held = data[:begun], data[begun:]
        self._stream.feed(data)

    @property
    def written(self) -> str:
        """The rows up to the last that is not empty."""
        return "\n".join(row.rstrip() for row in self.text.display).rstrip()


def play(folder: Path) -> Screen:
    """Run the demo in a folder, approve each piece of its code, and return the screen at its end."""
    hand, line = pty.openpty()
    fcntl.ioctl(line, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, COLUMNS * 10, ROWS * 20))
    environ = {
        **os.environ,
        "TERM": "xterm-256color",
        "TERM_PROGRAM": "iTerm.app",
        "TERP_HOME": str(folder / ".terp-home"),
        "PROMPT_TOOLKIT_NO_CPR": "1",
    }
    command = [sys.executable, "-m", "terp_cli", "demo"]
    process = subprocess.Popen(
        command, cwd=folder, env=environ, stdin=line, stdout=line, stderr=line, start_new_session=True
    )
    os.close(line)
    screen = Screen()
    asked = False
    ends = time.monotonic() + _LIMIT_S
    for data in _written(hand, ends):
        for query, answer in _ANSWERS.items():
            if query in data:
                os.write(hand, answer)
        screen.feed(data)
        shown = _QUESTION in screen.written
        if shown and not asked:
            os.write(hand, b"y")
        asked = shown
    if process.wait(timeout=10) != 0:
        raise SystemExit(f"terp demo failed:\n{screen.written}")
    return screen


def _written(hand: int, ends: float) -> Iterator[bytes]:
    while time.monotonic() < ends:
        if not select.select([hand], [], [], 1.0)[0]:
            continue
        try:
            data = os.read(hand, 65_536)
        except OSError:
            # The program has ended, and nobody holds the other side.
            return
        if not data:
            return
        yield data
    raise SystemExit("terp demo did not end.")


def svg(screen: Screen) -> str:
    """Return the end of the screen, from the last code on, as an SVG."""
    rows = screen.written.split("\n")
    first = max(at for at, row in enumerate(rows) if row.startswith(_FIRST_ROW))
    top, left = 40.0, 16.0
    width, height = COLUMNS * CELL_WIDTH + 2 * left, (len(rows) - first) * CELL_HEIGHT + top + left
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'font-family="{_FONTS}" font-size="15">',
        "<title>terp demo, at its end: code, the plot that it drew, and the answer</title>",
        f'<rect width="{width:g}" height="{height:g}" rx="10" fill="{_GROUND}"/>',
    ]
    for at, colour in enumerate(("#f38ba8", "#f9e2af", "#a6e3a1")):
        lines.append(f'<circle cx="{left + 6 + at * 20:g}" cy="18" r="6" fill="{colour}"/>')
    for at in range(first, len(rows)):
        lines += _row(screen.text.buffer[at], left, top + (at - first) * CELL_HEIGHT)
    for row, across, down, content in screen.pictures:
        if row >= first:
            y = top + (row - first) * CELL_HEIGHT
            size = f'width="{across * CELL_WIDTH:g}" height="{down * CELL_HEIGHT:g}"'
            lines.append(
                f'<image x="{left:g}" y="{y:g}" {size} '
                f'preserveAspectRatio="xMinYMin" href="data:image/png;base64,{content}"/>'
            )
    return "\n".join([*lines, "</svg>\n"])


def _row(cells: "dict[int, Char]", left: float, y: float) -> Iterator[str]:
    """Yield the runs of equal style of one row; each has the width of its cells, whatever the font."""
    styled = [(at, cells[at]) for at in range(COLUMNS)]
    for _, run in groupby(styled, lambda cell: cell[1]._replace(data="")):
        ours = list(run)
        text = "".join(cell.data for _, cell in ours)
        style, x = ours[0][1], left + ours[0][0] * CELL_WIDTH
        width = len(ours) * CELL_WIDTH
        if style.bg != "default" or style.reverse:
            ground = _colour(style.fg if style.reverse else style.bg, _INK)
            yield f'<rect x="{x:g}" y="{y:g}" width="{width:g}" height="{CELL_HEIGHT:g}" fill="{ground}"/>'
        if not text.strip():
            continue
        x += (len(text) - len(text.lstrip())) * CELL_WIDTH
        shown = text.strip()
        looks = f'fill="{_GROUND if style.reverse else _colour(style.fg, _INK)}"'
        looks += ' font-weight="bold"' if style.bold else ""
        looks += ' font-style="italic"' if style.italics else ""
        yield (
            f'<text x="{x:g}" y="{y + 14:g}" textLength="{len(shown) * CELL_WIDTH:g}" xml:space="preserve" '
            f"{looks}>{escape(shown)}</text>"
        )


def _colour(name: str, default: str) -> str:
    """Return a colour of pyte (a name, or six hexadecimal digits) for SVG."""
    if name == "default":
        return default
    return _COLOURS.get(name, f"#{name}" if re.fullmatch("[0-9a-f]{6}", name) else default)


if __name__ == "__main__":
    folder = Path(tempfile.gettempdir()) / "flowers"
    folder.mkdir()
    try:
        SVG.write_text(svg(play(folder)), encoding="utf-8")
    finally:
        shutil.rmtree(folder)
