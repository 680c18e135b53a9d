"""The examples of docs/tools.md, each declared and run."""

import json
import re
from pathlib import Path

import pytest

from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.jupyter.local import LocalKernels
from terp.settings import Settings
from terp.settings.places import Places
from terp.tools.files.reading import read_toolbox
from terp.tools.toolbox import is_shipped
from tests.core.kernels.running import ran
from tests.core.tools.pages import Page, Web

DOCUMENT = (Path(__file__).resolve().parents[3] / "docs" / "tools.md").read_text(encoding="utf-8")
CALLS = {
    "random_number_generator": ("random_number_generator(seed=42, range=[1, 100])", "82"),
    "get_weather": ("get_weather(city_name='São Paulo')", "now: 21 °C, Sunny\n2026-11-21: 15 to 25 °C"),
    "calculator": ("calculator(expression='2 * (3 + 4) - -1')", "15"),
    "mean": ("mean(data=['1', 2, 3])", "2.0"),
}
WEATHER = {
    "current_condition": [{"temp_C": "21", "weatherDesc": [{"value": "Sunny"}]}],
    "weather": [{"date": "2026-11-21", "mintempC": "15", "maxtempC": "25"}] * 3,
}


def written(tmp_path: Path) -> tuple[str, ...]:
    """The examples as files."""
    paths = []
    for number, (kind, text) in enumerate(re.findall(r"```(python|yaml)\n(.*?)```", DOCUMENT, re.DOTALL)):
        path = tmp_path / f"example{number}.{'py' if kind == 'python' else 'yaml'}"
        path.write_text(text, encoding="utf-8")
        paths.append(str(path))
    return tuple(paths)


async def test_every_example_declares_its_tools(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    toolbox = read_toolbox(
        Settings(tools=written(tmp_path)), {}, Places(tmp_path / "c", tmp_path / "s"), kernels
    )
    assert toolbox.problems == ()
    own = {tool.name for tool in toolbox.tools if not is_shipped(tool)}
    assert own == {*CALLS, "get_current_weather"}


@pytest.mark.parametrize("name", CALLS)
async def test_every_example_runs(name: str, tmp_path: Path) -> None:
    page = Page(json.dumps(WEATHER).encode(), "application/json")
    with Web({"http://wttr.in/S%C3%A3o%20Paulo": page}) as web:
        environ = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "http_proxy": web.url, "no_proxy": ""}
        kernels = LocalKernels(str(tmp_path), environ=environ)
        places = Places(tmp_path / "c", tmp_path / "s")
        toolbox = read_toolbox(Settings(tools=written(tmp_path)), {}, places, kernels)
        kernels.options = KernelOptions(prelude=toolbox.prelude())
        code, expected = CALLS[name]
        run = await ran(kernels.get("python"), code)
        await kernels.aclose()
    assert run.results == [expected]


def test_the_document_tells_of_every_shipped_tool(tmp_path: Path) -> None:
    toolbox = read_toolbox(
        Settings(), {}, Places(tmp_path / "c", tmp_path / "s"), LocalKernels(str(tmp_path))
    )
    written_as = {
        f"`{tool.name}({', '.join(short(one.written) for one in tool.parameters)})`" for tool in toolbox.tools
    }
    assert {line for line in written_as if line not in DOCUMENT} == set()


def short(parameter: str) -> str:
    return re.sub(r": \w+(?: = )?", lambda found: "=" if "=" in found[0] else "", parameter)
