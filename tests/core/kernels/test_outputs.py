from terp.events.kernel import Kernel
from terp.events.outputs import Clear, Display, DisplayUpdate, Error, RunStarted, Text
from tests.core.kernels.running import Listener, ran


async def test_displays_and_text_keep_their_order(kernel: Kernel) -> None:
    run = await ran(kernel, "print('a'); display(1); print('b'); display(2); print('c')")
    shown = [o.text if isinstance(o, Text) else o.data["text/plain"] for o in run.outputs]  # type: ignore[union-attr]
    assert shown == ["a\n", "1", "b\n", "2", "c\n"]


async def test_stdout_and_stderr_keep_their_order(kernel: Kernel) -> None:
    code = "import sys\nprint('a'); print('b', file=sys.stderr); print('c')"
    run = await ran(kernel, code)
    assert run.outputs == [Text("stdout", "a\n"), Text("stderr", "b\n"), Text("stdout", "c\n")]


async def test_a_display_is_updated_by_a_later_run(kernel: Kernel) -> None:
    shown = await ran(kernel, "handle = display('one', display_id='here')")
    updated = await ran(kernel, "handle.update('two')")
    assert shown.outputs == [Display({"text/plain": "'one'"}, display_id="here")]
    assert updated.outputs == [DisplayUpdate("here", {"text/plain": "'two'"})]


async def test_clear_output_is_told_with_its_wait(kernel: Kernel) -> None:
    # One write each: a busy kernel may send the end of the line apart.
    code = "from IPython.display import clear_output\n"
    code += "print('a\\n', end='')\nclear_output(wait=True)\nprint('b\\n', end='')"
    assert (await ran(kernel, code)).outputs == [
        Text("stdout", "a\n"),
        Clear(wait=True),
        Text("stdout", "b\n"),
    ]


async def test_help_for_an_object_is_shown(kernel: Kernel) -> None:
    (shown,) = (await ran(kernel, "len?")).results
    assert "number of items in a container" in shown


async def test_the_traceback_shows_only_code_that_is_not_ours(kernel: Kernel) -> None:
    run = await ran(kernel, "import sys\nsys.stdout.write(3)")
    (error,) = run.outputs
    assert isinstance(error, Error)
    assert error.name == "TypeError"
    assert "terp_home" not in "".join(error.traceback)


async def test_what_a_magic_complains_of_is_told_once(kernel: Kernel) -> None:
    run = await ran(kernel, "%cd -z nowhere")
    assert [type(output) for output in run.outputs] == [Error]
    assert run.ended.status == "error"


async def test_an_error_with_half_of_a_surrogate_pair_is_told(kernel: Kernel) -> None:
    (error,) = (await ran(kernel, "raise ValueError('bad \\ud800 ö')")).outputs
    assert isinstance(error, Error)
    assert (error.name, error.value) == ("ValueError", "bad \\ud800 ö")


async def test_a_group_of_errors_is_told_without_frames_of_ipythons(kernel: Kernel) -> None:
    run = await ran(kernel, "def g():\n    raise ExceptionGroup('many', [ValueError(1)])\ng()")
    (error,) = run.outputs
    (number,) = {item.execution_count for item in run.items if isinstance(item, RunStarted)}
    assert isinstance(error, Error)
    # Python 3.13 marks the call in its line.
    shown = error.traceback[0].replace("  |     ~^^\n", "")
    assert (error.name, error.value, shown) == (
        "ExceptionGroup",
        "many (1 sub-exception)",
        (
            f"""\
  + Exception Group Traceback (most recent call last):
  |   Cell In[{number}], line 3, in <module>
  |     g()
  |   Cell In[{number}], line 2, in g
  |     raise ExceptionGroup('many', [ValueError(1)])
  | ExceptionGroup: many (1 sub-exception)
  +-+---------------- 1 ----------------
    | ValueError: 1
    +------------------------------------"""
        ),
    )


async def test_output_of_file_descriptors_and_children_comes_in_its_place(kernel: Kernel) -> None:
    code = """
import os, subprocess
print("1")
os.write(1, b"2\\n")
print("3")
os.system("echo 4")
print("5")
subprocess.run(["echo", "6"])
!echo 7
print("8")
"""
    assert (await ran(kernel, code)).stdout.split() == ["1", "2", "3", "4", "5", "6", "7", "8"]


async def test_children_write_to_stderr_too(kernel: Kernel) -> None:
    assert (await ran(kernel, "import os\nos.system('echo bad >&2');")).stderr == "bad\n"


async def test_characters_of_a_child_are_not_torn(kernel: Kernel) -> None:
    code = "import os\nfor byte in 'é€😀\\n'.encode(): os.write(1, bytes([byte]))"
    assert (await ran(kernel, code)).stdout == "é€😀\n"


async def test_a_process_pool_prints(kernel: Kernel) -> None:
    code = """
import multiprocessing
def work():
    print("from the child")
child = multiprocessing.get_context("fork").Process(target=work)
child.start(); child.join()
"""
    assert "from the child" in (await ran(kernel, code)).stdout


async def test_late_output_of_a_thread_belongs_to_its_cell(kernel: Kernel, heard: Listener) -> None:
    code = """
import threading
go = threading.Event()
def later():
    go.wait()
    print("thread here")
thread = threading.Thread(target=later)
thread.start()
"""
    await ran(kernel, code, run_id="first")
    run = await ran(kernel, "go.set(); thread.join(); print('second here')", run_id="second")
    assert run.stdout == "second here\n"
    assert await heard.until_late("thread here") == "first"


async def test_late_output_of_a_child_belongs_to_its_cell(kernel: Kernel, heard: Listener) -> None:
    start = "import subprocess\nchild = subprocess.Popen('read go; echo child here', shell=True, stdin=-1)"
    await ran(kernel, start, run_id="first")
    run = await ran(kernel, "child.communicate(b'go\\n'); print('second here')", run_id="second")
    assert run.stdout == "second here\n"
    assert await heard.until_late("child here") == "first"


async def test_a_pool_thread_serves_the_cell_that_runs(kernel: Kernel) -> None:
    code = "from concurrent.futures import ThreadPoolExecutor\npool = ThreadPoolExecutor(1)\n"
    await ran(kernel, code + "pool.submit(print, 'one').result()")
    assert (await ran(kernel, "pool.submit(print, 'two').result()")).stdout == "two\n"


async def test_standard_input_is_at_its_end(kernel: Kernel) -> None:
    run = await ran(kernel, "import sys, os\nprint(repr(sys.stdin.readline()))\nos.system('cat');")
    assert run.stdout == "''\n"


async def test_code_that_replaces_write_gets_what_it_wants(kernel: Kernel) -> None:
    code = """
import sys
kept, said = sys.stdout.write, []
sys.stdout.write = said.append
print("unheard")
sys.stdout.write = kept
print(said)
"""
    assert (await ran(kernel, code)).stdout == "['unheard', '\\n']\n"


async def test_a_late_display_of_a_thread_belongs_to_its_cell(kernel: Kernel, heard: Listener) -> None:
    code = """
import threading
go = threading.Event()
def later():
    go.wait()
    display("thread here")
thread = threading.Thread(target=later)
thread.start()
"""
    await ran(kernel, code, run_id="first")
    await kernel.variables()
    run = await ran(kernel, "go.set(); thread.join(); print('second here')", run_id="second")
    assert (run.stdout, run.results) == ("second here\n", [])
    assert heard.late == [("first", Display({"text/plain": "'thread here'"}))]


async def test_output_goes_on_when_code_replaced_the_stream(kernel: Kernel) -> None:
    await ran(kernel, "import io, sys, os\nkept, sys.stdout = sys.stdout, io.StringIO()\nos.system('true');")
    run = await ran(kernel, "os.system('echo child'); kept.write('direct\\n'); sys.stdout = kept")
    assert run.stdout == "child\ndirect\n"


async def test_the_stream_that_python_began_with_is_shown(kernel: Kernel) -> None:
    assert (await ran(kernel, "import sys\nprint('seen', file=sys.__stdout__)")).stdout == "seen\n"


async def test_a_lone_surrogate_loses_nothing(kernel: Kernel) -> None:
    assert (await ran(kernel, "print('a\\ud800é'); print('b')")).stdout == "a\\ud800é\nb\n"
