import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from terp.events.outputs import (
    BackCall,
    Display,
    DisplayUpdate,
    Error,
    InputRequest,
    Omitted,
    Output,
    RunEnded,
    RunItem,
    RunStarted,
    Text,
)
from terp.kernels.jupyter.run import Backlog, KernelRun
from terp.kernels.jupyter.translation import REPORT, Translator


def outputs(translator: Translator, kind: str, content: Mapping[str, Any]) -> Sequence[Output]:
    return translator.outputs({"msg_type": kind, "content": content})


def test_a_second_display_of_an_id_changes_the_first() -> None:
    translator, content = Translator(), {"data": {"text/plain": "1"}, "transient": {"display_id": "d"}}
    shown = Display({"text/plain": "1"}, display_id="d")
    assert outputs(translator, "display_data", content) == (shown,)
    assert outputs(translator, "display_data", content) == (DisplayUpdate("d", {"text/plain": "1"}), shown)


def test_an_update_of_what_was_never_shown_shows_nothing() -> None:
    content = {"data": {"text/plain": "1"}, "transient": {"display_id": "unknown"}}
    assert outputs(Translator(), "update_display_data", content) == ()


def test_fields_that_kernels_leave_out_are_no_trouble() -> None:
    translator = Translator()
    assert outputs(translator, "display_data", {"data": {"a": "b"}, "transient": None}) == (
        Display({"a": "b"}),
    )
    assert outputs(translator, "update_display_data", {"transient": None}) == ()
    assert outputs(translator, "stream", {"name": "stderr", "text": "x"}) == (Text("stderr", "x"),)
    assert outputs(translator, "stream", {"name": "stdout", "text": ""}) == ()
    assert outputs(translator, "error", {"ename": None, "evalue": None, "traceback": None}) == (
        Error("Error", ""),
    )
    assert outputs(translator, "comm_msg", {}) == ()


def iopub(run: KernelRun, kind: str, **content: Any) -> None:
    run.received("iopub", {"msg_type": kind, "content": content})


async def items_of(run: KernelRun) -> Sequence[RunItem]:
    run.backlog.put(RunEnded("ok"))
    return [item async for item in run.backlog.items()][:-1]


def a_run() -> KernelRun:
    return KernelRun("r", Translator(), Backlog(1000), "token")


async def test_a_run_starts_even_when_the_kernel_does_not_say_so() -> None:
    run = a_run()
    iopub(run, "stream", name="stdout", text="x")
    assert await items_of(run) == [RunStarted(0), Text("stdout", "x")]


async def test_an_error_that_is_only_in_the_reply_is_shown() -> None:
    run = a_run()
    iopub(run, "execute_input", execution_count=3)
    reply = {"status": "error", "ename": "SyntaxError", "evalue": "bad", "traceback": ["line"]}
    run.received("shell", {"msg_type": "execute_reply", "content": reply})
    run.finish_output()
    assert await items_of(run) == [RunStarted(3), Error("SyntaxError", "bad", ("line",))]


async def test_a_report_of_the_bootstrap_is_no_output() -> None:
    run = a_run()
    iopub(run, "display_data", data={REPORT: {"hidden": "None", "omitted": [5, 1]}})
    assert run.report["hidden"] == "None"
    assert await items_of(run) == [RunStarted(0), Omitted(5, 1, spooled=False)]


async def test_a_question_waits_for_the_output_before_it() -> None:
    run = a_run()
    ask = {"msg_type": "input_request", "content": {"prompt": "?", "password": False}}
    run.received("stdin", ask)
    iopub(run, "stream", name="stdout", text="before")
    iopub(run, "display_data", data={REPORT: {"asks": True}})
    assert await items_of(run) == [RunStarted(0), Text("stdout", "before"), InputRequest("?")]


async def test_a_question_of_a_kernel_without_bootstrap_is_asked_too() -> None:
    run = a_run()
    run.received("stdin", {"msg_type": "input_request", "content": {"prompt": "?", "password": True}})
    items = run.backlog.items()
    async with asyncio.timeout(10):
        assert [await anext(items), await anext(items)] == [RunStarted(0), InputRequest("?", secret=True)]
    await items.aclose()


@pytest.mark.parametrize(
    "call",
    [
        "",
        "{",
        "[]",
        "{}",
        '{"service": [], "arguments": {}}',
        '{"service": "s", "arguments": 1}',
        "deep",
    ],
)
async def test_a_call_home_that_is_none_calls_no_service(call: str) -> None:
    run = a_run()
    iopub(run, "display_data", data={REPORT: {"asks": True}})
    text = "[" * 10**6 if call == "deep" else call
    content = {"prompt": f"terp:token:{text}", "password": False}
    run.received("stdin", {"msg_type": "input_request", "content": content})
    assert await items_of(run) == [RunStarted(0), BackCall("", {})]


async def test_a_call_home_needs_the_token() -> None:
    run = a_run()
    call = '{"service": "s", "arguments": {"a": 1}}'
    for token in ("token", "other"):
        iopub(run, "display_data", data={REPORT: {"asks": True}})
        content = {"prompt": f"terp:{token}:{call}", "password": False}
        run.received("stdin", {"msg_type": "input_request", "content": content})
    assert await items_of(run) == [
        RunStarted(0),
        BackCall("s", {"a": 1}),
        InputRequest(f"terp:other:{call}"),
    ]
