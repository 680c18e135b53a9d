"""What a long conversation adds to a turn: session, turn, log and what reads the model's text."""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import aclosing
from itertools import count, islice
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.measure import Row, medians, show
from terp.messages import Assistant, Message, Result, User
from terp.models.chat_format import chat_messages
from terp.models.fences import with_text_fallback
from terp.person import AutoRun, Nobody
from terp.session import Session
from terp.testing import EchoKernel, ScriptedModel, call


def conversation(messages: int) -> list[Message]:
    """So many messages of earlier turns, with code and results among them."""

    def talk() -> Iterator[Message]:
        for number in count():
            asked = call("print(table.describe())", id=f"before{number}")
            yield User(f"What about part {number}? " * 10)
            yield Assistant("I look at the table.", (asked,))
            yield Result(asked.id, "count  mean  std\n" * 20)
            yield Assistant("The numbers of this part are as before. " * 10)

    return list(islice(talk(), messages))


async def turn(messages: int) -> float:
    """Seconds of CPU time for a turn with a run and an answer."""
    model = with_text_fallback(ScriptedModel(call("1 + 1"), "The answer is 42. " * 60), ["python"])
    with TemporaryDirectory() as folder:
        session = Session(model, EchoKernel(), AutoRun(Nobody()), folder=Path(folder))
        session.history = conversation(messages)
        began = time.process_time()
        async with aclosing(session.turn("go on")) as events:
            async for _ in events:
                pass
        seconds = time.process_time() - began
        await session.aclose()
    return seconds


def request(messages: int) -> float:
    """Seconds of CPU time to bring a conversation into the form of a request."""
    history = conversation(messages)
    began = time.process_time()
    chat_messages(history)
    return time.process_time() - began


def rows(rounds: int = 15) -> Iterator[Row]:
    cases: dict[str, Callable[[], float]] = {
        "10": lambda: asyncio.run(turn(10)),
        "1000": lambda: asyncio.run(turn(1000)),
        "request": lambda: request(1000),
    }
    taken = medians(rounds, cases)
    detail = f"{taken['1000'] * 1e3:.1f} ms to {taken['10'] * 1e3:.1f} ms of CPU"
    yield Row("a turn at 1,000 messages", taken["1000"] / taken["10"], "× at 10", 2, detail)
    yield Row("1,000 messages to send", taken["request"] * 1e3, "ms CPU")


if __name__ == "__main__":
    show(str(__doc__), rows())
