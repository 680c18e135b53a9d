import os
import subprocess
import sys

from tests.cli.running import ROOT, TIMEOUT_S

# A shell with one job: only in a session with somebody who waits can a process be stopped.
SHELL = """
import asyncio, os, signal, sys, termios
from terp.events import TextDelta
from terp_cli.fronts.terminal import TerminalFront
from tests.cli.screens import Terminal

line = os.open(sys.argv[1], os.O_RDWR)

def say(what):
    echo = bool(termios.tcgetattr(line)[3] & termios.ECHO)
    print(what, "echo" if echo else "quiet", flush=True)

async def job():
    back = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGCONT, back.set)

    async def turn():
        yield TextDelta("half")
        say("drawing")
        os.kill(os.getpid(), signal.SIGTSTP)
        await back.wait()
        say("back")

    await TerminalFront(Terminal().screen, keyboard=line).show(turn())
    say("done")

signal.signal(signal.SIGTTOU, signal.SIG_IGN)
child = os.fork()
if child == 0:
    os.setpgid(0, 0)
    os.tcsetpgrp(line, os.getpid())
    asyncio.run(job())
    os._exit(0)
_, status = os.waitpid(child, os.WUNTRACED)
say("stopped" if os.WIFSTOPPED(status) else "ended")
os.kill(child, signal.SIGCONT)
os.waitpid(child, 0)
"""


def test_ctrl_z_during_a_turn_gives_the_terminal_back_and_takes_it_again() -> None:
    ours, theirs = os.openpty()
    try:
        ran = subprocess.run(
            [sys.executable, "-c", SHELL, os.ttyname(theirs)],
            env={"PYTHONPATH": f"{ROOT / 'core'}:{ROOT / 'cli'}:{ROOT}"},
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            start_new_session=True,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)
    said = ["drawing quiet", "stopped echo", "back quiet", "done echo"]
    assert (ran.stdout.splitlines(), ran.stderr) == (said, "")
