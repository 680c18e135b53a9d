"""The process of a kernel that somebody else has started, where it is certain which one that is."""

import os
from pathlib import Path

from terp.kernels.attached.connection_files import ConnectionFile

_HERE = ("127.", "localhost", "::1")


def owner_of(file: ConnectionFile) -> int:
    """The id of the kernel's process, or 0.

    It is the one that listens at the kernel's address *and* has the connection file for its own: by its
    command line, or because the file is named after it. The mouth of a tunnel listens there, too.
    """
    # It comes with ipykernel, and is needed for kernels of others alone.
    import psutil  # noqa: PLC0415

    if file.transport == "tcp" and not file.ip.startswith(_HERE):
        return 0
    for pid in _listening(file):
        try:
            arguments = psutil.Process(pid).cmdline()
            mine = psutil.Process(pid).uids().real == os.getuid()
        except psutil.Error:
            continue
        its_own = any(Path(file.path).name in argument for argument in arguments) or file.name == str(pid)
        if mine and its_own:
            return pid
    return 0


def lives(pid: int) -> bool:
    """Whether a process runs; one that nobody has buried yet does not."""
    import psutil  # noqa: PLC0415  (see `owner_of`)

    try:
        return bool(psutil.Process(pid).status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def _listening(file: ConnectionFile) -> list[int]:
    """The processes that listen at the kernel's address."""
    import psutil  # noqa: PLC0415  (see `owner_of`)

    transport, _, address = file.address("shell").partition("://")
    try:
        sockets = psutil.net_connections("unix" if transport == "ipc" else "tcp")
    except psutil.Error:
        # macOS shows them to root alone.
        return []
    wanted: object = address if transport == "ipc" else file.ports["shell"]
    return [
        one.pid
        for one in sockets
        if one.pid and wanted == (one.laddr if transport == "ipc" else getattr(one.laddr, "port", 0))
    ]
