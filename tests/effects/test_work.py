"""Honest work is done with every question answered "all of this run", and nothing hangs."""

import importlib.util
import random
import shutil
import subprocess
import sys
import time
import venv
import zipfile
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from terp.kernels.sandbox.tier import Tier
from tests.effects.driver import Bench, Ran, everything
from tests.effects.test_holder import SIGNALLED
from tests.faults.figures import Figure

pytestmark = [pytest.mark.faults, pytest.mark.timeout(900)]


def python(code: str) -> tuple[str, ...]:
    return sys.executable, "-c", code


def wheel(work: Path) -> Sequence[str]:
    """A wheel with 3,000 files, and a virtual environment for it."""
    venv.create(work / "env", with_pip=True)
    name = "many-1.0-py3-none-any.whl"
    with zipfile.ZipFile(work / name, "w") as made:
        for at in range(3000):
            made.writestr(f"many/m{at % 30}/f{at}.py", f"x = {at}\n")
        made.writestr("many-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: many\nVersion: 1.0\n")
        made.writestr(
            "many-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        made.writestr("many-1.0.dist-info/RECORD", "")
    return (
        str(work / "env/bin/python"),
        "-m",
        "pip",
        "install",
        "-q",
        "--no-index",
        "--no-compile",
        str(work / name),
    )


def repository(work: Path) -> Sequence[str]:
    """A local repository of 1,500 files to clone."""
    source = work / "source"
    for at in range(1500):
        path = source / f"d{at % 20}/f{at}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{at}\n" * 20)
    who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false")
    for command in (("init", "-q", "."), ("add", "."), (*who, "commit", "-qm", "all")):
        subprocess.run(("git", *command), cwd=source, check=True)
    return "git", "clone", "-q", "--no-local", str(source), str(work / "cloned")


def c_files(work: Path) -> Sequence[str]:
    """200 files in C to compile and link."""
    for at in range(200):
        (work / f"f{at}.c").write_text(f"int f{at}(void) {{ return {at}; }}\n")
    (work / "main.c").write_text("int f199(void);\nint main(void) { return f199() != 199; }\n")
    objects = " ".join(f"f{at}.o" for at in range(200))
    (work / "Makefile").write_text(
        f"all: main\n\t./main\nmain: main.o {objects}\n\tcc -o main main.o {objects}\n"
    )
    return "make", "-s", "-j2"


def suite(work: Path) -> Sequence[str]:
    """200 tests, some of which write."""
    for at in range(20):
        (work / f"test_{at}.py").write_text(
            "import pytest\n@pytest.mark.parametrize('n', range(10))\ndef test_it(n, tmp_path):\n"
            "    (tmp_path / 'f').write_text(str(n))\n    assert (tmp_path / 'f').read_text() == str(n)\n"
        )
    return sys.executable, "-m", "pytest", "-q", "--basetemp", str(work / "temporary")


def training(_: Path) -> Sequence[str]:
    """Worker processes with shared memory, locks and queues."""
    joblib = "import joblib; print(sum(joblib.Parallel(2)(joblib.delayed(abs)(n) for n in range(200))))"
    return python(
        "import numpy as np\nfrom concurrent.futures import ProcessPoolExecutor\nfrom multiprocessing import Manager, shared_memory\n"
        "def fit(n):\n    x = np.random.default_rng(n).normal(size=(200, 20))\n    return float(np.linalg.lstsq(x, x[:, 0], rcond=None)[0][0])\n"
        "memory = shared_memory.SharedMemory(create=True, size=1 << 20)\nnp.ndarray(1000, buffer=memory.buf)[:] = 1\n"
        "with ProcessPoolExecutor(3) as pool:\n    assert all(abs(one - 1) < 1e-6 for one in pool.map(fit, range(60)))\n"
        "with Manager() as manager:\n    shared = manager.dict(a=1)\n    shared['b'] = 2\n    assert dict(shared) == {'a': 1, 'b': 2}\n"
        "memory.close(); memory.unlink()\n" + (joblib if importlib.util.find_spec("joblib") else "")
    )


def databases(_: Path) -> Sequence[str]:
    """SQLite with a log, and DuckDB with files beside it."""
    return python(
        "import duckdb, sqlite3\nbase = sqlite3.connect('lite'); base.execute('pragma journal_mode=wal'); base.execute('create table t (x)')\n"
        "for n in range(200):\n    with base: base.execute('insert into t values (?)', (n,))\n"
        "assert base.execute('select sum(x) from t').fetchone() == (19900,); base.close()\n"
        "duck = duckdb.connect('duck'); duck.execute('create table t as select range as x from range(100000)')\n"
        "duck.execute(\"copy t to 'out.parquet' (format parquet)\"); duck.execute('checkpoint')\n"
        "assert duck.execute(\"select sum(x) from 'out.parquet'\").fetchone() == (4999950000,); duck.close()\n"
    )


def pictures(_: Path) -> Sequence[str]:
    """Pictures of matplotlib in four formats, each saved twice."""
    return python(
        "import matplotlib; matplotlib.use('agg')\nimport matplotlib.pyplot as plt, os\nfig, ax = plt.subplots(); ax.plot([1, 2, 3])\n"
        "for name in ('a.png', 'a.svg', 'a.pdf', 'a.jpg') * 2:\n    fig.savefig(name); assert os.path.getsize(name)\n"
    )


def creations(_: Path) -> Sequence[str]:
    """10,000 files."""
    return python("for n in range(10000): open(f'f{n}', 'w').close()")


# What it runs, and the program that it needs.
WORK: Mapping[str, tuple[Callable[[Path], Sequence[str]], str]] = {
    "pip install": (wheel, "pip"),
    "git clone": (repository, "git"),
    "make": (c_files, "cc"),
    "pytest": (suite, ""),
    "training": (training, ""),
    "databases": (databases, ""),
    "pictures": (pictures, ""),
    "creations": (creations, ""),
}


def timed(tier: Tier, prepare: Callable[[Path], Sequence[str]], *, held: bool) -> tuple[float, Ran]:
    bench = Bench(tier)
    try:
        argv = prepare(bench.work)
        began = time.perf_counter()
        ran = bench.run(argv, answer=everything, held=held, timeout_s=300)
        return time.perf_counter() - began, ran
    finally:
        bench.close()


@pytest.mark.parametrize("name", WORK)
def test_work_is_done(name: str, tier: Tier, figure: Figure) -> None:
    prepare, needs = WORK[name]
    if needs in ("git", "cc") and not shutil.which(needs):
        pytest.skip(f"{needs} is not here")
    untouched, plain = timed(tier, prepare, held=False)
    held, ran = timed(tier, prepare, held=True)
    assert (plain.status, ran.status) == (0, 0), plain.output[-1000:] + ran.output[-1000:]
    figure(f"{name} in {tier.name}: {untouched:.2f} s, held {held:.2f} s, {len(ran.asked)} questions")


def test_ten_thousand_calls_under_signals_happen_once_each(bench: Bench, figure: Figure) -> None:
    ran = bench.python(SIGNALLED, "10000", timeout_s=300)
    assert ran.output.startswith("0 True"), ran.output
    figure(f"10,000 mkdir and rmdir under signals: none twice, {ran.output.split()[2]} ended by a signal")


RANDOM = """
import os, random, sys, threading
rnd = random.Random(int(sys.argv[1]))
def act(folder, depth):
    os.makedirs(folder, exist_ok=True)
    for n in range(rnd.randint(1, 8)):
        kind = rnd.choice("wrmdftu")
        try:
            if kind == "w": open(f"{folder}/{n}", "w").close()
            elif kind == "r": os.rename(f"{folder}/{n - 1}", f"{folder}/{n}")
            elif kind == "m": os.chmod(folder, 0o755)
            elif kind == "d": os.unlink(f"{folder}/{n - 1}")
            elif kind == "u": os.unlink("theirs")
            elif kind == "f" and depth:
                child = os.fork()
                if child == 0:
                    try: act(f"{folder}/c{n}", depth - 1)
                    finally: os._exit(0)
                if rnd.random() < 0.7: os.waitpid(child, 0)
            elif kind == "t" and depth:
                thread = threading.Thread(target=act, args=(f"{folder}/t{n}", depth - 1), daemon=rnd.random() < 0.3)
                thread.start()
        except OSError:
            pass
act("top", 2)
"""


def test_a_thousand_runs_with_threads_and_children_end(tier: Tier, figure: Figure) -> None:
    rnd = random.Random(1)
    ended: Counter[int] = Counter()
    began = time.monotonic()
    for number in range(500):
        bench = Bench(tier)
        (bench.work / "theirs").touch()
        # One that hangs fails by the time limit of the driver.
        ran = bench.python(RANDOM, str(number), answer=lambda _: rnd.random() < 0.5, timeout_s=30)
        ended[ran.status] += 1
        bench.close()
    assert ended == {0: 500}
    figure(f"500 runs with threads and children in {tier.name}: no hang, {time.monotonic() - began:.0f} s")
