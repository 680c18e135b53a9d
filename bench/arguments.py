"""Decoding the code in a tool call's arguments while they stream in pieces of four characters."""

import json
import time
from collections.abc import Iterator

from bench.measure import Row, medians, readable, show
from terp.models.repair.arguments import ArgumentsDecoder

LINE = 'print(f"row {number}:\\t{total / count:.2f} €")  # as "said"\n'


def decode(kilobytes: int, piece: int = 4) -> float:
    """Seconds to decode the pieces one after the other."""
    code = LINE * (kilobytes * 1000 // len(LINE))
    arguments = json.dumps({"language": "python", "code": code})
    pieces = [arguments[at : at + piece] for at in range(0, len(arguments), piece)]
    decoder = ArgumentsDecoder("execute", ["python"])
    began = time.perf_counter()
    decoded = [found.text for text in pieces if (found := decoder.feed(text))]
    seconds = time.perf_counter() - began
    if "".join(decoded) != code:
        raise SystemExit("the decoded code is not the code")
    return seconds


def rows(rounds: int = 5) -> Iterator[Row]:
    sizes = {"2": lambda: decode(2), "20": lambda: decode(20), "200": lambda: decode(200)}
    taken = medians(rounds, sizes)
    yield Row("2 kB of arguments", taken["2"] * 1e3, "ms")
    yield Row("20 kB of arguments", taken["20"] * 1e3, "ms", 50)
    yield Row(
        "200 kB of arguments", taken["200"] / taken["20"], "× 20 kB", 12, f"{readable(taken['200'] * 1e3)} ms"
    )


if __name__ == "__main__":
    show(str(__doc__), rows())
