"""Questions that ordinary sessions cost, under `approve: before` and under `approve: effect`: 300 cells.

The cells are in `bench/cells/`, a file for each kind of session. Each session runs in a project of its own,
in real kernels, and its user consents to all of it: to each cell, or with `a` to each effect that is asked
about. Sessions that need a library which is not here are left out.
"""

import argparse
import asyncio
import json
import os
import random
import re
import sqlite3
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from importlib.util import find_spec
from pathlib import Path

from PIL import Image

from bench.measure import Row
from terp.events import CodeFinished, CodeProposed
from terp.events.messages import Result
from terp.events.outputs import EffectVerb
from terp.events.performed import TO_DO
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.confinement import Confinement
from terp.kernels.sandbox.policy import SandboxOptions
from terp.person import Choice, Consent, Run
from terp.session.resources import SessionResources
from terp.session.session import Session
from terp.testing import ScriptedModel, call, collect

CELLS = Path(__file__).parent / "cells"
FEWER = 8.0
OPTIONS = {
    "before": SandboxOptions("workspace"),
    "effect": SandboxOptions("workspace", hold=True, at_once=True),
}
PRICES = """def total(prices):
    return sum(prices)


def discount(price, percent):
    return price * percent / 100
"""
REPORT = """from shop.prices import total


def report(rows):
    lines = []
    for name, prices in rows.items():
        lines.append(f"{name}: {total(prices)}")
    return "\\n".join(lines)
"""
TESTS = """from shop.prices import discount, total


def test_total():
    assert total([1, 2]) == 3


def test_discount():
    assert discount(100, 10) == 90
"""
MESSY = """Name;Amount ;Day
 anna;3,5;2024-01-03
BOB;x;3.1.2024
 anna;3,5;2024-01-03
carl;7;12.05.2024
"""
PROJECT = {
    "README.md": "# Shop\n\nPrices and reports of a shop.\n",
    "pyproject.toml": '[project]\nname = "shop"\nversion = "1.0"\n',
    ".gitignore": "__pycache__/\n.pytest_cache/\n",
    "shop/__init__.py": "",
    "shop/prices.py": PRICES,
    "shop/report.py": REPORT,
    "tests/test_prices.py": TESTS,
    "data/messy.csv": MESSY,
}


@dataclass(frozen=True, slots=True)
class Script:
    """A session to run: cells as (language, code)."""

    kind: str
    title: str
    cells: Sequence[tuple[str, str]]


@dataclass(slots=True)
class User:
    """A user who consents, and the questions that this took."""

    answer: str = "a"
    asked: list[str] = field(default_factory=list)
    scopes: list[str] = field(default_factory=list)

    async def approve(self, proposed: CodeProposed) -> Run:
        """Consent to code; under `approve: effect` it runs without this question."""
        self.asked.append(proposed.code)
        return Run(proposed.code)

    async def allow(self, request: Consent) -> bool:
        """Consent."""
        self.asked.append(request.what)
        return True

    async def choose(self, choice: Choice) -> str:
        """Consent to an effect, and others like it."""
        self.asked.append(choice.what)
        self.scopes += [one.does for one in choice.options if one.letter == self.answer]
        return self.answer

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """Type nothing."""
        return ""


@dataclass(slots=True)
class Seen:
    """A session that was run."""

    script: Script
    user: User
    finished: list[CodeFinished]


def scripts() -> Iterator[Script]:
    """Yield the sessions whose libraries are here."""
    for file in sorted(CELLS.glob("*.txt")):
        for part in file.read_text().split("=== ")[1:]:
            title, _, body = part.partition("\n")
            cells = re.findall(r"^%% (\w+)\n(.*?)(?=^%% |\Z)", body, re.MULTILINE | re.DOTALL)
            libraries = re.findall(r"^(?:import (\w+)|from (\w+)\S* import)", body, re.MULTILINE)
            if all(find_spec(one or other) for one, other in libraries if other != "shop"):
                yield Script(file.stem, title, [(language, code.strip()) for language, code in cells])


def prepare(folder: Path) -> None:
    """Write a project with data, tests and a repository."""
    rnd = random.Random(1)
    for name, text in {**PROJECT, **tables(rnd)}.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    for at in range(12):
        (folder / "inbox").mkdir(exist_ok=True)
        (folder / "inbox" / f"{at}.{('txt', 'md', 'log')[at % 3]}").write_text(str(at % 6))
    (folder / "photos").mkdir()
    for at in range(4):
        Image.new("RGB", (64, 48), (at * 60, 80, 120)).save(folder / "photos" / f"{at}.png")
    base = sqlite3.connect(folder / "data/orders.sqlite")
    with base:
        base.execute("create table orders (id int, total real)")
        base.executemany("insert into orders values (?, ?)", [(n, n * 1.5) for n in range(40)])
    base.close()
    who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.org")
    for command in (
        ("init", "-q", "-b", "main"),
        ("config", "user.name", "Ann"),
        ("config", "user.email", "ann@example.org"),
        ("add", "README.md", "pyproject.toml", ".gitignore"),
        (*who, "commit", "-qm", "Begin"),
        ("add", "shop", "tests"),
        (*who, "commit", "-qm", "Add prices"),
    ):
        subprocess.run(("git", *command), cwd=folder, check=True)


def tables(rnd: random.Random) -> dict[str, str]:
    days = [f"2024-{1 + n // 28 % 12:02}-{1 + n % 28:02}" for n in range(336)]
    sales = [
        f"{rnd.choice(days)},{rnd.choice(('North', 'South', 'East', 'West'))},"
        f"{rnd.choice(('apples', 'pears', 'figs'))},"
        f"{rnd.uniform(1, 9):.2f},{rnd.randint(0, 12)},{rnd.randint(1, 200)}"
        for _ in range(2000)
    ]
    customers = [
        f"{n},{rnd.choice(('de', 'fr', 'it'))},{rnd.randint(18, 80)},{rnd.randint(1, 40)},{rnd.choice(days)}"
        for n in range(1, 231)
    ]
    weather = [f"{day},{rnd.gauss(12, 8):.1f},{max(0, rnd.gauss(0, 4)):.1f}" for day in days]
    log = [
        f"{rnd.choice(days)}T{rnd.randint(0, 23):02}:00 10.0.0.{rnd.randint(1, 9)} GET /{rnd.choice('abc')} "
        f"{rnd.choice((200, 200, 404, 500))} {rnd.randint(1, 900)}"
        for _ in range(500)
    ]
    events = [json.dumps({"kind": rnd.choice(("view", "buy")), "n": n}) for n in range(50)]
    return {
        "data/sales.csv": "\n".join(["date,region,product,price,count,customer", *sales, ""]),
        "data/customers.csv": "\n".join(["id,country,age,visits,joined", *customers, ""]),
        "data/weather.csv": "\n".join(["day,temp,rain", *weather, ""]),
        "data/server.log": "\n".join([*log, ""]),
        "data/events.jsonl": "\n".join([*events, ""]),
    }


class Quiet(SimpleHTTPRequestHandler):
    """Serves a folder, without a line per request."""

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  (the base class's name)
        """Write nothing."""


async def run(script: Script, folder: Path, options: SandboxOptions, user: User) -> Seen:
    """Run a session in a new project below `folder`; raise if a cell fails."""
    project, home = folder / "project", folder / "home"
    home.mkdir()
    project.mkdir()
    prepare(project)
    programs = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    environ = {**os.environ, "HOME": str(home), "PATH": programs, "MPLBACKEND": "agg"}
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(project)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    cells = [(language, code.replace("{port}", str(server.server_port))) for language, code in script.cells]
    confinement = Confinement(options, str(project), environ)
    kernels = LocalKernels(str(project), environ=environ, confinement=confinement)
    model = ScriptedModel(*([call(code, language)] for language, code in cells), "done")
    resources = SessionResources(confinement=confinement)
    session = Session(model, kernels, user, folder=folder / "session", resources=resources)
    try:
        events = await collect(session, "go")
    finally:
        await session.aclose()
        server.shutdown()
        server.server_close()
    finished = [one for one in events if isinstance(one, CodeFinished)]
    for number, one in enumerate(finished):
        if one.status != "ok":
            results = [message.text for message in session.history if isinstance(message, Result)]
            raise SystemExit(f"{script.title}: {cells[number][1]}\n{results[number]}")
    return Seen(script, user, finished)


def run_all(mode: str, answer: str) -> list[Seen]:
    seen = []
    for script in scripts():
        # Not below /tmp, which a sandbox may have for itself.
        with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
            seen.append(asyncio.run(run(script, Path(folder).resolve(), OPTIONS[mode], User(answer))))
    return seen


def table(before: Sequence[Seen], effect: Sequence[Seen]) -> Iterator[str]:
    yield f"  {'sessions':22} {'cells':>6} {'before':>7} {'effect':>7} {'fewer':>7}   without any"
    kinds = [*dict.fromkeys(one.script.kind for one in effect), "all"]
    for kind in kinds:
        asked = [one for one in before if kind in (one.script.kind, "all")]
        held = [one for one in effect if kind in (one.script.kind, "all")]
        cells = sum(len(one.script.cells) for one in held)
        first, second = (sum(len(one.user.asked) for one in group) for group in (asked, held))
        calm = sum(not one.user.asked for one in held)
        yield (
            f"  {kind:22} {cells:6} {first:7} {second:7} {first / max(1, second):6.1f}×"
            f"   {calm} of {len(held)} sessions"
        )


def kinds_of(seen: Sequence[Seen]) -> Counter[str]:
    """Count the questions by program, verb and the scope that the answer covers."""
    asked = (
        f"{what.split()[0]} {scope}"
        for one in seen
        for what, scope in zip(one.user.asked, one.user.scopes, strict=True)
    )
    return Counter(asked)


def unasked(seen: Seen) -> Iterator[tuple[str, str]]:
    """Yield the effects of a session that no answer was about: why there was no question, and the effect."""
    made: set[str] = set()
    for effect in (effect for one in seen.finished for effect in one.effects):
        if effect.verb == "run" or effect.refused:
            continue
        name = effect.what.partition("/project/")[2] or effect.what
        above = {name, *map(str, Path(name).parents)} - {"."}
        if effect.verb == "create":
            made.add(name)
            yield "new", name
        elif above & made or (effect.verb == "listen" and name.startswith(("127.0.0.1:", "[::1]:"))):
            yield "own", f"{effect.verb} {name}"
            if effect.to:
                made.add(effect.to.partition("/project/")[2])
        elif not any(is_covered(effect.verb, name, scope) for scope in seen.user.scopes):
            yield "other", f"{effect.verb} {name}"


def is_covered(verb: EffectVerb, name: str, scope: str) -> bool:
    verbs = [TO_DO["create"], TO_DO["modify"]] if verb == "modify" else [TO_DO[verb]]
    if not any(f"({word} " in scope for word in verbs):
        return False
    _, _, place = scope.rstrip(")").partition(" files below ")
    return name.startswith(place) if place else "any address" in scope or "/" not in name


def rows() -> Iterator[Row]:
    before, effect = run_all("before", "run"), run_all("effect", "a")
    first, second = (sum(len(one.user.asked) for one in group) for group in (before, effect))
    yield Row("questions under before", first, "")
    yield Row("questions under effect", second, "", first / FEWER, f"{first / second:.1f} times fewer")


def main() -> None:
    """Print the table, what was asked, and what was created."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--answer", default="a", choices=("y", "a", "r"), help="the answer to each effect")
    options.add_argument("--all", action="store_true", help="list the questions, and what was created")
    given = options.parse_args()
    before, effect = run_all("before", "run"), run_all("effect", given.answer)
    print(*table(before, effect), sep="\n")
    if given.all:
        print("\n  asked")
        for what, count in kinds_of(effect).most_common():
            print(f"  {count:5}  {what}")
        found = [(why, what) for one in effect for why, what in unasked(one)]
        print(
            "\n  not asked:", *(f"{count} {why}" for why, count in Counter(why for why, _ in found).items())
        )
        for (why, what), count in Counter(found).items():
            print(f"  {count:5}  {why:5}  {what}")


if __name__ == "__main__":
    main()
