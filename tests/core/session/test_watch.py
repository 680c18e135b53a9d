"""Watched conditions: a run that breaks one stops the turn, and the model reads why."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from terp.errors import SettingsError
from terp.events import Noticed, TurnFinished
from terp.kernels.jupyter.local import LocalKernels
from terp.opening.session import watched_in
from terp.person import AutoRun
from terp.session.resources import SessionResources
from terp.session.session import Session
from terp.testing import ScriptedModel, call, collect
from tests.core.sessions import of, results


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def kernels(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[LocalKernels, None]:
    kernels = LocalKernels(str(tmp_path_factory.mktemp("watch")))
    yield kernels
    await kernels.aclose()


def watching(kernels: LocalKernels, watch: str, *replies: object) -> Session:
    resources = SessionResources(watch=watched_in(watch))
    model = ScriptedModel(*replies)  # type: ignore[arg-type]
    return Session(model, kernels, AutoRun(), folder=Path(kernels.cwd, "session"), resources=resources)


async def test_a_run_that_breaks_a_condition_stops_the_turn_and_the_model_reads_why(
    kernels: LocalKernels,
) -> None:
    session = watching(kernels, "len(xs) > 2", call("xs = [1, 2, 3]"), call("xs.pop();"), "never read")
    events = await collect(session, "go")
    end = events[-1]
    assert isinstance(end, TurnFinished)
    assert (end.reason, end.error) == ("watch_broken", "Stopped: a watched condition is broken.")
    assert of(Noticed, events) == [Noticed("Watch: len(xs) > 2 does not hold: len(xs) is 2.")]
    assert "Watch: len(xs) > 2 does not hold: len(xs) is 2." in results(session)[-1]


async def test_a_condition_that_stays_broken_stops_no_further_turn(kernels: LocalKernels) -> None:
    stays = (call("ys = [1]"), call("ys[0] = 2"), call("ys.append(3)"), call("ys.clear()"))
    session = watching(kernels, "len(ys) > 1", *stays)
    reasons = [(await collect(session, prompt))[-1].reason for prompt in ("load", "mend")]  # type: ignore[union-attr]
    assert reasons == ["watch_broken", "watch_broken"]
    assert len(results(session)) == 4


async def test_a_condition_that_held_again_by_a_rewind_can_break_again(kernels: LocalKernels) -> None:
    replies = (call("zs = [1, 2]"), "done", call("zs.pop();"), call("zs.pop();"))
    session = watching(kernels, "len(zs) > 1", *replies)
    await collect(session, "load")
    await collect(session, "break")
    await session.rewind.restore(2)
    assert (await collect(session, "again"))[-1].reason == "watch_broken"  # type: ignore[union-attr]


async def test_a_condition_on_variables_that_do_not_exist_is_not_evaluated(kernels: LocalKernels) -> None:
    events = await collect(watching(kernels, "missing_name > 1", call("1 + 1"), "Two."), "go")
    assert events[-1] == TurnFinished("done", "Two.")


async def test_a_condition_that_does_not_hold_is_evaluated_once(kernels: LocalKernels) -> None:
    code = "asked = []\ndef level():\n    asked.append(1)\n    return 7"
    session = watching(kernels, "level() > 9", call(code), call("print(asked)"), "never read")
    await collect(session, "go")
    session.resources.watch = ()
    await collect(session, "go on")
    assert "[1]" in results(session)[-1]
    assert "Watch: level() > 9 does not hold: level() is 7." in results(session)[0]


async def test_a_condition_that_raises_an_error_is_broken(kernels: LocalKernels) -> None:
    session = watching(kernels, "d['a'] > 1", call("d = {'a': 2}"), call("del d['a']"), "never read")
    await collect(session, "go")
    assert "Watch: d['a'] > 1 does not hold: KeyError: 'a'." in results(session)[-1]


async def test_all_lines_are_conditions_and_one_that_is_no_expression_is_refused() -> None:
    assert watched_in("a > 1\n\n b == 2 \n") == ("a > 1", "b == 2")
    with pytest.raises(SettingsError, match="watch: 'x = 1' is no Python expression: invalid syntax"):
        watched_in("x = 1")
