"""The tiers of this machine, and a test that one enforces its policy: an installed program proves nothing."""

import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from functools import cache
from pathlib import Path

from terp import __version__
from terp.kernels.sandbox.bubblewrap import find_bubblewrap
from terp.kernels.sandbox.docker import IMAGE, find_docker
from terp.kernels.sandbox.landlock import find_landlock
from terp.kernels.sandbox.policy import Policy, SandboxOptions
from terp.kernels.sandbox.seatbelt import find_seatbelt
from terp.kernels.sandbox.tier import ProcessCommand, Tier
from terp.text.digest import sha256
from terp.text.files import content_of, replace_private

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


_DIGEST_CHARS, _MOST = 64, 16
# Settings of Linux that open and close namespaces; a distribution has some of them.
_SETTINGS = (
    "kernel/unprivileged_userns_clone", "kernel/apparmor_restrict_unprivileged_userns",
    "kernel/apparmor_restrict_unprivileged_unconfined", "user/max_user_namespaces", "user/max_net_namespaces",
)  # fmt: skip
_RIGHTS = ("Uid", "Gid", "Groups", "NoNewPrivs", "Seccomp", "CapEff", "CapPrm", "CapBnd")


def unless_recorded(record: Path | None, about: str, program: str, test: Callable[[], str]) -> str:
    """Return "" if `record` has a success of this test as things are, else the result of `test()`.

    The record saves each start the test (50 ms). It holds digests of all that a result depends on: this boot,
    the kernel and its settings, the rights of this process, the tier's program, Python and terp's own files.
    Whatever cannot be read leads to another test. Code in the sandbox cannot write the record: it lies in
    terp's hidden folder.

    A failure is tested again: a socket that the sandbox hides may have vanished while it was set up.
    `about` names the test; `program` is the path of the tier's program, or "".
    """
    digest = _digest(about, program) if record is not None else ""
    if record is not None and digest and digest in _digests(record):
        return ""
    failure = test() and test()
    if record is not None and digest and not failure:
        with suppress(OSError):
            replace_private(record, "\n".join([*_digests(record), digest][-_MOST:]) + "\n")
    return failure


def _digest(about: str, program: str) -> str:
    """Return the digest of all that a result depends on; "" if some of it is unknown."""
    try:
        facts = [about, __version__, sys.version, tempfile.gettempdir(), *os.uname(), *_of_linux()]
        own = map(str, sorted(Path(__file__).parent.rglob("*.py")))
        files = [sys.executable, *([program] if program else []), *own]
        states = [(os.path.realpath(file), os.stat(file)) for file in files]  # noqa: PTH116
    except (OSError, ValueError):
        return ""
    facts += [repr((path, *found[:7], found.st_mtime_ns, found.st_ctime_ns)) for path, found in states]
    return sha256("\0".join(facts).encode(errors="surrogateescape"))


def _of_linux() -> Iterator[str]:
    """Yield the facts about this boot and this process.

    Raises:
        OSError: this is no Linux, or /proc is not there.
    """
    yield Path("/proc/sys/kernel/random/boot_id").read_text()
    for name in ("user", "mnt", "pid", "net", "cgroup"):
        yield os.readlink(f"/proc/self/ns/{name}")  # noqa: PTH115
    lines = Path("/proc/self/status").read_text().splitlines()
    yield from (line for line in lines if line.partition(":")[0] in _RIGHTS)
    # A system without one of these has no such rule.
    for path in (*(f"/proc/sys/{name}" for name in _SETTINGS), "/proc/self/attr/current"):
        try:
            yield Path(path).read_text()
        except OSError as error:
            yield str(error.errno)


def _digests(record: Path) -> list[str]:
    """Return the recorded digests; none if another user, or a link, could have written them."""
    try:
        found = record.lstat()
        if found.st_uid != os.geteuid() or found.st_mode & 0o077:
            return []
        return content_of(record, _MOST * (_DIGEST_CHARS + 1)).decode(errors="replace").split()
    except OSError:
        return []
