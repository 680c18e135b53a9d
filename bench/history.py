"""What a long conversation adds to a turn: session, turn, log and what reads the model's text."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import aclosing
from itertools import count, islice
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from bench.measure import Row, medians, show
from terp.events.messages import Assistant, Message, Result, User
from terp.models.adapters.chat_format import chat_messages
from terp.models.facts.model_facts import Window
from terp.models.repair.fences import TextFallback
from terp.person import AutoRun, Nobody
from terp.secrets.redactor import Redactor
from terp.session.context.history import History
from terp.session.context.request import SentMessages, TokenEstimate
from terp.session.session import Session
from terp.store.forms import Header
from terp.store.keeping import Keeper
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
    model = TextFallback(ScriptedModel(call("1 + 1"), "The answer is 42. " * 60), ["python"])
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


async def grown(few: int, many: int) -> tuple[float, float]:
    """Seconds of CPU time for a turn of a kept session, when it has `few` messages and when it has `many`.

    A turn is what it always is, and before each request the tokens are expected. Medians of 20 turns each.
    """
    replies = (reply for _ in count() for reply in (call("1 + 1"), "The answer is 42. " * 60))
    model = TextFallback(ScriptedModel(*islice(replies, many)), ["python"])
    seconds: dict[int, float] = {}
    with TemporaryDirectory() as folder:
        keeper = Keeper(Path(folder), Header("grown", "/work", 1.7e9, "0"), Redactor)
        session = Session(model, EchoKernel(), AutoRun(Nobody()), folder=Path(folder), keeper=keeper)
        # It is watched, and never full.
        session.resources.windows = lambda _: Window(10**9)
        while len(session.history) < many:
            at, began = len(session.history), time.process_time()
            async with aclosing(session.turn("What about the next part? " * 10)) as events:
                async for _ in events:
                    pass
            seconds[at] = time.process_time() - began
        await session.aclose()
    return _around(seconds, few), _around(seconds, many)


def _around(seconds: Mapping[int, float], messages: int) -> float:
    return median([taken for at, taken in seconds.items() if messages - 80 <= at < messages])


def expected(messages: int) -> tuple[float, float]:
    """Seconds to expect the tokens of so many messages for the first time, and after one more of them."""
    history = History(conversation(messages))
    tokens = TokenEstimate(SentMessages(history))
    began = time.perf_counter()
    tokens.counted("You run code.", ())
    first = time.perf_counter() - began
    history.append(Assistant("The numbers of this part are as before. " * 10))
    began = time.perf_counter()
    tokens.counted("You run code.", ())
    return first, time.perf_counter() - began


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
    few, many = asyncio.run(grown(100, 1000))
    detail = f"{many * 1e3:.1f} ms to {few * 1e3:.1f} ms of CPU, kept on disk"
    yield Row("a turn grown to 1,000 messages", many / few, "× at 100", 2, detail)
    yield Row("tokens expected, one more", expected(1000)[1] * 1e6, "µs", detail=_counted_first())


def _counted_first() -> str:
    return f"all 1,000 at first: {expected(1000)[0] * 1e3:.1f} ms"


if __name__ == "__main__":
    show(str(__doc__), rows())
