import asyncio
import base64
from collections.abc import AsyncGenerator

from terp.events import Event, Printed
from terp.events.outputs import Display
from terp_cli.fronts.terminal import TerminalFront
from terp_cli.terminal.terminal_facts import PendingFacts, TerminalFacts
from tests.cli.drawing import Clock
from tests.cli.render.pictures.made import png
from tests.cli.screens import Terminal


async def test_answers_are_waited_for() -> None:
    asked = PendingFacts(Clock())
    asked.begin()
    waiting = asyncio.create_task(asked.settled())
    asked.learn(TerminalFacts(kitty=True))
    await asyncio.sleep(0)
    assert not waiting.done()
    asked.learn(TerminalFacts(kitty=True, complete=True))
    await asyncio.wait_for(waiting, 20)


async def test_nothing_is_waited_for_that_was_not_asked_or_was_asked_long_ago() -> None:
    clock = Clock()
    asked = PendingFacts(clock)
    unasked = asyncio.create_task(asked.settled())
    await asyncio.sleep(0)
    assert unasked.done()
    asked.begin()
    clock.now = 0.15
    late = asyncio.create_task(asked.settled())
    await asyncio.sleep(0)
    assert late.done()


async def test_a_terminal_that_does_not_answer_is_waited_for_no_longer_than_that() -> None:
    asked = PendingFacts()
    asked.begin()
    waiting = asyncio.create_task(asked.settled())
    await asyncio.sleep(0)
    assert not waiting.done()
    await asyncio.wait_for(waiting, 20)
    assert asked.facts == TerminalFacts()


async def test_a_picture_that_comes_before_the_answer_is_drawn_as_the_answer_tells() -> None:
    async def events() -> AsyncGenerator[Event, None]:
        data = base64.b64encode(png(20, 20)).decode()
        yield Printed("c1", Display({"image/png": data}))

    terminal = Terminal()
    painter = terminal.painter()
    painter.pending = PendingFacts(Clock())
    painter.pending.begin()
    front = TerminalFront.on(
        painter, keyboard=None, environ={"TERM": "xterm-256color", "LANG": "C.UTF-8"}, images="auto"
    )
    showing = asyncio.create_task(front.show(events()))
    await asyncio.sleep(0)
    painter.pending.learn(TerminalFacts(kitty=True, cell_width=10, cell_height=20, complete=True))
    await asyncio.wait_for(showing, 20)
    assert "\x1b_G" in terminal.getvalue()
