"""A session without `async`."""

import signal
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

import terp
from terp.errors import AttachmentError, AuthFailed, SessionError, TerpError
from terp.events import CodeStarted, Event, Noticed, TurnFinished, TurnStarted
from terp.opening.chat import Chat
from terp.opening.chat_session import ChatSession
from terp.person import AutoRun
from terp.session.reply import Reply, TurnFailed
from terp.testing import EchoKernel, ScriptedModel, call
from tests.core.opening.test_session import surroundings
from tests.core.sessions import of


def talk(tmp_path: Path, model: ScriptedModel, kernel: EchoKernel | None = None) -> Chat:
    async def make() -> ChatSession:
        return ChatSession(model, kernel or EchoKernel(), AutoRun(), folder=tmp_path / "session")

    return Chat(make)


def test_a_chat_answers_with_what_its_turn_came_to(tmp_path: Path) -> None:
    with talk(tmp_path, ScriptedModel([call("6*7")], "42", "again 42")) as chat:
        reply = chat("what?")
        assert (reply.text, reply.code_log[0].text) == ("42", "6*7\n")
        assert chat("and now?").text == "again 42"


def test_everything_ends_with_the_block_also_when_it_raises(tmp_path: Path) -> None:
    model, kernel = ScriptedModel(), EchoKernel()
    with pytest.raises(ZeroDivisionError), talk(tmp_path, model, kernel) as chat:
        raise ZeroDivisionError
    chat.close()
    assert (model.closed, kernel.closed) == (True, True)


def test_a_callback_sees_every_event(tmp_path: Path) -> None:
    seen: list[Event] = []
    with talk(tmp_path, ScriptedModel("hi")) as chat:
        chat("hello", on_event=seen.append)
    assert seen[0] == TurnStarted("hello")
    assert seen[-1] == TurnFinished("done", "hi")


def test_a_callback_sees_what_was_noticed_since_the_last_turn_once(tmp_path: Path) -> None:
    seen: list[Event] = []
    with talk(tmp_path, ScriptedModel("hi", "again")) as chat:
        chat.session.dialog.notify("No sandbox works here.")
        chat("hello", on_event=seen.append)
        chat("hello", on_event=seen.append)
    assert [seen[0], *of(Noticed, seen)] == [Noticed("No sandbox works here.")] * 2


def test_a_turn_without_an_answer_raises_and_the_chat_goes_on(tmp_path: Path) -> None:
    with talk(tmp_path, ScriptedModel(AuthFailed("No key.", "Set one."), "fine")) as chat:
        with pytest.raises(TurnFailed, match=r"No key\. Set one\.") as failed:
            chat("go")
        assert failed.value.stop_reason == "auth"
        assert chat("go").text == "fine"


def test_an_interrupted_chat_can_go_on_at_once(tmp_path: Path) -> None:
    def interrupt(event: Event) -> None:
        if isinstance(event, CodeStarted):
            signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)

    with talk(tmp_path, ScriptedModel([call(EchoKernel.ENDLESS)], "fine")) as chat:
        with pytest.raises(KeyboardInterrupt):
            chat("go", on_event=interrupt)
        assert chat("go").text == "fine"


def test_a_failure_says_what_to_do(tmp_path: Path) -> None:
    with talk(tmp_path, ScriptedModel(AuthFailed("No key.", "Set OPENAI_API_KEY."))) as chat:
        with pytest.raises(TurnFailed) as failed:
            chat("go")
        assert failed.value.remedy == "Set OPENAI_API_KEY."


def test_a_session_that_cannot_be_built_leaves_no_thread(tmp_path: Path) -> None:
    async def fail() -> ChatSession:
        raise AuthFailed("No key.")

    with pytest.raises(AuthFailed), Chat(fail):
        pass


def test_files_and_bytes_go_with_a_prompt(tmp_path: Path) -> None:
    table = tmp_path / "iris.csv"
    table.write_text("a,b\n1,2\n")
    model = ScriptedModel()
    with talk(tmp_path, model) as chat:
        chat("what is it?", [str(table), table, bytearray(b"of bytes")])
        kept = [path.read_bytes() for path in chat.session.folder.rglob("attachment")]
    assert model.requests[0][-1].text.count(str(table)) == 2
    assert "of bytes" in model.requests[0][-1].text
    assert kept == [b"of bytes"]


def test_one_attachment_needs_no_list(tmp_path: Path) -> None:
    table = tmp_path / "iris.csv"
    table.write_text("a,b\n1,2\n")
    model = ScriptedModel()
    with talk(tmp_path, model) as chat:
        chat("what is it?", str(table))
    assert str(table) in model.requests[0][-1].text


def test_a_file_that_is_not_there_is_named_before_the_model_is_asked(tmp_path: Path) -> None:
    model = ScriptedModel()
    with talk(tmp_path, model) as chat, pytest.raises(AttachmentError, match="no file"):
        chat("what is it?", [tmp_path / "nothing.csv"])
    assert model.requests == []


def test_a_chat_that_is_closed_says_so(tmp_path: Path) -> None:
    chat = talk(tmp_path, ScriptedModel())
    chat.close()
    with pytest.raises(SessionError, match="This chat is closed"):
        chat("hello?")


async def test_a_session_that_is_closed_asks_no_model(tmp_path: Path) -> None:
    model = ScriptedModel()
    async with talk(tmp_path, model) as session:
        pass
    with pytest.raises(SessionError, match="This session is closed"):
        await session.ask("hello?")
    with pytest.raises(SessionError, match="This session is closed"):
        await session.kernel.run("1")
    assert model.requests == []


def test_a_chat_is_no_sequence(tmp_path: Path) -> None:
    with talk(tmp_path, ScriptedModel()) as chat, pytest.raises(TypeError, match="not iterable"):
        list(chat)  # type: ignore[call-overload]


def test_a_traceback_ends_with_the_remedy() -> None:
    shown = traceback.format_exception_only(TerpError("It failed.", "Try again."))
    assert shown == ["terp.errors.TerpError: It failed.\n", "Try again.\n"]
    shown = traceback.format_exception_only(TurnFailed("No key.", "Set one.", reply=Reply("", "auth")))
    assert shown == ["terp.session.reply.TurnFailed: No key. Set one.\n"]


def test_a_chat_without_a_block_opens_at_its_first_use(tmp_path: Path) -> None:
    model = ScriptedModel("hello")
    chat = talk(tmp_path, model)
    assert chat("hi").text == "hello"
    chat.close()
    assert model.closed


def test_a_kernel_without_a_block_ends_with_the_program(tmp_path: Path) -> None:
    program = "import terp; kernel = terp.kernel(); print(kernel.run('import os; print(os.getpid())').text)"
    environ = {**surroundings(tmp_path), "PYTHONPATH": str(Path(terp.__file__).parents[1])}
    command = [sys.executable, "-W", "error", "-c", program]
    ran = subprocess.run(command, env=environ, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.stderr == ""
    with suppress(psutil.NoSuchProcess):
        psutil.Process(int(ran.stdout)).wait(30)


def test_a_callback_stops_its_turn(tmp_path: Path) -> None:
    def stop(event: Event) -> None:
        if isinstance(event, CodeStarted):
            chat.interrupt()

    with talk(tmp_path, ScriptedModel([call(EchoKernel.ENDLESS)], "fine")) as chat:
        reply = chat("go", on_event=stop)
        assert (reply.stop_reason, chat("go").text) == ("interrupted", "fine")


def test_a_callback_cannot_wait_for_its_own_chat(tmp_path: Path) -> None:
    with (
        talk(tmp_path, ScriptedModel("hi")) as chat,
        pytest.raises(SessionError, match="on_event cannot wait for the chat that called it"),
    ):
        chat("go", on_event=lambda event: chat.variables)


async def sent(event: Event) -> None: ...


ITERATE = "with async iterate session.turn(…)."


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda chat: chat(5), "The prompt is 5, must be text."),
        (lambda chat: chat("hi", until=5), "until is 5, must be text."),
        (lambda chat: chat("hi", on_event=5), "on_event is 5, must be a function."),
        (
            lambda chat: chat("hi", on_event=sent),
            f"on_event is async, must be an ordinary function; {ITERATE}",
        ),
        (lambda chat: chat.install(["numpy"]), "A package is ['numpy'], must be text."),
        (lambda chat: chat.run(5), "The code is 5, must be text."),
        (lambda chat: chat.run("1", language=5), "The language is 5, must be text."),
        (lambda chat: chat.solve(5), "The problem is 5, must be text or a path."),
    ],
)
def test_an_argument_of_another_type_is_named(
    tmp_path: Path, wrong: Callable[[Any], Any], message: str
) -> None:
    model = ScriptedModel()
    with talk(tmp_path, model) as chat, pytest.raises(TypeError) as raised:
        wrong(chat)
    assert (str(raised.value), model.requests) == (message, [])
