"""The widget `Output` of ipywidgets, of which a small stand-in lies in the working directory."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from terp.events.kernel import Kernel
from terp.events.outputs import Clear, Text
from terp.kernels.jupyter.local import LocalKernels
from terp.text.plain import without_escapes
from tests.core.kernels.running import ran

OUTPUT = """
from IPython import get_ipython
from IPython.display import clear_output

class Output:
    def clear_output(self, *args, **kwargs):
        with self:
            clear_output(*args, **kwargs)

    def __enter__(self):
        pass

    def __exit__(self, etype, evalue, tb):
        if etype is not None:
            get_ipython().showtraceback((etype, evalue, tb), tb_offset=0)
        return True
"""


SETUP = (
    "import ipywidgets.widgets.widget_output as w; from IPython.display import clear_output; out = w.Output()"
)


@pytest.fixture
async def kernel(tmp_path: Path) -> AsyncGenerator[Kernel, None]:
    """A kernel in whose directory the stand-in lies."""
    folder = tmp_path / "ipywidgets/widgets"
    folder.mkdir(parents=True)
    (folder / "widget_output.py").write_text(OUTPUT)
    kernels = LocalKernels(str(tmp_path))
    kernel = kernels.get("python")
    await ran(kernel, SETUP)
    yield kernel
    await kernels.aclose()


async def test_the_run_shows_what_goes_into_an_output(kernel: Kernel) -> None:
    run = await ran(kernel, "print('one')\nwith out: print('two')")
    assert run.stdout == "one\ntwo\n"


async def test_clearing_an_output_clears_nothing_of_the_run(kernel: Kernel) -> None:
    run = await ran(kernel, "print('one')\nout.clear_output()\nprint('two')")
    assert run.outputs == [Text("stdout", "one\ntwo\n")]


async def test_clearing_outside_of_an_output_clears_the_run(kernel: Kernel) -> None:
    run = await ran(kernel, "with out: pass\nclear_output()")
    assert run.outputs == [Clear()]


async def test_an_error_that_an_output_shows_is_text_of_a_run_that_went_on(kernel: Kernel) -> None:
    run = await ran(kernel, "with out:\n    1 / 0\nprint('went on')")
    last = without_escapes(run.stderr).splitlines()[-1]
    assert (run.ended.status, run.error, run.stdout, last) == (
        "ok",
        "",
        "went on\n",
        "ZeroDivisionError: division by zero",
    )


async def test_an_interrupt_within_an_output_ends_the_run(kernel: Kernel) -> None:
    run = await ran(kernel, "with out: raise KeyboardInterrupt\nprint('went on')")
    assert (run.stdout, run.error) == ("", "KeyboardInterrupt")
