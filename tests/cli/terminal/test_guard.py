"""The terminal after the death of whoever changed it, on real pseudo-terminals with real shells."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from terp_cli.terminal.restorer import read, written
from tests.cli.running import ROOT, Terp, to
from tests.cli.teletype import Teletype
from tests.loopback import Loopback, Stalled

# A terminal makes a carriage return and a line feed of the line feed that is written.
IN_ORDER = "\x1b[?2026l\x1b[?2004l\x1b[?1004l\x1b[?7h\x1b[?25h\x1b[m\r\r\n\x1b[J"
ENV = {"PATH": os.environ["PATH"], "PYTHONPATH": f"{ROOT / 'core'}:{ROOT / 'cli'}", "TERM": "xterm"}

# Reads keys as a prompt does, says so, and dies as it is told to.
DIES = """
import os, signal, sys
from prompt_toolkit.input.vt100 import raw_mode
from terp_cli.terminal.guard import guarding
from terp_cli.terminal.tty import unechoed

with guarding(0, {"TERM": "xterm"}) as guard:
    with unechoed(0) if sys.argv[1] == "silent" else raw_mode(0):
        if sys.argv[2] == "stays":
            guard.stay()
        guard.taken("\\x1b[23;0t")
        if sys.argv[1] == "given":
            guard.given()
        os.write(1, b"<here>")
        os.read(0, 1)
        if sys.argv[1] != "leaves":
            os.kill(os.getpid(), signal.SIGKILL)
    os.write(1, b"<left>")
"""


def dying(how: str, folder: Path, staying: str = "stays") -> Teletype:
    teletype = Teletype([sys.executable, "-c", DIES, how, staying], folder, ENV)
    teletype.until("<here>")
    assert teletype.modes != teletype.before
    teletype.types("x")
    return teletype


@pytest.mark.parametrize("staying", ["stays", "not yet"])
@pytest.mark.parametrize("how", ["raw", "silent"])
def test_a_killed_program_leaves_the_terminal_as_it_was(how: str, staying: str, tmp_path: Path) -> None:
    with dying(how, tmp_path, staying) as teletype:
        assert (teletype.over(), teletype.modes) == (("\x1b[23;0t" + IN_ORDER, -9), teletype.before)


@pytest.mark.parametrize("staying", ["stays", "not yet"])
def test_nothing_is_written_after_an_orderly_end(staying: str, tmp_path: Path) -> None:
    with dying("leaves", tmp_path, staying) as teletype:
        assert (teletype.over(), teletype.modes) == (("<left>", 0), teletype.before)


def test_a_terminal_that_was_given_away_is_left_alone(tmp_path: Path) -> None:
    with dying("given", tmp_path) as teletype:
        assert (teletype.over(), teletype.modes != teletype.before) == (("", -9), True)


# Not zsh, which takes over the modes that it finds if it is the first to hear of the death.
@pytest.mark.parametrize("shell", [["bash", "--norc", "-i"], ["sh", "-i"]], ids=lambda shell: shell[0])
def test_the_shell_goes_on_at_a_terminal_in_order(shell: list[str], tmp_path: Path) -> None:
    (tmp_path / "dies.py").write_text(DIES)
    with Teletype(shell, tmp_path, {**ENV, "PS1": "ready> ", "HOME": str(tmp_path)}) as teletype:
        teletype.until("ready> ")
        # What is typed is echoed too, and the shell's prompt may come before the guard's rows or after them.
        modes = 'echo "mode"s=$(stty -g)'
        teletype.types(f"{modes}; {sys.executable} dies.py raw stays\r")
        before = teletype.until("<here>").rpartition("modes=")[2].partition("\r\n")[0]
        # No shell gets a line until its modes are there.
        teletype.types("x")
        teletype.until("\x1b[?2026l")
        teletype.types(f"{modes}; echo o''k\r")
        after = teletype.until("ok\r\n").rpartition("modes=")[2].partition("\r\n")[0]
        assert (after, before.count(":") > 3) == (before, True)


def test_a_shell_that_has_taken_over_keeps_its_modes(tmp_path: Path) -> None:
    with Teletype([sys.executable, "-c", TAKEN_OVER], tmp_path, ENV) as teletype:
        assert teletype.over() == ("", 0)


TAKEN_OVER = """
import termios
from terp_cli.terminal.restorer import modes_of, restore, terps

before = modes_of(0)
theirs = termios.tcgetattr(0)
theirs[0] &= ~termios.ICRNL
theirs[3] &= ~(termios.ECHO | termios.ICANON | termios.IEXTEN)
termios.tcsetattr(0, termios.TCSANOW, theirs)
now = modes_of(0)
restore(0, 1, before, terps(before))
assert modes_of(0) == now
"""


def test_modes_survive_being_written(tmp_path: Path) -> None:
    with Teletype(["true"], tmp_path, ENV) as teletype:
        assert read(written(teletype.before)) == teletype.before


Talk = Callable[[str], Teletype]


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Talk]:
    """Starts terp, and returns when it waits at its prompt or in a turn."""
    terp = Terp(tmp_path)
    with Loopback([Stalled()]) as server, ExitStack() as open_ones:

        def start(moment: str) -> Teletype:
            command = [sys.executable, "-m", "terp_cli", *to(server)]
            teletype = open_ones.enter_context(Teletype(command, terp.cwd, terp.environ))
            teletype.until("\x1b[?2004h")
            if moment == "in a turn":
                teletype.types("hello\r")
                teletype.until("waiting for")
            teletype.until_changed()
            return teletype

        yield start


@pytest.mark.parametrize("moment", ["at the prompt", "in a turn"])
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV])
def test_the_terminal_is_as_before_when_terp_is_killed(
    talk: Talk, moment: str, number: signal.Signals
) -> None:
    teletype = talk(moment)
    teletype.kill(number)
    shown, _ = teletype.over()
    assert (shown[-len(IN_ORDER) :], teletype.modes) == (IN_ORDER, teletype.before)


@pytest.mark.parametrize("moment", ["at the prompt", "in a turn"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
def test_the_terminal_is_as_before_when_terp_is_told_to_end(
    talk: Talk, moment: str, number: signal.Signals, code: int
) -> None:
    teletype = talk(moment)
    teletype.kill(number)
    shown, ended = teletype.over()
    assert (ended, teletype.modes) == (code, teletype.before)
    assert "\x1b[?2004h" not in shown.rpartition("\x1b[?2004l")[2]
