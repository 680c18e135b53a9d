"""The sandbox of a session: the tier and the policy, decided at each start of a kernel."""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import cast

from terp.errors import NoSandbox, SettingsError
from terp.events.messages import Attachment
from terp.kernels.sandbox.git_config import obeyed_by_git
from terp.kernels.sandbox.policy import Allowed, Mode, Policy, ResourceLimits, SandboxOptions, policy_for
from terp.kernels.sandbox.private_places import ConfigWatch, home_of
from terp.kernels.sandbox.tier import NONE, Confined, Tier, Unconfined, is_confined, needed_by_launcher
from terp.settings import Settings
from terp.settings.places import Places, find_places
from terp.text.files import make_private


class Confinement:
    """Decides the sandbox of the next kernel; running kernels keep theirs.

    `unasked()` is True if code runs without a question. `outputs` is the session's folder of pictures and
    texts, `temporary` the folder of temporary files of all its kernels. `readable` paths can be read wherever
    they lie. `shown` is the tier that the user last read; "" means that of the next start. `tiers` finds the
    tiers of this machine, the best first; each is tried once.
    """

    def __init__(
        self,
        options: SandboxOptions,
        cwd: str,
        environ: Mapping[str, str],
        unasked: Callable[[], bool] = lambda: False,
        *,
        tiers: Callable[[SandboxOptions, Mapping[str, str]], Sequence[Tier]] | None = None,
    ) -> None:
        self.options = options
        self.unasked = unasked
        self.shown = ""
        self.outputs = ""
        self.temporary = ""
        self.readable: tuple[str, ...] = ()
        self.allowed = Allowed()
        # Resolved now: a link that code creates there later has no effect.
        self._cwd = os.path.realpath(cwd)
        self._environ = environ
        self._places: Places = find_places(environ)
        self._find = tiers
        self._tried: dict[tuple[bool, bool, str], tuple[Tier | None, str]] = {}
        self._started: dict[str, Policy] = {}
        self._config_watches: dict[str, ConfigWatch] = {}
        self._by_git: Sequence[Path] | None = None

    @property
    def wanted(self) -> bool:
        """True if kernels that start now need a sandbox."""
        mode = self.options.mode
        return mode in ("workspace", "strict", "docker") or (
            mode == "auto"
            and (self.unasked() or self.options.hold or self.options.required or not self.options.network)
        )

    @property
    def holds(self) -> bool:
        """True if the effects of code are held in a kernel that starts now."""
        return self.options.hold and not self.not_held

    @property
    def at_once(self) -> bool:
        """True if code starts without a question, because its effects are held."""
        return self.options.at_once and not self.unasked() and self.holds

    @property
    def not_held(self) -> str:
        """The reason why effects cannot be held here; "" if they can."""
        tier, why = self._tier() if self.wanted else (None, "the sandbox is off")
        if tier is None:
            return why
        if not tier.can_hold:
            return f"{tier.name} cannot hold them"
        return str(_tiers().failure_to_hold(tier, self._places.tested_tiers))

    @property
    def network(self) -> bool:
        """True if code in the sandbox has network access."""
        return (self.options.network and self.options.mode != "strict") or self.allowed.network

    @property
    def missing(self) -> str:
        """The reason why no wanted sandbox works; "" if one works or none is wanted."""
        return self._tier()[1] if self.wanted else ""

    @property
    def what(self) -> str:
        """The tier of a kernel that starts now, as shown to the user."""
        # Read at each key press at the prompt: must not read folders.
        tier = self._tier()[0] if self.wanted else None
        return Confined(tier or Unconfined(), Policy(self._cwd, network=self.network)).what

    def promises_more(self, tier: str) -> bool:
        """Return True if the user last read of a sandbox, and `tier` is none."""
        return not is_confined(tier) and is_confined(self.shown or self.what)

    @property
    def description(self) -> str:
        """The tier in a sentence, with its limits."""
        confined = self._confined(())
        if confined.what == NONE:
            return "No sandbox: it can do whatever you can do on this machine and over the network."
        cannot = "; nor ".join(confined.tier.cannot)
        return f"Sandbox: {confined.what}{', which cannot ' if cannot else ''}{cannot}."

    @property
    def policy(self) -> Policy:
        """The policy for code in a kernel that starts now."""
        return self._confined(()).policy

    @property
    def warning(self) -> str:
        """A warning to show before code runs; "" for none."""
        return " ".join(self._warnings())

    def _warnings(self) -> Iterator[str]:
        if self.missing:
            yield f"No sandbox works here ({self.missing}): code can do whatever you can do on this machine."
        if self.options.hold and self.not_held:
            yield f"Effects cannot be held here ({self.not_held}): you are asked before code runs."
        if self.options.mode == "off" and not self.options.network:
            yield "network is off, but so is the sandbox: code can use the network."
        if self.options.limits.processes and self.options.mode != "docker" and os.geteuid() == 0:
            yield "You are root, whose processes max_processes does not limit."

    def check(self) -> None:
        """Raise unless kernels may start.

        Raises:
            NoSandbox: a sandbox is required and none works, or the working directory was replaced by a link.
        """
        if self.wanted and os.path.realpath(self._cwd) != self._cwd:
            raise NoSandbox(
                f"{self._cwd} has become a link to another folder, so no code runs.",
                "Find out which program created the link.",
            )
        if self.options.required and self.options.mode == "off":
            raise NoSandbox(
                "sandbox_required is on, and sandbox is off: no code runs.",
                "Remove one of the two.",
            )
        if self.missing and (self.options.required or self.options.mode in ("strict", "docker")):
            remedy = (
                "Start Docker, or take another sandbox: --sandbox strict."
                if self.options.mode == "docker"
                else "Install bubblewrap, or run terp doctor, which says what is missing."
            )
            raise NoSandbox(
                f"No sandbox works here, and one is required, so no code runs: {self.missing}.", remedy
            )

    def check_elsewhere(self, where: str) -> None:
        """Raise unless code may run `where` terp does not start the kernel itself.

        Raises:
            NoSandbox: a sandbox is required.
        """
        if self.options.required or self.options.mode in ("strict", "docker"):
            raise NoSandbox(
                f"A sandbox is required, and terp cannot put one around {where}.",
                "Run the code in a kernel of terp's own, or turn the requirement off.",
            )

    def now(self, readable: Sequence[str] = (), language: str = "") -> Confined:
        """Return the sandbox of the kernel of `language` that starts now; it can read `readable`.

        Raises:
            NoSandbox: a sandbox is required, and none works.
        """
        self.check()
        if self.wanted and self._by_git is None:
            # Once: code may change repositories that it creates later.
            self._by_git = obeyed_by_git(Path(self._cwd), home_of(self._environ), self._environ)
        if self.wanted and self.outputs:
            # The folder must exist at the start to be readable later, and the model sees paths in it.
            make_private(Path(self.outputs))
        confined = self._confined(readable)
        self._started[language] = confined.policy
        self._config_watches[language] = ConfigWatch(confined.policy.obeyed)
        return confined

    def forget_outputs(self) -> None:
        """Remove the folder of outputs and the session's if they are empty."""
        with suppress(OSError):
            for folder in (Path(self.outputs), Path(self.outputs).parent) if self.outputs else ():
                folder.rmdir()

    def policy_of(self, language: str) -> Policy:
        """Return the policy with which the kernel of a language started, else that of the next start."""
        return self._started.get(language) or self.policy

    def config_watch_of(self, language: str) -> ConfigWatch:
        """Return the watch on configuration files since the kernel of a language started or last ran."""
        return self._config_watches.get(language) or ConfigWatch(())

    def with_options(self, options: SandboxOptions) -> "Confinement":
        """Return a copy with other options."""
        other = copy(self)
        other.options = options
        return other

    def elsewhere(self, cwd: str) -> "Confinement":
        """Return a copy for another directory, for a process that shares no files with a kernel."""
        other = copy(self)
        other._cwd, other.outputs, other.temporary = os.path.realpath(cwd), "", ""
        other._started, other._config_watches, other._by_git = {}, {}, None
        return other

    def differs(self, other: "Confinement") -> bool:
        """Return True if a kernel that starts now would have another sandbox with `other`."""
        return self._confined(()) != other._confined(())

    def hides(self, path: Path) -> bool:
        """Return True if a sandbox would hide a real path from code, even if there is no sandbox now."""
        return any(map(path.is_relative_to, self._policy((), known=True).hidden))

    def let_read(self, attachments: Sequence[Attachment]) -> None:
        """Allow code to read attached files wherever they lie, from the next kernel start on."""
        self.readable = (*self.readable, *(one.source for one in attachments if one.source))

    def allow(self, path: str) -> str:
        """Allow code to write below `path`, from the next kernel start on; return the real path.

        Only the user may call this, never the model.

        Raises:
            SettingsError: the path does not exist.
        """
        real = os.path.realpath(os.path.join(self._cwd, os.path.expanduser(path)))  # noqa: PTH111, PTH118
        if not os.path.exists(real):  # noqa: PTH110
            raise SettingsError([f"there is no '{real}': create it first, or allow an existing folder."])
        self.allowed = replace(self.allowed, paths=(*self.allowed.paths, real))
        return real

    def ask_at_effects(self, on: bool, rules: Iterable[str] = ()) -> None:
        """Have the user asked at effects of code, or else before it runs, from the next kernel start on.

        With rules on effects in `rules` these are held either way.
        """
        self.options = replace(self.options, hold=on or any(map(_is_on_effects, rules)), at_once=on)

    def hold_none(self) -> None:
        """Hold no effects, from the next kernel start on: only code of the user runs."""
        self.options = replace(self.options, hold=False, at_once=False)

    def allow_network(self) -> None:
        """Allow network access, from the next kernel start on. Only the user may call this."""
        self.allowed = replace(self.allowed, network=True)

    def _confined(self, readable: Sequence[str]) -> Confined:
        tier = self._tier()[0] if self.wanted else None
        return Confined(tier or Unconfined(), self._policy(readable, known=tier is not None), held=self.holds)

    def _policy(self, readable: Sequence[str], *, known: bool) -> Policy:
        if not known:
            return Policy(self._cwd, limits=self.options.limits)
        policy = policy_for(
            self._cwd,
            home_of(self._environ),
            self._places,
            allowed=replace(self.allowed, network=self.network),
            outputs=self.outputs,
            readable=(*self.readable, *needed_by_launcher(), *readable),
            by_git=self._by_git or (),
        )
        given = tuple(filter(os.path.exists, map(os.path.realpath, self.readable)))
        return replace(policy, limits=self.options.limits, temporary=self.temporary, given=given)

    def _tier(self) -> tuple[Tier | None, str]:
        """Return the tier that works, or the reason why none does."""
        which = (self.network, self.options.mode == "docker", self.options.image)
        if which not in self._tried:
            self._tried[which] = self._try_all()
        return self._tried[which]

    def _try_all(self) -> tuple[Tier | None, str]:
        tiers, why = _tiers(), []
        for tier in (self._find or tiers.tiers_here)(self.options, self._environ):
            failure = "" if tier.name == "docker" else self._failure_of(tier)
            if not failure:
                return tier, ""
            why.append(f"{tier.name}: {failure}")
        return None, "; ".join(why) or tiers.nothing_found(self.options)

    def _failure_of(self, tier: Tier) -> str:
        record = self._places.tested_tiers
        return str(_tiers().failure_of(tier, network=self.network, record=record))


def _tiers() -> ModuleType:
    # 6 ms of the start, and many sessions need no sandbox.
    from terp.kernels.sandbox import tiers  # noqa: PLC0415

    return tiers


# Rules that are decided when effects happen, and those that let code start because they are held.
_EFFECT_RULE = re.compile(r"\s*(writes|deletes|network|programs|effects)\s*:")


def _is_on_effects(rule: str) -> bool:
    return _EFFECT_RULE.match(rule) is not None


def options_of(settings: Settings) -> SandboxOptions:
    """Return the sandbox options of the settings."""
    written = (*settings.allow, *settings.ask, *settings.deny)
    return SandboxOptions(
        cast("Mode", settings.sandbox),
        network=settings.network,
        required=settings.sandbox_required,
        limits=ResourceLimits(settings.memory_limit_mb, settings.max_processes, settings.max_file_mb),
        image=settings.docker_image,
        hold=settings.approve == "effect" or any(map(_is_on_effects, written)),
        at_once=settings.approve == "effect",
    )


def confinement_of(
    settings: Settings,
    cwd: str | Path,
    environ: Mapping[str, str],
    unasked: Callable[[], bool] | None = None,
) -> Confinement:
    """Return the sandbox that settings define for `cwd`; `unasked()` is True if code runs without asking."""
    return Confinement(
        options_of(settings), str(Path(cwd).absolute()), environ, unasked or (lambda: settings.auto_run)
    )
