"""Markdown to a terminal of 120 × 40 in chunks of four characters.

Drawn alone, the tail is painted at every tenth chunk: ten chunks a frame are 200 chunks a second at 20 frames
a second. From the socket to the screen it is the whole program, less the same program with a short answer.
"""

import io
import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from rich.color import ColorSystem
from tests.loopback import Loopback

from bench.measure import TERP, Row, environment, medians, show
from bench.prompt import Terminal
from terp_cli.render.ansi import Palette, TerminalScreen
from terp_cli.render.markdown.markdown import MarkdownStream
from terp_cli.terminal.painter import Painter
from terp_cli.terminal.terminal_facts import TerminalFacts

SAMPLE = """\
## What the table says

The **petals** differ most: their length has `mean = 3.76` and a spread of *1.77*, see [Fisher](https://example.org).

- setosa stands alone, with petals of about 1.46 cm
- versicolor and virginica touch
  1. between 4.5 and 5.1 cm
  2. and 1.4 to 1.8 cm of width

| species | length | width |
|---|--:|--:|
| setosa | 1.46 | 0.25 |
| virginica | 5.55 | 2.03 |

```python
for name, flowers in iris.groupby("species"):
    print(f"{name:12} {flowers['petal_length'].mean():.2f}")  # cm
```

> A plain rule on one sample: read it with care.

"""
FENCED = 'value = {"name": f"{row:5.2f}", "ok": True}  # a line of code\n'


def repeated(text: str, size: int) -> str:
    """`text` again and again, up to about `size` characters."""
    return text * (size // len(text))


def draw(text: str) -> tuple[float, str]:
    """Seconds of CPU time for all of the text, and what was written."""
    out = io.StringIO()
    painter = Painter(out, lambda: (120, 40))
    painter.pending.learn(TerminalFacts(synchronised=True))
    screen = TerminalScreen(painter, Palette(ColorSystem.EIGHT_BIT))
    stream = MarkdownStream(lambda: screen.width, lambda: screen.tail_rows)
    began = time.process_time()
    for number, at in enumerate(range(0, len(text), 4)):
        rows = stream.feed(text[at : at + 4])
        if rows or number % 10 == 0:
            screen.update(rows, stream.tail(screen.tail_rows))
    screen.update(stream.finish())
    return time.process_time() - began, out.getvalue()


def fence(size: int) -> str:
    """A fenced block of about so many characters."""
    return f"```python\n{repeated(FENCED, size)}```\n"


def program(text: str) -> float:
    """Seconds of CPU time of a one-shot on a terminal, of which the model's answer is `text`."""
    with tempfile.TemporaryDirectory() as folder, Loopback([text], chunk=4) as server:
        env = environment(TERP_HOME=folder, OPENAI_API_KEY="unused", NO_PROXY="127.0.0.1")
        command = [*TERP, "-y", "-m", "openai/scripted", "--api_base", server.url, "hello"]
        terminal = Terminal(command, Path(folder), env)
        terminal.to_its_end()
        _, status, used = os.wait4(terminal.process.pid, 0)
        terminal.process.returncode = os.waitstatus_to_exitcode(status)
        terminal.close()
    if terminal.process.returncode:
        raise SystemExit(f"terp ended with {terminal.process.returncode}: {terminal.seen!r}")
    return used.ru_utime + used.ru_stime


def rows(rounds: int = 5) -> Iterator[Row]:
    text = repeated(SAMPLE, 32_000)
    cases = {
        "mixed": lambda: draw(text)[0],
        "small": lambda: draw(fence(10_000))[0],
        "large": lambda: draw(fence(100_000))[0],
        "long": lambda: program(text),
        "short": lambda: program("Yes."),
    }
    taken = medians(rounds, cases)
    written = len(draw(text)[1].encode()) / len(text)
    yield Row("32 kB of markdown, drawn", taken["mixed"], "s CPU", 0.7)
    detail = f"{taken['long']:.2f} s to {taken['short']:.2f} s for a short answer"
    yield Row("from the socket to the screen", taken["long"] - taken["short"], "s CPU", 0.7, detail)
    yield Row("written for a character", written, "bytes", 8)
    detail = f"{taken['large'] * 1e3:.0f} ms"
    yield Row("100 kB in a fence", taken["large"] / taken["small"], "× 10 kB", 12, detail)


if __name__ == "__main__":
    show(str(__doc__), rows())
