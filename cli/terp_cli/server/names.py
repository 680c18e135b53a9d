"""Which names files may have that a client writes or reads."""

import re
from collections.abc import Sequence

from terp_cli.server.failures import Refused

_DEPTH = 32
_LONGEST = 255
# Also with an extension: on Windows `nul.txt` is the device.
_DEVICES = re.compile(r"(?i:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\.|$)")
_FORBIDDEN = re.compile(r'[\x00-\x1f\x7f\\:*?"<>|\ud800-\udfff]')
# What no file of this machine can be called, and what no client can write in JSON.
_IMPOSSIBLE = re.compile(r"[\x00\ud800-\udfff]")


def parts_of(path: str, *, there: bool = False) -> Sequence[str]:
    """The names that a path is made of; of one that is `there` each may be what this system takes.

    Raises:
        Refused: one of them leads elsewhere, is hidden, or is no name on some system.
    """
    names = path.split("/")
    if len(names) > _DEPTH:
        raise Refused(404, f"A path has {_DEPTH} parts at most.", code="wrong_name")
    for name in names:
        if problem := _problem(name, there=there):
            raise Refused(404, f"The name {name[:80]!r} {problem}.", code="wrong_name")
    return names


def _problem(name: str, *, there: bool) -> str:
    if not name:
        return "is empty"
    if name.startswith("."):
        return "is hidden, or leads elsewhere"
    if len(name.encode("utf-8", "surrogatepass")) > _LONGEST:
        return f"is longer than {_LONGEST} bytes"
    if (_IMPOSSIBLE if there else _FORBIDDEN).search(name):
        return "has a character that names cannot have everywhere"
    if not there and (name.endswith((" ", ".")) or _DEVICES.match(name)):
        return "is none on some systems"
    return ""
