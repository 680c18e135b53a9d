"""The model that is asked when another one fails for good."""

from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

import terp
from terp.errors import AuthFailed, ModelError, RateLimited, SettingsError, Unavailable
from terp.events import CodeFinished, ModelRetrying
from terp.events.messages import Assistant, Message, User
from terp.events.model import Replied, Retrying, TextChunk
from terp.models.adapters.retrying import FallingBackModel
from tests.core.models.fakes import FakeModel, Script
from tests.core.models.recorded import collect
from tests.core.sessions import of
from tests.loopback import Call, Http, Loopback, Scripted

DONE = Replied(Assistant("ok"), "stop")
ASKED: list[Message] = [User("hi")]


def falling_back(*scripts: Script) -> tuple[FallingBackModel, Sequence[FakeModel]]:
    models = [FakeModel(script, name=f"m/{number}") for number, script in enumerate(scripts)]
    others = [(model.name, lambda model=model: model) for model in models[1:]]
    return FallingBackModel(models[0], others), models


@pytest.mark.parametrize("error", [Unavailable("m/0 is away."), RateLimited("m/0 is away.")])
async def test_the_next_model_is_asked_and_that_is_told(error: ModelError) -> None:
    model, models = falling_back([TextChunk("he"), error], [DONE])
    assert await collect(model.stream(ASKED)) == [
        TextChunk("he"),
        Retrying(1, "m/0 is away. m/1 is asked instead.", 0.0),
        DONE,
    ]
    assert (model.name, models[0].closed) == ("m/1", True)


async def test_who_answered_is_asked_again() -> None:
    model, models = falling_back([Unavailable("away")], [DONE])
    await collect(model.stream(ASKED))
    assert await collect(model.stream(ASKED)) == [DONE]
    assert [len(one.asked) for one in models] == [1, 2]


async def test_a_mistake_about_the_chosen_model_is_told_and_nobody_else_is_asked() -> None:
    model, models = falling_back([AuthFailed("no key")], [DONE])
    with pytest.raises(AuthFailed, match="no key"):
        await collect(model.stream(ASKED))
    assert models[1].asked == []


async def test_when_all_fail_each_is_told_and_the_first_says_how_it_ended() -> None:
    model, _ = falling_back([Unavailable("a.", "Wait.")], [AuthFailed("b.")], [RateLimited("c.")])
    with pytest.raises(Unavailable) as caught:
        await collect(model.stream(ASKED))
    assert (caught.value.message, caught.value.remedy) == ("a. b. c.", "Wait.")


async def test_what_only_the_failed_provider_understands_is_not_sent_to_the_next() -> None:
    model, models = falling_back([Unavailable("away")], [DONE])
    signed, own = Assistant("a", extras={"signature": "x"}), Assistant("b", extras={"mine": "y"})
    await collect(model.stream([User("1"), signed, User("2")]))
    await collect(model.stream([User("1"), signed, User("2"), own, User("3")]))
    assert [messages for messages, _ in models[1].asked] == [
        [User("1"), Assistant("a"), User("2")],
        [User("1"), Assistant("a"), User("2"), own, User("3")],
    ]


async def test_a_session_goes_on_with_the_other_model_and_runs_nothing_twice(tmp_path: Path) -> None:
    down = Http(503, '{"error": {"message": "overloaded"}}')
    script: list[Scripted] = [Call(code="open('runs', 'a').write('x')"), down, "done"]
    home = tmp_path.with_name(f"{tmp_path.name}-home")
    environ = {"TERP_HOME": str(home), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
    with Loopback(script) as server:
        opening = terp.open(
            model="openai/one",
            fallback_models=["openai/two"],
            api_base=server.url,
            retries=0,
            auto_run=True,
            cwd=tmp_path,
            environ=environ,
        )
        async with opening as session, aclosing(session.turn("go")) as events:
            seen = [event async for event in events]
    assert [request["model"] for request in server.requests] == ["one", "one", "two"]
    assert len(of(CodeFinished, seen)) == 1
    assert (tmp_path / "runs").read_text() == "x"
    [retrying] = of(ModelRetrying, seen)
    assert retrying.reason.endswith("openai/two is asked instead.")


def test_a_stand_in_without_a_provider_is_a_mistake_from_the_start(tmp_path: Path) -> None:
    environ = {"TERP_HOME": str(tmp_path), "HOME": str(tmp_path)}
    opening = terp.open(model="openai/one", fallback_models=["unheard-of"], environ=environ)
    with pytest.raises(SettingsError, match="'unheard-of' names no provider"), opening as chat:
        chat("go")
