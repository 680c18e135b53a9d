import asyncio
from pathlib import Path
from typing import Any

import pytest

from terp.events import CodeFinished, Printed, TurnFinished
from terp.events.kernel import Kernel
from terp.events.outputs import BackCall, Error, InputRequest, RunItem, Text
from terp.kernels.jupyter.local import LocalKernels
from terp.session.session import Session
from terp.testing import ScriptedModel, ScriptedPerson, call, collect
from tests.core.kernels.running import PATIENCE_S, Ran, ran


async def answering(kernel: Kernel, code: str, *answers: Any, timeout_s: float = 0.0) -> Ran:
    """Run `code`, typing `answers`, or answering its calls home with them; an exception is an error."""
    items: list[RunItem] = []
    left = list(answers)
    async with asyncio.timeout(PATIENCE_S):
        async for item in kernel.execute(code, timeout_s=timeout_s):
            items.append(item)
            if isinstance(item, InputRequest):
                await kernel.type_in(left.pop(0))
            elif isinstance(item, BackCall):
                answer = left.pop(0)
                failed = isinstance(answer, Exception)
                await kernel.answer(None if failed else answer, str(answer) if failed else "")
    assert not left
    return Ran(items)


async def test_input_is_asked_after_the_output_before_it(kernel: Kernel) -> None:
    run = await answering(kernel, "print('Hello'); name = input('Name? '); print('hi', name)", "Bob")
    assert run.outputs == [Text("stdout", "Hello\n"), InputRequest("Name? "), Text("stdout", "hi Bob\n")]


async def test_getpass_asks_for_a_secret(kernel: Kernel) -> None:
    run = await answering(kernel, "from getpass import getpass\nprint(len(getpass('Key: ')))", "abc")
    assert run.outputs == [InputRequest("Key: ", secret=True), Text("stdout", "3\n")]


async def test_end_of_file_raises_eof_error_in_the_code(kernel: Kernel) -> None:
    run = await answering(kernel, "try:\n    input()\nexcept EOFError:\n    print('nobody')", None)
    assert run.stdout == "nobody\n"
    assert run.ended.status == "ok"


async def test_the_time_in_which_code_waits_for_an_answer_does_not_count(kernel: Kernel) -> None:
    items: list[RunItem] = []
    async with asyncio.timeout(PATIENCE_S):
        async for item in kernel.execute("print(input())", timeout_s=0.3):
            items.append(item)
            if isinstance(item, InputRequest):
                await asyncio.sleep(0.6)
                await kernel.type_in("late")
    assert Ran(items).stdout == "late\n"


async def test_code_calls_home_and_gets_the_answer(kernel: Kernel) -> None:
    code = "import terp_home\nprint('before')\nprint(terp_home.call('search', query='q', most=3)['hits'])"
    run = await answering(kernel, code, {"hits": ["a", "b"]})
    assert run.outputs == [
        Text("stdout", "before\n"),
        BackCall("search", {"query": "q", "most": 3}),
        Text("stdout", "['a', 'b']\n"),
    ]


async def test_a_failed_call_home_raises_there(kernel: Kernel) -> None:
    code = "import terp_home\ntry:\n    terp_home.call('x')\nexcept RuntimeError as error:\n    print(error)"
    run = await answering(kernel, code, ValueError("no such service"))
    assert run.stdout == "no such service\n"


async def test_code_that_forges_a_call_home_gets_an_error_and_its_turn_goes_on(tmp_path: Path) -> None:
    code = (
        "import terp_home, json\n"
        "home = terp_home.homes[0]\n"
        "def send(text):\n"
        "    print(json.loads(home.kernel.raw_input(f'terp:{home.token}:' + text)))\n"
        "send('no json')\n"
        "send(json.dumps({'service': ['x'], 'arguments': {}}))\n"
    )
    session = Session(
        ScriptedModel(call(code), "ok"),
        LocalKernels(str(tmp_path)),
        ScriptedPerson("run"),
        folder=tmp_path / "session",
    )
    async with asyncio.timeout(PATIENCE_S):
        events = await collect(session, "go")
        await session.aclose()
    assert [event.output for event in events if isinstance(event, Printed)] == [
        Text("stdout", "{'error': 'this call names no service of terp'}\n")
    ] * 2
    assert events[-1] == TurnFinished("done", "ok")


async def test_a_prompt_that_looks_like_a_call_home_is_only_a_prompt(kernel: Kernel) -> None:
    prompt = 'terp:0123:{"service": "x", "arguments": {}}'
    run = await answering(kernel, f"_ = input({prompt!r})", "")
    assert run.outputs == [InputRequest(prompt)]


@pytest.mark.parametrize("waits", ["input('x')", "__import__('terp_home').call('x')"])
async def test_code_that_waits_for_an_answer_can_be_interrupted(kernel: Kernel, waits: str) -> None:
    items: list[RunItem] = []
    stopping: list[asyncio.Task[None]] = []
    async with asyncio.timeout(PATIENCE_S):
        async for item in kernel.execute(waits):
            items.append(item)
            if isinstance(item, InputRequest | BackCall):
                stopping.append(asyncio.create_task(kernel.interrupt()))
    assert Ran(items).ended.status == "interrupted"
    assert (await ran(kernel, "print(1)")).stdout == "1\n"


async def test_a_question_is_taken_back_when_its_kernel_dies(tmp_path: Path) -> None:
    class Thinking(ScriptedPerson):
        took_back = False

        async def type_in(self, prompt: str, *, secret: bool) -> str:
            try:
                return await asyncio.Future()
            finally:
                self.took_back = True

    code = "import os, threading\nthreading.Timer(0.3, os._exit, [1]).start()\ninput('?')"
    person = Thinking("run")
    session = Session(
        ScriptedModel(call(code)), LocalKernels(str(tmp_path)), person, folder=tmp_path / "session"
    )
    async with asyncio.timeout(PATIENCE_S):
        events = await collect(session, "go")
        await session.aclose()
    assert person.took_back
    assert [event.status for event in events if isinstance(event, CodeFinished)] == ["died"]


async def test_end_of_file_shows_the_persons_line_and_nothing_of_the_kernel(kernel: Kernel) -> None:
    run = await answering(kernel, "input('x? ')", None)
    error = next(item for item in run.items if isinstance(item, Error))
    assert error.name == "EOFError"
    assert not any("ipykernel" in part or "terp" in part for part in error.traceback)
