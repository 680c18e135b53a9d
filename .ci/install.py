"""Install terp with extras: `install.py demo dev` links this checkout, `install.py terp.whl demo` a wheel.

With a constraints.txt, every file that is installed must have a hash that stands there. Hashes are accepted
for a list that is pinned and complete only, and never for an editable project, hence three steps: ask which
packages the extras need, install those from the locked list, then terp alone. uv does them, which pip
fetches by its hash first: it takes a tenth of pip's time.
"""

import os
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"
# What uv calls the settings of pip that say where packages are.
PLACES = {"index-url": "--default-index", "extra-index-url": "--index", "find-links": "--find-links"}


def run(*arguments: str, environ: Mapping[str, str] = os.environ) -> str:
    """What this Python's module prints; when it fails, this program ends with its code."""
    command = [sys.executable, "-m", *arguments]
    ended = subprocess.run(command, cwd=ROOT, env=environ, stdout=subprocess.PIPE, text=True, check=False)
    if ended.returncode:
        sys.exit(ended.returncode)
    return ended.stdout


def pip(*arguments: str) -> None:
    """Run pip in this Python's environment."""
    run("pip", "install", "-qq", *arguments)


def settings_of_pip(listed: str) -> dict[str, str]:
    """What `pip config list` printed, by name; a variable of the environment comes before a file."""
    found = re.findall(r"^([\w:]+)\.([\w-]+)='(.*)'$", listed, re.MULTILINE)
    return {name: value for _, name, value in sorted(found, key=lambda one: one[0] == ":env:")}


def places(settings: Mapping[str, str]) -> list[str]:
    """The flags that have uv, which does not read pip's settings, look for packages where pip does."""
    return [
        part
        for name, flag in PLACES.items()
        for place in settings.get(name, "").replace(r"\n", " ").split()
        for part in (flag, place)
    ]


def uv(settings: Mapping[str, str], command: str, *arguments: str) -> str:
    """What a command of `uv pip` prints, with the packages and certificates that pip would take."""
    trusted = {"SSL_CERT_FILE": settings["cert"]} if "cert" in settings else {}
    # As pip chooses among indexes: what is chosen has a hash.
    as_pip = ("--python", sys.executable, "--index-strategy", "unsafe-best-match", *places(settings))
    return run("uv", "pip", command, "-q", *as_pip, *arguments, environ={**trusted, **os.environ})


def wanted(extras: list[str]) -> list[str]:
    """The requirements in pyproject.toml of terp itself and of the extras."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    optional = [line for extra in extras for line in project["optional-dependencies"][extra]]
    return [*project["dependencies"], *optional]


def entries(text: str) -> list[str]:
    """The requirements of a locked list, each with its marker and its hashes."""
    joined = re.sub(r"\\\n\s*", "", text)
    return [line for line in joined.splitlines() if line and not line.startswith(("#", " ", "-"))]


def name(requirement: str) -> str:
    """The normalised name of a package (PyPA, "Name normalization")."""
    return re.sub(r"[-_.]+", "-", re.split(r"[\s=<>!~;\[@]", requirement, maxsplit=1)[0]).lower()


def install_locked(requirements: list[str], terp: list[str], folder: Path) -> None:
    """Install the requirements and all they need, each from a file whose hash is known, and then terp."""
    locked = entries(CONSTRAINTS.read_text())
    asked, versions, chosen = (folder / name for name in ("asked.in", "versions.txt", "chosen.txt"))
    chosen.write_text("\n".join(line for line in locked if name(line) == "uv"))
    pip("--require-hashes", "--no-deps", "-r", str(chosen))
    settings = settings_of_pip(run("pip", "config", "list"))
    asked.write_text("\n".join(requirements))
    versions.write_text("\n".join(line.split(" --hash=")[0] for line in locked))
    found = uv(settings, "compile", "--no-header", "--no-annotate", "-c", str(versions), str(asked))
    needed = {name(line) for line in entries(found)}
    if missing := needed - {name(line) for line in locked}:
        sys.exit(f"constraints.txt is older than pyproject.toml: it lacks {', '.join(sorted(missing))}.")
    chosen.write_text("\n".join(line for line in locked if name(line) in needed))
    print(f"{len(needed)} packages, each checked against its hash in constraints.txt", flush=True)
    uv(settings, "install", "--compile-bytecode", "--require-hashes", "--no-deps", "-r", str(chosen))
    uv(settings, "install", "--no-deps", *terp)


def main() -> None:
    """Install, saying what takes the time."""
    wheels = [word for word in sys.argv[1:] if word.endswith(".whl")]
    extras = [word for word in sys.argv[1:] if word not in wheels]
    terp = wheels or ["--editable", "."]
    print(f"Installing terp[{','.join(extras)}]: this takes a minute or two", flush=True)
    if not CONSTRAINTS.exists():
        pip(*terp, *wanted(extras))
        return
    with tempfile.TemporaryDirectory() as folder:
        install_locked(wanted(extras), terp, Path(folder))


if __name__ == "__main__":
    main()
