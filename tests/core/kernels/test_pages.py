"""Languages that are looked at: what is saved of them."""

import pytest

from terp.events.outputs import Display, RunEnded, RunStarted
from terp.kernels.jupyter.local import LocalKernels
from terp.kernels.runtimes.pages import mermaid_page, react_page
from tests.core.kernels.running import ran


async def test_a_page_is_displayed_as_it_is() -> None:
    run = await ran(LocalKernels().get("html"), "<h1>hi</h1>")
    assert run.items == [RunStarted(1), Display({"text/html": "<h1>hi</h1>"}), RunEnded("ok")]


async def test_a_drawing_is_displayed_as_it_is() -> None:
    run = await ran(LocalKernels().get("svg"), "<svg/>")
    assert run.items[1] == Display({"image/svg+xml": "<svg/>"})


def test_a_diagram_cannot_leave_its_place_in_the_page() -> None:
    assert mermaid_page("A --> B[</pre>]")["text/html"].count("</pre>") == 1


def test_a_diagram_reads_as_its_own_text() -> None:
    assert mermaid_page("graph LR; A --> B")["text/plain"] == "graph LR; A --> B"


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("export default function Clock() { return <p/> }", "<Clock />"),
        ("function Clock() { return <p/> }\nexport default Clock;", "<Clock />"),
        ("export default () => <p/>;", "<Shown />"),
        ("const One = () => <p/>;\nconst Two = () => <One/>;", "<Two />"),
        ("const App = () => <p/>", "<App />"),
    ],
)
def test_the_component_that_a_module_means_is_rendered(code: str, shown: str) -> None:
    assert f"render({shown});" in react_page(code)["text/html"]


def test_code_cannot_end_the_script_it_is_in() -> None:
    page = react_page("const App = () => '</script><script>alert(1)</script>'")["text/html"]
    assert page.count("</script>") == 3
