import asyncio
import os
import pty
import signal
import termios
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.input.base import PipeInput

from terp.checks.until.goal import Goal, check_of
from terp.errors import Unavailable
from terp.events import CodeProposed, Event, KernelChanged, TextDelta
from terp.events.kernel import Kernel
from terp.events.messages import User
from terp.events.outputs import Error
from terp.kernels.environments.readiness import Preparation
from terp.models.tool import Call
from terp.person import Decline, Run
from terp.session.session import Session
from terp.settings import Settings
from terp.testing import EchoKernel, Scripted, ScriptedModel, ScriptedPerson, call
from terp_cli.fronts.invocation import Invocation
from terp_cli.fronts.terminal import TerminalFront
from terp_cli.line.command_line import read_command_line
from terp_cli.prompt.prompt_app import PromptApp
from terp_cli.repl.context import ReplContext
from terp_cli.repl.repl import _banner, run_repl
from terp_cli.terminal.desktop import takes_terminal
from terp_cli.terminal.tty import unechoed
from tests.cli.screens import Watched


class Sitter(ScriptedPerson):
    """Somebody who runs whatever is proposed."""

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        return Run(proposed.code)


class Unready:
    """A preparation that does nothing for code."""

    def waits(self, language: str) -> bool:
        return True

    async def before(self, call: Call, kernel: Kernel) -> str:
        return ""

    async def after(self, call: Call, kernel: Kernel, error: Error) -> str:
        return ""


class Seat:
    """A REPL at a terminal that a test types on."""

    def __init__(
        self,
        keys: PipeInput,
        folder: Path,
        *replies: Scripted,
        person: Sitter | None = None,
        banner: Sequence[str] = (),
        preparations: Sequence[Preparation] = (),
    ) -> None:
        self.keys = keys
        self.screen = Watched()
        self.model, self.kernel = ScriptedModel(*replies), EchoKernel()
        self.kernel.cwd = str(folder)
        painter = self.screen.painter()
        self.session = Session(self.model, self.kernel, Sitter(), folder=folder / "session")
        for preparation in preparations:
            self.session.readiness.add(preparation)
        front = TerminalFront(lambda: self.screen.screen(painter))
        front.asks = False
        call = Invocation(read_command_line([]), {"TERP_HOME": str(folder), "OPENAI_API_KEY": "none"})
        prompt = PromptApp(keys, painter)
        self.context = ReplContext(call, Settings(), self.session, front, prompt, person or Sitter())
        self.running = asyncio.create_task(run_repl(self.context, banner=banner))

    @property
    def said(self) -> list[str]:
        """What the model was told, message by message."""
        return [message.text for message in self.session.history if isinstance(message, User)]

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
        yield lambda *replies, **settings: Seat(keys, tmp_path, *replies, **settings)


async def test_each_line_is_a_turn_until_the_person_leaves(seat: Callable[..., Seat]) -> None:
    here = seat("first answer", "second answer", banner=["terp"])
    await here.types("hello\r", "\r", "again\r", "\x04")
    assert (await here.left(), here.said) == (0, ["hello", "again"])
    assert [row for row in here.screen.shown() if "answer" in row] == ["first answer", "second answer"]


async def test_code_that_is_typed_runs_without_the_model(seat: Callable[..., Seat]) -> None:
    here = seat()
    await here.types("!ls\r", ">>> x = 1\r", '"""\r>>> for i in x:\r...     i\r"""\r', "\x04")
    assert (await here.left(), here.kernel.ran) == (0, ["!ls", "x = 1", "for i in x:\n    i"])
    assert here.model.requests == []


async def test_a_command_that_there_is_not_comes_back_to_the_line(seat: Callable[..., Seat]) -> None:
    here = seat()
    await here.types("/usr is full\r")
    await here.screen.wrote("before it.")
    await here.types("\x01/\r", "\x04")
    assert (await here.left(), here.said) == (0, ["/usr is full"])
    told = "There is no command '/usr'. /help all lists the commands. To send it as a message, put a blank"
    assert told in " ".join(" ".join(here.screen.shown()).split())


async def test_a_program_for_the_whole_terminal_runs_there_and_the_model_reads_so(
    seat: Callable[..., Seat], tmp_path: Path
) -> None:
    program = tmp_path / "top"
    program.write_text(f"#!/bin/sh\ntouch {tmp_path / 'ran'}\nexit 3\n")
    program.chmod(0o700)
    here = seat("fine")
    await here.types(f"!{program}\r", "hello\r", "\x04")
    assert (await here.left(), here.kernel.ran, (tmp_path / "ran").exists()) == (0, [], True)
    assert f"[The user ran `{program}` on the terminal: exit code 3.]" in here.model.requests[-1][-1].text


async def test_a_long_prompt_of_a_command_is_shown_as_one_line(seat: Callable[..., Seat]) -> None:
    here = seat("fine")
    await here.types("/init\r", "\x04")
    await here.left()
    assert "▌ /init: write AGENTS.md … 9 more lines" in here.screen.shown()
    assert "edit_file('AGENTS.md'" in here.said[-1]


async def test_two_marks_give_the_terminal_to_any_command(seat: Callable[..., Seat], tmp_path: Path) -> None:
    here = seat("fine")
    await here.types("!!touch ran; exit 3\r", "!!\r", "hello\r", "\x04")
    assert (await here.left(), here.kernel.ran, (tmp_path / "ran").exists()) == (0, [], True)
    assert "`touch ran; exit 3` on the terminal: exit code 3" in here.model.requests[-1][-1].text
    assert "!! runs a command on this terminal: !!git log" in here.screen.shown()


@pytest.mark.parametrize(
    ("command", "takes"),
    [
        ("vim notes.txt", True),
        ("sudo EDITOR=x /usr/bin/vim a", True),
        ("top", True),
        ("topgrade", False),
        ("ls | less", True),
        ("cd docs && git log --oneline | less -S", True),
        ("vim a; make", True),
        ("less a | wc -l", False),
        ("man ls > ls.txt", False),
        ("echo 'a | less", False),
        ("git log", False),
        ("FOO=1", False),
    ],
)
def test_programs_for_the_whole_terminal_are_known_by_name(command: str, takes: bool) -> None:
    assert takes_terminal(command) is takes


@pytest.mark.parametrize("slip", ["v", "Y", "é"])
async def test_a_slip_at_the_prompt_is_not_sent(seat: Callable[..., Seat], slip: str) -> None:
    here = seat()
    await here.types(f"{slip}\r", "\x04")
    assert (await here.left(), here.said, here.model.requests) == (0, [], [])
    assert "Nothing was sent" in " ".join(here.screen.shown())


@pytest.mark.parametrize("answer", ["2", "好", "b)", "go"])
async def test_a_short_answer_to_the_model_is_sent(seat: Callable[..., Seat], answer: str) -> None:
    here = seat("so be it")
    await here.types(f"{answer}\r", "\x04")
    assert (await here.left(), here.said) == (0, [answer])


async def test_words_at_a_question_of_a_command_reach_the_model_with_the_next_message(
    seat: Callable[..., Seat],
) -> None:
    here = seat("yes", person=Sitter(Decline("keep a.txt")))
    await here.prompted()
    assert await here.context.ask("Restore a.txt?") is False
    await here.types("hi\r", "\x04")
    await here.left()
    note = '[The user was asked "Restore a.txt?" and did not agree, but wrote: keep a.txt]'
    assert note in here.model.requests[0][-1].text


async def test_a_file_that_is_named_goes_with_the_message(seat: Callable[..., Seat], tmp_path: Path) -> None:
    (tmp_path / "iris.csv").write_text("a,b\n1,2\n")
    here = seat()
    await here.types("look at @iris.csv\r", "\x04")
    await here.left()
    assert here.session.turns[0].attachments[0].name == "iris.csv"


async def test_a_file_that_is_misspelled_is_told(seat: Callable[..., Seat], tmp_path: Path) -> None:
    (tmp_path / "iris.csv").write_text("a,b\n1,2\n")
    here = seat()
    await here.types("look at @irs.csv for ada@example.org\r", "\x04")
    await here.left()
    told = "Nothing is attached for @irs.csv: there is no such file. Did you mean @iris.csv?"
    assert [row for row in here.screen.shown() if "attached" in row] == [told]


async def test_a_banner_is_broken_between_words(seat: Callable[..., Seat]) -> None:
    here = seat(banner=["word " * 20])
    await here.types("\x04")
    await here.left()
    assert here.screen.shown()[:2] == [" ".join(["word"] * 16), " ".join(["word"] * 4)]


async def test_only_the_first_start_names_approval_at_effects(seat: Callable[..., Seat]) -> None:
    here = seat()
    here.context.auto_run = False
    first = _banner(here.context)
    here.context.places.history.touch()
    later = _banner(here.context)
    await here.types("\x04")
    await here.left()
    assert [line for line in first if line not in later] == [
        "Fewer questions: terp --approve effect asks at effects only (see terp doctor)."
    ]


async def test_ctrl_c_during_a_turn_interrupts_it_and_nothing_else(seat: Callable[..., Seat]) -> None:
    here = seat(call(EchoKernel.ENDLESS))
    await here.types("wait\r")
    await here.kernel.busy()
    signal.raise_signal(signal.SIGINT)
    await here.screen.wrote("Interrupted.")
    await here.types("hello\r", "\x04")
    assert (await here.left(), here.said) == (0, ["wait", "hello"])


async def test_pressing_ctrl_c_again_and_again_to_interrupt_does_not_leave(seat: Callable[..., Seat]) -> None:
    here = seat(call(EchoKernel.ENDLESS))
    await here.types("wait\r")
    await here.kernel.busy()
    here.keys.send_text("\x03\x03")
    await here.screen.wrote("Interrupted.")
    await here.session.idle()
    here.keys.send_text("\x03\x03")
    await asyncio.wait({here.running}, timeout=0.2)
    await here.types("hello\r", "\x04")
    assert (await here.left(), here.said) == (0, ["wait", "hello"])


async def test_an_interrupt_at_the_prompt_does_nothing(seat: Callable[..., Seat]) -> None:
    here = seat()
    await here.types("")
    signal.raise_signal(signal.SIGINT)
    await here.types("hello\r", "\x04")
    assert (await here.left(), here.said) == (0, ["hello"])


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
async def test_a_signal_to_end_leaves_in_order_and_ends_the_kernels(
    seat: Callable[..., Seat], number: signal.Signals, code: int
) -> None:
    here = seat(call(EchoKernel.ENDLESS))
    await here.types("wait\r")
    await here.kernel.busy()
    signal.raise_signal(number)
    assert (await here.left(), here.kernel.closed) == (code, True)


async def test_an_error_of_a_turn_is_said_and_the_talk_goes_on(seat: Callable[..., Seat]) -> None:
    here = seat(Unavailable("Nobody answers.", "Start a server."))
    await here.types("fail\r", "hello\r", "/quit\r")
    assert (await here.left(), here.said) == (0, ["fail", "hello"])
    assert "Nobody answers. Start a server." in " ".join(here.screen.shown())


async def test_debug_shows_what_failed_behind_an_error_and_nothing_for_a_mistake(
    seat: Callable[..., Seat],
) -> None:
    here = seat()
    await here.types("/debug\r", "/nosuch\r", "/load_message gone.json\r", "/quit\r")
    await here.left()
    shown = "\n".join(here.screen.shown())
    assert (shown.count("was the direct cause of"), "FileNotFoundError: [Errno 2]" in shown) == (1, True)


async def test_a_bug_is_told_and_the_talk_goes_on(seat: Callable[..., Seat]) -> None:
    here = seat(LookupError("no such thing"))
    await here.types("bug\r", "hello\r", "/quit\r")
    assert (await here.left(), here.said) == (0, ["bug", "hello"])
    shown = here.screen.shown()
    at = shown.index("LookupError: no such thing")
    assert shown[at + 2] == "This is a bug in terp. The conversation and the variables are still there."


async def test_what_fails_where_nobody_waits_is_one_line_above_the_prompt(seat: Callable[..., Seat]) -> None:
    class Failing(Unready):
        def waits(self, language: str) -> bool:
            raise LookupError("no\x1b[2J such thing")

    here = seat(preparations=[Failing()])
    await here.types("/")
    await here.screen.wrote("! Something failed in the background: LookupError: no^[[2J such thing")
    here.keys.send_text("quit\r")
    assert await here.left() == 0


async def test_nothing_is_started_for_a_prompt_that_nobody_types_at(seat: Callable[..., Seat]) -> None:
    asked = []

    class Noted(Unready):
        def waits(self, language: str) -> bool:
            asked.append(language)
            return True

    here = seat(preparations=[Noted()])
    await here.types("\x04")
    await here.left()
    assert asked == []


async def test_a_command_acts_on_the_session(seat: Callable[..., Seat]) -> None:
    here = seat("answer")
    await here.types("hello\r", "/undo\r", "/quit\r")
    await here.left()
    assert here.session.history == ()


async def test_retry_asks_the_same_again_without_a_trace_of_the_first_answer(
    seat: Callable[..., Seat],
) -> None:
    here = seat("one", "two")
    await here.types("hello\nthere\r", "/retry\r", "\x04")
    await here.left()
    shown = here.screen.shown()
    assert shown[shown.index("▌ /retry") + 2 :][:2] == ["▌ hello", "▌ there"]
    assert [len(request) for request in here.model.requests] == [2, 2]


async def test_model_changes_the_model_by_name(seat: Callable[..., Seat]) -> None:
    here = seat()
    await here.types("/model openai/o3\r", "/quit\r")
    await here.left()
    assert here.session.model.name == "openai/o3"


async def test_two_escapes_list_the_turns_to_go_back_to(seat: Callable[..., Seat]) -> None:
    here = seat("answer")
    await here.types("hello\r")
    await here.screen.wrote("answer")
    await here.session.idle()
    here.keys.send_text("\x1b\x1b")
    await here.screen.wrote("Go back to before which turn?")
    here.keys.send_text("\r")
    await here.screen.wrote("Back to before")
    here.keys.send_text("\x03\x04")
    assert (await here.left(), here.said) == (0, [])


async def test_what_is_begun_in_the_background_waits_for_the_first_prompt(seat: Callable[..., Seat]) -> None:
    begun: list[bool] = []

    class Begin(Unready):
        def waits(self, language: str) -> bool:
            begun.append("\x1b[?2004h" in here.screen.getvalue())
            raise Unavailable("no kernel")

    here = seat(preparations=[Begin()])
    await here.types("hello\r", "/quit\r")
    assert (await here.left(), begun) == (0, [True])


async def test_what_happens_between_turns_is_shown_above_the_prompt(seat: Callable[..., Seat]) -> None:
    here = seat()
    await here.types("")
    here.session.log.append(KernelChanged("python", "died", "Killed."))
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


async def test_a_check_that_cannot_be_made_is_told_once(seat: Callable[..., Seat]) -> None:
    here = seat("never said")
    here.session.resources.goal = Goal(check_of("true"))
    await here.types("hello\r", "\x04")
    await here.left()
    assert [row for row in here.screen.shown() if "behind a gateway" in row] == [
        "until: checks run only on this machine, and the code runs behind a gateway."
    ]
