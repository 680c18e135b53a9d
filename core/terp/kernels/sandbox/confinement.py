"""Which tier holds a session's kernels, and to what: asked for at each start of one."""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Literal

from terp.errors import NoSandbox, SettingsError
from terp.events.messages import Attachment
from terp.kernels.sandbox.canary import holds
from terp.kernels.sandbox.launcher import needed_by_launcher
from terp.kernels.sandbox.obeyed import Obeyed
from terp.kernels.sandbox.policy import Allowed, Policy, ResourceLimits, policy_for
from terp.kernels.sandbox.private_places import home_of
from terp.kernels.sandbox.repositories import repositories_in
from terp.kernels.sandbox.tier import NONE, Confined, Tier, is_confined
from terp.kernels.sandbox.unconfined import Unconfined
from terp.settings.places import Places, find_places, make_private

Mode = Literal["auto", "off", "workspace", "strict", "docker"]


@dataclass(frozen=True, slots=True)
class Wish:
    """What the settings say. With `required`, or a mode that says so, nothing runs unconfined."""

    mode: Mode = "off"
    network: bool = True
    required: bool = False
    limits: ResourceLimits = field(default_factory=ResourceLimits)
    image: str = ""


class Confinement:
    """Decides about the next start of a kernel; one that runs stays as it was started.

    `unasked` tells whether code runs without a question by now, `outputs` is the session's folder of pictures
    and texts, `temporary` that for temporary files of all its kernels, and what is `readable` can be read
    wherever it lies. `said` is the tier that the user last read; "" stands for that of the next start.
    `tiers` finds those of this machine, the best first; each is tried once.
    """

    def __init__(
        self,
        wish: Wish,
        cwd: str,
        environ: Mapping[str, str],
        unasked: Callable[[], bool] = lambda: False,
        *,
        tiers: Callable[[Wish, Mapping[str, str]], Sequence[Tier]] | None = None,
    ) -> None:
        self.wish = wish
        self.unasked = unasked
        self.said = ""
        self.outputs = ""
        self.temporary = ""
        self.readable: tuple[str, ...] = ()
        self.allowed = Allowed()
        # What it is now: a link that code puts there later leads nowhere.
        self._cwd = os.path.realpath(cwd)
        self._environ = environ
        self._places: Places = find_places(environ)
        self._find = tiers or tiers_here
        self._tried: dict[tuple[bool, bool, str], tuple[Tier | None, str]] = {}
        self._started: dict[str, Policy] = {}
        self._obeyed: dict[str, Obeyed] = {}
        self._repositories: Sequence[Path] | None = None

    @property
    def wanted(self) -> bool:
        """Whether kernels that start now are to be confined."""
        mode = self.wish.mode
        return mode in ("workspace", "strict", "docker") or (
            mode == "auto" and (self.unasked() or self.wish.required or not self.wish.network)
        )

    @property
    def network(self) -> bool:
        """Whether code has the network, once it is confined."""
        return (self.wish.network and self.wish.mode != "strict") or self.allowed.network

    @property
    def missing(self) -> str:
        """Why confinement that is wanted is not to be had; "" when it is, or is not wanted."""
        return self._tier()[1] if self.wanted else ""

    @property
    def what(self) -> str:
        """The tier of a kernel that starts now, as people are told."""
        # Asked for with each key at the prompt: no folder is looked at.
        tier = self._tier()[0] if self.wanted else None
        return Confined(tier or Unconfined(), Policy(self._cwd, network=self.network)).what

    def promises_more(self, tier: str) -> bool:
        """Return True if the user was last told of a sandbox, and `tier` is none."""
        return not is_confined(tier) and is_confined(self.said or self.what)

    @property
    def told(self) -> str:
        """The same in a sentence, with what the tier cannot do."""
        confined = self._confined(())
        if confined.what == NONE:
            return "Nothing confines it: it can do whatever you can do on this machine and over the network."
        cannot = "; nor ".join(confined.tier.cannot)
        return f"It is confined by {confined.what}{', which cannot ' if cannot else ''}{cannot}."

    @property
    def policy(self) -> Policy:
        """What code in a kernel that starts now is held to."""
        return self._confined(()).policy

    @property
    def warning(self) -> str:
        """What a person must hear of before code runs; "" for nothing."""
        return " ".join(self._warnings())

    def _warnings(self) -> Iterator[str]:
        if self.missing:
            yield f"No sandbox works here ({self.missing}): code can do whatever you can do on this machine."
        if self.wish.mode == "off" and not self.wish.network:
            yield "The sandbox is off, so code has the network all the same."
        if self.wish.limits.processes and self.wish.mode != "docker" and os.geteuid() == 0:
            yield "You are root, whose processes max_processes does not limit."

    def check(self) -> None:
        """Return when kernels may start.

        Raises:
            NoSandbox: confinement is required, and not to be had; or the directory is another one by now.
        """
        if self.wanted and os.path.realpath(self._cwd) != self._cwd:
            raise NoSandbox(
                f"{self._cwd} has become a link to elsewhere, so no code runs.",
                "Look at who has put it there.",
            )
        if self.wish.required and self.wish.mode == "off":
            raise NoSandbox(
                "sandbox_required is on, and sandbox is off: no code runs.",
                "Leave one of the two out.",
            )
        if self.missing and (self.wish.required or self.wish.mode in ("strict", "docker")):
            remedy = (
                "Start Docker, or take another sandbox: --sandbox strict."
                if self.wish.mode == "docker"
                else "Install bubblewrap, or run terp doctor, which says what is missing."
            )
            raise NoSandbox(
                f"No sandbox works here, and one is required, so no code runs: {self.missing}.", remedy
            )

    def check_elsewhere(self, where: str) -> None:
        """Return when code may run in a kernel that terp does not start itself; `where` that is.

        Raises:
            NoSandbox: confinement is required.
        """
        if self.wish.required or self.wish.mode in ("strict", "docker"):
            raise NoSandbox(
                f"A sandbox is required, and terp cannot put one around {where}.",
                "Run the code in a kernel of terp's own, or turn the requirement off.",
            )

    def now(self, readable: Sequence[str] = (), language: str = "") -> Confined:
        """What holds the kernel of `language` that starts now; `readable` it must be able to read.

        Raises:
            NoSandbox: confinement is required, and not to be had.
        """
        self.check()
        if self.wanted and self._repositories is None:
            # Once: one that the code itself makes later it may remove again.
            self._repositories = repositories_in(Path(self._cwd))
        if self.wanted and self.outputs:
            # Only what is there at the start can be read later, and the model is told of paths in it.
            make_private(Path(self.outputs))
        confined = self._confined(readable)
        self._started[language] = confined.policy
        self._obeyed[language] = Obeyed(confined.policy.obeyed)
        return confined

    def forget_outputs(self) -> None:
        """Remove the folder of outputs, and the session's, where nothing came into them."""
        with suppress(OSError):
            for folder in (Path(self.outputs), Path(self.outputs).parent) if self.outputs else ():
                folder.rmdir()

    def policy_of(self, language: str) -> Policy:
        """What the kernel of a language is held to since it started, whatever would hold it now."""
        return self._started.get(language) or self.policy

    def obeyed_of(self, language: str) -> Obeyed:
        """What programs obey, as it was when the kernel of a language started or its last run ended."""
        return self._obeyed.get(language) or Obeyed(())

    def wishing(self, wish: Wish) -> "Confinement":
        """The same with another wish; this one stays as it is."""
        other = copy(self)
        other.wish = wish
        return other

    def elsewhere(self, cwd: str) -> "Confinement":
        """The same around another directory, for a process that is no kernel and shares no files with one."""
        other = copy(self)
        other._cwd, other.outputs, other.temporary = os.path.realpath(cwd), "", ""
        other._started, other._obeyed, other._repositories = {}, {}, None
        return other

    def differs(self, other: "Confinement") -> bool:
        """Whether a kernel that starts now is held by something else there."""
        return self._confined(()) != other._confined(())

    def hides(self, path: Path) -> bool:
        """Whether a sandbox would hide a real path from code, also where there is none now."""
        return any(map(path.is_relative_to, self._policy((), known=True).hidden))

    def let_read(self, attachments: Sequence[Attachment]) -> None:
        """Let code read attached files wherever they lie, from the next start of a kernel on."""
        self.readable = (*self.readable, *(one.source for one in attachments if one.source))

    def allow(self, path: str) -> str:
        """Let code write below `path`, from the next start of a kernel on; the real path.

        Only a person may say so.

        Raises:
            SettingsError: it is not there.
        """
        real = os.path.realpath(os.path.join(self._cwd, os.path.expanduser(path)))  # noqa: PTH111, PTH118
        if not os.path.exists(real):  # noqa: PTH110
            raise SettingsError([f"there is no '{real}': make it first, or allow a folder that is there."])
        self.allowed = replace(self.allowed, paths=(*self.allowed.paths, real))
        return real

    def allow_network(self) -> None:
        """Let code have the network, from the next start of a kernel on. Only a person may say so."""
        self.allowed = replace(self.allowed, network=True)

    def _confined(self, readable: Sequence[str]) -> Confined:
        tier = self._tier()[0] if self.wanted else None
        return Confined(tier or Unconfined(), self._policy(readable, known=tier is not None))

    def _policy(self, readable: Sequence[str], *, known: bool) -> Policy:
        if not known:
            return Policy(self._cwd, limits=self.wish.limits)
        policy = policy_for(
            self._cwd,
            home_of(self._environ),
            self._places,
            allowed=replace(self.allowed, network=self.network),
            outputs=self.outputs,
            readable=(*self.readable, *needed_by_launcher(), *readable),
            repositories=self._repositories or (),
        )
        given = tuple(filter(os.path.exists, map(os.path.realpath, self.readable)))
        return replace(policy, limits=self.wish.limits, temporary=self.temporary, given=given)

    def _tier(self) -> tuple[Tier | None, str]:
        """The tier that works, or why none does."""
        which = (self.network, self.wish.mode == "docker", self.wish.image)
        if which not in self._tried:
            self._tried[which] = self._try_all()
        return self._tried[which]

    def _try_all(self) -> tuple[Tier | None, str]:
        why = []
        for tier in self._find(self.wish, self._environ):
            if not (problem := "" if tier.name == "docker" else holds(tier, network=self.network)):
                return tier, ""
            why.append(f"{tier.name}: {problem}")
        return None, "; ".join(why) or _nothing_found(self.wish)


def tiers_here(wish: Wish, environ: Mapping[str, str]) -> Sequence[Tier]:
    """The tiers of this machine that a wish allows, the best first; whether they work is not tried yet."""
    if wish.mode == "docker":
        from terp.kernels.sandbox.docker import IMAGE, find_docker  # noqa: PLC0415  (few have it)

        found: Sequence[Tier | None] = [find_docker(environ, wish.image or IMAGE)]
    elif sys.platform == "darwin":
        from terp.kernels.sandbox.seatbelt import find_seatbelt  # noqa: PLC0415  (macOS alone)

        found = [find_seatbelt(environ)]
    else:
        from terp.kernels.sandbox.bubblewrap import find_bubblewrap  # noqa: PLC0415  (for who is confined)
        from terp.kernels.sandbox.landlock import find_landlock  # noqa: PLC0415

        found = [find_bubblewrap(environ), find_landlock()]
    return [tier for tier in found if tier is not None]


def _nothing_found(wish: Wish) -> str:
    if wish.mode == "docker":
        return "no Docker daemon answers"
    if sys.platform == "darwin":
        return "sandbox-exec is not there"
    return "there is no bubblewrap, and this Linux has no Landlock"
