"""Patience with a model: retries and nudges."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any

import pytest

from terp.errors import ModelError, RateLimited, RequestRejected, Unavailable
from terp.events.messages import Assistant, Message, User
from terp.events.model import Chunk, Replied, Retrying, TextChunk
from terp.models.adapters.retrying import NUDGES, NudgingModel, RetryingModel
from tests.core.models.recorded import collect

DONE = Replied(Assistant("ok"), "stop")
EMPTY = Replied(Assistant(""), "stop")
ASKED: list[Message] = [User("hi")]


class Scripted:
    """Gives one list of chunks for each request; an error in it is raised there."""

    name = "scripted/m"

    def __init__(self, *replies: Sequence[Chunk | ModelError]) -> None:
        self.replies = list(replies)
        self.asked: list[list[Message]] = []

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        self.asked.append(list(messages))
        for chunk in self.replies.pop(0):
            if isinstance(chunk, ModelError):
                raise chunk
            yield chunk

    async def aclose(self) -> None:
        """Nothing to close."""


class Clock:
    """Remembers how long was slept."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def patient(model: Scripted, clock: Clock, *, chance: float = 1.0) -> RetryingModel:
    return RetryingModel(model, retries=3, sleep=clock.sleep, chance=lambda: chance)


async def test_a_failure_that_may_pass_is_told_and_tried_again() -> None:
    model, clock = Scripted([TextChunk("h"), Unavailable("lost")], [DONE]), Clock()
    assert await collect(patient(model, clock).stream(ASKED)) == [
        TextChunk("h"),
        Retrying(1, "lost", 1.0),
        DONE,
    ]
    assert clock.slept == [1.0]


async def test_each_wait_is_longer_and_partly_chance() -> None:
    model, clock = Scripted(*[[Unavailable("lost")]] * 3, [DONE]), Clock()
    await collect(patient(model, clock, chance=0.0).stream(ASKED))
    assert clock.slept == [0.5, 1.0, 2.0]


async def test_the_last_failure_is_raised() -> None:
    model, clock = Scripted(*[[Unavailable(str(n))] for n in range(4)]), Clock()
    with pytest.raises(Unavailable, match="3"):
        await collect(patient(model, clock).stream(ASKED))
    assert len(model.asked) == 4


async def test_a_refusal_is_not_tried_again() -> None:
    model, clock = Scripted([RequestRejected("no")]), Clock()
    with pytest.raises(RequestRejected):
        await collect(patient(model, clock).stream(ASKED))
    assert clock.slept == []


async def test_a_wait_asked_for_is_kept_to() -> None:
    model, clock = Scripted([RateLimited("slow", retry_after_s=7)], [DONE]), Clock()
    await collect(patient(model, clock, chance=0.0).stream(ASKED))
    assert clock.slept == [7.0]


async def test_a_wait_too_long_ends_at_once_and_says_how_long() -> None:
    model, clock = Scripted([RateLimited("slow", retry_after_s=2900, status=429)]), Clock()
    with pytest.raises(RateLimited) as caught:
        await collect(patient(model, clock).stream(ASKED))
    assert clock.slept == []
    assert caught.value.remedy == (
        "Try again in 48 minutes, as the provider asks, or pick another model with --model."
    )


async def test_an_empty_reply_is_followed_by_a_nudge() -> None:
    model = Scripted([EMPTY], [TextChunk("ok"), DONE])
    assert await collect(NudgingModel(model).stream(ASKED)) == [
        Retrying(1, "the model's reply was empty", 0.0),
        TextChunk("ok"),
        DONE,
    ]
    assert model.asked == [ASKED, [*ASKED, User(NUDGES[0])]]


async def test_five_empty_replies_are_a_failure() -> None:
    model = Scripted(*[[EMPTY]] * 5)
    with pytest.raises(Unavailable, match="five replies in a row were empty"):
        await collect(NudgingModel(model).stream(ASKED))


async def test_a_reply_held_back_by_a_filter_is_a_refusal() -> None:
    model = Scripted([Replied(Assistant(""), "content_filter")])
    with pytest.raises(RequestRejected, match="content filter"):
        await collect(NudgingModel(model).stream(ASKED))
