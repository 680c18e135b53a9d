"""Displays of plotly, altair and bokeh, of which small stand-ins lie in the working directory."""

from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from terp.events.kernel import Kernel
from terp.events.outputs import Display
from terp.kernels.jupyter.local import LocalKernels
from tests.core.kernels.running import ran

PLOTLY = {
    "__init__.py": "",
    "io/__init__.py": """
from ._renderers import renderers

def to_image(figure, format, validate):
    tries.append(format)
    if isinstance(drawn, Exception): raise drawn
    return drawn

def to_html(figure, validate, include_mathjax):
    return f"<html><script>{figure}</script></html>"

tries, drawn = [], b"PNG"
def show(figure):
    renderers[renderers.default].render(figure)
""",
    "io/_renderers.py": """
class ExternalRenderer: pass
class Renderers(dict): default = "plotly_mimetype"
renderers = Renderers()
""",
}
ALTAIR = {
    "__init__.py": """
from contextlib import contextmanager

def png(spec, **options):
    if drawn is None: raise ValueError("vl-convert is missing")
    return {"image/png": drawn}, {"image/png": {"width": 1}}

def page(spec, template="loading"):
    return {"text/html": f"<script>{template} {spec}</script>"}

class Renderers:
    known, active = {"png": png, "default": page}, "default"
    def get(self): return self.known[self.active]
    def register(self, name, render): self.known[name] = render
    def enable(self, name):
        before, self.active = self.active, name
        @contextmanager
        def enabled():
            yield
            self.active = before
        return enabled()

drawn, renderers = b"PNG", Renderers()
class Chart:
    def _repr_mimebundle_(self, *args, **kwargs): return renderers.get()("spec")
"""
}
BOKEH = {
    "__init__.py": "",
    "resources.py": "INLINE = 'inline'",
    "embed.py": """
def file_html(chart, resources, title):
    return f"<script>{chart} {resources}</script>"
""",
    "io/__init__.py": """
from .notebook import hooks, install_notebook_hook
has_notebook = []
def output_notebook(): has_notebook.append(hooks["jupyter"][0]())
def show(chart): hooks["jupyter"][1](chart, None, False)
""",
    "io/notebook.py": """
hooks = {}
def show_app(*args): pass
def install_notebook_hook(name, load, doc, app, overwrite=False): hooks[name] = (load, doc, app)
""",
}


@pytest.fixture
async def kernel(tmp_path: Path) -> AsyncGenerator[Kernel, None]:
    """A kernel in whose directory the stand-ins lie."""
    for name, files in {"plotly": PLOTLY, "altair": ALTAIR, "bokeh": BOKEH}.items():
        for path, code in files.items():
            file = tmp_path / name / path
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(code)
    kernels = LocalKernels(str(tmp_path))
    yield kernels.get("python")
    await kernels.aclose()


async def displays(kernel: Kernel, code: str) -> list[dict[str, object]]:
    return [dict(output.data) for output in (await ran(kernel, code)).outputs if isinstance(output, Display)]


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        (
            "import plotly.io; plotly.io.show('figure')",
            {"image/png": "UE5H", "text/plain": "plotly figure"},
        ),
        (
            "import plotly.io as io; io.drawn = OSError('no Chrome'); io.show('figure')",
            {"text/html": "<html><script>figure</script></html>", "text/plain": "plotly figure"},
        ),
        (
            "import altair; _ = altair.Chart(); altair.Chart.__repr__ = lambda _: 'chart'; altair.Chart()",
            {"image/png": "UE5H", "text/plain": "chart"},
        ),
        (
            "import altair; altair.drawn = None; altair.Chart.__repr__ = lambda _: 'chart'; altair.Chart()",
            {"text/html": "<script>loading spec</script>", "text/plain": "chart"},
        ),
        (
            "from bokeh.io import show; show('chart')",
            {"text/html": "<script>chart inline</script>", "text/plain": "'chart'"},
        ),
    ],
    ids=["plotly", "plotly without kaleido", "altair", "altair without vl-convert", "bokeh"],
)
async def test_a_chart_is_a_picture_or_a_page(kernel: Kernel, code: str, shown: dict[str, str]) -> None:
    assert await displays(kernel, code) == [shown]


@pytest.mark.parametrize(
    ("code", "page"),
    [
        ("import plotly.io; plotly.io.show('figure')", "<html><script>figure</script></html>"),
        ("import altair; altair.Chart()", "<script>inline spec</script>"),
    ],
    ids=["plotly", "altair"],
)
async def test_where_scripts_of_charts_run_the_page_comes_with_the_picture(
    kernel: Kernel, code: str, page: str
) -> None:
    [shown] = await displays(kernel, f"import os; os.environ['TERP_LIVE_CHARTS'] = '1'; {code}")
    assert (shown["image/png"], shown["text/html"]) == ("UE5H", page)


async def test_kaleido_is_not_asked_again_once_it_has_failed(kernel: Kernel) -> None:
    shows = "import plotly.io as io; io.drawn = OSError('no Chrome'); io.show('a'); io.show('b')"
    await ran(kernel, shows)
    assert (await ran(kernel, "io.tries")).results == ["['png']"]


async def test_a_renderer_that_the_user_chooses_stays(kernel: Kernel) -> None:
    choice = "import os; os.environ['PLOTLY_RENDERER'] = 'json'; import plotly.io as io"
    await ran(kernel, choice)
    assert (await ran(kernel, "io.renderers.default")).results == ["'plotly_mimetype'"]


async def test_what_altair_has_no_picture_without_is_said_once(kernel: Kernel) -> None:
    run = await ran(kernel, "import altair; altair.drawn = None; display(altair.Chart(), altair.Chart())")
    assert run.stderr == (
        "No pictures of altair without vl-convert; its pages load their scripts from the network. "
        "`pip install vl-convert-python` draws them.\n"
    )
