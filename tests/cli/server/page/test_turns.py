"""Turns in the page, in a real browser against a real server with real kernels."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.server.page.conftest import Site, Tab
from tests.loopback import Call

pytestmark = pytest.mark.xdist_group("page")

PLOT = """
import csv
import matplotlib.pyplot as plt
with open("sales.csv") as file:
    rows = list(csv.DictReader(file))
plt.bar([row["month"] for row in rows], [float(row["sold"]) for row in rows])
plt.title("Sold per month")
plt.savefig("sold.png")
plt.show()
print(sum(float(row["sold"]) for row in rows))
"""


def test_a_csv_is_analysed_from_its_upload_to_the_downloaded_plot(
    site: Site, tab: Tab, tmp_path: Path
) -> None:
    table = tmp_path / "sales.csv"
    table.write_text("month,sold\nJan,3\nFeb,5\nMar,4\n")
    site.says(["I draw it.", Call(code=PLOT)], "You sold **12** in all. The plot is [sold.png](sold.png).")
    tab.page.set_input_files("#chosenFiles", table)
    tab.page.wait_for_selector("#attached li")
    tab.ask("How much did I sell?")
    tab.decide("y")
    tab.see("You sold 12 in all.")
    assert "sales.csv" in str(site.model.requests[-1]["messages"])
    assert tab.page.evaluate("document.querySelector('.display img').naturalWidth") > 100
    with tab.page.expect_download() as coming:
        tab.page.click("a[data-file='sold.png']")
    assert Path(coming.value.path()).read_bytes().startswith(b"\x89PNG")


def test_a_refusal_tells_the_model_why_and_runs_nothing(site: Site, tab: Tab) -> None:
    site.says([Call(code="print('ran')")], "Then in another way.")
    tab.ask("go")
    tab.decide("n")
    tab.page.fill("#reason", "use numpy")
    tab.page.press("#reason", "Enter")
    tab.see("Then in another way.")
    assert "use numpy" in str(site.model.requests[-1]["messages"])
    assert (tab.state(), tab.page.locator(".output").inner_text()) == ("declined", "")


def test_edited_code_is_shown_again_and_is_what_runs(site: Site, tab: Tab) -> None:
    site.says([Call(code="print('first')")], "Done so.")
    tab.ask("go")
    tab.decide("e")
    tab.page.fill("#edited", "print('se' + 'cond')")
    tab.page.press("#edited", "Control+Enter")
    tab.page.wait_for_selector("text=print('se' + 'cond')")
    assert tab.state() == "waiting"
    tab.decide("y")
    tab.see("Done so.")
    assert tab.page.locator(".output").inner_text().strip() == "second"


CLICK_AT_ONCE = """
const approval = document.getElementById("approval");
const look = () => approval.hidden || document.getElementById("approveCodeButton").click();
new MutationObserver(look).observe(approval, { attributes: true });
"""


def test_a_click_that_comes_with_the_question_decides_nothing(site: Site, tab: Tab) -> None:
    tab.page.evaluate(CLICK_AT_ONCE)
    site.says([Call(code="1")], "Never said.")
    tab.ask("go")
    tab.page.wait_for_selector("#approveCodeButton:visible:enabled", timeout=20_000)
    assert tab.state() == "waiting"
    tab.decide("n")
    tab.page.click("#declineAndStop")
    tab.idle()


def test_escape_stops_code_that_runs(site: Site, tab: Tab) -> None:
    site.says([Call(code="import time\nprint('begun', flush=True)\ntime.sleep(60)")], "Never said.")
    tab.ask("go")
    tab.decide("y")
    tab.page.wait_for_selector(".printed:has-text('begun')")
    tab.page.keyboard.press("Escape")
    tab.idle()
    assert tab.state() == "interrupted"


def test_code_gets_the_line_that_it_asks_for(site: Site, tab: Tab) -> None:
    site.says([Call(code="print('Hello ' + input('Your name? '))")], "Well.")
    tab.ask("go")
    tab.decide("y")
    tab.page.fill(".question input", "Ada")
    tab.page.press(".question input", "Enter")
    tab.see("Hello Ada")


def test_two_tabs_show_the_same_and_the_first_answer_counts(
    site: Site, tab: Tab, tabs: Callable[..., Tab]
) -> None:
    site.says([Call(code="print(6 * 7)")], "It is 42.")
    tab.ask("go")
    tab.page.wait_for_selector("#approval:visible", timeout=20_000)
    session = tab.page.evaluate("location.hash")
    other = tabs()
    other.page.evaluate(f"location.hash = '{session}'")
    other.decide("y")
    for one in (tab, other):
        one.see("It is 42.")
    shown = "document.getElementById('messages').innerText"
    assert tab.page.evaluate(shown) == other.page.evaluate(shown)


def test_a_table_of_data_is_a_table_and_other_html_has_a_frame_of_its_own(site: Site, tab: Tab) -> None:
    code = """
import pandas
from IPython.display import HTML, display
display(pandas.DataFrame({"a": [1, 2]}))
HTML("<b id=x>no script</b><script>document.getElementById('x').textContent = 'by ' + origin</script>")
"""
    site.says([Call(code=code)], "Shown.")
    tab.ask("go")
    tab.decide("y")
    tab.see("Shown.")
    assert tab.page.locator(".display table td").all_inner_texts() == ["1", "2"]
    assert tab.page.frame_locator(".framed").locator("#x").inner_text() == "by null"
