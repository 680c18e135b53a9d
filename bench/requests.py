"""Characters that sessions of ten runs send to a model, and how many of them no cache can hold.

What follows the first difference to the request before is read anew by a provider; the rest may be cached.
"""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.loopback import Call, Loopback, Scripted

from bench.measure import TERP, Row, environment, show, wall

# Measured with this file on commit 6147d06: characters sent, and those after the first difference.
BEFORE = {
    "analysis": (597_159, 88_172),
    "long outputs": (1_177_675, 207_794),
    "outputs of a page": (366_313, 60_272),
}
# A session sends at most so much of that, and what is read anew does not grow, except where all outputs are
# just long enough to be shortened: each is read once whole, and its head and tail once more. An output has at
# most 16,000 characters (`max_output_chars`), then 20,000. With 20,000 "analysis" would read 1.05 anew and
# "long outputs" 1.02, with 18,000 0.98 and 0.92.
SENT, ANEW = 0.6, {"outputs of a page": 1.1}
# So much of the price, where what is cached costs a tenth.
PRICE, CACHED = 0.85, 0.1

_TABLE = """
import numpy as np, pandas as pd
rng = np.random.default_rng(7)
names = ["price", "cost", "margin", "quantity", "discount", "tax", "shipping", "returns", "rating", "stock"]
df = pd.DataFrame(rng.normal(100, 20, (4000, len(names))).round(3), columns=names)
df.insert(0, "customer", [f"customer {n % 150:03}" for n in range(len(df))])
df.insert(1, "region", [["north", "south", "east", "west"][n % 4] for n in range(len(df))])
df.insert(2, "day", [f"2026-{n % 12 + 1:02}-{n % 28 + 1:02}" for n in range(len(df))])
print(df.head(10))
df.describe()
"""
_LOG = """
for n in range(420):
    when = f"2026-11-0{n % 9 + 1} 12:{n % 60:02}:07"
    print(f"{when} INFO orders.worker[{n:05}] order {n * 37:07} accepted by host {n % 11}")
"""
_API = """
import json
customers = ({"id": n, "name": f"customer {n:03}", "address": {"city": "Graz", "zip": n}} for n in range(110))
print(json.dumps(list(customers), indent=2))
"""
_FIT = """
for epoch in range(400):
    print(f"epoch {epoch:03} loss {1 / (epoch + 1):.6f} validation {1.1 / (epoch + 1):.6f} rate 0.0010")
"""
SESSIONS: Mapping[str, Sequence[str]] = {
    "analysis": (
        _TABLE,
        _LOG,
        'print(df.groupby(["customer", "region"])[["price", "cost", "margin", "tax"]].mean().to_string())',
        'df["regionn"].value_counts()',
        'print(df["customer"].value_counts().to_string())',
        _API,
        'df["price"].sum()',
        _FIT,
        "df[names].corr()",
        'total = (df["price"] * df["quantity"]).sum()\nprint(f"{total:,.2f}")',
    ),
    "long outputs": [
        f"for n in range(600):\n    print('part {part} line', n, 'x' * 40)" for part in range(10)
    ],
    "outputs of a page": [
        f"for n in range(100):\n    print('part {part} line', n, 'x' * 40)" for part in range(10)
    ],
}


def requests(codes: Sequence[str]) -> list[str]:
    """What a session that runs this code sends, a text for each request."""
    script: list[Scripted] = [*(Call(code=code.strip()) for code in codes), "That is the total."]
    with tempfile.TemporaryDirectory() as name, Loopback(script) as server:
        (folder := Path(name) / "work").mkdir()
        env = environment(TERP_HOME=name, OPENAI_API_KEY="unused", NO_PROXY="127.0.0.1")
        where = ("-y", "-q", "-m", "openai/scripted", "--api_base", server.url)
        wall([*TERP, *where, "Which customers buy most, and what is it in all?"], folder, env)
        return [_text(request) for request in server.requests]


def _text(request: Mapping[str, Any]) -> str:
    return json.dumps([request.get("tools"), *request["messages"]], ensure_ascii=False)


def read_anew(sent: Sequence[str]) -> int:
    """The characters after the first difference to the request before, of all requests but the first."""
    return sum(len(after) - _same(before, after) for before, after in pairwise(sent))


def _same(before: str, after: str) -> int:
    pairs = enumerate(zip(before, after, strict=False))
    return next((at for at, (one, other) in pairs if one != other), min(len(before), len(after)))


def rows() -> Iterator[Row]:
    for name, codes in SESSIONS.items():
        sent = requests(codes)
        all_of_it, anew = sum(map(len, sent)), read_anew(sent)
        once, once_anew = BEFORE[name]
        yield Row(f"{name}: sent", all_of_it / (once or 1), "× before", SENT, f"{all_of_it:,} of {once:,}")
        yield Row(
            f"{name}: read anew",
            anew / (once_anew or 1),
            "× before",
            ANEW.get(name, 1.0),
            f"{anew:,} of {once_anew:,}",
        )
        yield Row(f"{name}: price", _price(all_of_it, anew) / _price(once, once_anew), "× before", PRICE)


def _price(characters: int, anew: int) -> float:
    return anew + CACHED * (characters - anew)


if __name__ == "__main__":
    show(str(__doc__), rows())
