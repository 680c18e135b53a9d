"""Plain commands below a holder of effects, in a tier of the sandbox, with scripted answers."""

import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from terp.kernels.sandbox.bubblewrap import find_bubblewrap
from terp.kernels.sandbox.landlock import find_landlock
from terp.kernels.sandbox.policy import Policy, ResourceLimits
from terp.kernels.sandbox.tier import ProcessCommand, Tier
from terp.kernels.sandbox.tiers import failure_of, failure_to_hold

TIERS = ("bubblewrap", "Landlock")
NO_LIMITS = ResourceLimits()
Ask = Mapping[str, Any]
Grants = Sequence[tuple[Sequence[str], str, bool]]


@cache
def holding(name: str) -> tuple[Tier | None, str]:
    """The tier, if it works here and can hold effects, or why it cannot."""
    tier: Tier | None = find_bubblewrap(os.environ) if name == "bubblewrap" else find_landlock()
    if tier is None:
        return None, "it is not there"
    problem = failure_of(tier, network=True) or failure_to_hold(tier)
    return (None, problem) if problem else (tier, "")


def nobody(_: Ask) -> bool:
    """Refuse: nobody is there."""
    return False


def everything(_: Ask) -> bool:
    """Allow each effect, once."""
    return True


@dataclass
class Ran:
    """A command that has ended: status, output, questions, and the account as (verb, what, to, count)."""

    status: int
    output: str
    asked: list[Ask] = field(default_factory=list)
    effects: list[tuple[str, str, str, int]] = field(default_factory=list)

    @property
    def questions(self) -> list[tuple[str, str]]:
        return [(ask["verb"], ask["what"]) for ask in self.asked]


class Bench:
    """A place below /var/tmp where commands run: a sandbox may have a /tmp of its own."""

    def __init__(
        self, tier: Tier, *, network: bool = True, protected: Sequence[str] = (), below: str = "/var/tmp"
    ) -> None:
        """`protected` are names in the working directory. Below /tmp `out` is not there in a sandbox."""
        self.top = Path(tempfile.mkdtemp(prefix="terp-held-", dir=below))
        self.work, self.out, self._own = (self.top / name for name in ("work", "out", "kernels/own"))
        for folder in (self.work, self.out, self._own):
            folder.mkdir(parents=True)
        self._tier = tier
        self._network = network
        self._protected = tuple(str(self.work / name) for name in protected)
        # As terp grants: new files below the working directory.
        self.grants: Grants = [(("create",), f"{self.work}/.*", True)]

    def close(self) -> None:
        shutil.rmtree(self.top)

    def python(self, code: str, *arguments: str, **options: Any) -> Ran:
        """Run code in a Python of its own."""
        return self.run((sys.executable, "-I", "-S", "-c", code, *arguments), **options)

    def run(
        self,
        argv: Sequence[str],
        *,
        answer: Callable[[Ask], bool] = nobody,
        held: bool = True,
        free: bool = False,
        timeout_s: float = 60.0,
    ) -> Ran:
        """Run a command to its end; `answer` gets each question. Not `held`, it is only in the tier."""
        with self.started(argv, held=held, free=free) as running:
            return running.finished(answer, timeout_s)

    @contextmanager
    def started(
        self,
        argv: Sequence[str],
        *,
        held: bool = True,
        free: bool = False,
        moment: int | None = None,
        limits: ResourceLimits = NO_LIMITS,
    ) -> "Iterator[Running]":
        """Start a command; it is killed with the context. With a `moment` files are saved before changes."""
        ours, theirs = socket.socketpair()
        with ours, theirs, tempfile.TemporaryFile() as output:
            line = theirs.fileno() if held else -1
            environment = {**os.environ, "HOME": str(self.out)}
            command = ProcessCommand(tuple(argv), environment, str(self.work), self._own, line=line)
            policy = Policy(
                str(self.work),
                (str(self.work),),
                network=self._network,
                read_only=self._protected,
                limits=limits,
            )
            wrapped = self._tier.wrap(command, policy)
            process = subprocess.Popen(
                wrapped.argv,
                env=dict(wrapped.environment),
                cwd=wrapped.cwd,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(theirs.fileno(),) if held else (),
                start_new_session=True,
            )
            theirs.close()
            running = Running(process, ours, output, self.grants, free=free, held=held, moment=moment)
            try:
                yield running
            finally:
                process.kill()
                process.wait()


class Running:
    """A command that runs."""

    def __init__(
        self,
        process: subprocess.Popen[bytes],
        line: socket.socket,
        output: Any,
        grants: Grants,
        *,
        free: bool,
        held: bool,
        moment: int | None,
    ) -> None:
        self.process = process
        self._line = line
        self._messages = line.makefile("rb")
        self._output = output
        self._held = held
        self.ran = Ran(-1, "")
        if held:
            self.say({"free": free, "grants": grants, "moment": moment})

    def say(self, message: Mapping[str, Any]) -> None:
        self._line.sendall(json.dumps(message).encode() + b"\n")

    def answer_to(self, message: Mapping[str, Any]) -> Mapping[str, Any]:
        """Send a message and wait for the holder's answer to it."""
        self.say(message)
        answers = (json.loads(line) for line in self._messages)
        return next(answer for answer in answers if next(iter(message)) in answer)

    def next_question(self) -> Ask:
        """Wait for the next question."""
        for line in self._messages:
            message = json.loads(line)
            if "ask" in message:
                self.ran.asked.append(message)
                return dict(message)
        raise AssertionError(f"it ended without a question: {self.finished(nobody, 10).output}")

    def _answer_all(self, answer: Callable[[Ask], bool]) -> None:
        for line in self._messages if self._held else ():
            message = json.loads(line)
            if "ask" in message:
                self.ran.asked.append(message)
                self.say({"answer": message["ask"], "allow": answer(message)})
            elif "account" in message:
                self.ran.effects += [tuple(row) for row in message["effects"]]
                if message["account"] == 0:
                    return

    def finished(self, answer: Callable[[Ask], bool], timeout_s: float) -> Ran:
        """Answer all questions until the command has ended."""
        self._line.settimeout(timeout_s)
        # A holder that ends before it has read all resets the line.
        with suppress(ConnectionError):
            self._answer_all(answer)
        self.ran.status = self.process.wait(timeout_s)
        self._output.seek(0)
        self.ran.output = self._output.read().decode(errors="replace")
        return self.ran
