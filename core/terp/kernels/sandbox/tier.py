"""The base of all sandbox tiers, the tier without a sandbox, and the parts that tiers share."""

import json
import os
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import terp
from terp.kernels.sandbox.policy import Policy
from terp.text.dataclasses import asdict, dataclass, replace
from terp.text.files import content_of

NONE = "none"
"""The name of the tier without a sandbox."""


@dataclass(frozen=True, slots=True)
class ProcessCommand:
    """A process to start. `directory` is its private folder, with the sockets of a kernel.

    `afterwards` is a command that ends processes which outlive this one. `line` is the number of the socket
    to terp of a holder of its effects; -1 if they are not held.
    """

    argv: tuple[str, ...]
    environment: Mapping[str, str]
    cwd: str
    directory: Path
    transport: str = "ipc"
    afterwards: tuple[str, ...] = ()
    line: int = -1


@dataclass(frozen=True, slots=True)
class Tier(ABC):
    """One kind of sandbox, made by the program at `path` if there is one.

    `name` is shown to the user. `cannot` are its limits, each to follow "It cannot". `stands_between` is True
    if a wrapper process stays between terp and the command, `closes_ports` if no network means no TCP port,
    `can_hold` if a holder can decide about the effects of code in it.
    """

    path: str = ""
    name: str = NONE
    cannot: tuple[str, ...] = ()
    stands_between: bool = False
    closes_ports: bool = False
    can_hold: bool = False

    def refuses(self, command: ProcessCommand, policy: Policy) -> str:
        """Return why this command cannot run in the tier, as a sentence; "" if it can."""
        if self.closes_ports and command.transport == "tcp" and not policy.network:
            return "The kernel listens on TCP ports, which a sandbox without network does not allow."
        return ""

    @abstractmethod
    def wrap(self, command: ProcessCommand, policy: Policy) -> ProcessCommand:
        """Return the command that runs `command` in the sandbox. May write into its directory."""

    def process_of(self, pid: int) -> int:
        """Return the pid of the command itself, given the wrapper's; 0 if it has not started yet."""
        return pid


def is_confined(what: str) -> bool:
    """Return True if a tier, by its shown name, is a sandbox."""
    return what != NONE


@dataclass(frozen=True, slots=True)
class Confined:
    """A tier with its policy: fixed when a kernel starts. With `held` a holder decides about effects."""

    tier: Tier
    policy: Policy
    held: bool = False

    @property
    def what(self) -> str:
        """The name shown to the user: "none", "bubblewrap", "Landlock without network"."""
        return (
            self.tier.name
            if self.policy.network or self.tier.name == NONE
            else f"{self.tier.name} without network"
        )


class Unconfined(Tier):
    """The tier without a sandbox; only resource limits apply."""

    def wrap(self, command: ProcessCommand, policy: Policy) -> ProcessCommand:
        """Return the same command, with resource limits."""
        return replace(command, argv=limited(command.argv, command.directory, policy))


def unconfined(cwd: str = "") -> Confined:
    """Return the tier without a sandbox, with its policy."""
    return Confined(Unconfined(), Policy(cwd))


CONFIG = "confine.json"

# Importing the package `terp` itself would import much that only terp needs; those within it are empty.
_START = (
    "import sys; terp = type(sys)('terp'); terp.__path__ = [sys.argv.pop(1)]; sys.modules['terp'] = terp; "
    "from terp.kernels.sandbox.entering.__main__ import main; main()"
)


def entering(
    command: ProcessCommand,
    policy: Policy,
    rules: Mapping[str, Any],
    *,
    network: bool,
    namespaces: bool,
    own: Sequence[str],
) -> tuple[str, ...]:
    """Return the command behind a process that first applies Landlock's `rules` and the limits of `policy`.

    With `network` its system calls stay allowed: the network is open, or closed by other means. With
    `namespaces` of processes and of IPC the calls on these stay allowed. `own` are the folders of the kernel,
    about which a holder of effects does not ask.
    """
    wanted = {
        "confine": True,
        "network": network,
        "namespaces": namespaces,
        "limits": asdict(policy.limits),
        "landlock": dict(rules),
    }
    if command.line >= 0:
        protected = [path for path in policy.read_only if os.path.lexists(path)]
        wanted["hold"] = {
            "line": command.line, "own": list(own), "writable": list(policy.writable), "protected": protected
        }  # fmt: skip
    return _launched(command.argv, command.directory, wanted)


def limited(argv: Sequence[str], directory: Path, policy: Policy) -> tuple[str, ...]:
    """Return `argv` with only the limits of a policy; unchanged if there are none."""
    limits = asdict(policy.limits)
    return _launched(argv, directory, {"limits": limits}) if any(limits.values()) else tuple(argv)


def _launched(argv: Sequence[str], directory: Path, wanted: Mapping[str, Any]) -> tuple[str, ...]:
    config = directory / CONFIG
    config.write_text(json.dumps(wanted), encoding="utf-8")
    return (sys.executable, "-I", "-S", "-c", _START, str(Path(terp.__file__).parent), str(config), *argv)


def needed_by_launcher() -> tuple[str, ...]:
    """Return the folders that the launcher and terp's own kernels are read from."""
    return (str(Path(terp.__file__).parent), sys.prefix, sys.base_prefix)


def graphics() -> list[str]:
    """Return the device paths of this machine's graphics cards."""
    found = [*Path("/dev").glob("nvidia*"), Path("/dev/dri"), Path("/dev/kfd"), Path("/dev/dxg")]
    return [str(device) for device in sorted(found) if device.exists()]


_LARGEST_BYTES = 10_000_000
# Folders of programs, by variable, which are in the home directory otherwise.
_OWN_FOLDERS = {
    "TMPDIR": "tmp",
    "IPYTHONDIR": "ipython",
    "MPLCONFIGDIR": "matplotlib",
    "DENO_DIR": "deno",
    "GOCACHE": "go",
}


def with_own_places(environment: Mapping[str, str], directory: Path, temporary: str = "") -> dict[str, str]:
    """Return the environment with folders below `directory` in place of those in the home directory.

    Creates them, except an existing `temporary` one. Copies matplotlib's font cache, which takes seconds to
    build.
    """
    folder = Path(os.path.realpath(directory))
    for name in _OWN_FOLDERS.values():
        (folder / name).mkdir(mode=0o700, exist_ok=True)
    _copy_fonts(environment, folder / _OWN_FOLDERS["MPLCONFIGDIR"])
    own = {name: str(folder / below) for name, below in _OWN_FOLDERS.items()}
    return {**environment, **own, "TMPDIR": temporary or own["TMPDIR"]}


def _copy_fonts(environment: Mapping[str, str], folder: Path) -> None:
    home = Path(environment.get("HOME", "/nowhere"))
    cache = Path(environment.get("XDG_CACHE_HOME") or home / ".cache") / "matplotlib"
    own = environment.get("MPLCONFIGDIR", "")
    config = Path(environment.get("XDG_CONFIG_HOME") or home / ".config") / "matplotlib"
    for source in (Path(own) if own else cache, Path(own) if own else config):
        for name in ("fontlist-*.json", "matplotlibrc"):
            for file in source.glob(name):
                try:
                    # If code can write the home directory, this may be a link to a hidden file.
                    (folder / file.name).write_bytes(content_of(file, _LARGEST_BYTES))
                except OSError:
                    continue  # matplotlib builds the cache again
