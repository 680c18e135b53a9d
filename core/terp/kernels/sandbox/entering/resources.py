"""Limits of resources."""

import resource

_MB = 1 << 20


def limit(wanted: dict[str, int]) -> None:
    """Hold this process, and what it starts, to `memory_mb`, `processes` and `file_mb`; 0 is no limit."""
    for name, kind, unit in (
        ("memory_mb", resource.RLIMIT_AS, _MB),
        ("processes", resource.RLIMIT_NPROC, 1),
        ("file_mb", resource.RLIMIT_FSIZE, _MB),
    ):
        if value := wanted.get(name, 0):
            _, most = resource.getrlimit(kind)
            wished = value * unit
            least = wished if most == resource.RLIM_INFINITY else min(wished, most)
            resource.setrlimit(kind, (least, least))
