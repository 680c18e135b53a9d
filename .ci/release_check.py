"""What must hold before a release, beside `.ci/run`: `make release-check`; `TESTS=tests/core` runs a part.

Builds from the last commit, so all changes must be committed. Needs uv, which `make .venv/.dev` installs, and
a package index. The last lines name each Python that passed, failed, or was not tested because uv cannot
find or download it. A failure of the tests does not end the check; any other does.
"""

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
VENDORED = "cli/terp_cli/server/page/vendor"
# What is said of a run of the tests.
PASSED = "passed"
ALONE = "passed, the tests named above only with nothing beside them"
FAILED = "FAILED"
MISSING = "NOT TESTED: uv finds no such Python"


def main(tests: Sequence[str]) -> int:
    """Run all checks; return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        away = Path(folder)
        built = builds_alike(away)
        sdist, wheel = sorted(built, key=lambda path: path.suffix == ".whl")
        step("metadata and long description")
        run("uvx", "twine", "check", "--strict", str(sdist), str(wheel))
        has_licences(sdist, wheel)
        step("terp demo in an empty environment")
        demo(wheel, away / "demo")
        runs = [*((python, "highest") for python in PYTHONS), (PYTHONS[0], "lowest-direct")]
        results = {f"Python {run[0]}, dependencies {run[1]}": tested(*run, away, tests) for run in runs}
    print(f"\n{summary(results, tests)}")
    return 1 if FAILED in results.values() else 0


def summary(results: Mapping[str, str], tests: Sequence[str]) -> str:
    """Return a line for each run of the tests, and the result of all."""
    lines = [f"{name}: {result}" for name, result in results.items()]
    if tests:
        lines.append(f"all tests but {' '.join(tests)}: NOT TESTED")
    whole = not tests and MISSING not in results.values()
    ended = "failed" if FAILED in results.values() else "all passed" if whole else "passed IN PART"
    return "\n".join([*lines, f"release-check: {ended}"])


def builds_alike(away: Path) -> list[Path]:
    """Build twice, from two checkouts at different paths; return the files of the first."""
    step("two builds are alike")
    files: list[list[Path]] = []
    for name in ("one", "another place"):
        checkout = away / name
        run("git", "clone", "--quiet", str(ROOT), str(checkout))
        run(sys.executable, "-m", "build", "--quiet", "--outdir", str(checkout / "dist"), str(checkout))
        files.append(sorted((checkout / "dist").iterdir()))
    for one, other in zip(*files, strict=True):
        digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in (one, other)}
        print(one.name, *digests)
        if len(digests) != 1:
            raise SystemExit(f"{one.name}: two builds of one commit differ.")
    return files[0]


def has_licences(sdist: Path, wheel: Path) -> None:
    """Check that each script of others, and the licence of its package, is in both distributions.

    The README beside the scripts names the package of each.
    """
    step("licences of vendored files")
    rows = [
        line.split("|")[1:4]
        for line in (ROOT / VENDORED / "README.md").read_text().splitlines()
        if line.startswith("| ") and ".js " in line
    ]
    packages = {script.strip(): package.split()[0] for script, package, _ in rows}
    stems = {name: name.strip("@").partition("/")[0] for name in packages.values()}
    wanted = {*packages, *(f"{stem}.LICENSE" for stem in stems.values()), "README.md"}
    with tarfile.open(sdist) as packed:
        in_sdist = [name.partition("/")[2] for name in packed.getnames()]
    with zipfile.ZipFile(wheel) as zipped:
        in_wheel = [f"cli/{name}" for name in zipped.namelist()]
    for name, names in ((sdist.name, in_sdist), (wheel.name, in_wheel)):
        there = {Path(one).name for one in names if Path(one).parent == Path(VENDORED)}
        if differing := there ^ wanted:
            raise SystemExit(f"{name}: {VENDORED} and its README.md differ: {', '.join(sorted(differing))}.")
        print(f"{name}: {len(packages)} scripts, licences of {', '.join(sorted(stems))}")


def demo(wheel: Path, away: Path) -> None:
    """Run the demo as a user would who has only uv."""
    away.mkdir()
    # Nothing of this user's configuration; what uv needs to reach an index stays.
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("TERP_", "XDG_"))}
    environ = {**kept, "HOME": str(away), "UV_CACHE_DIR": uv_cache()}
    run("uvx", "--from", f"{wheel}[demo]", "terp", "demo", cwd=away, environ=environ)
    if not list(away.glob("terp-demo/**/*.png")):
        raise SystemExit("terp demo left no PNG.")


def tested(python: str, resolution: str, away: Path, tests: Sequence[str]) -> str:
    """Run the tests with this Python, and the newest or the oldest versions of all dependencies.

    A few that fail run once more alone, as in `.ci/run`.
    """
    step(f"tests with Python {python}, dependencies {resolution}")
    checkout, venv = away / "one", away / f"{python}-{resolution}"
    if not succeeds("uv", "venv", "--quiet", "--python", python, str(venv)):
        return MISSING
    program = str(venv / "bin/python")
    project = tomllib.loads((checkout / "pyproject.toml").read_text())["project"]
    everything = f"{checkout}[{','.join(project['optional-dependencies'])}]"
    install = ("uv", "pip", "install", "--quiet", "--resolution", resolution, "--python", program)
    pytest = (program, "-m", "pytest", "-q", "-n", "logical", "--dist", "worksteal")
    if not succeeds(*install, "-e", everything):
        return FAILED
    ended = subprocess.run([*pytest, "--cache-clear", *tests], cwd=checkout, check=False).returncode
    if ended == 0:
        return PASSED
    # 1 is that tests failed. Anything else is a run that was not whole.
    again = ended == 1 and succeeds(program, ".ci/failed_alone.py", cwd=checkout)
    return ALONE if again else FAILED


def uv_cache() -> str:
    """Return the folder in which uv keeps what it has downloaded."""
    found = subprocess.run(["uv", "cache", "dir"], check=True, capture_output=True, text=True)
    return found.stdout.strip()


def step(what: str) -> None:
    """Write a heading."""
    print(f"\n== {what}", flush=True)


def run(*command: str, cwd: Path | None = None, environ: dict[str, str] | None = None) -> None:
    """Run a command; end if it fails."""
    if not succeeds(*command, cwd=cwd, environ=environ):
        raise SystemExit(f"release-check: failed: {' '.join(command)}")


def succeeds(*command: str, cwd: Path | None = None, environ: dict[str, str] | None = None) -> bool:
    """Run a command; return True if its exit code is 0."""
    return subprocess.run(command, cwd=cwd, env=environ, check=False).returncode == 0


if __name__ == "__main__":
    # uv and twine come with the development environment.
    os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    if not shutil.which("uv"):
        raise SystemExit("release-check needs uv: make .venv/.dev installs it.")
    sys.exit(main(sys.argv[1:]))
