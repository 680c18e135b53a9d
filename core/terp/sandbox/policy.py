"""What code may read, change and reach: one value, made of settings, places and what a person allowed."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from terp.places import Places
from terp.sandbox.private_places import obeyed_in, secrets_at


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """How much code may take; 0 is no limit. All processes of the user count for `processes`."""

    memory_mb: int = 0
    processes: int = 0
    file_mb: int = 0


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a person has allowed beyond the settings, for this session: paths to write, and the network."""

    paths: tuple[str, ...] = ()
    network: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """What confined code may do. All paths are real ones, without links; they exist, except `read_only`.

    Everything can be read but what is `hidden`; of that, and of the machine's temporary files, what is
    `readable` can be read all the same. What is `writable` can be changed, but for what is `read_only`.
    `temporary` is where temporary files go; "" is a folder of the kernel's own.
    """

    cwd: str
    writable: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    network: bool = True
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    temporary: str = ""


def policy_for(
    cwd: str,
    home: Path,
    places: Places,
    *,
    network: bool = True,
    allowed: Allowed | None = None,
    outputs: str = "",
    readable: Iterable[str] = (),
) -> Policy:
    """What code in `cwd` may do; `outputs` is the session's folder of pictures and texts."""
    allowed = allowed or Allowed()
    home = Path(os.path.realpath(home))
    root = Path(os.path.realpath(cwd))
    granted = _there(allowed.paths)
    writable = dict.fromkeys((*([str(root)] if is_confinable(root, home) else []), *granted))
    hidden = dict.fromkeys(_there((*secrets_at(home), places.config, places.state)))
    protected = dict.fromkeys(str(path) for folder in writable for path in obeyed_in(Path(folder), home))
    return Policy(
        cwd=str(root),
        writable=(*writable, *_there([outputs] if outputs else [])),
        read_only=tuple(path for path in protected if path not in granted),
        hidden=tuple(path for path in hidden if not _is_below(path, granted) and path != str(root)),
        readable=tuple(dict.fromkeys(_there(readable))),
        network=network or allowed.network,
    )


def is_confinable(folder: Path, home: Path) -> bool:
    """Whether writing below `folder` is a limit at all: not the whole machine, nor all homes."""
    return folder == home or not home.is_relative_to(folder)


def _there(paths: Iterable[str | Path]) -> list[str]:
    return [os.path.realpath(path) for path in paths if os.path.lexists(path) and os.path.exists(path)]  # noqa: PTH110


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(Path(path).is_relative_to(folder) for folder in folders)
