"""Linux without namespaces: Landlock for files, and a filter of system calls."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from terp.kernels.jupyter.rundir import PREFIX
from terp.kernels.sandbox.entering.restrictions import version
from terp.kernels.sandbox.policy import Policy
from terp.kernels.sandbox.tier import (
    ProcessCommand,
    Tier,
    entering,
    graphics,
    needed_by_launcher,
    with_own_places,
)
from terp.text.dataclasses import dataclass, replace

# Landlock grants whole trees, so a protected file in a writable tree stays writable. The same holds for
# /dev/shm: locks of multiprocessing are files at its top, with names chosen at random, and without them
# neither its pools nor joblib's work.
CANNOT = (
    "keep .git/hooks, .git/config, .vscode, .terp and .venv of the project as they are",
    "keep permissions and times of your files outside as they are",
    "hide names, sizes and times of hidden files",
    "keep code from shared memory in /dev/shm of your other programs",
    "keep code from your other terminals and, with network, from sockets of your other programs",
)
# Shared memory of multiprocessing.
_SHARED = "/dev/shm"  # noqa: S108
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "ptmx", "pts")


@dataclass(frozen=True, slots=True)
class Landlock(Tier):
    """The tier of Landlock, which Linux has since 5.13."""

    name: str = "Landlock"
    cannot: tuple[str, ...] = CANNOT
    # A kernel could not bind its ports.
    closes_ports: bool = True
    can_hold: bool = True

    def wrap(self, command: ProcessCommand, policy: Policy) -> ProcessCommand:
        """Return the command behind a launcher that drops rights."""
        environment = with_own_places(command.environment, command.directory, policy.temporary)
        own = os.path.realpath(command.directory)
        # Other kernels' folders lie beside this one's; read access to one means use of its kernel.
        closed = (*policy.hidden, os.path.join(os.path.dirname(own), PREFIX))  # noqa: PTH118, PTH120
        needed, listed_first = _all_without((*needed_by_launcher(), *policy.readable), closed)
        read, listed = _without("/", closed)
        writable, listed_too = _all_without(policy.writable, (*closed, *_protected(policy)))
        rules = {
            "files": "all",
            "read": [*read, *needed, *_kept_below(policy)],
            "write": [own, environment["TMPDIR"], _SHARED, *writable],
            "listed": [*listed_first, *listed, *listed_too],
            "devices": [*(f"/dev/{name}" for name in _DEVICES), *graphics()],
            "network": policy.network,
        }
        argv = entering(
            command,
            policy,
            rules,
            network=policy.network,
            namespaces=False,
            own=(own, environment["TMPDIR"], _SHARED),
        )
        return replace(command, argv=argv, environment=environment)


def find_landlock() -> Landlock | None:
    """Return Landlock if this system has it."""
    return Landlock() if version() else None


def _protected(policy: Policy) -> tuple[str, ...]:
    """Return the read-only paths in writable folders whose entries are granted one by one."""
    crowded = [folder for folder in policy.writable if any(map(_below(folder), policy.hidden))]
    return tuple(path for path in policy.read_only if any(_below(folder)(path) for folder in crowded))


def _kept_below(policy: Policy) -> Iterator[str]:
    """Yield writable paths below hidden ones, which must be readable too."""
    yield from (path for path in policy.writable if any(_below(place)(path) for place in policy.hidden))


def _below(folder: str) -> Callable[[str], bool]:
    return lambda path: path != folder and Path(path).is_relative_to(folder)


def _all_without(trees: tuple[str, ...], closed: tuple[str, ...]) -> tuple[list[str], list[str]]:
    given: list[str] = []
    listed: list[str] = []
    for tree in trees:
        more, above = _without(tree, tuple(path for path in closed if not Path(tree).is_relative_to(path)))
        given += more
        listed += above
    return given, listed


def _without(tree: str, closed: tuple[str, ...]) -> tuple[list[str], list[str]]:
    """Return the trees that make up `tree` without `closed`, and the folders split for that."""
    inside = [path for path in closed if Path(path).is_relative_to(tree)]
    if tree in inside:
        return [], []
    if not inside:
        return [tree], []
    given: list[str] = []
    listed = [tree]
    try:
        names = sorted(os.listdir(tree))  # noqa: PTH208  (a name is enough)
    except OSError:
        return [], []
    for name in names:
        path = os.path.join(tree, name)  # noqa: PTH118
        # A link's rights are those of its target.
        if os.path.islink(path) or name.startswith(PREFIX):  # noqa: PTH114
            continue
        more, above = _without(path, tuple(inside))
        given += more
        listed += above
    return given, listed
