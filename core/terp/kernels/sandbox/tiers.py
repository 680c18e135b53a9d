"""The tiers of this machine, and a test that one enforces its policy: an installed program proves nothing."""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import closing
from functools import cache
from pathlib import Path

from terp.kernels.sandbox.bubblewrap import find_bubblewrap
from terp.kernels.sandbox.docker import IMAGE, find_docker
from terp.kernels.sandbox.landlock import find_landlock
from terp.kernels.sandbox.policy import Policy, SandboxOptions
from terp.kernels.sandbox.seatbelt import find_seatbelt
from terp.kernels.sandbox.tested import unless_recorded
from terp.kernels.sandbox.tier import ProcessCommand, Tier

_WAIT_S = 10.0
_SECRET = "the canary sings"  # noqa: S105  (not a real one)
# Attempts inside the sandbox; the results are checked outside.
_TRIES = """
import sys
for path, what in zip(sys.argv[1:3], ("inside", "outside")):
    try:
        open(path, "w").write(what)
    except OSError:
        pass
for path in sys.argv[3:5]:
    try:
        print(open(path).read())
    except OSError:
        pass
port = int(sys.argv[5])
if port:
    import socket
    try:
        socket.create_connection(("127.0.0.1", port), 1).close()
    except OSError:
        pass
"""


def tiers_here(options: SandboxOptions, environ: Mapping[str, str]) -> Sequence[Tier]:
    """Return the tiers of this machine that the options allow, the best first, untested."""
    if options.mode == "docker":
        found: Sequence[Tier | None] = [find_docker(environ, options.image or IMAGE)]
    elif sys.platform == "darwin":
        found = [find_seatbelt(environ)]
    else:
        found = [find_bubblewrap(environ), find_landlock()]
    return [tier for tier in found if tier is not None]


def nothing_found(options: SandboxOptions) -> str:
    """Return the reason why `tiers_here` finds none."""
    if options.mode == "docker":
        return "no Docker daemon answers"
    if sys.platform == "darwin":
        return "sandbox-exec is not there"
    return "there is no bubblewrap, and this Linux has no Landlock"


@cache
def failure_of(tier: Tier, *, network: bool, record: Path | None = None) -> str:
    """Return the reason why a tier does not work here, in a few words; "" if it works.

    Cached: each tier is tried once in a process, and with a `record` of successes once in a boot.
    """
    about = f"{type(tier).__module__} {tier} network={network}"
    return unless_recorded(record, about, tier.path, lambda: _failure_in(tier, network=network))


def _failure_in(tier: Tier, *, network: bool) -> str:
    try:
        with (
            tempfile.TemporaryDirectory(prefix="terp-canary-") as folder,
            closing(socket.create_server(("127.0.0.1", 0))) as listener,
        ):
            return _tried(tier, Path(os.path.realpath(folder)), listener, network=network)
    except OSError as error:
        # The disk is full, or no port is free.
        return str(error)


def _tried(tier: Tier, folder: Path, listener: socket.socket, *, network: bool) -> str:
    work, own, closed = folder / "work", folder / "kernels" / "own", folder / "closed"
    for place in (work, own, closed):
        place.mkdir(parents=True)
    outside, hidden, secret = folder / "outside", closed / "key", folder / "secret"
    for path in (outside, hidden, secret):
        path.write_text(_SECRET)
    policy = Policy(str(work), (str(work),), hidden=(str(closed), str(secret)), network=network)
    port = "0" if network else str(listener.getsockname()[1])
    tries = (str(work / "made"), str(outside), str(hidden), str(secret), port)
    argv = (sys.executable, "-I", "-S", "-c", _TRIES, *tries)
    try:
        wrapped = tier.wrap(ProcessCommand(argv, {"PATH": os.defpath}, str(work), own), policy)
        done = subprocess.run(
            wrapped.argv,
            env=dict(wrapped.environment),
            cwd=wrapped.cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_WAIT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if done.returncode or not (work / "made").exists():
        return (done.stderr.strip().splitlines() or [f"it ends with {done.returncode}"])[-1]
    if outside.read_text() != _SECRET:
        return "it lets code write outside"
    if _SECRET in done.stdout:
        return "it lets code read what is hidden"
    return "it lets code reach the network" if _was_reached(listener) else ""


_HELD_TRY = "import os, sys; os.mkdir(sys.argv[1])"


@cache
def failure_to_hold(tier: Tier, record: Path | None = None) -> str:
    """Return the reason why effects of code in a tier cannot be held, in a few words; "" if they can.

    A process makes a directory, which must be reported before it is there. Cached as `failure_of` is.
    """
    about = f"{type(tier).__module__} {tier} holds"
    return unless_recorded(record, about, tier.path, lambda: _failure_to_hold(tier))


def _failure_to_hold(tier: Tier) -> str:
    try:
        with tempfile.TemporaryDirectory(prefix="terp-canary-") as folder:
            return _held(tier, Path(os.path.realpath(folder)))
    except OSError as error:
        return str(error)


def _held(tier: Tier, folder: Path) -> str:
    work, own = folder / "work", folder / "kernels" / "own"
    for place in (work, own):
        place.mkdir(parents=True)
    argv = (sys.executable, "-I", "-S", "-c", _HELD_TRY, str(work / "made"))
    ours, theirs = socket.socketpair()
    with ours, theirs:
        command = ProcessCommand(argv, {"PATH": os.defpath}, str(work), own, line=theirs.fileno())
        wrapped = tier.wrap(command, Policy(str(work), (str(work),)))
        tried = subprocess.Popen(
            wrapped.argv,
            env=dict(wrapped.environment),
            cwd=wrapped.cwd,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            pass_fds=(theirs.fileno(),),
        )
        theirs.close()
        try:
            ours.settimeout(_WAIT_S)
            ours.sendall(b'{"free": false, "grants": []}\n')
            asked = b'"ask"' in _lines_until(ours, b'"ask"')
            if asked:
                ours.sendall(b'{"answer": 1, "allow": false}\n')
            _, errors = tried.communicate(timeout=_WAIT_S)
        finally:
            tried.kill()
            tried.wait()
    if not asked:
        return (errors.decode(errors="replace").strip().splitlines() or ["no effect was reported"])[-1]
    return "a refused effect happened" if (work / "made").exists() else ""


def _lines_until(line: socket.socket, word: bytes) -> bytes:
    received = b""
    while word not in received and (more := line.recv(1 << 16)):
        received += more
    return received


def _was_reached(listener: socket.socket) -> bool:
    listener.settimeout(0)
    try:
        listener.accept()[0].close()
    except OSError:
        return False
    return True
