"""The sandbox policy: files that code may read and write, and the network."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

from terp.kernels.sandbox.private_places import obeyed_in, secrets_at
from terp.settings.places import Places
from terp.text.dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class ResourceLimits:
    """Resource limits for code; 0 is no limit. `processes` counts all processes of the user."""

    memory_mb: int = 0
    processes: int = 0
    file_mb: int = 0


Mode = Literal["auto", "off", "workspace", "strict", "docker"]


@dataclass(frozen=True, slots=True)
class SandboxOptions:
    """Sandbox settings. With `required`, or mode "strict" or "docker", no code runs without a sandbox.

    With `hold` the effects of code are held until the user or a rule has decided about them. With `at_once`
    all code starts without a question then (`approve: effect`).
    """

    mode: Mode = "off"
    network: bool = True
    required: bool = False
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    image: str = ""
    hold: bool = False
    at_once: bool = False


@dataclass(frozen=True, slots=True)
class Allowed:
    """Permissions that the user gave: paths to write, and the network."""

    paths: tuple[str, ...] = ()
    network: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """Permissions of code in the sandbox. Paths are resolved and exist, except `read_only` and `obeyed`.

    All files can be read except `hidden` ones and the machine's temporary files; `readable` ones of these can
    be read. `writable` folders can be changed, except `read_only` paths in them. `obeyed` are configuration
    files of other programs, unresolved. `temporary` is the folder of temporary files; "" means one for each
    kernel. `given` are attached files, which are `readable` too.
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
    by_git: Iterable[Path] = (),
) -> Policy:
    """Return the policy for code in `cwd`; `outputs` is the session's folder of pictures and texts.

    `by_git` are paths that git runs or follows, besides those of repositories at the top of writable folders.

    `readable` includes the folders that Pythons run from, terp's too, so these are read-only for code.
    """
    allowed = allowed or Allowed()
    home = Path(os.path.realpath(home))
    root = Path(os.path.realpath(cwd))
    # Code may have replaced the path with a link.
    granted = [path for path in _there(allowed.paths) if path in allowed.paths]
    writable = dict.fromkeys((*([str(root)] if is_confinable(root, home) else []), *granted))
    # A session in one of terp's own folders can read its settings, not its keys.
    own = (places.config, places.state, places.keys, places.sessions, places.trust, places.tested_tiers)
    secrets = dict.fromkeys(_there((*secrets_at(home), *own)))
    hidden = tuple(path for path in secrets if path not in granted and path != str(root))
    in_folders = (path for folder in writable for path in obeyed_in(Path(folder), home))
    followed = (path for path in map(os.path.normpath, by_git) if is_below(path, writable))
    obeyed = tuple(dict.fromkeys((*map(str, in_folders), *followed)))
    needed = dict.fromkeys(_there(readable))
    protected = dict.fromkeys((*map(os.path.realpath, obeyed), *needed))
    return Policy(
        cwd=str(root),
        writable=(*writable, *_there([outputs] if outputs else [])),
        read_only=tuple(
            path
            for path in protected
            if is_below(path, writable)
            and path not in writable
            and not root.is_relative_to(path)
            # A link may lead there, and protected paths are readable.
            and not is_below(path, hidden)
        ),
        hidden=hidden,
        readable=tuple(needed),
        obeyed=obeyed,
        network=allowed.network,
    )


def is_confinable(folder: Path, home: Path) -> bool:
    """Return False if a sandbox around `folder` would be useless: it contains all homes or the machine."""
    return folder == home or not home.is_relative_to(folder)


def _there(paths: Iterable[str | Path]) -> list[str]:
    return [os.path.realpath(path) for path in paths if os.path.lexists(path) and os.path.exists(path)]  # noqa: PTH110


def is_below(path: str, folders: Iterable[str]) -> bool:
    """Return True if a path is one of the folders, or lies in one."""
    return any(Path(path).is_relative_to(folder) for folder in folders)
