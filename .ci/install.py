"""Install terp with extras: `install.py demo dev` links this checkout, `install.py terp.whl demo` a wheel.

With a constraints.txt, every file that is installed must have a hash that stands there. pip accepts
hashes for a list that is pinned and complete only, and never for an editable project, hence three steps:
ask pip which packages the extras need, install those from the locked list, then terp alone.
"""

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CONSTRAINTS = ROOT / "constraints.txt"


def pip(*arguments: str) -> None:
    """Run pip in this Python's environment; end with its code when it fails."""
    ended = subprocess.run([sys.executable, "-m", "pip", "install", "-qq", *arguments], cwd=ROOT, check=False)
    if ended.returncode:
        sys.exit(ended.returncode)


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


def install_locked(requirements: list[str], folder: Path) -> None:
    """Install the requirements and all they need, each from a file whose hash is known."""
    locked = entries(CONSTRAINTS.read_text())
    versions, report, chosen = folder / "versions.txt", folder / "report.json", folder / "chosen.txt"
    versions.write_text("\n".join(line.split(" --hash=")[0] for line in locked))
    pip("--dry-run", "--ignore-installed", "--report", str(report), "-c", str(versions), *requirements)
    needed = {name(found["metadata"]["name"]) for found in json.loads(report.read_text())["install"]}
    if missing := needed - {name(line) for line in locked}:
        sys.exit(f"constraints.txt is older than pyproject.toml: it lacks {', '.join(sorted(missing))}.")
    chosen.write_text("\n".join(line for line in locked if name(line) in needed))
    print(f"{len(needed)} packages, each checked against its hash in constraints.txt", flush=True)
    pip("--require-hashes", "--no-deps", "-r", str(chosen))


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
        install_locked(wanted(extras), Path(folder))
    pip("--no-deps", *terp)


if __name__ == "__main__":
    main()
