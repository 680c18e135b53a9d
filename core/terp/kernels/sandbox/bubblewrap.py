"""Linux with bubblewrap: namespaces in which the rest of the machine is read-only."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from terp.kernels.hosts.processes import children
from terp.kernels.sandbox.policy import Policy, is_below
from terp.kernels.sandbox.tier import (
    ProcessCommand,
    Tier,
    entering,
    graphics,
    needed_by_launcher,
    with_own_places,
)
from terp.text.dataclasses import dataclass, replace

Kind = Literal["empty", "own", "hidden", "passage", "shown", "open", "fixed"]
VANISHED = "bwrap: Can't "
"""Output of bubblewrap when it cannot make a mount: a socket that it was to hide was removed meanwhile.

Nothing has run then, and another try finds the sockets that are there.
"""
_NAMESPACES = (
    "--unshare-user",
    # Otherwise a namespace in the namespace gives the right to mount back.
    "--disable-userns",
    "--unshare-pid",
    "--unshare-ipc",
    "--unshare-uts",
    "--unshare-cgroup-try",
)
# Sockets and other runtime files, and the shared folder of temporary files.
_RUN, _TEMPORARY = "/run", "/tmp"  # noqa: S108
_SYSTEM = tuple(f"/proc/{name}" for name in ("sys", "sysrq-trigger", "irq", "bus", "fs", "acpi"))
# Folders of the namespace's own to which programs write.
_INNER = ("/dev", "/proc", _RUN, _TEMPORARY)


@dataclass(frozen=True, slots=True)
class Bubblewrap(Tier):
    """The tier of the program `bwrap` at `path`."""

    name: str = "bubblewrap"
    stands_between: bool = True
    # Refuse TCP without network: ports of another network namespace cannot be reached.
    closes_ports: bool = True
    can_hold: bool = True

    def wrap(self, command: ProcessCommand, policy: Policy) -> ProcessCommand:
        """Return the command in new namespaces."""
        environment = with_own_places(command.environment, command.directory, policy.temporary)
        # Its parent is pid 1 of the namespace; 1 turns off ipykernel's poll of the parent.
        environment["JPY_PARENT_PID"] = "1"
        own = (os.path.realpath(command.directory), environment["TMPDIR"], _TEMPORARY, "/dev/shm")  # noqa: S108
        rules = {
            # A pipe can be written to although its folder is read-only.
            "files": "pipes",
            "write": [*_INNER, environment["TMPDIR"], os.path.realpath(command.directory), *policy.writable],
            "read": [],
            "listed": [],
            "devices": [],
            "network": policy.network,
        }
        inner = entering(command, policy, rules, network=True, namespaces=True, own=own)
        network = () if policy.network else ("--unshare-net",)
        argv = (
            self.path,
            "--die-with-parent",
            "--new-session",
            *_NAMESPACES,
            *network,
            *("--cap-drop", "ALL", "--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
            # A process of uid 0 can write there even without capabilities.
            *(part for path in _SYSTEM for part in ("--ro-bind-try", path, path)),
            *(part for device in graphics() for part in ("--dev-bind-try", device, device)),
            *_mounted(_places(policy, command.directory), command.directory, environment["TMPDIR"]),
            *("--chdir", command.cwd, "--", *inner),
        )
        return replace(command, argv=argv, environment=environment)

    def process_of(self, pid: int) -> int:
        """Return the first child of the namespace's pid 1, which is bubblewrap itself."""
        first = children(pid)
        below = children(first[0]) if first else []
        return min(below, default=0)


def find_bubblewrap(environ: Mapping[str, str]) -> Bubblewrap | None:
    """Return bubblewrap if its program is installed, untested."""
    path = shutil.which("bwrap", path=environ.get("PATH", os.defpath))
    return Bubblewrap(path) if path else None


def _places(policy: Policy, directory: Path) -> dict[str, Kind]:
    """Return the kind of mount for each path."""
    # The folders of other kernels lie beside this kernel's, with their sockets.
    around = str(Path(os.path.realpath(directory)).parent)
    places: dict[str, Kind] = {around: "hidden", _RUN: "empty", _TEMPORARY: "own"}
    resolver = os.path.realpath("/etc/resolv.conf")
    shown = [resolver, "/run/current-system", *needed_by_launcher(), *policy.readable]
    covered = (_RUN, _TEMPORARY, *policy.hidden)
    for path in map(os.path.realpath, shown):
        below = (place for place in covered if place != path and Path(path).is_relative_to(place))
        if any(below) and Path(path).exists():
            places[path] = "shown"
    for path in policy.writable:
        places[path] = "open"
    for path in policy.read_only:
        places |= _fixed(path, policy.writable)
    places |= {path: "hidden" for path in policy.hidden if _needs_cover(path, places)}
    for path in sockets_here():
        # A socket can be connected to although its folder is read-only.
        if not is_below(path, (*covered, *policy.writable)):
            places[path] = "hidden"
    for path in (os.path.realpath(directory), *([policy.temporary] if policy.temporary else [])):
        places[path] = "open"
    for path in [path for path, kind in places.items() if kind in ("shown", "open", "fixed")]:
        places |= dict.fromkeys(_passages(path, places), "passage")
    return places


def _needs_cover(path: str, places: Mapping[str, Kind]) -> bool:
    """Return False for a path in an empty mount with nothing mounted below it."""
    above = max((place for place in places if Path(path).is_relative_to(place)), key=len, default="")
    is_there = path in places or places.get(above) not in ("empty", "own")
    return is_there or any(Path(place).is_relative_to(path) for place in places)


def _passages(path: str, places: Mapping[str, Kind]) -> list[str]:
    """Return the folders between a path and its hidden ancestor; bubblewrap creates them, writable."""
    between: list[str] = []
    for above in map(str, Path(path).parents):
        if above in places:
            return between if places[above] in ("hidden", "passage") else []
        between.append(above)
    return []


def _fixed(path: str, writable: tuple[str, ...]) -> Iterator[tuple[str, Kind]]:
    """Yield a read-only path, and mounts of the folders above it, so that these cannot be renamed."""
    there = Path(path)
    if there.name == "hooks" and there.parent.is_dir():
        there.mkdir(exist_ok=True)
    if not there.exists():
        return
    for above in there.parents:
        if str(above) in writable or not any(above.is_relative_to(folder) for folder in writable):
            break
        yield str(above), "open"
    yield path, "fixed"


def _mounted(places: Mapping[str, Kind], directory: Path, temporary: str) -> Iterator[str]:
    """Yield bubblewrap's options for these places, parents before children."""
    own = Path(os.path.realpath(directory))
    nothing = own / "nothing"
    nothing.touch(mode=0)
    for path in sorted(places, key=lambda path: Path(path).parts):
        match places[path]:
            case "empty":
                yield from ("--tmpfs", path)
            case "own":
                yield from ("--bind", temporary, path)
            case "hidden" if Path(path).is_dir():
                open_below = any(Path(other).is_relative_to(path) for other in places if other != path)
                # Search permission only: open paths below stay reachable by name.
                yield from ("--perms", "0111" if open_below else "0000", "--tmpfs", path)
            case "hidden":
                yield from ("--ro-bind", str(nothing), path)
            case "passage":
                yield from ("--perms", "0111", "--dir", path)
            case "shown" | "fixed":
                yield from ("--ro-bind", path, path)
            case "open":
                yield from ("--bind", path, path)


def sockets_here() -> list[str]:
    """Return the paths of the Unix sockets that are bound now."""
    try:
        lines = Path("/proc/net/unix").read_text(encoding="utf-8", errors="surrogateescape").splitlines()[1:]
    except OSError:
        return []
    # Number, references, protocol, flags, type, state, inode, and the path if there is one.
    columns = (line.split(maxsplit=7) for line in lines)
    paths = {parts[7] for parts in columns if len(parts) == 8 and parts[7].startswith("/")}
    return sorted(filter(_is_socket, paths))


def _is_socket(path: str) -> bool:
    try:
        return Path(path).is_socket()
    except OSError:
        # Another user's folder, which code cannot reach either.
        return False
