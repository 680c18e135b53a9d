import base64
import struct
from pathlib import Path

import pytest

from terp.events.kernel import Kernel
from terp.events.outputs import Display, Error, Text
from tests.core.kernels.running import Ran, ran

SETUP = """
import matplotlib.pyplot as plt
import pandas as pd
from matplotlib.figure import Figure
"""


def shown(run: Ran) -> list[str]:
    """The outputs of a run: text as it is, and "IMAGE"."""
    assert run.stderr == ""
    images = set(map(id, run.images))
    named = [
        item.text.strip() if isinstance(item, Text) else "IMAGE" * (id(item) in images)
        for item in run.outputs
    ]
    return [name for name in named if name]


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        (
            "print('A');plt.plot([1]);plt.show();print('B');plt.plot([2]);plt.show();print('C')",
            "A IMAGE B IMAGE C",
        ),
        ("plt.plot([1])\nNone", "IMAGE"),
        ("for i in range(3):\n    plt.figure()\n    plt.plot([i])", "IMAGE IMAGE IMAGE"),
        ("fig, ax = plt.subplots(); ax.plot([1]); plt.close(fig)", "IMAGE"),
        ("plt.plot([1]); plt.close('all'); print('end')", "IMAGE end"),
        ("plt.plot([1]); plt.savefig('p.png'); plt.close()", ""),
        ("import io\nplt.plot([1]); plt.savefig(io.BytesIO()); plt.close()", "IMAGE"),
        ("pd.DataFrame({'a': [1, 2]}).plot();", "IMAGE"),
        ("plt.plot([1]); plt.gcf()", "IMAGE"),
        ("plt.plot([1]); plt.gcf().show(); print('end')", "IMAGE end"),
        ("fig = plt.figure(); plt.plot([1]); display(fig); plt.show()", "IMAGE"),
        ("plt.figure(1); plt.plot([1]); plt.figure(1); plt.plot([2])", "IMAGE"),
        ("fig = Figure(); fig.subplots().plot([1]); fig", "IMAGE"),
        ("fig = plt.figure(); plt.close(fig)", ""),
        ("%matplotlib inline\nplt.plot([1])\nplt.show()", "IMAGE"),
        ("import matplotlib\nmatplotlib.use('Agg')\nplt.plot([1])\nplt.show()", "IMAGE"),
        ("from PIL import Image\nImage.new('RGB', (2, 2))", "IMAGE"),
    ],
)
async def test_a_figure_reaches_the_person_once(kernel: Kernel, code: str, expected: str) -> None:
    await ran(kernel, SETUP)
    assert shown(await ran(kernel, code)) == expected.split()


async def test_a_figure_is_a_png_at_100_dots_per_inch(kernel: Kernel) -> None:
    await ran(kernel, SETUP)
    (image,) = (await ran(kernel, "plt.figure(figsize=(6, 4)).add_axes((0, 0, 1, 1)); None")).images
    png = base64.b64decode(image.data["image/png"])
    assert png[:8] == b"\x89PNG\r\n\x1a\n"
    at = png.index(b"pHYs") + 4
    dots_per_meter = struct.unpack(">II", png[at : at + 8])
    assert dots_per_meter == (3937, 3937)
    assert image.data["text/plain"] == "<Figure size 600x400 with 1 Axes>"


@pytest.mark.parametrize(
    ("code", "saved"),
    [
        ("plt.plot([1]); plt.savefig('p.png'); plt.show()", "p.png"),
        ("plt.plot([1]); plt.savefig('sub'); None", "sub.png"),
        ("fig = plt.figure(); plt.plot([1]); fig.savefig('p.pdf'); fig", "p.pdf"),
        ("import io\nplt.plot([1]); plt.savefig(io.BytesIO()); plt.show()", ""),
        ("plt.plot([1]); plt.show()", ""),
    ],
)
async def test_a_figure_tells_the_file_it_was_saved_to(kernel: Kernel, code: str, saved: str) -> None:
    await ran(kernel, SETUP)
    (image,) = (await ran(kernel, code)).images
    expected = {"terp": {"saved": str(Path(kernel.cwd, saved))}} if saved else {}
    assert image.metadata == expected


async def test_a_failing_figure_loses_no_other(kernel: Kernel) -> None:
    await ran(kernel, SETUP)
    code = """
plt.plot([1])
fig, ax = plt.subplots()
ax.plot([1])
def bad(*_): raise ValueError("no label")
ax.xaxis.set_major_formatter(bad)
plt.figure(); plt.plot([2])
None
"""
    run = await ran(kernel, code)
    assert len(run.images) == 2
    assert run.stderr == "A figure could not be drawn: ValueError: no label\n"
    assert run.ended.status == "ok"


async def test_a_figure_before_an_error_is_shown(kernel: Kernel) -> None:
    await ran(kernel, SETUP)
    run = await ran(kernel, "plt.plot([1])\n1/0")
    assert len(run.images) == 1
    assert [item.name for item in run.outputs if isinstance(item, Error)] == ["ZeroDivisionError"]


async def test_an_empty_figure_before_an_error_is_text_alone(kernel: Kernel) -> None:
    await ran(kernel, SETUP)
    run = await ran(kernel, "plt.figure(figsize=(6, 4))\n1/0")
    displays = [item.data for item in run.outputs if isinstance(item, Display)]
    assert displays == [{"text/plain": "<Figure size 600x400 with 0 Axes>"}]


async def test_many_figures_give_no_warning_and_stay_open_nowhere(kernel: Kernel) -> None:
    await ran(kernel, SETUP)
    run = await ran(kernel, "for i in range(25): plt.figure(figsize=(1, 1)); plt.plot([i])")
    assert (len(run.images), run.stderr) == (25, "")
    assert (await ran(kernel, "print(plt.get_fignums())")).stdout == "[]\n"


async def test_a_figure_of_an_earlier_cell_is_shown_again_when_asked_for(kernel: Kernel) -> None:
    await ran(kernel, SETUP + "fig = plt.figure(); plt.plot([1])")
    assert len((await ran(kernel, "fig")).images) == 1
    assert len((await ran(kernel, "print(1)")).images) == 0


async def test_inline_formats_that_were_chosen_are_used(kernel: Kernel) -> None:
    await kernel.restart()
    choose = "%matplotlib inline\n%config InlineBackend.figure_formats = ['svg']\n"
    run = await ran(kernel, choose + SETUP + "plt.plot([1]); plt.show()")
    (display,) = [item for item in run.outputs if isinstance(item, Display)]
    assert "<svg" in display.data["image/svg+xml"]
    await kernel.restart()


@pytest.mark.parametrize(
    "code",
    [
        "from tqdm.auto import tqdm\nfor _ in tqdm(range(20)): pass",
        "from tqdm.notebook import tqdm\nfor _ in tqdm(range(20)): pass",
        "from tqdm.notebook import tqdm_notebook, tnrange\nfor _ in tnrange(20, desc='a'): pass",
        "import tqdm.notebook\nwith tqdm.notebook.tqdm(total=20, display=True) as bar: bar.update(20)",
    ],
)
async def test_a_progress_bar_for_notebooks_ends_at_100_per_cent(kernel: Kernel, code: str) -> None:
    run = await ran(kernel, code)
    last = run.stderr.rsplit("\r", 1)[-1]
    assert ("100%|" in last, "20/20" in last, "Warning" in run.stderr) == (True, True, False)


async def test_characters_that_no_font_has_are_one_line_that_names_a_font(kernel: Kernel) -> None:
    await ran(kernel, SETUP)
    run = await ran(kernel, "plt.title('北京的人口'); plt.xlabel('上海')\nplt.savefig('p.png'); plt.show()")
    line = run.stderr.removeprefix("No installed font has ")
    assert sorted(line.partition(":")[0]) == sorted("北京的人口上海")
    assert line.endswith(": drawn as boxes. A font that has them: Noto Sans CJK.\n")
    assert len(run.images) == 1


async def test_installed_fonts_stand_in_for_what_sans_serif_lacks(kernel: Kernel) -> None:
    await ran(kernel, SETUP)
    code = """
from matplotlib import font_manager as fonts
own = fonts.findfont("DejaVu Sans Mono")
fonts.fontManager.ttflist.append(fonts.FontEntry(fname=own, name="Noto Sans CJK SC"))
print(fonts.fontManager._find_fonts_by_props(fonts.FontProperties()).index(own))
plt.plot([1]); plt.title("plain"); plt.show()
fonts.fontManager.ttflist.pop(); None
"""
    run = await ran(kernel, code)
    assert (run.stdout, run.stderr, len(run.images)) == ("1\n", "", 1)
