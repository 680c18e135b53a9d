"""Tools as functions in a real kernel."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from terp.events.kernel import Kernel
from terp.events.outputs import BackCall, Error, RunEnded, ToolWorking
from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.jupyter.local import LocalKernels
from terp.settings import Settings
from terp.settings.places import Places
from terp.tools.files.reading import read_toolbox
from tests.core.kernels.running import Ran, ran

TOOLS = '''
import enum, pathlib
from typing import Annotated
from terp.tools import get_tools, register_tool

LOADED = pathlib.Path(__file__).with_name("loaded")
LOADED.write_text(str(int(LOADED.read_text() or 0) + 1) if LOADED.exists() else "1")

class Unit(enum.Enum):
    C = "celsius"

@register_tool
def kind_of(
    range: Annotated[tuple[int, int], "Two numbers", True], unit: Unit = Unit.C, path: pathlib.Path = None
) -> str:
    """Tells what it was given."""
    return f"{range!r} {unit!r} {path!r}"

@register_tool(max_chars=5)
def long(what: str = "text") -> str:
    """Gives much."""
    return "0123456789" if what == "text" else list(range(10))

@register_tool
def optional(a: Annotated[int, "May be left out", False], b: Annotated[int, "Must be there", True]) -> str:
    """Has an optional parameter before one that is not."""
    return f"{a} {b}"

@register_tool
def leave() -> None:
    """Ends the program, as it thinks."""
    raise SystemExit(3)

@register_tool
def give_up() -> None:
    """Raises what Ctrl-C does."""
    raise KeyboardInterrupt

@register_tool
def two_lines() -> str:
    """Gives text."""
    return "one\\ntwo"

@register_tool
def plain(value: "pandas.DataFrame") -> str:
    """Takes anything."""
    return type(value).__name__

@register_tool
def slow(seconds: float) -> None:
    """Takes its time."""
    import time
    time.sleep(seconds)

@register_tool
def beside() -> str:
    """Uses what lies beside its file."""
    import helper_of_mine, statistics
    return f"{helper_of_mine.VALUE} {statistics.mean([1, 3])}"

@register_tool
def refused(x: Annotated[str]) -> str:
    """Is declared in a way that Python itself does not take."""

@register_tool
def names() -> list:
    """Names all tools, and breaks its copy."""
    mine = get_tools()
    found = sorted(mine)
    mine.clear()
    return found
'''
DECLARED = """
- {name: mean, description: d, call: statistics:mean, parameters: [{name: data, type: "list[float]"}]}
- {name: of_c, description: d, call: math:sqrt, parameters: [{name: x, type: float, default: 4}]}
- {name: asked, description: d, parameters: [{name: q, type: string}]}
"""  # fmt: skip


# One event loop for all tests with a kernel: a kernel lives on the loop that started it.
@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tools")
    (folder / "mine.py").write_text(TOOLS)
    (folder / "helper_of_mine.py").write_text("VALUE = 42")
    (folder / "statistics.py").write_text("raise ImportError('hides a module of Python')")
    (folder / "broken.py").write_text(
        "import nowhere_to_be_found\n@register_tool\ndef broken():\n    'Does nothing.'\n"
    )
    (folder / "declared.yaml").write_text(DECLARED)
    return folder


@pytest.fixture(scope="module")
async def kernel(folder: Path) -> AsyncGenerator[Kernel, None]:
    elsewhere = folder / "elsewhere"
    elsewhere.mkdir()
    kernels = LocalKernels(str(elsewhere))
    settings = Settings(tools=("../mine.py", "../broken.py", "../declared.yaml"))
    toolbox = read_toolbox(settings, {}, Places(folder / "config", folder / "state"), kernels)
    assert len(toolbox.problems) == 1
    kernels.options = KernelOptions(prelude=toolbox.prelude())
    yield kernels.get("python")
    await kernels.aclose()


def error(run: Ran) -> str:
    return next(f"{item.name}: {item.value}" for item in run.items if isinstance(item, Error))


async def test_a_tool_file_is_not_run_before_a_tool_is_called(kernel: Kernel, folder: Path) -> None:
    await ran(kernel, "1")
    assert not (folder / "loaded").exists()
    await ran(kernel, "two_lines()")
    await ran(kernel, "two_lines()")
    assert (folder / "loaded").read_text() == "1"


async def test_arguments_of_json_become_the_annotated_types(kernel: Kernel) -> None:
    run = await ran(kernel, "kind_of(range=[1, 10], unit='celsius', path='/tmp')")
    assert run.results == ["(1, 10) <Unit.C: 'celsius'> PosixPath('/tmp')"]


async def test_defaults_are_those_of_the_function(kernel: Kernel) -> None:
    assert (await ran(kernel, "kind_of([1, 10])")).results == ["(1, 10) <Unit.C: 'celsius'> None"]


async def test_text_shows_itself_as_it_is_and_is_text_all_the_same(kernel: Kernel) -> None:
    code = "import pickle; print(two_lines() == 'one\\ntwo', type(pickle.loads(pickle.dumps(two_lines()))))"
    assert (await ran(kernel, "two_lines()")).results == ["one\ntwo"]
    assert (await ran(kernel, code)).stdout == "True <class 'str'>\n"


@pytest.mark.parametrize(("what", "told"), [("text", "01234 [TRUNCATED]"), ("list", "[0, 1 [TRUNCATED]")])
async def test_a_long_result_is_cut_where_the_tool_says(kernel: Kernel, what: str, told: str) -> None:
    assert (await ran(kernel, f"long({what!r})")).results == [told]


async def test_what_is_not_required_may_be_left_out(kernel: Kernel) -> None:
    assert (await ran(kernel, "optional(b=1)")).results == ["None 1"]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("optional()", "Tool `optional` needs `b`. Call it as optional(a: int, b: int) -> str"),
        ("leave(1)", "Tool `leave` takes 0 arguments, not 1. Call it as leave() -> None"),
        ("leave(x=1)", "Tool `leave` takes no `x`. Call it as leave() -> None"),
        (
            "optional(1, a=2, b=3)",
            "Tool `optional` got `a` twice. Call it as optional(a: int, b: int) -> str",
        ),
        ("kind_of([1])", "Tool `kind_of`: `range` must be tuple[int, int], not [1]."),
    ],
)
async def test_wrong_arguments_are_explained(kernel: Kernel, code: str, told: str) -> None:
    assert error(await ran(kernel, code)) == f"TypeError: {told}"


async def test_a_tool_file_imports_what_lies_beside_it_and_hides_nothing(kernel: Kernel) -> None:
    assert (await ran(kernel, "beside()")).results == ["42 2"]


async def test_a_tool_that_takes_its_time_is_told_and_a_quick_one_is_not(kernel: Kernel) -> None:
    run = await ran(kernel, "two_lines(); slow(0.8); two_lines()")
    told = [item for item in run.items if isinstance(item, ToolWorking)]
    assert told == [ToolWorking("slow"), ToolWorking("slow", over=True)]


async def test_a_tool_that_fails_or_is_interrupted_is_told_to_be_over(kernel: Kernel) -> None:
    run = await ran(
        kernel, "import threading, _thread\nthreading.Timer(0.8, _thread.interrupt_main).start()\nslow(9)"
    )
    told = [item for item in run.items if isinstance(item, ToolWorking)]
    assert told == [ToolWorking("slow"), ToolWorking("slow", over=True)]


async def test_an_exit_ends_the_tool_alone(kernel: Kernel) -> None:
    run = await ran(kernel, "kept = 1\nleave()")
    assert error(run) == "RuntimeError: Tool `leave` called sys.exit(3)."
    assert (await ran(kernel, "kept")).results == ["1"]


async def test_a_keyboard_interrupt_in_a_tool_ends_the_run_alone(kernel: Kernel) -> None:
    run = await ran(kernel, "kept = 2\ngive_up()")
    assert error(run).startswith("KeyboardInterrupt")
    assert (await ran(kernel, "kept")).results == ["2"]


async def test_a_file_that_fails_is_told_with_its_line_at_each_call(kernel: Kernel, folder: Path) -> None:
    for _ in range(2):
        run = await ran(kernel, "broken()")
        [failed] = [item for item in run.items if isinstance(item, Error)]
        assert failed.name == "ModuleNotFoundError"
        assert "broken.py:1" in "".join(failed.traceback)
        assert "terp_home" not in "".join(failed.traceback)


async def test_objects_that_are_not_json_reach_a_tool(kernel: Kernel) -> None:
    assert (await ran(kernel, "plain(object())")).results == ["object"]


async def test_tools_are_listed_in_the_kernel_as_a_copy(kernel: Kernel) -> None:
    found = (await ran(kernel, "names(); 'kind_of' in names(), 'asked' in names()")).results
    assert found == ["(True, True)"]


async def test_a_declared_function_is_imported_and_gets_its_types(kernel: Kernel) -> None:
    assert (await ran(kernel, "mean(['1', 2])")).results == ["1.5"]
    assert (await ran(kernel, "of_c()")).results == ["2.0"]


async def test_help_tells_the_signature_and_what_parameters_are(kernel: Kernel) -> None:
    said = (await ran(kernel, "help(kind_of)")).stdout
    assert "kind_of(range: tuple[int, int], unit: Unit = Unit.C, path: pathlib.Path = None) -> str" in said
    assert "Tells what it was given." in said
    assert "range: Two numbers" in said


async def test_tools_are_no_variables(kernel: Kernel) -> None:
    await ran(kernel, "leave = 1; del leave")
    assert "leave" not in {variable.name for variable in await kernel.variables()}
    assert (await ran(kernel, "leave")).results == ["<function terp_home.tools.leave() -> None>"]


async def test_the_person_answers_a_manual_tool(kernel: Kernel) -> None:
    seen = []
    async for item in kernel.execute("asked(q='why?')"):
        seen.append(item)
        if isinstance(item, BackCall):
            assert item == BackCall("manual_tool", {"name": "asked", "given": {"q": "why?"}})
            await kernel.answer("because")
    assert Ran(seen).results == ["because"]
    assert isinstance(seen[-1], RunEnded)


async def test_tools_are_there_after_a_restart(kernel: Kernel) -> None:
    await kernel.restart()
    assert (await ran(kernel, "two_lines()")).results == ["one\ntwo"]
