"""Variables as bytes, from a real kernel."""

import io
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from terp.errors import SettingsError, TerpError
from terp.events.kernel import Kernel
from terp.events.outputs import Display, RunEnded, RunItem
from terp.kernels.jupyter.local import LocalKernels
from terp.session.emitting import Emission, emission, emitted
from terp.testing import EchoKernel
from tests.core.kernels.running import ran

pandas = pytest.importorskip("pandas")

VARIABLES = """
import pandas
frame = pandas.DataFrame({"n": [1, 2], "who": ["Zoë", "b,c"]})
series = pandas.Series([1.5], index=["a"], name="x")
grouped = frame.assign(sum=frame.n).groupby(["who", "n"]).sum()
barred = pandas.DataFrame({"a\\nb | c": [1]})
rows = [{"a": 1}, {"a": 2, "b": 3}]
pairs = [(1, 2), (3, 4)]
text, raw, number = "naïve\\n", bytes(range(256)), 7
nested = {"when": frame.n.sum(), "set": {1}}
def function(): pass
"""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def kernel(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Kernel, None]:
    kernels = LocalKernels(str(tmp_path_factory.mktemp("cwd")))
    await ran(kernels.get("python"), VARIABLES)
    yield kernels.get("python")
    await kernels.aclose()


@pytest.mark.parametrize(
    ("wanted", "written"),
    [
        ("frame", 'n,who\n1,Zoë\n2,"b,c"\n'),
        ("frame:json", '[{"n":1,"who":"Zo\\u00eb"},{"n":2,"who":"b,c"}]\n'),
        ("series", ",x\na,1.5\n"),
        ("rows:csv", "a,b\r\n1,\r\n2,3\r\n"),
        ("rows", '[{"a": 1}, {"a": 2, "b": 3}]\n'),
        ("pairs:csv", "1,2\r\n3,4\r\n"),
        ("text", "naïve\n"),
        ("frame:md", "| n | who |\n| --- | --- |\n| 1 | Zoë |\n| 2 | b,c |\n"),
        ("series:md", "|  | x |\n| --- | --- |\n| a | 1.5 |\n"),
        ("grouped:md", "| who | n | sum |\n| --- | --- | --- |\n| Zoë | 1 | 1 |\n| b,c | 2 | 2 |\n"),
        ("barred:md", "| a b \\| c |\n| --- |\n| 1 |\n"),
        ("number:md", "7"),
        ("number", "7\n"),
        ("number:txt", "7"),
        ("nested", '{"when": 3, "set": [1]}\n'),
    ],
)
async def test_a_variable_has_the_form_of_its_type_or_the_one_asked_for(
    kernel: Kernel, wanted: str, written: str
) -> None:
    assert (await emitted(kernel, emission(wanted))).decode() == written


async def test_bytes_stay_what_they_are(kernel: Kernel) -> None:
    assert await emitted(kernel, Emission("raw")) == bytes(range(256))


async def test_a_figure_is_a_picture(kernel: Kernel) -> None:
    await ran(kernel, "import matplotlib.pyplot as plt; figure, _ = plt.subplots(); plt.close()")
    assert (await emitted(kernel, Emission("figure"))).startswith(b"\x89PNG")


async def test_parquet_is_read_back_as_the_same_table(kernel: Kernel) -> None:
    pytest.importorskip("pyarrow")
    written = await emitted(kernel, Emission("frame", "parquet"))
    assert pandas.read_parquet(io.BytesIO(written)).n.tolist() == [1, 2]


async def test_the_package_that_a_form_needs_is_told_with_how_to_get_it(kernel: Kernel) -> None:
    await ran(kernel, "import sys; sys.modules |= {'pyarrow': None, 'fastparquet': None}")
    told = "'frame' cannot be written as parquet without pyarrow: --packages pyarrow installs it"
    with pytest.raises(TerpError, match=told):
        await emitted(kernel, Emission("frame", "parquet"))
    await ran(kernel, "del sys.modules['pyarrow'], sys.modules['fastparquet']")


async def test_a_missing_variable_is_told_with_those_that_there_are(kernel: Kernel) -> None:
    with pytest.raises(TerpError, match=r"--emit: there is no variable 'sales'\. There are: .*frame"):
        await emitted(kernel, Emission("sales"))


async def test_a_form_that_a_variable_does_not_have_is_told(kernel: Kernel) -> None:
    with pytest.raises(TerpError, match="'number' is of type int, which has no form parquet"):
        await emitted(kernel, Emission("number", "parquet"))


async def test_what_is_too_large_is_told_with_its_size(kernel: Kernel) -> None:
    await ran(kernel, "big = b'x' * 48_000_001")
    told = r"'big' has 48,000,001 bytes, and at most 48 MB can be written; save it with code\."
    with pytest.raises(TerpError, match=told):
        await emitted(kernel, Emission("big"))


async def test_before_any_code_there_is_no_variable(tmp_path: Path) -> None:
    with pytest.raises(TerpError, match="There is no variable 'x': no code has run"):
        await emitted(LocalKernels(str(tmp_path)).get("python"), Emission("x"))


class Watched(EchoKernel):
    """Notes whether the run was read to its end; who leaves before interrupts it."""

    ended = False

    async def execute(
        self, code: str, *, run_id: str = "", number: int = 0, timeout_s: float = 0.0, moment: int = 0
    ) -> AsyncGenerator[RunItem, None]:
        yield Display({"application/vnd.terp.bytes+json": {"bytes": "eA=="}})
        yield RunEnded("ok")
        self.ended = True


async def test_the_run_that_gives_the_bytes_is_not_cut_off() -> None:
    # Interrupted while it replied, a kernel has sent half a message.
    kernel = Watched()
    await kernel.start()
    assert (await emitted(kernel, Emission("x")), kernel.ended) == (b"x", True)


@pytest.mark.parametrize("text", ["", "a b", "a:pdf", "1"])
def test_what_is_no_variable_or_no_form_is_a_wrong_call(text: str) -> None:
    with pytest.raises(SettingsError, match="--emit"):
        emission(text)
