"""`AsyncInterpreter`: a program that was written against 0.4.3 takes part in the conversation."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from websockets.sync.client import connect

from terp_cli.server.compat.client_settings import Rejected
from terp_cli.server.interpreter import AsyncInterpreter, Server
from tests.cli.server.compat.speaking import COMPLETE, KEY, joined, message
from tests.loopback import Call, Loopback


def interpreter(folder: Path, model: Loopback | None = None, **environ: str) -> AsyncInterpreter:
    """One with a home of its own, and the model of a test."""
    made = AsyncInterpreter(
        environ={"HOME": str(folder), "TERP_HOME": str(folder), "PATH": "/usr/bin", **environ}
    )
    if model is not None:
        made.llm.model = "openai/scripted"
        made.llm.api_base = model.url
        made.llm.api_key = "unused"
    return made


@contextmanager
def running(made: AsyncInterpreter, **where: Any) -> Iterator[str]:
    """Its server, run as programs run it, in a thread that ends with the block; where it is."""
    thread = threading.Thread(target=lambda: made.server.run(port=0, **where))
    thread.start()
    try:
        assert made.server.listens.wait(20)
        yield f"{made.server.host}:{made.server.port}"
    finally:
        made.server.stop()
        thread.join()


async def answer(made: AsyncInterpreter, text: str) -> list[Any]:
    for fields in ({"start": True}, {"content": text}, {"end": True}):
        await made.input({"role": "user", "type": "message", **fields})
    frames = [await made.output()]
    while frames[-1] != COMPLETE:
        frames.append(await made.output())
    return joined([dict(frame) for frame in frames])


def test_its_attributes_are_those_of_0_4_3(tmp_path: Path) -> None:
    """C26"""
    made = interpreter(tmp_path, INTERPRETER_ID="ada", INTERPRETER_HOST="localhost", INTERPRETER_PORT="9000")
    made.auto_run, made.custom_instructions, made.llm.temperature, made.verbose = True, "Be brief.", 0.5, True
    made.computer.emit_images = False
    made.messages = [{"role": "user", "type": "message", "content": "hi"}]
    made.accumulate({"role": "user", "type": "message", "content": " there"})
    assert (made.id, made.server.host, made.server.port) == ("ada", "localhost", 9000)
    assert (made.auto_run, made.custom_instructions, made.llm.temperature) == (True, "Be brief.", 0.5)
    assert (made.verbose, made.computer.emit_images, made.offline) == (True, False, False)
    assert made.messages == [{"role": "user", "type": "message", "content": "hi there"}]
    assert (made.print, made.context_mode, made.require_acknowledge) == (False, False, False)
    assert (list(made.output_queue), list(made.unsent_messages), made.acknowledged_outputs) == ([], [], [])
    assert float(interpreter(tmp_path).id) > 0


def test_a_value_that_is_none_is_refused_where_it_is_set(tmp_path: Path) -> None:
    """C26"""
    made = interpreter(tmp_path)
    with pytest.raises(Rejected, match="temperature must be a number, from 0 to 2"):
        made.llm.temperature = 9


async def test_frames_go_in_and_come_out(tmp_path: Path) -> None:
    """C26"""
    with Loopback([["See: ", Call("python", "print(6*7)")], "It is 42.", "Yes."]) as model:
        made = interpreter(tmp_path, model)
        first = await answer(made, "6*7?")
        await made.respond(run_code=True)
        ran = joined([dict(frame) for frame in made.output_queue])
        while (await made.output()) != COMPLETE:
            pass
        second = await answer(made, "Sure?")
        await made.server.aclose()
    assert [one["type"] for one in first if one.get("end")] == ["message", "code"]
    assert "42\n" in [one.get("content") for one in ran]
    assert ran[-4:] == [*message("It is 42."), COMPLETE]
    assert second == [*message("Yes."), COMPLETE]


async def test_what_is_wrong_with_a_frame_is_put_out(tmp_path: Path) -> None:
    """C26"""
    made = interpreter(tmp_path)
    await made.input({"role": "user", "type": "message", "content": "early"})
    error = await made.output()
    assert error["content"].startswith("You must send a 'start: True' chunk first")
    assert await made.output() == COMPLETE


async def test_a_stop_event_ends_the_answer(tmp_path: Path) -> None:
    """C26"""
    with Loopback([Call("python", "import time\nprint(1, flush=True)\ntime.sleep(60)"), "Next."]) as model:
        made = interpreter(tmp_path, model)
        made.auto_run = True
        for fields in ({"start": True}, {"content": "wait"}, {"end": True}):
            await made.input({"role": "user", "type": "message", **fields})
        while (await made.output()).get("format") != "output":
            pass
        made.stop_event.set()
        async with asyncio.timeout(10):
            while not (await made.output()).get("end"):
                pass
        assert made.stop_event.is_set()
        made.stop_event.clear()
        assert await answer(made, "and?") == [*message("Next."), COMPLETE]
        await made.server.aclose()


def test_a_program_adds_routes_and_decides_about_keys(tmp_path: Path) -> None:
    """C26"""
    with Loopback(["Hello."]) as model:
        made = interpreter(tmp_path, model, INTERPRETER_REQUIRE_AUTH="True")
        made.server.authenticate = lambda key: key == KEY

        @made.server.app.get("/own")
        async def own() -> dict[str, str]:
            return {"id": made.id}

        with running(made) as where, httpx.Client(base_url=f"http://{where}", trust_env=False) as client:
            found = [client.get("/own", headers={"X-API-KEY": key}) for key in ("wrong", KEY)]
            with connect(f"ws://{where}/", proxy=None) as socket:
                socket.send(json.dumps({"auth": "wrong"}))
                socket.send(json.dumps({"auth": KEY}))
                told = [json.loads(socket.recv()) for _ in range(2)]
                for fields in ({"start": True}, {"content": "hi"}, {"end": True}):
                    socket.send(json.dumps({"role": "user", "type": "message", **fields}))
                frames = [json.loads(socket.recv(timeout=30)) for _ in range(3)]
    assert [answer.status_code for answer in found] == [403, 200]
    assert found[1].json() == {"id": made.id}
    assert told == [{"auth": False}, {"auth": True}]
    assert frames[1]["content"] == "Hello."


def test_where_it_runs_is_said_and_a_port_that_is_taken_is_an_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """C27"""
    made = interpreter(tmp_path)
    with running(made, host="127.0.0.1") as where:
        other = interpreter(tmp_path)
        with pytest.raises(Exception, match="cannot listen on 127"):
            other.server.run(port=made.server.port, retries=1)
    assert capsys.readouterr().out == f"Server will run at http://{where}\n"


def test_a_server_can_be_made_of_it_for_an_address(tmp_path: Path) -> None:
    """As Open Interpreter's own tests do."""
    made = interpreter(tmp_path)
    first, second = Server(made), Server(made, "localhost", 1234)
    assert (first.host, first.port) == ("localhost", 1234)
    assert (Server.DEFAULT_HOST, Server.DEFAULT_PORT) == ("127.0.0.1", 8000)
    assert made.server is second
    assert made.respond_thread.is_alive() is False
