import asyncio
import os
import pty
import signal
import termios
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.input.base import PipeInput

from terp.errors import Unavailable
from terp.events import CodeTyped, Event, KernelChanged, TextDelta, TurnFinished, TurnStarted
from terp.kernels.protocol import Kernels
from terp.messages import Attachment, Message, User
from terp.testing import EchoKernel
from terp_cli.desk import Desk
from terp_cli.repl import ReplSettings, run_repl
from terp_cli.terminal import TerminalFront
from terp_cli.tty import unechoed
from tests.cli.screens import Watched


@dataclass(frozen=True)
class Model:
    name: str = "scripted/model"


@dataclass(frozen=True)
class Record:
    event: Event


class Parrot:
    """A conversation that answers with what was said; "wait" waits to be interrupted."""

    def __init__(self) -> None:
        self.history: Sequence[Message] = (User("before"),)
        self.said: list[str] = []
        self.model = Model()
        self.kernels: Kernels = EchoKernel()
        self.outside: asyncio.Queue[Event] = asyncio.Queue()
        self._stop = asyncio.Event()

    async def turn(self, prompt: str, attachments: Sequence[Attachment] = ()) -> AsyncGenerator[Event, None]:
        self.said += [prompt, *(attachment.name for attachment in attachments)]
        if prompt == "fail":
            raise Unavailable("Nobody answers.", "Start a server.")
        if prompt == "bug":
            raise LookupError("no such thing")
        yield TurnStarted(prompt)
        yield TextDelta(f"You said {prompt}.")
        if prompt == "wait":
            yield TextDelta("\n\nWaiting\n")
            await self._stop.wait()
            yield TurnFinished("interrupted", "")
            return
        yield TurnFinished("done", "")

    async def run(self, language: str, code: str) -> AsyncGenerator[Event, None]:
        self.said.append(f"{language}: {code}")
        yield CodeTyped("typed1", language, code)

    async def events(self, after: int = 0) -> AsyncGenerator[Any, None]:
        while True:
            yield Record(await self.outside.get())

    async def interrupt(self) -> None:
        self._stop.set()


class Seat:
    """A REPL at a terminal that a test types on."""

    def __init__(self, keys: PipeInput, folder: Path, **settings: Any) -> None:
        self.keys = keys
        self.screen = Watched()
        self.session = Parrot()
        painter = self.screen.painter()
        front = TerminalFront(lambda: self.screen.screen(painter))
        desk = Desk(keys, painter)
        given = ReplSettings(history=folder / "history", **settings)
        self.running = asyncio.create_task(run_repl(self.session, front, desk, given))

    async def types(self, *lines: str) -> None:
        """Type lines; those that nobody waits for yet are queued."""
        await self.prompted()
        for line in lines:
            self.keys.send_text(line)

    async def prompted(self) -> None:
        """Return when there is a prompt."""
        await self.screen.wrote("\x1b[?2004h")

    async def left(self) -> int:
        """The exit code."""
        return await asyncio.wait_for(self.running, 20)


@pytest.fixture
async def seat(tmp_path: Path) -> AsyncIterator[Callable[..., Seat]]:
    with create_pipe_input() as keys:
        yield lambda **settings: Seat(keys, tmp_path, **settings)


async def test_each_line_is_a_turn_until_the_person_leaves(seat: Callable[..., Seat]) -> None:
    here = seat(banner=["terp"])
    await here.types("hello\r", "\r", "again\r", "\x04")
    assert (await here.left(), here.session.said) == (0, ["hello", "again"])
    assert [row for row in here.screen.shown() if "You said" in row] == ["You said hello.", "You said again."]


async def test_code_that_is_typed_runs_without_the_model(seat: Callable[..., Seat]) -> None:
    here = seat()
    await here.types("!ls\r", ">>> x = 1\r", '"""\r>>> for i in x:\r...     i\r"""\r', "\x04")
    assert (await here.left(), here.session.said) == (
        0,
        ["python: !ls", "python: x = 1", "python: for i in x:\n    i"],
    )


async def test_a_banner_is_broken_between_words(seat: Callable[..., Seat]) -> None:
    here = seat(banner=["word " * 20])
    await here.types("\x04")
    await here.left()
    assert here.screen.shown()[:2] == [" ".join(["word"] * 16), " ".join(["word"] * 4)]


async def test_ctrl_c_during_a_turn_interrupts_it_and_nothing_else(seat: Callable[..., Seat]) -> None:
    here = seat()
    await here.types("wait\r")
    await here.screen.wrote("Waiting")
    signal.raise_signal(signal.SIGINT)
    await here.screen.wrote("Interrupted.")
    await here.types("hello\r", "\x04")
    assert (await here.left(), here.session.said) == (0, ["wait", "hello"])
    assert "Interrupted." in here.screen.shown()


async def test_an_interrupt_at_the_prompt_does_nothing(seat: Callable[..., Seat]) -> None:
    here = seat()
    await here.types("")
    signal.raise_signal(signal.SIGINT)
    here.keys.send_text("hello\r")
    await here.types("\x04")
    assert (await here.left(), here.session.said) == (0, ["hello"])


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
async def test_a_signal_to_end_leaves_in_order(
    seat: Callable[..., Seat], number: signal.Signals, code: int
) -> None:
    here = seat()
    await here.types("wait\r")
    await here.screen.wrote("Waiting")
    signal.raise_signal(number)
    assert await here.left() == code


async def test_an_error_of_a_turn_is_said_and_the_talk_goes_on(seat: Callable[..., Seat]) -> None:
    here = seat()
    await here.types("fail\r", "hello\r", "/quit\r")
    assert (await here.left(), here.session.said) == (0, ["fail", "hello"])
    shown = here.screen.shown()
    assert shown[shown.index("Nobody answers.") + 1] == "Start a server."


async def test_a_bug_is_told_and_the_talk_goes_on(seat: Callable[..., Seat]) -> None:
    here = seat()
    await here.types("bug\r", "hello\r", "/quit\r")
    assert (await here.left(), here.session.said) == (0, ["bug", "hello"])
    shown = here.screen.shown()
    at = shown.index("LookupError: no such thing")
    assert shown[at + 2] == "This is a bug in terp. The conversation and the variables are still there."


async def test_what_fails_where_nobody_waits_is_one_line_above_the_prompt(seat: Callable[..., Seat]) -> None:
    async def fail() -> None:
        raise LookupError("no\x1b[2J such thing")

    here = seat(background=[fail])
    await here.types("")
    await here.screen.wrote("! Something failed in the background: LookupError: no^[[2J such thing")
    here.keys.send_text("/quit\r")
    assert await here.left() == 0


async def test_a_signal_to_end_ends_the_kernels_too(seat: Callable[..., Seat]) -> None:
    killed = asyncio.Event()

    async def kill() -> None:
        killed.set()

    here = seat(kill=kill)
    await here.types("wait\r")
    await here.screen.wrote("Waiting")
    signal.raise_signal(signal.SIGTERM)
    assert (await here.left(), killed.is_set()) == (143, True)


async def test_reset_forgets_the_conversation(seat: Callable[..., Seat]) -> None:
    here = seat()
    await here.types("/reset\r", "/quit\r")
    await here.left()
    assert here.session.history == ()


async def test_model_changes_the_model_by_name(seat: Callable[..., Seat]) -> None:
    async def use(name: str) -> None:
        here.session.model = Model(name)

    here = seat(use_model=use)
    await here.types("/model other/one\r", "/quit\r")
    await here.left()
    assert "The model is other/one." in here.screen.shown()


async def test_what_is_begun_in_the_background_waits_for_the_first_prompt(seat: Callable[..., Seat]) -> None:
    begun: list[bool] = []

    async def begin() -> None:
        begun.append("\x1b[?2004h" in here.screen.getvalue())
        raise Unavailable("no kernel")

    here = seat(background=[begin])
    await here.types("hello\r", "/quit\r")
    assert (await here.left(), begun) == (0, [True])


async def test_what_happens_between_turns_is_shown_above_the_prompt(seat: Callable[..., Seat]) -> None:
    here = seat()
    await here.types("")
    here.session.outside.put_nowait(KernelChanged("python", "died", "Killed."))
    await here.screen.wrote("The python kernel died.")
    here.keys.send_text("/quit\r")
    assert await here.left() == 0


@asynccontextmanager
async def teletype() -> AsyncIterator[int]:
    hand, line = pty.openpty()
    try:
        yield line
    finally:
        os.close(hand)
        os.close(line)


async def test_nothing_typed_is_shown_while_a_turn_is_drawn_and_the_terminal_is_as_before_after_it() -> None:
    async with teletype() as line:
        before = termios.tcgetattr(line)
        with unechoed(line):
            during = termios.tcgetattr(line)
        assert (during[3] & termios.ECHO, termios.tcgetattr(line)) == (0, before)


async def test_the_terminal_is_as_before_when_drawing_fails() -> None:
    async def events() -> AsyncGenerator[Event, None]:
        yield TextDelta("half")
        raise Unavailable("gone")

    async with teletype() as line:
        before = termios.tcgetattr(line)
        with pytest.raises(Unavailable):
            await TerminalFront(Watched().screen, keyboard=line).show(events())
        assert termios.tcgetattr(line) == before
