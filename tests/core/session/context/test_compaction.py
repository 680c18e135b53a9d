"""What is left of a conversation that is shortened, and what is only told."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.errors import ContextFull
from terp.events.messages import Assistant, Attachment, Image, Message, Result, User
from terp.session.context.compaction import CUT, SUMMARY, compacted, size, summarised
from terp.session.context.history import History
from terp.session.context.summary import Summary
from terp.testing import call
from tests.core.sessions import unanswered


async def unasked(_: Sequence[Message]) -> Summary:
    raise AssertionError("no summary is needed")


async def noted(_: Sequence[Message]) -> Summary:
    return Summary("We talked.")


def with_results(*results: Result) -> list[Message]:
    calls = tuple(call("1", id=result.call_id) for result in results)
    return [User("one"), Assistant("", calls), *results]


def steps(number: int, text: str = "row " * 90) -> list[Message]:
    """So many replies of one turn, each with a call and its result."""
    return [
        message
        for at in range(number)
        for message in (Assistant("", (call(str(at), id=f"s{at}"),)), Result(f"s{at}", f"{at} {text}"))
    ]


async def test_old_pictures_alone_are_worth_leaving_out() -> None:
    pictures = (Image("image/webp", "x" * 50_000),)
    old, new, newest = Result("a", "y", pictures), Result("b", "y", pictures), Result("c", "y", pictures)
    shorter, how = await compacted(History(with_results(old, new, newest)), 3500, unasked)
    assert (shorter, how) == (with_results(Result("a", "y"), new, newest), CUT)


async def test_an_output_that_was_shortened_once_is_left_as_it_is() -> None:
    history = History(with_results(Result("a", "x" * 5000), Result("b", "y"), Result("c", "z")))
    shorter, _ = await compacted(history, 300, unasked)
    assert "[… 4,600 characters left out …]" in str(shorter)
    with pytest.raises(ContextFull):
        await compacted(History(shorter), 1, unasked)


async def test_a_short_first_turn_stays_whole_and_the_last_ones_that_fit() -> None:
    history = History()
    for prompt in "abcdef":
        history.begin(prompt)
        history.append(Assistant(f"{prompt} " * 40))
    shorter, how = await compacted(history, 200, noted)
    first, summary, *last = shorter[:2], shorter[2], *shorter[3:]
    assert (first, how) == (history.messages[:2], SUMMARY)
    assert last == history.messages[-4:]
    assert isinstance(summary, User)
    assert summary.said == ("b", "c", "d")


async def test_of_a_last_turn_that_is_too_long_the_prompt_and_the_last_steps_stay() -> None:
    turn = [User("clean the table"), *steps(10)]
    shorter, _ = await compacted(History(turn), 600, noted)
    assert shorter[1:] == [turn[0], *turn[-4:]]
    assert unanswered(shorter) == []


async def test_a_single_step_that_is_too_long_stays_whole() -> None:
    turn = [User("go"), *steps(1, "row " * 900)]
    with pytest.raises(ContextFull):
        await compacted(History(turn), 100, noted)


async def test_the_words_of_the_person_outlive_one_summary_after_the_other() -> None:
    history = History()
    for prompt in ("first", "second", "third", "fourth"):
        history.begin(prompt)
        history.append(Assistant("so " * 50))
        shorter = await summarised(history, 100, noted) if len(history.turns) > 1 else history.messages
        history.replace(shorter, compacted=True)
    summary = history.messages[0]
    assert isinstance(summary, User)
    assert summary.said == ("first", "second", "third")
    assert "- first\n- second\n- third\n" in summary.text


async def test_what_was_attached_is_named_and_not_repeated() -> None:
    history = History()
    history.begin("look", [Attachment("a.csv", "[Attachment a.csv: 3,000 lines]")])
    history.begin("and now?")
    summary, _ = await summarised(history, 100, noted)
    assert isinstance(summary, User)
    assert summary.said == ("look [attached: a.csv]",)


turns = st.lists(
    st.tuples(st.text(max_size=30), st.integers(0, 6), st.integers(0, 400)), min_size=1, max_size=6
)


@given(turns, st.floats(10, 2000))
async def test_every_call_keeps_its_result_and_every_prompt_its_words(
    told: Sequence[tuple[str, int, int]], room: float
) -> None:
    history = History()
    for at, (prompt, count, length) in enumerate(told):
        history.begin(prompt)
        for step in range(count):
            history.append(Assistant("", (call("1", id=f"{at}.{step}"),)))
            history.append(Result(f"{at}.{step}", "x " * length))
        history.append(Assistant("done"))
    try:
        shorter, _ = await compacted(history, room, noted)
    except ContextFull:
        return
    assert unanswered(shorter) == []
    words = [
        word for message in shorter if isinstance(message, User) for word in message.said or (message.text,)
    ]
    assert [word for word in words if word] == [prompt for prompt, _, _ in told if prompt]
    assert size(shorter) <= max(size(history.messages), 1_200)
