"""Many at once in one directory, with one home."""

import subprocess
from contextlib import ExitStack

import pytest

from tests.cli.running import Terp, to
from tests.loopback import Call, Loopback, Scripted

pytestmark = pytest.mark.faults

MANY = 8


def script_of(number: int) -> list[Scripted]:
    write = f"open('{number}', 'w').write(str(mine))"
    return [Call(code=f"mine = {number}"), Call(code=write), f"I am {number}."]


def test_eight_sessions_in_one_directory_do_not_disturb_each_other(terp: Terp) -> None:
    with ExitStack() as open_ones:
        servers = [open_ones.enter_context(Loopback(script_of(n))) for n in range(MANY)]
        running = [terp.start(*to(one), "-y", "go", stdin=subprocess.DEVNULL) for one in servers]
        ended = [process.communicate(timeout=240) for process in running]
    assert [out for out, _ in ended] == [f"I am {n}.\n" for n in range(MANY)]
    assert [(terp.cwd / str(n)).read_text() for n in range(MANY)] == [str(n) for n in range(MANY)]
    ids = [line.split()[0] for line in terp("sessions").out.splitlines() if "go" in line]
    shown = [terp("sessions", "show", each).out for each in ids]
    assert sorted(n for n in range(MANY) for text in shown if f"I am {n}." in text) == list(range(MANY))
