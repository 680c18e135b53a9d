"""JavaScript and TypeScript in deno's kernel."""

import os
import queue
import tempfile
from collections.abc import AsyncGenerator
from contextlib import suppress
from typing import Any

import pytest

from terp.events.kernel import Kernel, SimpleKernel
from terp.events.outputs import Error, RunEnded, RunItem
from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.runtimes.deno import DenoKernel, deno_launch, find_deno
from terp.kernels.runtimes.runtime import Machine
from tests.core.kernels import conformance
from tests.core.kernels.running import interrupted_at, ran, ran_with

DENO = find_deno(Machine(os.environ))
needs_deno = pytest.mark.skipif(not DENO, reason="there is no deno")


@pytest.fixture(scope="module")
async def deno(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Kernel, None]:
    kernels = LocalKernels(
        str(tmp_path_factory.mktemp("deno")), KernelOptions(languages=("javascript", "typescript"))
    )
    yield kernels.get("typescript")
    await kernels.aclose()


class NotingKernel(SimpleKernel):
    """Notes the turn of its run."""

    language, cwd = "javascript", "/"

    async def execute(
        self, code: str, *, run_id: str = "", number: int = 0, timeout_s: float = 0.0, moment: int = 0
    ) -> AsyncGenerator[RunItem, None]:
        self.moment = moment
        yield RunEnded("ok")


async def test_a_run_belongs_to_its_turn() -> None:
    noting = NotingKernel()
    items = [item async for item in DenoKernel("", noting).execute("1", moment=7)]
    assert (items, noting.moment) == ([RunEnded("ok")], 7)


@needs_deno
async def test_types_are_understood_and_constants_stay(deno: Kernel) -> None:
    await ran(deno, "const x: number = 41; class A { v = x }")
    assert (await ran(deno, "[x + 1, new A()]")).results == ["[ 42, A { v: 41 } ]"]


@needs_deno
async def test_a_constant_may_be_declared_again(deno: Kernel) -> None:
    await ran(deno, "const again = 1")
    assert (await ran(deno, "const again = 2; again")).results == ["2"]


@needs_deno
async def test_the_streams_are_kept_apart(deno: Kernel) -> None:
    run = await ran(deno, "console.log('out', { a: 1 }); console.error('err')")
    assert (run.stdout, run.stderr) == ("out { a: 1 }\n", "err\n")


@needs_deno
async def test_an_error_of_syntax_is_put_into_words(deno: Kernel) -> None:
    run = await ran(deno, "const x = 1\nconst = 3")
    error = next(item for item in run.items if isinstance(item, Error))
    assert error.name == "SyntaxError"
    assert error.value.startswith("Unexpected token `=`.")
    assert "2 | const = 3" in error.traceback
    assert not any("\x1b" in line or "file://" in line for line in error.traceback)


@needs_deno
async def test_a_thrown_error_has_its_class_and_its_lines(deno: Kernel) -> None:
    run = await ran(deno, "function far() { throw new TypeError('boom') }\nfar()")
    assert run.error == "TypeError boom"


@needs_deno
async def test_an_interrupted_loop_keeps_the_variables(deno: Kernel) -> None:
    await ran(deno, "let kept = 1")
    stopped = await interrupted_at(deno, "console.log('on'); while (true) {}", "on")
    assert (stopped.ended.status, (await ran(deno, "kept")).results) == ("interrupted", ["1"])


@needs_deno
async def test_an_interrupted_wait_costs_the_kernel_and_that_is_said(deno: Kernel) -> None:
    code = "console.log('on'); await new Promise(() => {})"
    # deno answers no interrupt while it waits: the second one ends it.
    stopped = await interrupted_at(deno, code, "on", times=2)
    assert (stopped.ended.status, "variables are lost" in stopped.ended.note) == ("died", True)
    assert (await ran(deno, "1 + 1")).results == ["2"]


@needs_deno
async def test_a_prompt_is_asked_of_the_person(deno: Kernel) -> None:
    run = await ran_with(deno, "prompt('Name?')", "Ada")
    assert ([question.prompt for question in run.questions], run.results) == (["Name?"], ['"Ada"'])


@needs_deno
async def test_both_names_are_one_kernel(tmp_path_factory: pytest.TempPathFactory) -> None:
    kernels = LocalKernels(str(tmp_path_factory.mktemp("names")))
    assert kernels.get("js") is kernels.get("ts")


@needs_deno
class TestDeno(conformance.Conformance):
    launch = deno_launch(DENO, LocalKernels(tempfile.gettempdir()))
    language_name = "typescript"
    file_extension = ".ts"
    code_hello_world = "console.log('hello, world')"
    code_stderr = "console.error('oops')"
    code_generate_error = "throw new Error('boom')"
    code_execute_result = ({"code": "6 * 7", "result": "42"},)
    code_display_data = (
        {"code": "await Deno.jupyter.display(Deno.jupyter.html`<b>x</b>`)", "mime": "text/html"},
    )
    completion_samples = ({"text": "Deno.readText", "matches": {"readTextFile", "readTextFileSync"}},)
    complete_code_samples = ("1 + 1", "const q = 1;")
    invalid_code_samples = ("}", ")")
    # Of these deno has nothing: no pager, no history, no documentation of a name, no clearing of output.
    test_pager = test_history = test_inspect = test_clear_output = None

    def execute_helper(self, *arguments: Any, **options: Any) -> tuple[Any, list[Any]]:
        # What it displays may come after it has said that it is idle.
        reply, outputs = super().execute_helper(*arguments, **options)
        with suppress(queue.Empty):
            while not outputs:
                outputs.append(self.kc.get_iopub_msg(timeout=1))
        return reply, outputs
