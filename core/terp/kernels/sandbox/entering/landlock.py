"""Landlock: access rights that a process drops for itself and its children.

Constants are those of linux/landlock.h; the call numbers are the same on all architectures.
"""

import ctypes
import os
import struct

from terp.kernels.sandbox.entering.calls import syscall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import TypedDict

    class LandlockRules(TypedDict):
        """Folders that can be read, written and listed; without `files` only the scopes apply."""

        files: bool
        read: list[str]
        write: list[str]
        listed: list[str]
        devices: list[str]
        network: bool


_CREATE, _ADD, _RESTRICT = 444, 445, 446
_PATH_BENEATH = 1
EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1, 2, 4, 8
_REFER, _TRUNCATE, _IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15
_READ = EXECUTE | READ_FILE | READ_DIR
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | _TRUNCATE | _IOCTL_DEV
_BIND_TCP, _CONNECT_TCP = 1, 2
# Abstract Unix sockets and signals of processes outside this sandbox.
_SCOPES = 3


def version() -> int:
    """Return the version of Landlock's ABI; 0 if the system has none."""
    try:
        return syscall(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(1))
    except OSError:
        return 0


def restrict(rules: "LandlockRules") -> None:
    """Apply the rules to this process and its children, as far as the ABI supports them.

    Raises:
        OSError: a system call failed.
    """
    known = version()
    files = _file_rights(known) if rules["files"] else 0
    # The scopes were added with version 6, the ports with 4.
    net = _BIND_TCP | _CONNECT_TCP if known >= 4 and rules["files"] and not rules["network"] else 0
    scopes = _SCOPES if known >= 6 else 0
    if not (files or scopes):
        return
    size = 8 if known < 4 else 16 if known < 6 else 24
    attributes = struct.pack("QQQ", files, net, scopes)[:size]
    ruleset = syscall(_CREATE, ctypes.c_char_p(attributes), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if rules["files"]:
        _allow(ruleset, rules["read"], _READ & files)
        _allow(ruleset, rules["listed"], READ_DIR & files)
        _allow(ruleset, rules["write"], files & ~_IOCTL_DEV)
        _allow(ruleset, rules["devices"], files & _OF_FILES | READ_DIR)
    syscall(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0))
    os.close(ruleset)


def _file_rights(known: int) -> int:
    rights = (1 << 13) - 1
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _IOCTL_DEV)):
        rights |= right if known >= since else 0
    return rights


def _allow(ruleset: int, paths: "Iterable[str]", rights: int) -> None:
    for path in paths:
        try:
            there = os.open(path, os.O_PATH | os.O_CLOEXEC)
        except OSError:
            continue  # deleted meanwhile, or not accessible
        kept = rights if os.path.isdir(path) else rights & _OF_FILES  # noqa: PTH112
        beneath = ctypes.c_char_p(struct.pack("=Qi", kept, there))
        try:
            if kept:
                syscall(_ADD, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), beneath, ctypes.c_uint32(0))
        finally:
            os.close(there)
