"""`kill -9` of terp at any moment: while it starts, while code runs, while it ends."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Literal

import pytest

from tests.cli.running import Terp, to
from tests.cli.server.test_process import GIVEN, client, events, started
from tests.faults.adopting import ON_LINUX, Adopted, adopting
from tests.faults.figures import Figure
from tests.faults.workloads import WORKLOADS, Workload
from tests.loopback import Call, Loopback

pytestmark = ON_LINUX

When = Literal["start", "run", "end"]
MOMENTS: tuple[When, ...] = ("start", "run", "end", "start", "run", "start", "run", "end", "start", "start")
# A machine that is busy needs longer than a kernel does.
SLACK_S = float(os.environ.get("TERP_FAULTS_SLACK_S", "0"))


@contextmanager
def at_work(terp: Terp, work: Workload) -> Iterator[subprocess.Popen[str]]:
    path = terp.cwd / "code"
    path.write_text(work.code)
    process = terp.start("run", "-l", work.language, *work.flags, str(path), stdin=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def waited_for_ready(process: subprocess.Popen[str]) -> None:
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n", process.communicate()


def let_pass(process: subprocess.Popen[str], seconds: float) -> None:
    with suppress(subprocess.TimeoutExpired):
        process.wait(seconds)


def terp_for(work: Workload, folder: Path) -> Terp:
    terp = Terp(folder)
    # A program that fails is taken for one that is not there.
    (folder / "bin").mkdir()
    for name in work.without:
        (folder / "bin" / name).write_text("#!/bin/sh\nexit 1\n")
        (folder / "bin" / name).chmod(0o755)
    terp.environ["PATH"] = f"{folder / 'bin'}:{terp.environ['PATH']}"
    return terp


def killed(
    terp: Terp, work: Workload, adopted: Adopted, when: When, moment_s: float
) -> tuple[float, list[str]]:
    """How long it took until nothing was left, and what was left at the limit."""
    with at_work(terp, work) as process:
        if when != "start":
            waited_for_ready(process)
        if when == "end":
            process.send_signal(signal.SIGTERM)
        let_pass(process, moment_s)
        process.kill()
        return adopted.gone_after(work.bound_s + SLACK_S)


@pytest.mark.faults
@pytest.mark.parametrize("work", WORKLOADS, ids=lambda work: work.name)
def test_nothing_is_left_of_a_terp_that_is_killed_at_any_moment(
    work: Workload, tmp_path: Path, figure: Figure
) -> None:
    chance = random.Random(work.name)
    terp = terp_for(work, tmp_path)
    with adopting() as adopted:
        began = time.monotonic()
        gone = [killed(terp, work, adopted, "run", 0)]
        longest: dict[When, float] = {"start": time.monotonic() - began, "run": 0.3, "end": 1.2}
        gone += [killed(terp, work, adopted, when, chance.uniform(0, longest[when])) for when in MOMENTS]
    assert [left for _, left in gone] == [[]] * len(gone)
    figure(f"{work.name}: 0 left of {len(gone)} kills, the last after {max(gone)[0]:.2f} s")


@pytest.mark.faults
def test_nothing_is_left_of_a_server_that_is_killed_while_code_runs(terp: Terp, figure: Figure) -> None:
    with (
        adopting() as adopted,
        Loopback([Call(code=WORKLOADS[0].code)]) as model,
        started(terp, *to(model), TERP_SERVER_TOKEN=GIVEN) as (process, lines),
        client(lines, GIVEN) as own,
    ):
        session = own.post("/v1/sessions", json={}).json()["id"]
        for event in events(own, f"/v1/sessions/{session}/turns", {"prompt": "go"}):
            if event["event"] == "code_proposed":
                with client(lines, GIVEN) as other:
                    body = {"digest": event["digest"], "decision": "run"}
                    other.post(f"/v1/sessions/{session}/approvals/c1", json=body)
            if event["event"] == "printed":
                break
        process.kill()
        took, left = adopted.gone_after(1.0 + SLACK_S)
    assert left == []
    figure(f"terp serve: 0 left of 1 kill, after {took:.2f} s")
