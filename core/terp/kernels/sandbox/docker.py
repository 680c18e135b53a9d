"""Docker: the code runs in a container. Needs a daemon that answers."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path

import terp
from terp.kernels.sandbox.policy import Policy
from terp.kernels.sandbox.tier import ProcessCommand, Tier
from terp.text.dataclasses import dataclass, field

IMAGE = "quay.io/jupyter/minimal-notebook"
"""Jupyter's own image with Python, ipykernel and a shell."""

_MEMORY_MB, _PROCESSES, _CPUS = 4096, 512, 2
_ANSWER_S = 5.0
_CLIENT = ("PATH", "HOME", "DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_CERT_PATH")


@dataclass(frozen=True, slots=True)
class Docker(Tier):
    """The tier of Docker with the client at `path`; `image` has Python with ipykernel.

    Of this machine's files the container sees only the project, the session's outputs and terp.
    """

    name: str = "docker"
    stands_between: bool = True
    image: str = IMAGE
    client: Mapping[str, str] = field(default_factory=dict)

    def refuses(self, command: ProcessCommand, policy: Policy) -> str:
        """Refuse TCP: ports of a container are not reachable from outside."""
        return (
            "It listens on TCP ports, which cannot be reached in a container."
            if command.transport == "tcp"
            else ""
        )

    def wrap(self, command: ProcessCommand, policy: Policy) -> ProcessCommand:
        """Return the command in a container that is removed when it ends."""
        return ProcessCommand(
            tuple(self._argv(command, policy)),
            {**_kept(command.environment), **self.client},
            command.cwd,
            command.directory,
            command.transport,
            # A client that is killed leaves its container running.
            (self.path, "rm", "--force", command.directory.name),
        )

    def _argv(self, command: ProcessCommand, policy: Policy) -> Iterator[str]:
        own = os.path.realpath(command.directory)
        limits = policy.limits
        yield from (self.path, "run", "--rm", "--init", "--name", command.directory.name)
        yield from ("--memory", f"{limits.memory_mb or _MEMORY_MB}m", "--cpus", str(_CPUS))
        yield from ("--pids-limit", str(limits.processes or _PROCESSES))
        if limits.file_mb:
            yield from ("--ulimit", f"fsize={limits.file_mb << 20}")
        yield from ("--user", f"{os.getuid()}:{os.getgid()}")
        yield from ("--network", "bridge" if policy.network else "none")
        yield from ("--cap-drop", "ALL", "--security-opt", "no-new-privileges")
        # The same paths inside and outside: paths in the code's output are valid.
        yield from ("--workdir", policy.cwd)
        for path in (*policy.writable, own):
            yield from ("--volume", f"{path}:{path}")
        for path in (*policy.read_only, *policy.given):
            if Path(path).exists():
                yield from ("--volume", f"{path}:{path}:ro")
        package = str(Path(terp.__file__).parent)
        yield from ("--volume", f"{package}:{package}:ro")
        # Values stay out of the command line, which others can read.
        for name in _kept(command.environment):
            yield from ("--env", name)
        yield from (self.image, "python3", *command.argv[1:])


def find_docker(environ: Mapping[str, str], image: str = IMAGE) -> Docker | None:
    """Return Docker if its client is installed and a daemon answers."""
    path = shutil.which("docker", path=environ.get("PATH", os.defpath))
    client = {name: environ[name] for name in _CLIENT if name in environ}
    if not path or not _answers(path, client):
        return None
    return Docker(path, image=image, client=client)


def _answers(path: str, client: Mapping[str, str]) -> bool:
    asked = (path, "version", "--format", "{{.Server.Version}}")
    try:
        done = subprocess.run(asked, env=client, capture_output=True, timeout=_ANSWER_S, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return done.returncode == 0 and bool(done.stdout.strip())


def _kept(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that are valid in a container."""
    foreign = ("PATH", "HOME", "VIRTUAL_ENV", "SHELL", "LD_LIBRARY_PATH", "TMPDIR", "JPY_PARENT_PID")
    return {
        name: value
        for name, value in environment.items()
        if name not in foreign and not name.startswith(("CONDA_", "XDG_", "PYTHONPATH"))
    }
