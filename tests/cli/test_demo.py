import io
import re
from collections.abc import AsyncIterable, Sequence
from pathlib import Path

import pytest

from terp.events import CodeFinished, CodeProposed, Event, TurnFinished
from terp.person import AutoRun, Decline, Person, Run
from terp.session.reply import Reply, reply_of
from terp.session.session import Session
from terp.testing import EchoKernel, ScriptedModel, ScriptedPerson, collect
from terp_cli.line.stopping import Stopping
from terp_cli.verbs import demo
from terp_cli.verbs.demo.play import OneTrack, TourModel, play


class Watching:
    """A front end that shows nothing and keeps what there was to see."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    async def show(self, events: AsyncIterable[Event]) -> None:
        self.events = [event async for event in events]

    def finish(self, events: Sequence[Event], collected: Sequence[Path]) -> None:
        assert list(events) == self.events

    @property
    def reply(self) -> Reply:
        return reply_of(self.events)


async def played(tmp_path: Path, person: Person) -> tuple[int, Watching, str, Path]:
    folder, seen, says = demo.new_folder(tmp_path), Watching(), io.StringIO()
    code = await play(folder, tmp_path / "artifacts", person, seen, Stopping(), says=says)
    return code, seen, says.getvalue(), folder


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def tour(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, Watching, str, Path]:
    return await played(tmp_path_factory.mktemp("tour"), AutoRun())


Tour = tuple[int, Watching, str, Path]


async def test_the_first_attempt_fails_and_the_rest_runs(tour: Tour) -> None:
    code, seen, _, _ = tour
    assert (code, seen.reply.stop_reason) == (0, "done")
    assert [run.status for run in seen.reply.code_log] == ["error", "ok", "ok", "ok"]
    assert [error.value for error in seen.reply.errors] == ["'DataFrame' object has no attribute 'Species'"]


async def test_every_figure_of_the_answer_is_one_that_the_code_puts_out(tour: Tour) -> None:
    _, seen, _, _ = tour
    printed = set(re.findall(r"\d+(?:\.\d+)?", "".join(run.text for run in seen.reply.code_log)))
    told = set(re.findall(r"\d+(?:\.\d+)?", seen.reply.text))
    # "96 %" rounds 96.0 %.
    assert told - {"96"} <= printed
    assert len(told) == 16


async def test_it_says_what_it_is_first_and_where_the_picture_is_last(tour: Tour) -> None:
    _, _, said, folder = tour
    assert said == f"{demo.INTRODUCTION}\n\n> {demo.PROMPT}\n\nThe picture: {folder / 'iris.png'}\n"
    assert (folder / "iris.png").read_bytes().startswith(b"\x89PNG")


async def test_a_refusal_is_the_end_of_the_tour(tmp_path: Path) -> None:
    person = ScriptedPerson("run", Decline("use another library"))
    code, seen, said, _ = await played(tmp_path, person)
    assert (code, seen.reply.stop_reason) == (3, "declined")
    assert len([event for event in seen.events if isinstance(event, CodeFinished)]) == 1
    assert said.endswith(f"{demo.PROMPT}\n\n{demo.FAREWELL}\n")


async def test_edited_code_is_shown_again_before_it_runs(tmp_path: Path) -> None:
    person = ScriptedPerson(Run("print('mine')"), "run", Decline(""))
    _, seen, _, _ = await played(tmp_path, person)
    shown = [event.code for event in seen.events if isinstance(event, CodeProposed)]
    assert shown[1] == "print('mine')"
    assert isinstance(seen.events[-1], TurnFinished)


def toured(folder: Path, *decisions: Decline) -> tuple[Session, ScriptedModel, list[str]]:
    """A session of the tour that stays, its model of afterwards, and what was noted at the end."""
    mine, ended = ScriptedModel("mine"), list[str]()
    person = OneTrack(ScriptedPerson(*decisions) if decisions else AutoRun())
    person.tour = TourModel(mine, lambda: ended.append("ended"), 0.0)
    return Session(person.tour, EchoKernel(), person, folder=folder), mine, ended


async def test_after_the_tour_the_model_of_the_user_answers(tmp_path: Path) -> None:
    session, mine, ended = toured(tmp_path)
    answer = reply_of(await collect(session, demo.PROMPT)).text
    assert ("The petals tell" in answer, mine.requests, ended) == (True, [], ["ended"])
    assert reply_of(await collect(session, "and now?")).text == "mine"


async def test_after_a_refusal_the_model_of_the_user_answers(tmp_path: Path) -> None:
    session, mine, ended = toured(tmp_path, Decline("another way"))
    assert reply_of(await collect(session, demo.PROMPT)).stop_reason == "declined"
    assert reply_of(await collect(session, "and now?")).text == "mine"
    assert (len(mine.requests), ended) == (1, [])
