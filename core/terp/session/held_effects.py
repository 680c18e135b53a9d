"""Questions about effects at the moment when code wants to have them."""

import asyncio
import os
import re
import socket
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TypeVar

from terp.errors import NobodyThere
from terp.events.kernel import Kernel
from terp.events.outputs import EffectVerb
from terp.events.performed import FILE_EFFECTS, TO_DO, near
from terp.kernels.sandbox.effects import AskedEffect, Grant, HeldEffects, HoldsEffects
from terp.kernels.sandbox.private_places import obeyed_pattern
from terp.models.tool import Call
from terp.person import Choice, Option
from terp.person.dialog import UserDialog
from terp.session.foreground import Interrupted
from terp.session.resources import SessionResources
from terp.text.dataclasses import dataclass, field, replace

if TYPE_CHECKING:
    from terp.analysis.rules.rule import Rule

T = TypeVar("T")
# Effects of several threads that come within this time are one question.
_GATHER_S = 0.05
_WRITES: tuple[EffectVerb, ...] = ("create", "modify")
# Folders of tools that only these read, and write again; nothing in them is executed.
_CACHES = r"\.pytest_cache|\.mypy_cache|\.ruff_cache"


class _Attended(Protocol):
    async def asked(self, ask: Callable[[str], Awaitable[T]]) -> T: ...


@dataclass(slots=True)
class _HeldRun:
    """A run whose effects are held. `allowed` are the answers for all of it, `ruled` what rules say.

    `scopes` are the answers in words with their times, by key; `once` has what was allowed only once.
    """

    kernel: Kernel
    attended: _Attended
    waiting: list[AskedEffect] = field(default_factory=list)
    allowed: list[Grant] = field(default_factory=list)
    ruled: Sequence[Grant] = ()
    scopes: dict[str, tuple[str, float]] = field(default_factory=dict)
    once: list[Grant] = field(default_factory=list)
    asking: asyncio.Lock = field(default_factory=asyncio.Lock)
    over: bool = False
    waited_before_s: float = 0.0


class EffectQuestions:
    """Asks the user about effects of running code.

    New files below the working directory are created without a question, except those that other programs
    execute or trust: the account names them. `unanswered` has for each effect that was refused because nobody
    was there the rule that would allow it, or "".
    """

    def __init__(self, dialog: UserDialog, resources: SessionResources) -> None:
        self._dialog = dialog
        self._resources = resources
        self.unanswered: list[str] = []

    async def begin(self, call: Call, kernel: Kernel, attended: _Attended) -> _HeldRun | None:
        """Decide about the effects of a call from now on; return None if its kernel cannot hold any."""
        if not isinstance(kernel, HoldsEffects):
            return None
        held, run = kernel.effects, _HeldRun(kernel, attended, waited_before_s=kernel.effects.waited_s())
        held.required = call.held
        held.ask = partial(self._decide, held, run)
        held.counted = partial(self._count, run)
        run.ruled = await grants_of(self._resources.rules.all, kernel.cwd)
        # What the user approved before it runs is bound by what they forbid, and by nothing else.
        grants = [*run.ruled, *self._shipped(kernel)] if call.held else strict(run.ruled)
        held.grant(grants, free=not call.held)
        return run

    def end(self, run: _HeldRun | None) -> None:
        """End a run: answers for all of it cover none of its threads any more."""
        if run is None or not isinstance(run.kernel, HoldsEffects):
            return
        held, run.over = run.kernel.effects, True
        # Its threads may be asked about still, and an answer sends the grants again.
        run.allowed.clear()
        if held.required:
            held.grant([*run.ruled, *self._shipped(run.kernel)])

    @staticmethod
    def waited_s(run: _HeldRun | None) -> float:
        """Return the seconds in which the code of a run has waited for answers about its effects."""
        if run is None or not isinstance(run.kernel, HoldsEffects):
            return 0.0
        return run.kernel.effects.waited_s() - run.waited_before_s

    async def _decide(self, held: HeldEffects, run: _HeldRun, effect: AskedEffect) -> bool:
        run.waiting.append(effect)
        try:
            async with run.asking:
                await asyncio.sleep(_GATHER_S)
                if _is_covered(effect, run.allowed):
                    return True
                return await self._answer(held, run, effect)
        finally:
            run.waiting.remove(effect)

    async def _answer(self, held: HeldEffects, run: _HeldRun, effect: AskedEffect) -> bool:
        all_of_it, scope = _grant_for(effect, run.kernel.cwd)
        rule = _rule_for(effect, run.kernel.cwd)
        options = [Option("y", "yes, once"), Option("a", f"all of this run ({scope})")]
        if rule:
            options.append(Option("r", f"rule for the session ({rule})"))
        alike = [one for one in run.waiting if one.program == effect.program and all_of_it.decides(one)]
        what = _question(effect, run.kernel.cwd, len(alike) - 1, again=all_of_it in run.once)
        choice = Choice(what, (*options, Option("n", "no")), needed=True, rules=(rule,) if rule else ())
        try:
            letter = await self._choose(run, choice)
        except NobodyThere:
            self.unanswered.append(rule)
            return False
        except Interrupted:
            return False
        if letter == "r":
            self._resources.rules.add([rule])
            self._dialog.notify(f"Allowed in this session: {rule}")
            run.ruled = await grants_of(self._resources.rules.all, run.kernel.cwd)
        if letter == "y":
            run.once.append(all_of_it)
        if letter == "a" and not run.over:
            run.allowed.append(all_of_it)
            run.scopes[all_of_it.key] = scope, time.monotonic()
            if effect.to:
                run.allowed.append(replace(_grant_for(_arrival(effect), run.kernel.cwd)[0], counted=False))
        if letter in ("a", "r"):
            grants = [*strict(run.ruled), *run.allowed, *run.ruled, *self._shipped(run.kernel)]
            held.grant(grants, free=not held.required)
        return letter in ("y", "a", "r")

    def _count(self, run: _HeldRun, key: str, times: int) -> None:
        if not run.over and key in run.scopes:
            scope, began = run.scopes[key]
            self._dialog.count(scope, times, time.monotonic() - began)

    def _shipped(self, kernel: Kernel) -> list[Grant]:
        """Return the grants without any rule; new files that other programs trust are asked about."""
        below = f"{re.escape(kernel.cwd.rstrip('/'))}/"
        confinement = self._resources.confinement
        policy = confinement.policy_of(kernel.language) if confinement else None
        obeyed = [f"{re.escape(path)}(?:/.*)?" for path in (policy.obeyed if policy else ())]
        return [
            *(Grant(("create",), path, None) for path in (below + obeyed_pattern(), *obeyed)),
            Grant(FILE_EFFECTS, f"{below}(?:.*/)?(?:{_CACHES})(?:/.*)?"),
            Grant(("create",), f"{below}.*"),
        ]

    async def _choose(self, run: _HeldRun, choice: Choice) -> str:
        if run.over:
            return await self._dialog.choose(choice)

        async def ask(whose: str) -> str:
            return await self._dialog.choose(replace(choice, what=whose + choice.what))

        return await run.attended.asked(ask)


def _arrival(effect: AskedEffect) -> AskedEffect:
    """Return the new file where one is moved to."""
    return replace(effect, verb="create", what=effect.to, to="")


def _is_covered(effect: AskedEffect, grants: Sequence[Grant]) -> bool:
    parts = (effect, _arrival(effect)) if effect.to else (effect,)
    return all(any(grant.decides(part) for grant in grants) for part in parts)


def strict(grants: Sequence[Grant]) -> list[Grant]:
    """Return the grants that forbid an effect, or have it asked about."""
    return [grant for grant in grants if grant.allowed is not True]


async def grants_of(rules: Sequence["Rule"], cwd: str) -> list[Grant]:
    """Return what rules say about effects, the strictest first. The names of hosts are looked up now."""
    grants: list[Grant] = []
    for verdict, allowed in (("deny", False), ("ask", None), ("allow", True)):
        for rule in rules:
            if rule.verdict == verdict and rule.verbs:
                grants += [Grant(rule.verbs, pattern, allowed) for pattern in await _patterns(rule, cwd)]
    return grants


async def _patterns(rule: "Rule", cwd: str) -> list[str]:
    """Return regular expressions for the paths or addresses that a rule is about."""
    if not rule.target:
        return [".*"]
    if "connect" in rule.verbs:
        return await _addresses(rule.target, names=rule.verdict == "allow")
    if "run" in rule.verbs and "/" not in rule.target:
        return [f"(.*/)?{_as_regex(rule.target)}"]
    path = _whole_path(rule.target, cwd)
    # Programs are known by their real paths.
    return [_as_regex(path), *([_as_regex(_real(path))] if "run" in rule.verbs else [])]


def _whole_path(path: str, cwd: str) -> str:
    return os.path.normpath(os.path.join(cwd, os.path.expanduser(path)))  # noqa: PTH111, PTH118


def _real(path: str) -> str:
    return os.path.realpath(path)


def _as_regex(pattern: str) -> str:
    """Return a path with `*` (a part of one name) and `**` (any number of names) as a regular expression."""
    parts = re.split(r"(\*\*|\*)", pattern)
    return "".join({"**": ".*", "*": "[^/]*"}.get(part) or re.escape(part) for part in parts)


async def _addresses(target: str, *, names: bool) -> list[str]:
    """Return patterns of the addresses of a host; with `names` also of the servers that look its name up."""
    host, _, port = target.rpartition(":") if re.search(r":\d+$", target) else (target, "", "")
    end = f":{port}" if port else r":\d+"
    if host == "*":
        return [f".*{end}"]
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(host.strip("[]"), None, type=socket.SOCK_STREAM)
    except OSError:
        # It cannot be reached either.
        return []
    ips = {str(address[4][0]) for address in found}
    patterns = [f"{re.escape(f'[{ip}]' if ':' in ip else ip)}{end}" for ip in sorted(ips)]
    is_name = names and host.strip("[]") not in ips
    return [*patterns, *(_name_servers() if is_name else [])]


def _name_servers() -> list[str]:
    try:
        lines = Path("/etc/resolv.conf").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []
    servers = [words[1] for words in map(str.split, lines) if len(words) > 1 and words[0] == "nameserver"]
    return [f"{re.escape(f'[{one}]' if ':' in one else one)}:53" for one in servers]


def _rule_for(effect: AskedEffect, cwd: str) -> str:
    """Return the rule that would have allowed an effect and those like it; "" if none can."""
    if effect.verb == "run":
        return ""
    if effect.verb not in FILE_EFFECTS:
        return f"network: {effect.what}"
    folder = near(_folder(effect.what, cwd), cwd)
    where = "./*" if folder == "." else f"{folder}/**" if folder.startswith("/") else f"./{folder}/**"
    return f"{'deletes' if effect.verb == 'delete' else 'writes'}: {where}"


def _grant_for(effect: AskedEffect, cwd: str) -> tuple[Grant, str]:
    """Return the grant for all such effects of a run, and its scope in words."""
    verbs: tuple[EffectVerb, ...] = _WRITES if effect.verb == "modify" else (effect.verb,)
    does, folder = TO_DO[effect.verb], _folder(effect.what, cwd)
    if effect.verb == "run":
        pattern, what = re.escape(effect.what), effect.what
    elif effect.verb not in FILE_EFFECTS:
        pattern, what = ".*", "any address"
    elif folder == cwd and effect.verb == "create":
        # It is asked about because others trust it: `.git` with what is in it, `.envrc` alone.
        pattern, what = f"{re.escape(effect.what)}(?:/.*)?", f"{near(effect.what, cwd)} with its files"
    elif folder == cwd:
        pattern, what = f"{re.escape(cwd.rstrip('/'))}/[^/]*", f"files in {near(cwd, cwd)}"
    else:
        pattern, what = f"{re.escape(folder)}/.*", f"files below {near(folder, cwd)}/"
    return Grant(verbs, pattern, counted=True), f"{does} {what}"


def _folder(path: str, cwd: str) -> str:
    """Return the uppermost folder of a path below the working directory, or else its own folder."""
    within = os.path.relpath(path, cwd)
    if within.startswith("../") or within == "..":
        return os.path.dirname(path)  # noqa: PTH120
    first, slash, _ = within.partition("/")
    return f"{cwd.rstrip('/')}/{first}" if slash else cwd


def _question(effect: AskedEffect, cwd: str, others: int, *, again: bool) -> str:
    """Return the question about an effect; `others` like it wait too, or were allowed before (`again`)."""
    program = effect.program or "The code"
    if effect.to:
        what = f"{program} wants to move {near(effect.what, cwd)} to {near(effect.to, cwd)}"
    else:
        named = near(effect.what, cwd) if effect.verb in FILE_EFFECTS else effect.what
        what = f"{program} wants to {TO_DO[effect.verb]} {named}"
    if others:
        return f"{what}, and {others} more like it."
    # A loop waits at one effect at a time: the second one says that it goes on.
    return f"{what}, and maybe more like it." if again else f"{what}."
