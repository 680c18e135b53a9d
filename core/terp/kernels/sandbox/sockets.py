"""Sockets that other programs of this machine listen on."""

from pathlib import Path


def sockets_here() -> list[str]:
    """The paths of the Unix sockets that are bound now and can be reached by a path."""
    try:
        lines = Path("/proc/net/unix").read_text(encoding="utf-8", errors="surrogateescape").splitlines()[1:]
    except OSError:
        return []
    # Number, references, protocol, flags, type, state, inode, and the path if there is one.
    columns = (line.split(maxsplit=7) for line in lines)
    paths = {parts[7] for parts in columns if len(parts) == 8 and parts[7].startswith("/")}
    return sorted(path for path in paths if Path(path).is_socket())
