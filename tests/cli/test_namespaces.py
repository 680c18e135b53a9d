"""The variables of every kernel that runs: `/vars`, `@name` and what completes it."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from terp.kernels.jupyter.local import LocalKernels
from terp.session.context.namespaces import Namespaces
from terp_cli.repl.missed_mentions import described
from tests.cli.repl.commands.here import Here
from tests.core.kernels.running import ran


# The kernels live on the loop that started them.
@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def kernels(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[LocalKernels, None]:
    """Python and a shell that ran something; one variable is called alike in both."""
    kernels = LocalKernels(str(tmp_path_factory.mktemp("namespaces")))
    await ran(kernels.get("python"), "x = 41")
    await ran(kernels.get("shell"), "word=here; x=there")
    yield kernels
    await kernels.aclose()


async def test_kernels_that_were_not_started_are_left_alone(kernels: LocalKernels) -> None:
    assert [kernel.language for kernel in Namespaces(kernels).started] == ["python", "shell"]


async def test_each_language_has_a_table_of_its_own(kernels: LocalKernels, tmp_path: Path) -> None:
    here = Here(tmp_path, kernels=kernels)
    assert await here.does("/vars") == [
        "python:",
        "name  type  shape      size  head",
        "x     int          28 bytes  41",
        "shell:",
        "name  type  shape  size  head",
        'word  str                "here"',
        'x     str                "there"',
    ]
    assert await here.does("/vars shell") == (await here.does("/vars"))[4:]
    assert await here.does("/vars wor") == [
        "shell:",
        "name  type  shape  size  head",
        'word  str                "here"',
    ]


async def test_a_language_that_lists_no_variables_is_named(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    if "typescript" not in kernels.languages:
        pytest.skip("there is no deno")
    await ran(kernels.get("typescript"), "const a = 1")
    assert await Here(tmp_path, kernels=kernels).does("/vars") == [
        "The variables of javascript cannot be listed."
    ]
    await kernels.aclose()


async def test_names_tell_the_language_that_is_not_the_default(kernels: LocalKernels) -> None:
    names = list(await Namespaces(kernels).names())
    assert names == [("x", "int"), ("word", "str, shell"), ("x", "str, shell")]


async def test_a_variable_is_described_with_its_kernel(kernels: LocalKernels) -> None:
    held = await Namespaces(kernels).variables()
    assert [described(one, language).note for language, one in held] == [
        "[Variable x in the Python kernel: int: 41]",
        '[Variable word in the Shell kernel: str: "here"]',
        '[Variable x in the Shell kernel: str: "there"]',
    ]
