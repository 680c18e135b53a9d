"""What code may read, change and reach: one value, made of settings, places and what a person allowed."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from terp.kernels.sandbox.private_places import obeyed_in, secrets_at
from terp.kernels.sandbox.repositories import OBEYED
from terp.settings.places import Places


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """How much code may take; 0 is no limit. All processes of the user count for `processes`."""

    memory_mb: int = 0
    processes: int = 0
    file_mb: int = 0


@dataclass(frozen=True, slots=True)
class Allowed:
    """What a person allows: paths to write, and the network."""

    paths: tuple[str, ...] = ()
    network: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """What confined code may do. All paths are real ones, without links; they exist, except `read_only`.

    Everything can be read but what is `hidden`; of that, and of the machine's temporary files, what is
    `readable` can be read all the same. What is `writable` can be changed, but for what is `read_only`,
    which lies in it. What programs of the person obey is `obeyed`, by the paths at which they look.
    `temporary` is where temporary files go; "" is a folder of the kernel's own. `given` are files that the
    user gave to the session; they are `readable`, too.
    """

    cwd: str
    writable: tuple[str, ...] = ()
    read_only: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    readable: tuple[str, ...] = ()
    obeyed: tuple[str, ...] = ()
    network: bool = True
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    temporary: str = ""
    given: tuple[str, ...] = ()


def policy_for(
    cwd: str,
    home: Path,
    places: Places,
    *,
    allowed: Allowed | None = None,
    outputs: str = "",
    readable: Iterable[str] = (),
    repositories: Iterable[Path] = (),
) -> Policy:
    """What code in `cwd` may do; `outputs` is the session's folder of pictures and texts.

    `repositories` are folders of git below what can be written, besides those at its top.

    What is `readable` is also what Pythons are run from, by terp too: it stays as it is where code can write.
    """
    allowed = allowed or Allowed()
    home = Path(os.path.realpath(home))
    root = Path(os.path.realpath(cwd))
    # By now code may have put a link to elsewhere there.
    granted = [path for path in _there(allowed.paths) if path in allowed.paths]
    writable = dict.fromkeys((*([str(root)] if is_confinable(root, home) else []), *granted))
    # Who works in a folder of terp's own has its settings there, and not its keys.
    own = (places.config, places.state, places.keys, places.sessions, places.trust)
    secrets = dict.fromkeys(_there((*secrets_at(home), *own)))
    hidden = tuple(path for path in secrets if path not in granted and path != str(root))
    in_folders = (path for folder in writable for path in obeyed_in(Path(folder), home))
    in_repositories = (git / name for git in repositories for name in OBEYED)
    obeyed = tuple(dict.fromkeys(map(str, (*in_folders, *in_repositories))))
    needed = dict.fromkeys(_there(readable))
    protected = dict.fromkeys((*map(os.path.realpath, obeyed), *needed))
    return Policy(
        cwd=str(root),
        writable=(*writable, *_there([outputs] if outputs else [])),
        read_only=tuple(
            path
            for path in protected
            if _is_below(path, writable)
            and path not in writable
            and not root.is_relative_to(path)
            # A link may lead there, and what is protected is shown.
            and not _is_below(path, hidden)
        ),
        hidden=hidden,
        readable=tuple(needed),
        obeyed=obeyed,
        network=allowed.network,
    )


def is_confinable(folder: Path, home: Path) -> bool:
    """Whether writing below `folder` is a limit at all: not the whole machine, nor all homes."""
    return folder == home or not home.is_relative_to(folder)


def _there(paths: Iterable[str | Path]) -> list[str]:
    return [os.path.realpath(path) for path in paths if os.path.lexists(path) and os.path.exists(path)]  # noqa: PTH110


def _is_below(path: str, folders: Iterable[str]) -> bool:
    return any(Path(path).is_relative_to(folder) for folder in folders)
