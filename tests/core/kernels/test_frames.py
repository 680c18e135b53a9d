"""Wide data frames: more columns for people, wider lines for models."""

import pytest

from terp.events.kernel import Kernel
from terp.events.outputs import Display
from tests.core.kernels.running import ran

pytest.importorskip("pandas")
SETUP = """
import pandas as pd
pd.reset_option('display.max_columns')
wide = pd.DataFrame([range(40)] * 200)
"""


async def page_of(kernel: Kernel, code: str) -> Display:
    await ran(kernel, SETUP)
    (shown,) = [item for item in (await ran(kernel, code)).outputs if isinstance(item, Display)]
    return shown


@pytest.mark.parametrize(
    ("code", "columns"),
    [
        ("wide", 40),
        ("display(wide)", 40),
        ("pd.concat([wide] * 2, axis=1)", 21),
        ("pd.set_option('display.max_columns', 4); wide", 5),
        ("wide.iloc[:, :3]", 3),
        ("type('Own', (pd.DataFrame,), {'_constructor': property(lambda s: type(s))})(wide)", 40),
    ],
)
async def test_a_page_has_the_columns_that_a_wide_screen_shows(
    kernel: Kernel, code: str, columns: int
) -> None:
    shown = await page_of(kernel, code)
    assert shown.data["text/html"].partition("<tbody>")[0].count("<th>") == columns + 1


@pytest.mark.parametrize(("own", "width"), [(80, 160), (100, 100), (200, 200)])
async def test_the_plain_text_of_a_frame_has_wide_lines_unless_the_person_sets_their_width(
    kernel: Kernel, own: int, width: int
) -> None:
    shown = await page_of(kernel, f"pd.set_option('display.width', {own}); wide")
    read = f"with pd.option_context('display.width', {width}): print(repr(wide))"
    assert shown.data["text/plain"] == (await ran(kernel, read)).stdout.rstrip("\n")
    assert (await ran(kernel, "pd.get_option('display.width')")).results == [str(own)]
    await ran(kernel, "pd.reset_option('display.width')")


async def test_a_subclass_with_a_page_of_its_own_keeps_it(kernel: Kernel) -> None:
    own = "type('Own', (pd.DataFrame,), {'_repr_html_': lambda s: '<b>own</b>'})(wide)"
    assert (await page_of(kernel, own)).data["text/html"] == "<b>own</b>"


async def test_a_frame_whose_values_cannot_be_written_is_an_error_and_no_more(kernel: Kernel) -> None:
    await ran(kernel, SETUP)
    bad = "class Bad:\n    def __repr__(self): raise ValueError('no')\npd.DataFrame({'a': [Bad()]})"
    assert "ValueError" in str((await ran(kernel, bad)).outputs)
    assert (await ran(kernel, "print(len(wide))")).stdout == "200\n"
