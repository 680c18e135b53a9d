"""Messages about accesses that the sandbox denied, recognized in a run's output, and about changed config."""

import os
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from terp.events.kernel import Kernel
from terp.events.outputs import Error, Output, Text
from terp.kernels.sandbox.policy import Policy, is_below
from terp.kernels.sandbox.private_places import ConfigWatch
from terp.kernels.sandbox.tier import NONE
from terp.text.wording import first_names

if TYPE_CHECKING:
    from terp.kernels.sandbox.confinement import Confinement

_NO_NETWORK = re.compile(
    r"Network is unreachable|Temporary failure in name resolution|Could not resolve host"
    r"|unable to resolve host|getaddrinfo (?:EAI_AGAIN|ENOTFOUND)|ENETUNREACH"
)
_REFUSED = r"(?:Read-only file system|Permission denied|Operation not permitted|EACCES|EROFS|EPERM)"
# Messages of Python and of other programs: "…: 'PATH'", "cannot touch 'PATH': …", "bash: line 1: PATH: …".
_AFTER = re.compile(_REFUSED + r"[^\n'\"]{0,40}['\"](?P<path>[^'\"\n]+)['\"]")
_QUOTED_BEFORE = re.compile(r"['\"‘](?P<path>[^'\"‘’\n]+)['\"’][^\n'\"]{0,20}: " + _REFUSED)
_BARE_BEFORE = re.compile(r"(?P<path>[~./\w][^\s:'\"‘’]*): " + _REFUSED)
_ABSENT = re.compile(r"No such file or directory: ['\"](?P<path>/[^'\"\n]+)['\"]")
_HINT = re.compile(_REFUSED + "|No such file or directory: ")
# Characters searched in a run's output.
_LOOKED_AT = 100_000
_HINTS = 50
# The patterns try every place of a line as the beginning of a path: on one of 100 kB that takes a minute.
_AROUND = 500
_MOST_SHOWN = 3


class Denials:
    """Searches the outputs of one run under `policy` (None: no sandbox) for denied accesses.

    `config` detects changes to configuration files that other programs execute or trust.
    """

    def __init__(self, policy: Policy | None, config: ConfigWatch | None = None) -> None:
        self._policy = policy
        self._config = config or ConfigWatch(())
        self._messages: dict[str, None] = {}
        self._left = _LOOKED_AT

    def add(self, output: Output) -> None:
        """Search an output."""
        if self._policy is None or self._left <= 0:
            return
        match output:
            case Text(text=text):
                self._look(text)
            case Error(value=value):
                self._look(value)
            case _:
                return

    def message(self) -> str:
        """Return what was blocked with its remedy, then changed configuration files; "" for nothing.

        Call it once, at the end of the run.
        """
        return " ".join([*self._messages, *self._changed()])

    def _changed(self) -> Iterator[str]:
        if changed := self._config.changed():
            names = first_names(changed, _MOST_SHOWN)
            yield f"Changed: {names}, which other programs obey. Look at it before you use them here."

    def _look(self, text: str) -> None:
        assert self._policy is not None
        text = text[: self._left]
        self._left -= len(text)
        if not self._policy.network and _NO_NETWORK.search(text):
            self._note("The network is closed to code here.", "network")
        for hint in islice(_HINT.finditer(text), _HINTS):
            near = _line_around(text, *hint.span())
            for pattern in (_AFTER, _QUOTED_BEFORE, _BARE_BEFORE, _ABSENT):
                for found in pattern.finditer(near):
                    self._path(found["path"], there=pattern is not _ABSENT)

    def _path(self, named: str, *, there: bool) -> None:
        policy = self._policy
        assert policy is not None
        # The file may not exist: its folder decides.
        path = os.path.realpath(os.path.join(policy.cwd, os.path.expanduser(named)))  # noqa: PTH111, PTH118
        if is_below(path, policy.hidden) and not is_below(path, policy.readable):
            self._note(f"Code cannot see {path}, which may hold secrets.", path)
        elif not there:
            above = os.path.dirname(path)  # noqa: PTH120
            shown = os.path.exists(path) or (len(Path(above).parts) > 2 and os.path.isdir(above))  # noqa: PTH110, PTH112
            if shown and not is_below(path, (*policy.writable, *policy.readable)):
                self._note(f"Code cannot see {path}: its folder for temporary files is its own.", path)
        elif is_below(path, policy.read_only):
            self._note(f"Code cannot change {path}, which other programs obey.", self._open_by(path))
        elif not is_below(path, policy.writable) and not path.startswith(("/proc/", "/dev/")):
            self._note(f"Writing outside {policy.cwd} is blocked, here {path}.", self._open_by(path))

    def _open_by(self, path: str) -> str:
        """Return the path to allow for `path`: the folder of a missing file, unless it contains secrets."""
        assert self._policy is not None
        above = os.path.dirname(path)  # noqa: PTH120
        if os.path.exists(path) or not os.path.isdir(above):  # noqa: PTH110, PTH112
            return path
        holds_more = above == "/" or any(is_below(one, (above,)) for one in self._policy.hidden)
        return path if holds_more else above

    def _note(self, what: str, grant: str) -> None:
        if len(self._messages) < _MOST_SHOWN:
            self._messages[f"{what} The user can allow it for this session with /allow {grant}."] = None


def denials_of(confinement: "Confinement | None", kernel: Kernel) -> Denials:
    """Return the search for denials in a run of this kernel, which does nothing without a sandbox."""
    if confinement is None or kernel.tier == NONE:
        return Denials(None)
    return Denials(confinement.policy_of(kernel.language), confinement.config_watch_of(kernel.language))


def _line_around(text: str, start: int, end: int) -> str:
    """Return the line around a match; only nearby characters of a very long one."""
    before, after = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    return before.rpartition("\n")[2] + text[start:end] + after.partition("\n")[0]
