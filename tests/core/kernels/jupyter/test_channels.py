import asyncio
from collections.abc import Callable
from typing import Any

from terp.kernels.jupyter.channels import Dispatcher, Message, give_way, read


class Notes:
    """A recipient that keeps what it is given."""

    def __init__(self) -> None:
        self.got: list[tuple[str, str]] = []

    def received(self, channel: str, message: Message) -> None:
        self.got.append((channel, message["msg_type"]))


def message(kind: str, parent: Any) -> Message:
    return {"msg_type": kind, "parent_header": parent, "content": {}}


def dispatcher() -> tuple[Dispatcher, list[tuple[str, str, str]]]:
    unclaimed: list[tuple[str, str, str]] = []
    return Dispatcher(
        lambda channel, parent, m: unclaimed.append((channel, parent, m["msg_type"]))
    ), unclaimed


def test_a_message_goes_to_the_sender_of_its_parent() -> None:
    routes, unclaimed = dispatcher()
    one, two = Notes(), Notes()
    routes.expect("1", one)
    routes.expect("2", two)
    routes.route("iopub", message("stream", {"msg_id": "2"}))
    routes.route("shell", message("execute_reply", {"msg_id": "1"}))
    assert (one.got, two.got, unclaimed) == ([("shell", "execute_reply")], [("iopub", "stream")], [])


def test_a_message_without_a_parent_is_unclaimed() -> None:
    routes, unclaimed = dispatcher()
    for parent in (None, {}, {"msg_id": None}, {"msg_id": "gone"}):
        routes.route("iopub", message("status", parent))
    assert unclaimed == [("iopub", "", "status")] * 3 + [("iopub", "gone", "status")]


def test_what_comes_after_the_end_is_unclaimed() -> None:
    routes, unclaimed = dispatcher()
    notes = Notes()
    routes.expect("1", notes)
    routes.forget("1")
    routes.forget("1")
    routes.route("iopub", message("stream", {"msg_id": "1"}))
    assert (notes.got, unclaimed) == ([], [("iopub", "1", "stream")])


async def test_a_reader_survives_messages_that_cannot_be_read() -> None:
    incoming: asyncio.Queue[Message | Exception] = asyncio.Queue()
    bad: list[Message | Exception] = [ValueError("bad signature"), RecursionError("nested too deeply")]
    for item in (*bad, message("stream", {}), message("odd", 3), message("last", {})):
        incoming.put_nowait(item)
    done = asyncio.Event()
    seen: list[str] = []

    async def receive() -> tuple[str, Message]:
        item = await incoming.get()
        if isinstance(item, Exception):
            raise item
        return "iopub", item

    def route(_: str, got: Message) -> None:
        got["parent_header"].get("msg_id")
        seen.append(got["msg_type"])
        if got["msg_type"] == "last":
            done.set()

    reader = asyncio.create_task(read("iopub", receive, route))
    async with asyncio.timeout(10):
        await done.wait()
    reader.cancel()
    assert seen == ["stream", "last"]


async def test_a_flood_lets_others_run() -> None:
    count = 0
    enough: Callable[[], bool] = lambda: count > 100  # noqa: E731
    other = asyncio.Event()

    async def receive() -> tuple[str, Message]:
        return "iopub", message("stream", {})

    def route(_: str, __: Message) -> None:
        nonlocal count
        count += 1
        if enough():
            other.set()

    reader = asyncio.create_task(read("iopub", receive, route))
    async with asyncio.timeout(10):
        await other.wait()
    reader.cancel()


async def test_large_messages_are_taken_one_by_one() -> None:
    left = 100
    waiting: list[Message] = []
    most_waiting = 0
    news, over = asyncio.Event(), asyncio.Event()

    async def receive() -> tuple[str, Message]:
        nonlocal left
        await give_way(500_000)
        left -= 1
        return "iopub", message("stream", {})

    def route(_: str, got: Message) -> None:
        nonlocal most_waiting
        waiting.append(got)
        most_waiting = max(most_waiting, len(waiting))
        news.set()
        if not left:
            over.set()

    async def take() -> None:
        while True:
            await news.wait()
            news.clear()
            waiting.clear()

    tasks = [asyncio.create_task(read("iopub", receive, route)), asyncio.create_task(take())]
    async with asyncio.timeout(10):
        await over.wait()
    for task in tasks:
        task.cancel()
    assert most_waiting == 1
