"""What terp knows of the work so far, whatever a model remembers."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from terp.errors import KernelBusy
from terp.events import CodeFinished
from terp.events.kernel import Variable
from terp.events.log import EventLog
from terp.events.outputs import FileAction, FileChange
from terp.events.run_log import RunLog
from terp.kernels.jupyter.local import LocalKernels
from terp.session.context.summary import Listing, live_facts
from terp.testing import EchoKernel
from tests.core.kernels.running import ran

NO_KERNEL = Listing("No kernel runs at this point, so there are no variables.")


def log_of(*changes: tuple[str, FileAction]) -> EventLog:
    log = EventLog()
    for path, action in changes:
        log.append(CodeFinished("c1", "ok", 0.1, (FileChange(path, action),)))
    return log


async def files(*changes: tuple[str, FileAction]) -> Sequence[str]:
    first, *_ = await live_facts(EchoKernel(), RunLog(log_of(*changes)))
    return first.items


class Telling(EchoKernel):
    """A kernel that was started, and holds variables or is busy."""

    def __init__(self, *variables: Variable, busy: bool = False) -> None:
        super().__init__()
        self.generation = 1
        self._variables, self._is_busy = variables, busy

    async def variables(self) -> Sequence[Variable]:
        if self._is_busy:
            raise KernelBusy("The kernel is busy.", "Ask again later.")
        return self._variables


async def variables(kernel: EchoKernel) -> Listing:
    return (await live_facts(kernel, RunLog()))[-1]


async def test_files_are_named_from_the_directory_of_the_work_the_newest_first() -> None:
    assert await files(("/somewhere/a.csv", "created"), ("/tmp/b.csv", "modified")) == [
        "/tmp/b.csv (modified)",
        "a.csv (created)",
    ]


async def test_a_file_is_what_became_of_it() -> None:
    assert await files(
        ("/somewhere/new", "created"),
        ("/somewhere/old", "modified"),
        ("/somewhere/gone", "created"),
        ("/somewhere/new", "modified"),
        ("/somewhere/old", "deleted"),
        ("/somewhere/gone", "deleted"),
    ) == ["old (deleted)", "new (created)"]


async def test_a_file_of_another_machine_says_so() -> None:
    log = EventLog()
    log.append(CodeFinished("c1", "ok", 0.1, (FileChange("/data/a.csv", "created", host="gate"),)))
    first, *_ = await live_facts(EchoKernel(), RunLog(log))
    assert first.items == ["/data/a.csv on gate (created)"]


async def test_without_files_and_kernels_that_is_all_there_is_to_tell() -> None:
    assert await live_facts(EchoKernel(), RunLog()) == [NO_KERNEL]


async def test_variables_have_their_types_and_shapes() -> None:
    kernel = Telling(
        Variable("df", "DataFrame", (150, 5)), Variable("x", "int"), Variable("rows", "list", (3,))
    )
    assert (await variables(kernel)).items == ["df (DataFrame 150×5)", "x (int)", "rows (list of length 3)"]


async def test_a_kernel_that_is_busy_is_not_guessed_at() -> None:
    told = "The variables of python cannot be listed while its kernel is busy."
    assert await variables(Telling(busy=True)) == Listing(told)


# The kernels live on the loop that started them.
@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_every_kernel_that_runs_is_asked(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    await ran(kernels.get("python"), "x = 41")
    await ran(kernels.get("shell"), "word=here")
    python, shell = await live_facts(kernels, RunLog())
    await kernels.aclose()
    assert python == Listing("Variables in python at this point, whatever the notes say:", ["x (int)"])
    assert shell == Listing("Variables in shell at this point, whatever the notes say:", ["word (str)"])
