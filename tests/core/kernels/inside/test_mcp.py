"""`mcp` in a real kernel, with servers that are answered here."""

from collections.abc import AsyncGenerator
from contextlib import aclosing
from typing import Any

import pytest

from terp.events.kernel import Kernel
from terp.events.outputs import BackCall, Display, RunItem
from terp.kernels.jupyter.local import LocalKernels
from tests.core.kernels.running import Ran, ran
from tests.core.tools.mcp.workshop import PIXEL

PATH = {"name": "path", "type": "str", "description": "Which file", "required": True, "default": ""}
HEAD = {"name": "from_", "type": "int", "description": "", "required": False, "default": "None"}
READ = {
    "name": "read_file",
    "description": "Reads a file.",
    "signature": "mcp.files.read_file(path: str, from_: int = None) -> str",
    "returns": "str",
    "wire": {"from": "from_"},
    "parameters": [PATH, HEAD],
}
LATER = {**READ, "name": "later", "signature": "mcp.empty.later()", "parameters": [], "returns": ""}


# One event loop for all tests with a kernel: a kernel lives on the loop that started it.
@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def kernel(tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Kernel, None]:
    kernels = LocalKernels(str(tmp_path_factory.mktemp("cwd")))
    servers = {"files": [READ], "empty": []}
    kernels.functions = lambda: f"__import__('terp_home.mcp').mcp.provide({servers!r})"
    yield kernels.get("python")
    await kernels.aclose()


async def answered(kernel: Kernel, code: str, *answers: Any) -> tuple[Ran, list[BackCall]]:
    """A run whose calls are answered in order; a string answer is an error."""
    left, calls = list(answers), list[BackCall]()
    items: list[RunItem] = []
    async with aclosing(kernel.execute(code)) as stream:
        async for item in stream:
            if isinstance(item, BackCall):
                calls.append(item)
                answer = left.pop(0)
                await (kernel.answer(None, answer) if isinstance(answer, str) else kernel.answer(answer))
            else:
                items.append(item)
    return Ran(items), calls


def of_parts(*parts: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"parts": list(parts), **more}


async def test_a_call_leaves_the_kernel_with_the_names_and_values_given(kernel: Kernel) -> None:
    run, [call] = await answered(kernel, "mcp.files.read_file('a.txt')", of_parts({"said": "one\ntwo"}))
    assert (call.service, call.arguments) == (
        "mcp_call",
        {"server": "files", "function": "read_file", "given": {"path": "a.txt"}},
    )
    assert run.results == ["one\ntwo"]


async def test_a_function_has_a_signature_and_a_docstring(kernel: Kernel) -> None:
    code = "import inspect; print(inspect.signature(mcp.files.read_file)); print(mcp.files.read_file.__doc__)"
    assert (await ran(kernel, code)).stdout == (
        "(path: str, from_: int = None) -> str\nReads a file.\n\npath: Which file\n"
    )


@pytest.mark.parametrize(
    ("arguments", "given"),
    [
        ("'a', 3", {"path": "a", "from_": 3}),
        ("path='a', **{'from': 3}", {"path": "a", "from_": 3}),
        ("'a', None", {"path": "a"}),
        ("__import__('pathlib').Path('a')", {"path": "a"}),
        ("{'a': {1}}", {"path": {"a": [1]}}),
    ],
)
async def test_arguments_are_sent_as_json(kernel: Kernel, arguments: str, given: dict[str, Any]) -> None:
    _, [call] = await answered(kernel, f"mcp.files.read_file({arguments})", of_parts())
    assert call.arguments["given"] == given


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (
            "",
            "TypeError mcp.files.read_file: missing a required argument: 'path'. "
            "Call it as mcp.files.read_file(path: str, from_: int = None) -> str",
        ),
        ("object()", "TypeError object cannot be sent to a server"),
    ],
)
async def test_wrong_arguments_are_told_before_anything_is_sent(
    kernel: Kernel, arguments: str, told: str
) -> None:
    run, calls = await answered(kernel, f"mcp.files.read_file({arguments})")
    assert (run.error, calls) == (told, [])


async def test_a_value_is_a_value_of_python(kernel: Kernel) -> None:
    run, _ = await answered(kernel, "mcp.files.read_file('a')['x'] + 1", of_parts(value={"x": 41}))
    assert run.results == ["42"]


async def test_a_failure_is_an_exception_with_the_words_of_terp(kernel: Kernel) -> None:
    run, _ = await answered(kernel, "mcp.files.read_file('a')", "MCP server files: it has ended.")
    assert run.error == "RuntimeError MCP server files: it has ended."


async def test_a_picture_is_displayed_where_the_call_is_and_is_a_value_too(kernel: Kernel) -> None:
    import base64

    part = {"data": base64.b64encode(PIXEL).decode(), "mime": "image/png", "uri": ""}
    code = "shot = mcp.files.read_file('a'); print(len(shot.data)); shot"
    run, _ = await answered(kernel, code, of_parts(part))
    first, *_, last = [item for item in run.items if isinstance(item, Display)]
    assert first.data["image/png"] == part["data"]
    # What was shown is not shown again as the last expression.
    assert dict(last.data) == {"text/plain": f"<image/png from mcp.files.read_file, {len(PIXEL)} bytes>"}
    assert run.stdout == f"{len(PIXEL)}\n"


async def test_text_pictures_and_links_come_in_a_list(kernel: Kernel) -> None:
    parts = (
        {"said": "one"},
        {"text": "# Title", "mime": "text/markdown", "uri": "paper://1"},
        {"said": "two"},
        {"link": "paper://2", "name": "more", "mime": ""},
    )
    run, _ = await answered(kernel, "mcp.files.read_file('a')", of_parts(*parts))
    shown, value = [item for item in run.items if isinstance(item, Display)]
    assert dict(shown.data) == {"text/plain": "# Title", "text/markdown": "# Title"}
    assert value.data["text/plain"].split("\n") == [
        "[one",
        " two,",
        " <paper://1, text/markdown from mcp.files.read_file, 7 characters>,",
        " <link to more: paper://2>]",
    ]


async def test_a_resource_that_was_read_is_shown_where_it_is_the_last_expression(kernel: Kernel) -> None:
    part = {"text": "the paper", "mime": "text/plain", "uri": "paper://1"}
    answer = of_parts(part, quiet=True)
    kept, _ = await answered(kernel, "paper = mcp.files.read_file('a'); print(paper.text)", answer)
    assert kept.stdout == "the paper\n"
    assert [item for item in kept.items if isinstance(item, Display)] == []
    assert (await ran(kernel, "paper")).results == ["the paper"]


async def test_functions_that_were_not_known_are_asked_for_by_the_first_use(kernel: Kernel) -> None:
    run, calls = await answered(kernel, "mcp.empty.later()", [LATER], of_parts(value=1))
    assert [call.service for call in calls] == ["mcp_functions", "mcp_call"]
    assert run.results == ["1"]
    assert (await ran(kernel, "print(dir(mcp.empty), mcp.empty)")).stdout == (
        "['later'] <mcp.empty: later>\n"
    )


async def test_a_function_that_the_server_has_not_is_told_with_those_that_it_has(kernel: Kernel) -> None:
    run, _ = await answered(kernel, "mcp.files.nope", [READ])
    assert run.error == "AttributeError mcp.files has no 'nope'; it has read_file"


async def test_completion_asks_nobody(kernel: Kernel) -> None:
    assert list(await kernel.complete("mcp.files.re", 12)) == [".read_file"]


async def test_the_library_of_that_name_can_be_imported(kernel: Kernel) -> None:
    code = (
        "import sys; print('mcp' in sys.modules, 'mcp' in globals()); import mcp; print(mcp.Client.__name__)"
    )
    assert (await ran(kernel, code)).stdout == "False False\nClient\n"
    assert (await ran(kernel, "del mcp; print(mcp.files)")).stdout == "<mcp.files: read_file>\n"
