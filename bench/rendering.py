"""A long fence, a long answer and a flood of output, drawn; cat and rich, which draws all at once, beside.

The terminal has 120 × 40; text comes in chunks of four characters, output in pieces of 4 kB, and the tail is
painted at every tenth. CPU time, and the bytes that are written for a character.
"""

import io
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from rich.console import Console
from rich.markdown import Markdown
from rich.syntax import Syntax
from rich.text import Text

from bench.markdown import FENCED, SAMPLE, draw, fence, repeated
from bench.measure import Row, medians, readable, show
from terp.events import CodeFinished, CodeStarted, Event, Printed
from terp.events.outputs import Text as Output
from terp_cli.render.ansi import Palette, TerminalScreen
from terp_cli.render.transcript import DrawnTranscript
from terp_cli.terminal.painter import Painter

LINE = "epoch 12  step 3400  loss 0.4182  accuracy 0.8731\n"


def flood(lines: int) -> tuple[float, str]:
    """Seconds of CPU time for so many lines of output, and what was written."""
    out = io.StringIO()
    screen = TerminalScreen(Painter(out, lambda: (120, 40)), Palette(None))
    transcript = DrawnTranscript(lambda: screen.width, lambda: screen.tail_rows, time.monotonic)
    text = LINE * lines
    pieces: list[Event] = [
        Printed("c1", Output("stdout", text[at : at + 4096])) for at in range(0, len(text), 4096)
    ]
    began = time.process_time()
    for number, event in enumerate([CodeStarted("c1", 1), *pieces, CodeFinished("c1", "ok", 1.0)]):
        rows = transcript.show(event)
        if rows or number % 10 == 0:
            screen.update(rows, transcript.tail(screen.tail_rows))
    screen.update(transcript.rest())
    return time.process_time() - began, out.getvalue()


def once(make: Callable[[], object]) -> float:
    """Seconds of CPU time in which rich draws something whole."""
    console = Console(file=io.StringIO(), force_terminal=True, color_system="256", width=120)
    began = time.process_time()
    console.print(make())
    return time.process_time() - began


def cat(text: str) -> float:
    """Seconds of CPU time in which cat copies a text."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "text")
        path.write_text(text)
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(["cat", str(path)], stdout=subprocess.PIPE, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def rows(rounds: int = 5) -> Iterator[Row]:
    short, long = fence(8_000), fence(100_000)
    tenth, whole = repeated(SAMPLE, 10_000), repeated(SAMPLE, 100_000)
    code = repeated(FENCED, 100_000)
    printed = LINE * 100_000
    taken = medians(
        rounds,
        {
            "fence of 8 kB": lambda: draw(short)[0],
            "fence of 100 kB": lambda: draw(long)[0],
            "fence by rich": lambda: once(lambda: Syntax(code, "python")),
            "10 kB": lambda: draw(tenth)[0],
            "100 kB": lambda: draw(whole)[0],
            "100 kB by rich": lambda: once(lambda: Markdown(whole)),
            "10,000 lines": lambda: flood(10_000)[0],
            "100,000 lines": lambda: flood(100_000)[0],
            "lines by rich": lambda: once(lambda: Text(printed)),
            "fence by cat": lambda: cat(long),
            "lines by cat": lambda: cat(printed),
        },
    )
    yield _row("8 kB in a fence", taken["fence of 8 kB"], draw(short)[1], short)
    yield _row("100 kB in a fence", taken["fence of 100 kB"], draw(long)[1], long, taken["fence by rich"])
    yield _row("100 kB of markdown", taken["100 kB"], draw(whole)[1], whole, taken["100 kB by rich"])
    yield Row("100 kB of markdown", taken["100 kB"] / taken["10 kB"], "× 10 kB", 12)
    lines = flood(100_000)[1]
    yield _row("100,000 lines of output", taken["100,000 lines"], lines, printed, taken["lines by rich"])
    yield Row("100,000 lines of output", taken["100,000 lines"] / taken["10,000 lines"], "× 10,000", 12)
    yield Row("cat, the fence", taken["fence by cat"] * 1e3, "ms CPU")
    yield Row("cat, the output", taken["lines by cat"] * 1e3, "ms CPU")


def _row(what: str, seconds: float, written: str, text: str, by_rich: float = 0.0) -> Row:
    each = f"{readable(len(written.encode()) / len(text))} bytes a character"
    beside = (
        f", {readable(seconds / by_rich)} × rich at once ({readable(by_rich * 1e3)} ms)" if by_rich else ""
    )
    return Row(what, seconds * 1e3, "ms CPU", None, each + beside)


if __name__ == "__main__":
    show(str(__doc__), rows())
