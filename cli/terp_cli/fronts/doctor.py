"""`terp doctor`: a report of the installation, its problems and their remedies."""

import asyncio
import importlib.metadata
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TextIO

from terp import __version__
from terp.errors import KernelStartFailed, SettingsError
from terp.kernels.environments.choosing import wanted_python
from terp.kernels.sandbox.confinement import confinement_of, options_of
from terp.kernels.sandbox.tiers import failure_of, failure_to_hold, tiers_here
from terp.models.adapters.discovery import local_servers, running_models
from terp.secrets.environment import find_python
from terp.secrets.keys import stored_keys
from terp.settings import Settings
from terp.settings.gateway import gateway_of
from terp.settings.installation import install_command
from terp.settings.places import Places
from terp.settings.project.standing import standing_of
from terp.settings.providers import PROVIDERS
from terp.text.dataclasses import dataclass
from terp_cli.fronts.invocation import Invocation
from terp_cli.render.fold import hanging
from terp_cli.render.pictures.drawer import choice_on
from terp_cli.terminal import tty
from terp_cli.terminal.sanitise import one_line

if TYPE_CHECKING:
    from terp.kernels.remote.kernels import GatewaySpec
    from terp.kernels.remote.rest import GatewayApi

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
    """One line of the report: a subject, its state, a fact, and a remedy where one is needed."""

    about: str
    state: State
    text: str
    remedy: str = ""


@dataclass(frozen=True)
class Diagnosis:
    """The subject of a report.

    For /doctor, `model` is the session's model and `attached` its kernels that terp did not start. `cwd` is
    the working directory ("": that of this process), `problems` are errors of the settings.
    """

    settings: Settings
    places: Places
    environ: Mapping[str, str]
    out: TextIO
    problems: tuple[str, ...] = ()
    model: str = ""
    cwd: str = ""
    attached: tuple[str, ...] = ()


def doctor(call: Invocation) -> int:
    """Write the report on this call (`terp doctor`); return the exit code."""
    problems: tuple[str, ...] = ()
    try:
        settings = call.settings()
    except SettingsError as error:
        settings, problems = Settings(), error.problems
    return report(
        Diagnosis(settings, call.places, call.environ, call.out, problems, cwd=str(call.options.cwd))
    )


def report(diagnosis: Diagnosis) -> int:
    """Write a line for each finding as it is made; return 1 if one is wrong, else 0."""
    wrong = 0
    for line in report_lines(diagnosis):
        wrong += line.startswith("!")
        diagnosis.out.writelines(f"{row}\n" for row in _rows(line, diagnosis.out))
        diagnosis.out.flush()
    return 1 if wrong else 0


def report_lines(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield the lines of the report, each as it is known; those of problems begin with "!"."""
    wrong = 0
    for check in _CHECKS:
        for finding in check(diagnosis):
            wrong += finding.state == "wrong"
            mark = {"ok": " ", "note": "-", "wrong": "!"}[finding.state]
            yield f"{mark} {finding.about:<9} {one_line(finding.text)}"
            if finding.remedy:
                yield f"  {'':<9} → {one_line(finding.remedy)}"
    yield ""
    yield (
        f"{wrong} to repair, marked !" if wrong else "Nothing to repair. Lines marked - are worth knowing."
    )


def _rows(line: str, out: TextIO) -> list[str]:
    """Break a line between words at the width of a terminal; leave it whole for files and pipes."""
    if not out.isatty():
        return [line]
    return [row.plain for row in hanging(line, tty.size_of(out)[0])]


def _python(_: Diagnosis) -> Iterator[Finding]:
    version = "{}.{}.{}".format(*sys.version_info)
    yield Finding("terp", "ok", f"{__version__}, on Python {version}, {sys.executable}")


def _packages(_: Diagnosis) -> Iterator[Finding]:
    versions = {name: _version(name) for name in _OURS}
    if present := [f"{name} {version}" for name, version in versions.items() if version]:
        yield Finding("packages", "ok", ", ".join(present))
    for name in (name for name, version in versions.items() if not version):
        yield Finding("packages", "wrong", f"{name} is not installed.", install_command(name))
    if versions["litellm"].startswith(_BROKEN_LITELLM):
        text = f"litellm {versions['litellm']} cannot pass tools to a model."
        yield Finding("packages", "wrong", text, install_command("litellm<1.106"))


def _attached(diagnosis: Diagnosis) -> Iterator[Finding]:
    for place in diagnosis.attached:
        text = f"code of this session runs in {place}, which terp neither sandboxes nor restarts nor stops."
        yield Finding("kernel", "note", text, "/attach own starts a kernel of terp's own.")
    if diagnosis.settings.attach and not diagnosis.attached:
        text = f"sessions run in a kernel that terp did not start: attach is {diagnosis.settings.attach}"
        yield Finding("kernel", "note", f"{text} ({diagnosis.settings.origin('attach')}).")


def _provisioner(diagnosis: Diagnosis) -> Iterator[Finding]:
    name = diagnosis.settings.kernel_provisioner
    if not name:
        return
    installed = importlib.metadata.entry_points(group="jupyter_client.kernel_provisioners").names
    if name in installed:
        text = f"the provisioner {name} starts kernels of Python and of kernelspecs."
        yield Finding("kernel", "note", f"{text} terp sandboxes none of them.")
    else:
        remedy = f"install its package into {sys.executable}; installed: {', '.join(sorted(installed))}"
        yield Finding("kernel", "wrong", f"there is no kernel provisioner '{name}'.", remedy)


def _kernel(diagnosis: Diagnosis) -> Iterator[Finding]:
    if diagnosis.settings.gateway_url:
        yield from _gateway(diagnosis)
        return
    chosen = find_python(diagnosis.settings.python, diagnosis.environ)
    try:
        found = _probe(chosen.path)
    except (OSError, subprocess.SubprocessError, ValueError) as error:
        text = f"{chosen.path} ({chosen.why}) does not run: {error}"
        yield Finding("kernel", "wrong", text, "name a Python that runs with --python, or leave it out.")
        return
    yield Finding("kernel", "ok", f"Python {found['python']}, {chosen.path} ({chosen.why})")
    if not found["ipykernel"]:
        text = (
            "ipykernel is not installed there: terp uses its own ipykernel, or asks before it installs one."
        )
        yield Finding("kernel", "note", text, f"{chosen.path} -m pip install ipykernel")
    yield from _project(diagnosis)
    data = [f"{name} {found[name]}" for name in _DATA if found[name]]
    yield Finding("kernel", "ok", f"data packages: {', '.join(data) or 'none'}")
    if not (found["pandas"] and found["matplotlib"]):
        remedy = f"{chosen.path} -m pip install pandas matplotlib"
        yield Finding(
            "kernel", "note", "models often use pandas and matplotlib, and terp demo needs them.", remedy
        )


def _gateway(diagnosis: Diagnosis) -> Iterator[Finding]:
    """Findings on the Jupyter gateway of the settings; asks it for its kernelspecs."""
    from terp.kernels.remote.rest import GatewayApi  # noqa: PLC0415  (most code runs here)

    settings = diagnosis.settings
    try:
        gateway = gateway_of(settings, diagnosis.environ)
        assert gateway is not None, "the settings name a gateway"
        specs = asyncio.run(_specs_at(GatewayApi(gateway)))
    except SettingsError as error:
        yield from (Finding("gateway", "wrong", problem) for problem in error.problems)
        return
    except KernelStartFailed as error:
        yield Finding("gateway", "wrong", error.message, error.remedy)
        return
    token = f"the token of {gateway.token.origin}" if gateway.token.value else "no token"
    text = f"code runs at {gateway.host} ({settings.origin('gateway_url')}), with {token}"
    yield Finding("gateway", "ok", text)
    named = [f"{spec.name} ({spec.language})" for spec in specs]
    yield Finding("gateway", "ok", f"kernelspecs there: {', '.join(named) or 'none'}")
    if gateway.is_open_to_readers:
        text = "the token and the code are sent unencrypted: the network between can read both."
        remedy = "use its https:// address, or a tunnel: ssh -L 8888:localhost:8888 HOST"
        yield Finding("gateway", "note", text, remedy)


async def _specs_at(api: "GatewayApi") -> "Sequence[GatewaySpec]":
    try:
        return await api.specs()
    finally:
        await api.aclose()


def _project(diagnosis: Diagnosis) -> Iterator[Finding]:
    wanted = wanted_python(diagnosis.settings.python, diagnosis.environ, diagnosis.cwd or str(Path.cwd()))
    if wanted is None or not wanted.folder:
        return
    standing = standing_of(diagnosis.cwd or Path.cwd(), diagnosis.environ, diagnosis.places)
    does, is_ = ("runs", "is") if standing.state == "yes" else ("does not run", "is not")
    text = f"{wanted.name} of this project {does} the code: the project {is_} trusted (terp trust)."
    yield Finding("kernel", "ok", text)


_NOT_HELD = (
    "effects of code cannot be held here: approve: effect asks before code runs, as approve: before does."
)


def _sandbox(diagnosis: Diagnosis) -> Iterator[Finding]:
    wish = options_of(diagnosis.settings)
    found = tiers_here(wish, diagnosis.environ)
    problems = {tier.name: failure_of(tier, network=wish.network) for tier in found if tier.name != "docker"}
    for tier in found:
        problem = problems.get(tier.name, "")
        text = f"{tier.name} does not work here: {problem}." if problem else f"{tier.name} works here."
        yield Finding("sandbox", "note" if problem else "ok", text)
    confinement = confinement_of(diagnosis.settings, diagnosis.cwd or Path.cwd(), diagnosis.environ)
    if confinement.warning:
        remedy = "apt install bubblewrap, or run terp in a container." if confinement.missing else ""
        yield Finding("sandbox", "wrong" if wish.required else "note", confinement.warning, remedy)
    held = " and ".join(
        tier.name for tier in found if tier.can_hold and not problems[tier.name] and not failure_to_hold(tier)
    )
    text = f"effects of code can be held in {held} (approve: effect)." if held else _NOT_HELD
    yield Finding("sandbox", "ok" if held else "note", text)
    when = ", which sandboxes code that runs unasked" if wish.mode == "auto" else ""
    text = f"the next kernel has the tier {confinement.what}: sandbox is {wish.mode}{when}."
    yield Finding("sandbox", "ok", text)


def _terminal(diagnosis: Diagnosis) -> Iterator[Finding]:
    environ = diagnosis.environ
    kind = environ.get("TERM", "") or "unknown"
    dull = bool(environ.get("NO_COLOR")) or kind in ("dumb", "unknown")
    rich = environ.get("COLORTERM", "") in ("truecolor", "24bit")
    colours = (
        "no colours" if dull else "all colours" if rich else "256 colours" if "256" in kind else "16 colours"
    )
    encoding = (getattr(diagnosis.out, "encoding", "") or "").upper()
    where = "a terminal" if diagnosis.out.isatty() else "not a terminal"
    images = _images(diagnosis)
    yield Finding("terminal", "ok", f"stdout is {where}, {kind}, {colours}, {encoding}, images: {images}")
    if "UTF" not in encoding:
        text = f"the locale's encoding is {encoding}: characters it lacks are written as escapes."
        yield Finding("terminal", "note", text, "export LC_ALL=C.UTF-8")


def _images(diagnosis: Diagnosis) -> str:
    choice = choice_on(diagnosis.out, diagnosis.settings.images, diagnosis.environ)
    way = choice().way if choice else "off"
    # The prompt of a session queries the terminal itself, and may find a better way.
    return {"off": "none, so pictures are shown as paths", "blocks": "blocks of colour"}.get(way, way)


def _models(diagnosis: Diagnosis) -> Iterator[Finding]:
    settings, environ = diagnosis.settings, diagnosis.environ
    if diagnosis.model:
        yield Finding("model", "ok", f"{diagnosis.model} (this session)")
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
        kept = tuple(stored_keys(diagnosis.places).places())
    except SettingsError as error:
        yield Finding("model", "wrong", error.problems[0])
    if kept:
        yield Finding("model", "ok", f"keys stored by terp keys: {', '.join(kept)}")
    local = asyncio.run(running_models(local_servers(environ)))
    found = [f"{one.model} ({one.why})" for one in local]
    yield Finding("model", "ok", f"models on this machine: {', '.join(found) or 'none'}")
    if not (diagnosis.model or settings.model or settings.api_base or keys or kept or local):
        text = "no model is configured; terp demo works without one."
        yield Finding("model", "wrong", text, "terp keys set openai (or another), or start a local server.")


def _places(diagnosis: Diagnosis) -> Iterator[Finding]:
    places = diagnosis.places
    yield _place("config", places.config)
    if not places.config_file.exists():
        yield Finding("config", "ok", f"{places.config_file} does not exist, and is not needed")
    for problem in diagnosis.problems:
        yield Finding("config", "wrong", problem)
    yield _place("state", places.state)
    for path in (places.sessions, places.history):
        if path.exists() and (mode := _mode(path)) & 0o077:
            text = f"{path} ({mode:04o}) can be read by other users."
            yield Finding("state", "wrong", text, f"chmod go= {path}")


def _place(name: str, path: Path) -> Finding:
    above = next((one for one in (path, *path.parents) if one.exists()), path)
    if not os.access(above, os.W_OK | os.X_OK):
        return Finding(name, "wrong", f"{path} cannot be written.", "set TERP_HOME to a directory of yours.")
    return Finding(name, "ok", f"{path} ({f'{_mode(path):04o}' if path.exists() else 'created when needed'})")


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _version(name: str) -> str:
    try:
        return importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _probe(python: str) -> dict[str, str]:
    command = [python, "-c", _PROBE, "ipykernel", *_DATA]
    text = subprocess.run(command, capture_output=True, text=True, timeout=_PROBE_S, check=True).stdout
    return {str(name): str(value) for name, value in json.loads(text).items()}


_CHECKS: tuple[Callable[[Diagnosis], Iterable[Finding]], ...] = (
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
