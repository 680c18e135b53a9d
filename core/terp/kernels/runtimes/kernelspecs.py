"""Other kernels that are installed for Jupyter, found by their kernelspecs without importing Jupyter."""

import json
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from terp.kernels.jupyter.launch import Launch
from terp.kernels.runtimes.runtime import Machine, Runtime
from terp.text.dataclasses import dataclass, field
from terp.text.languages import language_of

if TYPE_CHECKING:
    from terp.kernels.jupyter.kernel import JupyterKernel
    from terp.kernels.jupyter.local import LocalKernels

# Programs, by file name, that cannot use sockets in a directory.
_ONLY_TCP = ("deno", "tslab", "ijskernel", "ijsnotebook")


@dataclass(frozen=True, slots=True)
class Spec:
    """A kernelspec: the name of its folder, its language in lower case, and its command line."""

    name: str
    language: str
    argv: tuple[str, ...]
    folder: str
    environment: Mapping[str, str] = field(default_factory=dict)
    interrupt_by: Literal["signal", "message"] = "signal"


def runtimes(machine: Machine, taken: Sequence[str]) -> Sequence[Runtime]:
    """Return a row for each kernelspec whose language is not `taken` by a better row.

    The row has the name of the language; a second one for the same language has the kernelspec's own name.
    """
    rows: list[Runtime] = []
    names = list(taken)
    for spec in find_specs(machine):
        if language_of(spec.language, taken):
            continue
        name = next((name for name in (spec.language, spec.name) if not language_of(name, names)), "")
        if name:
            names.append(name)
            rows.append(_runtime(name, spec))
    return rows


def find_specs(machine: Machine) -> Sequence[Spec]:
    """Return the kernelspecs of this user and this machine, in Jupyter's order; none of a project's."""
    specs: dict[str, Spec] = {}
    for folder in spec_folders(machine.environ):
        try:
            paths = sorted(path for path in folder.iterdir())
        except OSError:
            continue
        for path in paths:
            spec = _read(path)
            if spec is not None:
                specs.setdefault(spec.name, spec)
    return tuple(specs.values())


def spec_folders(environ: Mapping[str, str]) -> Iterator[Path]:
    """Yield Jupyter's folders of kernelspecs, without relative paths and inactive environments."""
    active = (environ.get(name, "") for name in ("VIRTUAL_ENV", "CONDA_PREFIX"))
    folders = (
        *environ.get("JUPYTER_PATH", "").split(os.pathsep),
        own_data_folder(environ),
        *(f"{prefix}/share/jupyter" for prefix in active if prefix),
        "/usr/local/share/jupyter",
        "/usr/share/jupyter",
    )
    return (Path(folder, "kernels") for folder in dict.fromkeys(folders) if folder.startswith("/"))


def own_data_folder(environ: Mapping[str, str]) -> str:
    """Return the user's data folder of Jupyter."""
    home = Path(environ.get("HOME") or os.path.expanduser("~"))  # noqa: PTH111 - `Path.home` ignores `environ`
    user = home / "Library/Jupyter" if sys.platform == "darwin" else home / ".local/share/jupyter"
    data = environ.get("XDG_DATA_HOME", "")
    return environ.get("JUPYTER_DATA_DIR") or (f"{data}/jupyter" if data else str(user))


def spec_launch(spec: Spec, kernels: "LocalKernels") -> Launch:
    """Return the launch of the kernel of a kernelspec."""
    program = Machine(kernels.environ).which(spec.argv[0]) or spec.argv[0]
    arguments = (part.replace("{resource_dir}", spec.folder) for part in spec.argv[1:])
    environment = kernels.environment()
    return Launch(
        argv=(program, *arguments),
        cwd=kernels.cwd,
        environment=environment | _filled(spec.environment, environment),
        language=spec.language,
        why=f"the kernelspec {spec.name}",
        start_timeout_s=kernels.options.start_timeout_s,
        transport="tcp" if Path(program).name in _ONLY_TCP else "ipc",
        interrupt_by=spec.interrupt_by,
    )


def _read(path: Path) -> Spec | None:
    """Read the kernelspec in a folder; None if there is none, or one for Python."""
    try:
        content = json.loads((path / "kernel.json").read_text(encoding="utf-8"))
        argv = tuple(str(part) for part in content["argv"])
        language = str(content.get("language") or path.name).casefold()
        environment = {str(name): str(value) for name, value in (content.get("env") or {}).items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    if not argv or "{connection_file}" not in " ".join(argv) or language == "python":
        return None
    by: Literal["signal", "message"] = "message" if content.get("interrupt_mode") == "message" else "signal"
    return Spec(path.name.casefold(), language, argv, str(path), environment, by)


def _filled(own: Mapping[str, str], environment: Mapping[str, str]) -> dict[str, str]:
    """Return a spec's variables with `${NAME}` replaced, as Jupyter does."""
    filled = {}
    for name, value in own.items():
        for known, there in environment.items():
            value = value.replace(f"${{{known}}}", there)  # noqa: PLW2901
        filled[name] = value
    return filled


def _runtime(name: str, spec: Spec) -> Runtime:
    def find(machine: Machine) -> str:
        return f"the kernelspec {spec.name}" if machine.which(spec.argv[0]) else ""

    def make(kernels: "LocalKernels") -> "JupyterKernel":
        return kernels.jupyter(name, lambda _: spec_launch(spec, kernels), provisioned=True)

    return Runtime((name,), find, "", make, tells_variables=False)
