"""macOS with Seatbelt: a profile for `sandbox-exec`. Written from documentation, untested."""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from terp.kernels.sandbox.policy import Policy, is_below
from terp.kernels.sandbox.tier import ProcessCommand, Tier, limited, needed_by_launcher, with_own_places
from terp.text.dataclasses import dataclass, replace

PROFILE = "confine.sb"


@dataclass(frozen=True, slots=True)
class Seatbelt(Tier):
    """The tier of the program `sandbox-exec` at `path`."""

    name: str = "Seatbelt (untested)"
    cannot: tuple[str, ...] = ("count processes of the code apart from your other ones",)

    def wrap(self, command: ProcessCommand, policy: Policy) -> ProcessCommand:
        """Return the command under a profile."""
        environment = with_own_places(command.environment, command.directory, policy.temporary)
        profile = command.directory / PROFILE
        profile.write_text(profile_text(policy, command.directory, command.transport), encoding="utf-8")
        inner = limited(command.argv, command.directory, policy)
        argv = (self.path, "-f", str(profile), *inner)
        return replace(command, argv=argv, environment=environment)


def find_seatbelt(environ: Mapping[str, str]) -> Seatbelt | None:
    """Return Seatbelt if its program is installed."""
    path = shutil.which("sandbox-exec", path=environ.get("PATH", os.defpath))
    return Seatbelt(path) if path else None


def profile_text(policy: Policy, directory: Path, transport: str = "ipc") -> str:
    """Return the rules in Seatbelt's language, in which the last match decides."""
    return "\n".join(_rules(policy, os.path.realpath(directory), transport)) + "\n"


def _rules(policy: Policy, own: str, transport: str) -> Iterator[str]:
    yield from ("(version 1)", "(allow default)", "(deny file-write*)")
    yield '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (regex #"^/dev/tty"))'
    yield '(allow file-write* (literal "/dev/ptmx") (regex #"^/dev/fd/"))'
    private = (own, policy.temporary) if policy.temporary else (own,)
    for path in (*policy.writable, *private):
        yield f"(allow file-write* (subpath {_quoted(path)}))"
    for path in policy.read_only:
        yield f"(deny file-write* (subpath {_quoted(path)}))"
    for path in policy.hidden:
        yield f"(deny file-read* file-write* (subpath {_quoted(path)}))"
    for path in (*needed_by_launcher(), *policy.readable):
        # A rule for a parent of a hidden path would open it again.
        if is_below(path, policy.hidden):
            yield f"(allow file-read* (subpath {_quoted(path)}))"
    for path in (*policy.writable, *private):
        if is_below(path, policy.hidden):
            yield f"(allow file-read* file-write* (subpath {_quoted(path)}))"
    yield "(deny signal)"
    yield "(allow signal (target same-sandbox))"
    # The keychain, the pasteboard and other programs are reached by messages.
    yield "(deny mach-lookup)"
    yield '(allow mach-lookup (global-name "com.apple.system.opendirectoryd.libinfo"))'
    yield "(deny appleevent-send)"
    if not policy.network:
        yield "(deny network*)"
        yield f"(allow network* (subpath {_quoted(own)}))"
        if transport == "tcp":
            yield '(allow network-bind network-inbound (local ip "localhost:*"))'


def _quoted(path: str) -> str:
    escaped = path.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
