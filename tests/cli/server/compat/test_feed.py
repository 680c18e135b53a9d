"""The frames of a conversation, for who is there and who comes again."""

import asyncio
from typing import Any

from hypothesis import given
from hypothesis import strategies as some

from terp_cli.server.compat.feed import Feed, FeedReader

Frame = dict[str, Any]


def frames(*names: str) -> list[Frame]:
    return [{"content": name} for name in names]


async def taken(reader: FeedReader, count: int) -> list[str]:
    found = []
    for _ in range(count):
        found.append((await reader.next())["content"])
        reader.took()
    return found


async def test_frames_that_nobody_saw_wait_for_the_first_who_comes() -> None:
    """C12"""
    feed = Feed(acknowledged=False)
    feed.add(frames("a", "b"))
    with feed.joined() as reader:
        assert await taken(reader, 2) == ["a", "b"]
    with feed.joined() as reader:
        feed.add(frames("c"))
        assert await taken(reader, 1) == ["c"]


async def test_two_who_drop_find_all_that_either_of_them_lacks() -> None:
    """C12"""
    feed = Feed(acknowledged=True)
    with feed.joined() as ahead, feed.joined() as behind:
        feed.add(frames("a", "b", "c"))
        await taken(ahead, 2)
        await taken(behind, 1)
    with feed.joined() as one, feed.joined() as other:
        assert (await taken(one, 2), await taken(other, 2)) == (["b", "c"], ["b", "c"])


async def test_another_answer_is_not_begun_with_the_rest_of_one_before() -> None:
    """C22"""
    feed = Feed(acknowledged=True)
    with feed.joined() as stays:
        with feed.joined():
            feed.add(frames("a"))
        feed.begin()
        feed.add(frames("b"))
        with feed.joined() as reader:
            feed.add(frames("c"))
            assert await taken(reader, 1) == ["c"]
        assert await taken(stays, 3) == ["a", "b", "c"]


async def test_what_everybody_has_is_forgotten() -> None:
    feed = Feed(acknowledged=False)
    with feed.joined() as reader:
        feed.add(frames("a", "b"))
        await taken(reader, 1)
        assert [one["content"] for one in feed.since(0)] == ["b"]


async def test_what_is_not_kept_is_for_those_who_are_there() -> None:
    feed = Feed(acknowledged=False)
    feed.add(frames("a"), keep=False)
    assert (feed.last, list(feed.unsent)) == (0, [])


async def test_of_frames_that_nobody_takes_the_newest_are_kept() -> None:
    feed = Feed(acknowledged=False, most_kept=1_000)
    feed.add(frames(*"abcdefghijklmnop"))
    with feed.joined() as reader:
        assert await taken(reader, 9) == list("hijklmnop")


async def test_who_takes_too_little_goes_on_with_what_is_left() -> None:
    feed = Feed(acknowledged=True, most_kept=1_000)
    with feed.joined() as slow, feed.joined() as quick:
        feed.add(frames(*"abc"))
        first = await slow.next()
        for name in "defghijklmno":
            feed.add(frames(name))
            await taken(quick, 1)
        slow.took()
        assert (first["content"], await taken(slow, 9)) == ("a", list("ghijklmno"))


async def test_what_everybody_took_leaves_room() -> None:
    feed = Feed(acknowledged=False, most_kept=1_000)
    with feed.joined() as reader:
        for name in "abcdefghijklmnop":
            feed.add(frames(name))
            assert await taken(reader, 1) == [name]


async def test_who_comes_and_leaves_without_a_frame_leaves_nothing() -> None:
    feed = Feed(acknowledged=False)
    for _ in range(3):
        with feed.joined() as reader:
            waiting = asyncio.create_task(reader.next())
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait({waiting})
    assert (feed.changed._waiting, feed._left) == ([], [0])


@given(some.lists(some.integers(0, 3), max_size=12))
def test_who_drops_and_comes_again_misses_nothing(takes: list[int]) -> None:
    async def read() -> list[str]:
        feed, seen = Feed(acknowledged=False), list[str]()
        for number, take in enumerate(takes):
            feed.add(frames(str(number)))
            with feed.joined() as reader:
                seen += await taken(reader, min(take, feed.last - reader.at))
        with feed.joined() as reader:
            seen += await taken(reader, feed.last - reader.at)
        return seen

    assert asyncio.run(read()) == [str(number) for number in range(len(takes))]
