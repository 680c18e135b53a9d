"""`terp doctor`: what is here, what is wrong, and what to do about it."""

import asyncio
import importlib.metadata
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TextIO

from terp import __version__
from terp.errors import SettingsError
from terp.kernels.environments.choosing import wanted_python
from terp.kernels.sandbox.canary import holds
from terp.kernels.sandbox.confinement import tiers_here
from terp.kernels.sandbox.wishes import confinement_of, wish_of
from terp.models.adapters.discovery import local_servers, running_models
from terp.secrets.environment import find_python
from terp.secrets.keys import stored_keys
from terp.settings import Settings
from terp.settings.places import Places
from terp.settings.project.standing import standing_of
from terp.settings.providers import PROVIDERS
from terp_cli.render.fold import hanging
from terp_cli.render.pictures.drawer import choice_on
from terp_cli.terminal import tty
from terp_cli.terminal.sanitise import one_line

State = Literal["ok", "note", "wrong"]

_OURS = ("litellm", "jupyter_client", "ipykernel", "httpx", "jiter", "pyyaml", "prompt_toolkit", "rich")
_DATA = ("numpy", "pandas", "matplotlib", "scipy", "scikit-learn", "polars", "pillow", "openpyxl")
# These releases cannot pass a tool to a model (`No module named 'mcp'`).
_BROKEN_LITELLM = ("1.106.", "1.107.", "1.108.0", "1.108.1", "1.108.2", "1.108.3")
# Nothing may be imported from the working directory, which `-c` puts first.
_PROBE = """
import sys
sys.path[:] = [one for one in sys.path if one]
import importlib.metadata as m, json
def version(name):
    try:
        return m.version(name)
    except m.PackageNotFoundError:
        return ""
print(json.dumps({"python": "%d.%d.%d" % sys.version_info[:3], **{n: version(n) for n in sys.argv[1:]}}))
"""
_PROBE_S = 20.0


@dataclass(frozen=True)
class Finding:
    """One line of the report: about what, how it is, and what can be done when it is not well."""

    about: str
    state: State
    text: str
    remedy: str = ""


@dataclass(frozen=True)
class Patient:
    """What is looked at; `model` is the one that answers in the session that asks, if one does.

    `cwd` is the working directory ("": that of this process), `attached` are kernels of somebody else in
    which the code of that session runs.
    """

    settings: Settings
    places: Places
    environ: Mapping[str, str]
    out: TextIO
    problems: tuple[str, ...] = ()
    model: str = ""
    cwd: str = ""
    attached: tuple[str, ...] = ()


def report(patient: Patient) -> int:
    """Write a line for each finding as it is made; 0 when nothing is wrong, else 1."""
    wrong = 0
    for line in told(patient):
        wrong += line.startswith("!")
        patient.out.writelines(f"{row}\n" for row in _rows(line, patient.out))
        patient.out.flush()
    return 1 if wrong else 0


def told(patient: Patient) -> Iterator[str]:
    """The lines of the report, each as it is known; those of what is wrong begin with an exclamation mark."""
    wrong = 0
    for check in _CHECKS:
        for finding in check(patient):
            wrong += finding.state == "wrong"
            mark = {"ok": " ", "note": "-", "wrong": "!"}[finding.state]
            yield f"{mark} {finding.about:<9} {one_line(finding.text)}"
            if finding.remedy:
                yield f"  {'':<9} → {one_line(finding.remedy)}"
    yield ""
    yield (
        f"{wrong} to repair, marked !" if wrong else "Nothing to repair. What is marked - is worth knowing."
    )


def _rows(line: str, out: TextIO) -> list[str]:
    """A line of the report as a terminal takes it, broken between words; files and pipes get it whole."""
    if not out.isatty():
        return [line]
    return [row.plain for row in hanging(line, tty.size_of(out)[0])]


def _python(_: Patient) -> Iterator[Finding]:
    version = "{}.{}.{}".format(*sys.version_info)
    yield Finding("terp", "ok", f"{__version__}, on Python {version}, {sys.executable}")


def _packages(_: Patient) -> Iterator[Finding]:
    versions = {name: _version(name) for name in _OURS}
    if present := [f"{name} {version}" for name, version in versions.items() if version]:
        yield Finding("packages", "ok", ", ".join(present))
    for name in (name for name, version in versions.items() if not version):
        yield Finding(
            "packages", "wrong", f"{name} is not installed.", f"{sys.executable} -m pip install {name}"
        )
    if versions["litellm"].startswith(_BROKEN_LITELLM):
        told = f"litellm {versions['litellm']} cannot pass tools to a model."
        yield Finding("packages", "wrong", told, f"{sys.executable} -m pip install 'litellm<1.106'")


def _attached(patient: Patient) -> Iterator[Finding]:
    for place in patient.attached:
        told = f"code of this session runs in {place}, which terp neither confines nor restarts nor ends."
        yield Finding("kernel", "note", told, "/attach own takes a kernel of terp's own.")
    if patient.settings.attach and not patient.attached:
        told = f"sessions run in a kernel of somebody else: attach is {patient.settings.attach}"
        yield Finding("kernel", "note", f"{told} ({patient.settings.origin('attach')}).")


def _provisioner(patient: Patient) -> Iterator[Finding]:
    name = patient.settings.kernel_provisioner
    if not name:
        return
    installed = importlib.metadata.entry_points(group="jupyter_client.kernel_provisioners").names
    if name in installed:
        told = f"the provisioner {name} starts kernels of Python and of kernelspecs."
        yield Finding("kernel", "note", f"{told} terp confines none of them.")
    else:
        remedy = f"install what brings it into {sys.executable}; there are: {', '.join(sorted(installed))}"
        yield Finding("kernel", "wrong", f"there is no kernel provisioner '{name}'.", remedy)


def _kernel(patient: Patient) -> Iterator[Finding]:
    if patient.settings.gateway_url:
        from terp_cli.fronts.gateway_findings import gateway_findings  # noqa: PLC0415  (most code runs here)

        for state, text, remedy in gateway_findings(patient.settings, patient.environ):
            yield Finding("gateway", state, text, remedy)
        return
    chosen = find_python(patient.settings.python, patient.environ)
    try:
        found = _probe(chosen.path)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        told = f"{chosen.path} ({chosen.why}) does not run: {error}"
        yield Finding("kernel", "wrong", told, "name a Python that runs with --python, or leave it out.")
        return
    yield Finding("kernel", "ok", f"Python {found['python']}, {chosen.path} ({chosen.why})")
    if not found["ipykernel"]:
        told = "ipykernel is not installed there: terp's is used beside it, or you are asked to install it."
        yield Finding("kernel", "note", told, f"{chosen.path} -m pip install ipykernel")
    yield from _project(patient)
    data = [f"{name} {found[name]}" for name in _DATA if found[name]]
    yield Finding("kernel", "ok", f"data packages: {', '.join(data) or 'none'}")
    if not (found["pandas"] and found["matplotlib"]):
        remedy = f"{chosen.path} -m pip install pandas matplotlib"
        yield Finding(
            "kernel", "note", "models like to use pandas and matplotlib, and terp demo needs them.", remedy
        )


def _project(patient: Patient) -> Iterator[Finding]:
    wanted = wanted_python(patient.settings.python, patient.environ, patient.cwd or str(Path.cwd()))
    if wanted is None or not wanted.folder:
        return
    standing = standing_of(patient.cwd or Path.cwd(), patient.environ, patient.places)
    does, is_ = ("runs", "is") if standing.state == "yes" else ("does not run", "is not")
    told = f"{wanted.name} of this project {does} the code: the project {is_} trusted (terp trust)."
    yield Finding("kernel", "ok", told)


def _sandbox(patient: Patient) -> Iterator[Finding]:
    wish = wish_of(patient.settings)
    found = tiers_here(wish, patient.environ)
    problems = {tier.name: holds(tier, network=wish.network) for tier in found if tier.name != "docker"}
    for tier in found:
        problem = problems.get(tier.name, "")
        told = f"{tier.name} does not hold here: {problem}." if problem else f"{tier.name} holds code here."
        yield Finding("sandbox", "note" if problem else "ok", told)
    confinement = confinement_of(patient.settings, patient.cwd or Path.cwd(), patient.environ)
    if confinement.warning:
        remedy = "apt install bubblewrap, or run terp in a container." if confinement.missing else ""
        yield Finding("sandbox", "wrong" if wish.required else "note", confinement.warning, remedy)
    when = ", which confines code that runs unasked" if wish.mode == "auto" else ""
    told = f"the next kernel has the tier {confinement.what}: sandbox is {wish.mode}{when}."
    yield Finding("sandbox", "ok", told)


def _terminal(patient: Patient) -> Iterator[Finding]:
    environ = patient.environ
    kind = environ.get("TERM", "") or "unknown"
    dull = bool(environ.get("NO_COLOR")) or kind in ("dumb", "unknown")
    rich = environ.get("COLORTERM", "") in ("truecolor", "24bit")
    colours = (
        "no colours" if dull else "all colours" if rich else "256 colours" if "256" in kind else "16 colours"
    )
    encoding = (getattr(patient.out, "encoding", "") or "").upper()
    where = "a terminal" if patient.out.isatty() else "not a terminal"
    images = _images(patient)
    yield Finding("terminal", "ok", f"stdout is {where}, {kind}, {colours}, {encoding}, images: {images}")
    if "UTF" not in encoding:
        told = f"the locale's encoding is {encoding}: characters it lacks are written as escapes."
        yield Finding("terminal", "note", told, "export LC_ALL=C.UTF-8")


def _images(patient: Patient) -> str:
    choice = choice_on(patient.out, patient.settings.images, patient.environ)
    way = choice().way if choice else "off"
    # The prompt of a session asks the terminal itself, and may learn of a better way.
    return {"off": "none, so pictures are shown as paths", "blocks": "blocks of colour"}.get(way, way)


def _models(patient: Patient) -> Iterator[Finding]:
    settings, environ = patient.settings, patient.environ
    if patient.model:
        yield Finding("model", "ok", f"{patient.model} (this session)")
    elif settings.model:
        yield Finding("model", "ok", f"{settings.model} ({settings.origin('model')})")
    elif settings.api_base:
        yield Finding(
            "model", "ok", f"the one that {settings.api_base} lists ({settings.origin('api_base')})"
        )
    named = dict.fromkeys(name for provider in PROVIDERS.values() for name in provider.key_envs)
    keys = [name for name in (*named, settings.api_key_env) if name and environ.get(name)]
    yield Finding("model", "ok", f"keys in the environment: {', '.join(keys) or 'none'}")
    kept: tuple[str, ...] = ()
    try:
        kept = tuple(stored_keys(patient.places).places())
    except SettingsError as error:
        yield Finding("model", "wrong", error.problems[0])
    if kept:
        yield Finding("model", "ok", f"keys kept by terp keys: {', '.join(kept)}")
    local = asyncio.run(running_models(local_servers(environ)))
    found = [f"{one.model} ({one.why})" for one in local]
    yield Finding("model", "ok", f"models on this machine: {', '.join(found) or 'none'}")
    if not (patient.model or settings.model or settings.api_base or keys or kept or local):
        told = "no model can be asked; terp demo works without one."
        yield Finding("model", "wrong", told, "terp keys set openai (or another), or start a local server.")


def _places(patient: Patient) -> Iterator[Finding]:
    places = patient.places
    yield _place("config", places.config)
    if not places.config_file.exists():
        yield Finding("config", "ok", f"{places.config_file} is not there, and need not be")
    for problem in patient.problems:
        yield Finding("config", "wrong", problem)
    yield _place("state", places.state)
    for path in (places.sessions, places.history):
        if path.exists() and (mode := _mode(path)) & 0o077:
            told = f"{path} ({mode:04o}) can be read by other users."
            yield Finding("state", "wrong", told, f"chmod go= {path}")


def _place(name: str, path: Path) -> Finding:
    above = next((one for one in (path, *path.parents) if one.exists()), path)
    if not os.access(above, os.W_OK | os.X_OK):
        return Finding(name, "wrong", f"{path} cannot be written.", "set TERP_HOME to a directory of yours.")
    return Finding(name, "ok", f"{path} ({f'{_mode(path):04o}' if path.exists() else 'made when needed'})")


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _probe(python: str) -> dict[str, str]:
    command = [python, "-c", _PROBE, "ipykernel", *_DATA]
    told = subprocess.run(command, capture_output=True, text=True, timeout=_PROBE_S, check=True).stdout
    return {str(name): str(value) for name, value in json.loads(told).items()}


_CHECKS: tuple[Callable[[Patient], Iterable[Finding]], ...] = (
    _python,
    _packages,
    _attached,
    _provisioner,
    _kernel,
    _models,
    _sandbox,
    _terminal,
    _places,
)
