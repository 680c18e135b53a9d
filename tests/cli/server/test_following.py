"""A client may be slow, but must take what is sent."""

import asyncio

import pytest
from starlette.types import Message

from terp_cli.server.following import Outgoing, until_one_ends

MESSAGE: Message = {"type": "http.response.body", "body": b"x"}


class Client:
    """Takes what is sent while it is `open`."""

    def __init__(self) -> None:
        self.taken: list[Message] = []
        self.open = asyncio.Event()
        self.open.set()

    async def take(self, message: Message) -> None:
        await self.open.wait()
        self.taken.append(message)


async def test_who_takes_nothing_is_found_out() -> None:
    client = Client()
    client.open.clear()
    outgoing = Outgoing(client.take, stall_s=0.01)
    with pytest.raises(OSError, match="the client takes nothing"):
        await until_one_ends(outgoing.send(MESSAGE), outgoing.watched())


async def test_a_second_message_gives_no_more_time_for_the_first() -> None:
    client = Client()
    client.open.clear()
    outgoing = Outgoing(client.take, stall_s=0.05)

    async def more() -> None:
        async with asyncio.TaskGroup() as sending:
            while True:
                sending.create_task(outgoing.send(MESSAGE))
                await asyncio.sleep(0.01)

    async with asyncio.timeout(5):
        with pytest.raises(OSError, match="the client takes nothing"):
            await until_one_ends(outgoing.watched(), more())


async def test_who_is_sent_nothing_for_long_is_not_taken_for_one_who_takes_nothing() -> None:
    client = Client()
    outgoing = Outgoing(client.take, stall_s=0.001)
    watching = asyncio.create_task(outgoing.watched())
    await asyncio.sleep(0.02)
    await outgoing.send(MESSAGE)
    assert (watching.done(), client.taken) == (False, [MESSAGE])
    watching.cancel()


async def test_something_is_told_whenever_nothing_was_sent_for_so_long() -> None:
    client, told = Client(), asyncio.Semaphore(0)
    outgoing = Outgoing(client.take, stall_s=30.0)

    async def tell() -> None:
        await outgoing.send(MESSAGE)
        told.release()

    telling = asyncio.create_task(outgoing.alive(0.001, tell))
    async with asyncio.timeout(5):
        for _ in range(3):
            await told.acquire()
    telling.cancel()
    assert client.taken[:3] == [MESSAGE] * 3


async def test_nothing_is_told_while_enough_is_sent() -> None:
    client = Client()
    outgoing = Outgoing(client.take, stall_s=30.0)

    async def tell() -> None:
        raise AssertionError("it was told")

    telling = asyncio.create_task(outgoing.alive(30.0, tell))
    await outgoing.send(MESSAGE)
    assert not telling.done()
    telling.cancel()


class Going:
    """Goes on until it is ended, and says whether it was."""

    def __init__(self) -> None:
        self.ended = False

    async def on(self) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            self.ended = True


async def ends() -> None:
    await asyncio.sleep(0)


async def fails(why: str) -> None:
    await asyncio.sleep(0)
    raise OSError(why)


async def test_the_first_to_end_ends_the_others() -> None:
    one, other = Going(), Going()
    await until_one_ends(one.on(), ends(), other.on())
    assert (one.ended, other.ended) == (True, True)


async def test_what_one_raises_is_raised_once_the_others_have_ended() -> None:
    other = Going()
    with pytest.raises(OSError, match="why not"):
        await until_one_ends(other.on(), fails("why not"))
    assert other.ended


async def test_of_two_that_fail_the_first_named_is_told() -> None:
    with pytest.raises(OSError, match="first"):
        await until_one_ends(fails("first"), fails("second"))


async def test_who_is_cancelled_ends_all() -> None:
    one, other = Going(), Going()
    together = asyncio.create_task(until_one_ends(one.on(), other.on()))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    together.cancel()
    await asyncio.wait({together})
    assert (together.cancelled(), one.ended, other.ended) == (True, True, True)
