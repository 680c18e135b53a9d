"""A kernel that somebody else has started, used by terp."""

import asyncio
import os
from collections.abc import Mapping
from contextlib import aclosing
from pathlib import Path

import pytest

from terp.errors import KernelError, KernelStartFailed, NoSandbox
from terp.events.kernel import Kernel, WrittenValue
from terp.events.outputs import BackCall, InputRequest, RunEnded, RunItem, StoppedAt, Text, VariableChange
from terp.kernels.attached.finding import find_attachment
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.sandbox.policy import SandboxOptions
from tests.core.kernels.attached.foreign import ForeignKernel
from tests.core.kernels.running import PATIENCE_S, Listener, interrupted_at, ran, ran_with

TRACES = """
import builtins, sys
print(sorted(name for name in vars(builtins) if name not in plain_names))
print([name for name in sys.modules if name.startswith("terp")])
print(get_ipython().events.callbacks["pre_run_cell"])
print([type(finder).__name__ for finder in sys.meta_path] == plain_finders)
print(get_ipython().kernel.comm_manager.targets)
"""
REMEMBER = """
import builtins, sys
plain_names = set(vars(builtins))
plain_finders = [type(finder).__name__ for finder in sys.meta_path]
"""


async def theirs(foreign: ForeignKernel, code: str) -> str:
    """What code of the kernel's owner prints, run while ours may go on."""
    return await asyncio.to_thread(foreign.printed, code)


async def test_both_have_the_same_variables(kernel: Kernel, foreign: ForeignKernel) -> None:
    await theirs(foreign, "theirs = 41")
    run = await ran(kernel, "ours = theirs + 1\nprint(ours)")
    assert run.stdout == "42\n"
    assert run.ended.changes == (VariableChange("ours", "new", "int", (), 28),)
    assert await theirs(foreign, "print(ours)") == "42\n"


async def test_it_is_said_whose_kernel_it_is_and_where(
    kernels: LocalKernels, kernel: Kernel, foreign: ForeignKernel
) -> None:
    listener = Listener()
    kernels.listen(listener)
    await kernel.start()
    cwd = (await theirs(foreign, "import os; print(os.getcwd())")).strip()
    place = "another program's kernel (kernel-feedbeef.json)"
    assert (kernel.place, kernel.cwd, kernel.tier) == (place, cwd, "none")
    assert (listener.states, listener.whys) == (["starting", "ready"], [place, ""])


async def test_leaving_leaves_it_running_and_without_a_trace(
    kernels: LocalKernels, kernel: Kernel, foreign: ForeignKernel
) -> None:
    await theirs(foreign, REMEMBER)
    before = await theirs(foreign, TRACES)
    kernels.options = type(kernels.options)(prelude="__import__('terp_home.tools').tools.provide([], {})")
    await ran(kernel, "kept = 'here'")
    assert await theirs(foreign, TRACES) != before
    await kernels.aclose()
    assert await theirs(foreign, TRACES) == before
    assert await theirs(foreign, "print(kept)") == "here\n"


async def test_who_requires_a_sandbox_runs_nothing_in_it(kernels: LocalKernels, kernel: Kernel) -> None:
    kernels.confinement.options = SandboxOptions("strict")
    with pytest.raises(NoSandbox, match="around another program's kernel"):
        await kernel.start()


async def test_a_kernel_of_somebody_else_does_not_rest(kernels: LocalKernels, kernel: Kernel) -> None:
    await ran(kernel, "kept = 5")
    await ran(kernels.get("shell"), "true")
    assert (await kernels.rest(), await kernels.rest()) == (("shell",), ())
    assert kernels.get("python") is kernel
    assert (await ran(kernel, "print(kept)")).stdout == "5\n"


async def test_nothing_of_terp_is_among_the_outputs_of_others(kernel: Kernel, foreign: ForeignKernel) -> None:
    await ran(kernel, "1")
    await theirs(foreign, "x_of_theirs = 1; print('plain')")
    assert [message["msg_type"] for message in foreign.seen] == [
        "status",
        "execute_input",
        "stream",
        "status",
    ]


async def test_what_others_run_is_no_output_of_ours(
    kernels: LocalKernels, kernel: Kernel, foreign: ForeignKernel
) -> None:
    listener = Listener()
    kernels.listen(listener)
    await ran(kernel, "1")
    await theirs(foreign, "print('theirs'); other = 1")
    run = await ran(kernel, "print('ours')")
    assert (run.stdout, run.ended.changes, listener.late) == ("ours\n", (), [])


async def test_code_waits_its_turn_behind_that_of_others_even_where_that_fails(
    kernel: Kernel, foreign: ForeignKernel
) -> None:
    await kernel.start()
    foreign.client.execute("import time; time.sleep(1); 1 / 0", stop_on_error=True)
    run = await ran(kernel, "print('at last')")
    assert (run.stdout, run.ended.status) == ("at last\n", "ok")


async def test_an_interrupt_stops_our_code_and_tells_where(kernel: Kernel) -> None:
    code = "import threading, time\nthreading.Timer(0.1, print, ['on']).start()\ntime.sleep(60)"
    run = await interrupted_at(kernel, code, "on")
    assert run.ended.status == "interrupted"
    assert run.ended.stopped_at == StoppedAt(3, "", "time.sleep(60)", "time.sleep")


async def test_an_interrupt_leaves_the_code_of_others_alone(kernel: Kernel, foreign: ForeignKernel) -> None:
    await kernel.start()
    foreign.client.execute("import time; time.sleep(1.5); survived = 'they did'")
    waiting = asyncio.create_task(ran(kernel, "import time; time.sleep(60)"))
    # Until it is sent, an interrupt would end it before it has begun.
    await asyncio.sleep(0.3)
    await kernel.interrupt()
    assert (await waiting).ended.status == "interrupted"
    assert await theirs(foreign, "print(survived)") == "they did\n"


async def test_code_that_asks_is_answered_by_us(kernel: Kernel) -> None:
    run = await ran_with(kernel, "print('before'); print(input('name? '))", "Ada")
    assert [item for item in run.outputs if not isinstance(item, RunEnded)] == [
        Text("stdout", "before\n"),
        InputRequest("name? "),
        Text("stdout", "Ada\n"),
    ]


async def test_our_code_calls_home_and_that_of_others_cannot(kernel: Kernel, foreign: ForeignKernel) -> None:
    items: list[RunItem] = []
    async with asyncio.timeout(PATIENCE_S), aclosing(kernel.execute("print(out[1].status)")) as run:
        async for item in run:
            items.append(item)
            if isinstance(item, BackCall):
                found = {"number": 1, "path": "", "status": "ok", "language": "python", "images": []}
                await kernel.answer(found)
    assert BackCall("run_output", {"number": 1}) in items
    assert Text("stdout", "ok\n") in items
    reply = await asyncio.to_thread(foreign.run, "out[1]")
    assert "no session of terp has sent this cell" in reply["evalue"]


async def test_it_is_not_restarted(kernel: Kernel) -> None:
    await ran(kernel, "kept = 1")
    with pytest.raises(KernelError, match="which terp does not restart") as caught:
        await kernel.restart()
    assert "/attach own" in caught.value.remedy
    assert (await ran(kernel, "print(kept)")).stdout == "1\n"


async def test_a_directory_that_code_changes_to_is_told(kernel: Kernel, tmp_path: Path) -> None:
    await kernel.start()
    before = kernel.cwd
    await ran(kernel, f"import os; os.chdir({str(tmp_path)!r})")
    assert kernel.cwd == str(tmp_path)
    await ran(kernel, f"os.chdir({before!r})")


async def test_files_that_code_writes_are_found(kernel: Kernel) -> None:
    await kernel.start()
    run = await ran(kernel, "open('made.txt', 'w').close()")
    assert [(Path(file.path).name, file.action) for file in run.ended.files] == [("made.txt", "created")]


async def test_a_value_of_theirs_is_written_for_an_answer(kernel: Kernel, foreign: ForeignKernel) -> None:
    await theirs(foreign, "their_rows = [1, 2.5]")
    await kernel.start()
    assert await kernel.value("their_rows", [1], ".2f") == WrittenValue("2.50")


async def test_variables_of_both_are_listed(kernel: Kernel, foreign: ForeignKernel) -> None:
    await theirs(foreign, "their_table = [1, 2, 3]")
    await kernel.start()
    assert "their_table" in [variable.name for variable in await kernel.variables()]
    assert (await kernel.names())["their_table"] == "list"


async def test_two_sessions_are_guests_at_once(
    kernel: Kernel, foreign: ForeignKernel, environ: Mapping[str, str], tmp_path: Path
) -> None:
    other = LocalKernels(str(tmp_path), environ=environ)
    await other.attach((await find_attachment("feedbeef", environ, "/")).attachment)
    await ran(other.get("python"), "from_one = 1")
    first = await ran(kernel, "from_other = from_one + 1")
    await other.aclose()
    second = await ran(kernel, "from_other + 1")
    assert [change.name for change in first.ended.changes] == ["from_other"]
    assert second.results == ["3"]
    assert [variable.name for variable in await kernel.variables() if variable.name == "from_one"]


async def test_code_that_resists_is_left_alone_with_its_kernel(
    kernels: LocalKernels, kernel: Kernel, foreign: ForeignKernel
) -> None:
    resisting = """
import signal, time
signal.signal(signal.SIGINT, signal.SIG_IGN)
print('on', flush=True)
time.sleep(7)
"""
    run = await interrupted_at(kernel, resisting, "on", times=2)
    assert run.ended.status == "interrupted"
    assert run.ended.note == (
        "The kernel is another program's and was left running, with its code. "
        "The next run looks for it again."
    )
    assert await theirs(foreign, "print('alive')") == "alive\n"
    assert (await ran(kernel, "print('back')")).stdout == "back\n"


async def test_a_kernel_that_dies_is_noticed_and_one_in_its_place_is_used(
    environ: Mapping[str, str], tmp_path: Path
) -> None:
    kernels = LocalKernels(str(tmp_path), environ=environ)
    with ForeignKernel(tmp_path) as dying:
        found = await find_attachment(str(dying.file), environ, "/")
        await kernels.attach(found.attachment)
        kernel = kernels.get("python")
        run = await ran(kernel, "import os; os._exit(3)")
        assert (run.ended.status, run.ended.note) == (
            "died",
            "The kernel has ended. The next run looks for it again.",
        )
        with pytest.raises(KernelStartFailed, match="No kernel answers behind"):
            await ran(kernel, "1")
    with ForeignKernel(tmp_path):
        assert (await ran(kernel, "print('in another')")).stdout == "in another\n"
        await kernels.aclose()


async def test_without_a_process_to_signal_the_interrupt_is_a_message(
    foreign: ForeignKernel, environ: Mapping[str, str], tmp_path: Path
) -> None:
    # A copy of the file has another name than the one that the process was started with.
    copy = tmp_path / "copied.json"
    copy.write_text(foreign.file.read_text())
    kernels = LocalKernels(str(tmp_path), environ=environ)
    found = await find_attachment(str(copy), environ, "/")
    assert not found.attachment.is_here
    await kernels.attach(found.attachment)
    kernel = kernels.get("python")
    run = await interrupted_at(kernel, "import time\nprint('on', flush=True)\ntime.sleep(60)", "on")
    assert (run.ended.status, run.ended.files) == ("interrupted", ())
    await kernels.aclose()


async def test_terp_takes_its_own_kernel_again(
    kernels: LocalKernels, kernel: Kernel, foreign: ForeignKernel
) -> None:
    await ran(kernel, "mark = 1")
    await kernels.detach("python")
    own = kernels.get("python")
    assert (own.place, (await ran(own, "print('mark' in globals())")).stdout) == ("", "False\n")
    assert await theirs(foreign, "import os; print(mark, os.getpid())") == f"1 {foreign.process.pid}\n"
    assert os.getpid() != foreign.process.pid
