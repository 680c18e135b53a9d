"""The filter has a class for each system call, and decides by numbers as its tables say."""

import errno
import os
import re
import struct
from pathlib import Path

import pytest

from terp.kernels.sandbox.entering import arguments, calls
from terp.kernels.sandbox.entering.bpf import AUDIT, X32
from terp.kernels.sandbox.entering.notified import REPORTED, names_of, program_of

MACHINES = list(AUDIT)
ALLOW, NOTIFY, KILL = 0x7FFF0000, 0x7FC00000, 0x80000000
HEADERS = {
    "x86_64": Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h"),
    "aarch64": Path("/usr/include/aarch64-linux-gnu/asm/unistd_64.h"),
}


def failing(code: int) -> int:
    return 0x00050000 | code


def verdict(machine: str, number: int, *arguments: int, private_memory: bool = True, audit: int = 0) -> int:
    """What the filter's program returns for a call: an interpreter of what it uses of linux/filter.h."""
    program = list(program_of(machine, private_memory=private_memory))
    padded = [argument & 0xFFFFFFFFFFFFFFFF for argument in (*arguments, 0, 0, 0, 0, 0, 0)[:6]]
    data = struct.pack("=IIQ6Q", number, audit or AUDIT[machine], 0, *padded)
    accumulator, at = 0, 0
    while True:
        code, yes, no, value = program[at]
        at += 1
        match code:
            case 0x20:
                (accumulator,) = struct.unpack_from("=I", data, value)
            case 0x54:
                accumulator &= value
            case 0x15:
                at += yes if accumulator == value else no
            case 0x35:
                at += yes if accumulator >= value else no
            case 0x25:
                at += yes if accumulator > value else no
            case 0x45:
                at += yes if accumulator & value else no
            case 0x06:
                return value
            case _:
                raise AssertionError(f"no instruction: {code:#x}")


def number_of(machine: str, name: str) -> int:
    column = MACHINES.index(machine)
    return next(table[name][column] for table in calls.ALL if name in table)


@pytest.mark.parametrize("machine", MACHINES)
def test_each_call_belongs_to_one_class(machine: str) -> None:
    column = MACHINES.index(machine)
    numbers = [(pair[column], name) for table in calls.ALL for name, pair in table.items() if pair[column]]
    assert len(numbers) == len(dict(numbers)) == len({name for _, name in numbers})


@pytest.mark.parametrize("machine", MACHINES)
def test_each_number_is_decided_as_its_class_says(machine: str) -> None:
    column = MACHINES.index(machine)
    named = {pair[column]: name for table in calls.ALL for name, pair in table.items() if pair[column]}
    expected = {
        **dict.fromkeys(calls.REFUSED, failing(errno.EPERM)),
        **dict.fromkeys(calls.ABSENT, failing(errno.ENOSYS)),
        **dict.fromkeys({**calls.FREE, **calls.SHARED, **calls.SOME}, ALLOW),
        **{name: NOTIFY for name in REPORTED if name not in calls.SOME},
    }
    found = {number: verdict(machine, number) for number in range(1, 700)}
    wanted = {
        number: expected[named[number]] if number in named else failing(errno.ENOSYS) for number in found
    }
    assert found == wanted
    assert verdict(machine, 0) == ALLOW


@pytest.mark.parametrize("machine", MACHINES)
def test_the_names_are_those_of_the_systems_headers(machine: str) -> None:
    header = HEADERS[machine]
    if not header.exists():
        pytest.skip(f"no headers of {machine} here")
    theirs = {
        found[1]: int(found[2]) for found in re.finditer(r"#define __NR_(\w+) (\d+)", header.read_text())
    }
    column = MACHINES.index(machine)
    ours = {name: pair[column] for table in calls.ALL for name, pair in table.items()}
    differing = {
        name: (ours[name], number) for name, number in theirs.items() if ours.get(name, number) != number
    }
    unknown = set(theirs) - set(ours)
    assert (differing, unknown) == ({}, OBSOLETE & set(theirs))


# No program calls them any more, and they fail as unknown ones do.
OBSOLETE = {
    "_sysctl", "afs_syscall", "create_module", "epoll_ctl_old", "epoll_wait_old", "get_kernel_syms",
    "getpmsg",
    "lookup_dcookie", "nfsservctl", "putpmsg", "query_module", "security", "tuxcall", "uselib", "vserver",
}  # fmt: skip


@pytest.mark.parametrize("machine", MACHINES)
def test_each_reported_call_is_performed_by_something(machine: str) -> None:
    filtered = {"clone", "prctl", "ioctl"}
    assert set(names_of(machine).values()) - filtered <= set(arguments._ACTS)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        (os.O_RDONLY, ALLOW),
        (os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | os.O_NOFOLLOW, ALLOW),
        (os.O_PATH | os.O_RDWR | os.O_CREAT, ALLOW),
        (os.O_WRONLY, NOTIFY),
        (os.O_RDWR, NOTIFY),
        (3, NOTIFY),
        (os.O_CREAT, NOTIFY),
        (os.O_TRUNC, NOTIFY),
        (os.O_TMPFILE, NOTIFY),
        (os.O_TMPFILE | os.O_RDWR, NOTIFY),
        (os.O_WRONLY | 1 << 40, NOTIFY),
        (1 << 32, ALLOW),
    ],
)
def test_opening_for_writing_is_reported(flags: int, expected: int) -> None:
    assert verdict("x86_64", number_of("x86_64", "open"), 4096, flags) == expected
    for machine in MACHINES:
        assert verdict(machine, number_of(machine, "openat"), -100, 4096, flags) == expected


@pytest.mark.parametrize(
    ("name", "given", "expected"),
    [
        ("sendto", (3, 4096, 5, 0, 0, 0), ALLOW),
        ("sendto", (3, 4096, 5, 0, 4096, 16), NOTIFY),
        ("sendto", (3, 4096, 5, 0, 1 << 33, 16), NOTIFY),
        ("sendto", (3, 4096, 5, 0x20000000, 0, 0), NOTIFY),
        ("fcntl", (3, 1, 0), ALLOW),
        ("fcntl", (3, 8, 9), NOTIFY),
        ("fcntl", (3, 15, 4096), failing(errno.EPERM)),
        ("fcntl", (3, 1024, 1), failing(errno.EINVAL)),
        ("ioctl", (1, 0x5401, 4096), ALLOW),
        ("ioctl", (1, 0x8901, 4096), failing(errno.EPERM)),
        ("ioctl", (1, 0x80086601, 4096), ALLOW),
        ("ioctl", (1, 0x40086602, 4096), failing(errno.ENOTTY)),
        ("ioctl", (1, 0x401C5820 | 1 << 32, 4096), failing(errno.ENOTTY)),
        ("ioctl", (1, 0x40806685, 4096), failing(errno.ENOTTY)),
        ("ioctl", (1, 0x5000940E, 4096), failing(errno.ENOTTY)),
        ("ioctl", (1, 0x40049409, 4), ALLOW),
        ("clone", (0x3D0F00, 0), ALLOW),
        ("clone", (17,), ALLOW),
        *(("clone", (1 << bit | 17,), failing(errno.EPERM)) for bit in (17, 25, 26, 27, 28, 29, 30)),
        ("prctl", (4, 0), failing(0)),
        ("prctl", (4, 1), ALLOW),
        ("prctl", (15, 4096), ALLOW),
        ("prlimit64", (0, 7, 4096), ALLOW),
        ("prlimit64", (1, 7, 4096), NOTIFY),
        ("sched_setaffinity", (0, 8, 4096), ALLOW),
        ("sched_setaffinity", (77, 8, 4096), NOTIFY),
    ],
)
def test_what_depends_on_numbers_is_decided_by_them(name: str, given: tuple[int, ...], expected: int) -> None:
    for machine in MACHINES:
        assert verdict(machine, number_of(machine, name), *given) == expected


def test_shared_memory_of_all_programs_is_not_there() -> None:
    for machine in MACHINES:
        found = {verdict(machine, number_of(machine, name), private_memory=False) for name in calls.SHARED}
        assert found == {failing(errno.ENOSYS)}


def test_other_architectures_are_killed_or_absent() -> None:
    assert verdict("x86_64", number_of("x86_64", "open"), audit=0x40000003) == KILL
    assert verdict("aarch64", 5, audit=0x40000028) == KILL
    assert verdict("x86_64", X32 + 1) == failing(errno.ENOSYS)
    assert verdict("x86_64", 0xFFFFFFFF) == failing(errno.ENOSYS)
