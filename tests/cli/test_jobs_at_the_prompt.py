"""Code that goes to the background while a REPL goes on."""

from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
from prompt_toolkit.input import create_pipe_input

from terp.testing import EchoKernel, call
from tests.cli.repl.test_repl import Seat

LEFT = "Runs in the background as job 1 (python)"


@pytest.fixture
async def seat(tmp_path: Path) -> AsyncIterator[Callable[..., Seat]]:
    with create_pipe_input() as keys:
        yield lambda *replies, **settings: Seat(keys, tmp_path, *replies, **settings)


@pytest.mark.parametrize("keys", ["/bg\r", "\x02"])
async def test_code_goes_to_the_background_and_the_turn_goes_on(seat: Callable[..., Seat], keys: str) -> None:
    here = seat([call(EchoKernel.ENDLESS)], "meanwhile")
    await here.types("wait\r")
    await here.kernel.busy()
    here.keys.send_text(keys)
    await here.screen.wrote("meanwhile")
    assert here.said == ["wait"]
    assert any(row.startswith(LEFT) for row in here.screen.shown())
    await here.types("/jobs\r")
    await here.screen.wrote("running")
    await here.types("/jobs stop 1\r")
    await here.screen.wrote("interrupted, variables kept")
    await here.types("\x04")
    assert await here.left() == 0
    block = [row for row in here.screen.shown() if "job 1" in row or "interrupted" in row]
    assert block[1] == "── job 1 (python) has ended"
    assert block[2].startswith("✗ interrupted, variables kept")


async def test_typed_code_goes_to_the_background_and_its_end_is_shown(seat: Callable[..., Seat]) -> None:
    here = seat()
    await here.types(f">>> {EchoKernel.ENDLESS}\r", "\r")
    await here.kernel.busy()
    here.keys.send_text("\x02")
    await here.screen.wrote(LEFT)
    await here.types(">>> 1\r")
    await here.screen.wrote("is busy with job 1")
    await here.types("/jobs stop\r")
    await here.screen.wrote("interrupted, variables kept")
    await here.types("\x04")
    assert (await here.left(), here.kernel.ran) == (0, [EchoKernel.ENDLESS])


async def test_who_leaves_is_told_once_of_the_job_that_ends_with_it(seat: Callable[..., Seat]) -> None:
    here = seat([call(EchoKernel.ENDLESS)], "meanwhile")
    await here.types("wait\r")
    await here.kernel.busy()
    here.keys.send_text("\x02")
    await here.screen.wrote("meanwhile")
    await here.types("\x04")
    await here.screen.wrote("Job 1 (python) still runs: leaving ends it.")
    assert not here.running.done()
    await here.types("\x04")
    assert await here.left() == 0
    await here.session.aclose()


async def test_bg_says_when_there_is_nothing_to_let_go(seat: Callable[..., Seat]) -> None:
    here = seat()
    await here.types("/bg\r")
    await here.screen.wrote("No code is running that could")
    await here.types("\x04")
    assert await here.left() == 0
