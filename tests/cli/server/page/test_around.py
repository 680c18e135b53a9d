"""What stands around the conversation: files, variables, exports, and how the page looks."""

import json
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.cli.server.page.conftest import PHONE, Site, Tab
from tests.loopback import Call

pytestmark = pytest.mark.xdist_group("page")


def downloaded(tab: Tab, selector: str) -> Path:
    with tab.page.expect_download() as coming:
        tab.page.click(selector)
    return Path(coming.value.path())


DROP = """(name) => {
  const dropped = new DataTransfer();
  dropped.items.add(new File(["a,b\\n1,2\\n"], name));
  for (const kind of ["dragover", "drop"]) {
    const about = { dataTransfer: dropped, bubbles: true, cancelable: true };
    document.body.dispatchEvent(new DragEvent(kind, about));
  }
}"""


def test_a_file_that_is_dropped_is_there_for_code_and_comes_back_out(site: Site, tab: Tab) -> None:
    tab.page.click("#showPanel")
    tab.page.evaluate(DROP, "ta ble.csv")
    tab.page.wait_for_selector("#files .name:has-text('ta ble.csv')")
    assert tab.page.locator("#attached li").inner_text().startswith("ta ble.csv")
    assert downloaded(tab, "#files .name").read_text() == "a,b\n1,2\n"
    assert ZipFile(downloaded(tab, "#archive")).namelist() == ["ta ble.csv"]


def test_variables_cost_and_exports_are_those_of_the_session(site: Site, tab: Tab) -> None:
    site.says([Call(code="numbers = list(range(5))")], "Kept.")
    tab.ask("keep five numbers")
    tab.decide("y")
    tab.see("Kept.")
    tab.idle()
    tab.page.click("#showPanel")
    tab.page.click("#tabVariables")
    tab.page.wait_for_selector("#variablesPane th:has-text('numbers')")
    tab.page.press("#tabVariables", "ArrowRight")
    tab.page.wait_for_selector("#facts:has-text('20 in, 10 out')")
    assert "openai/scripted" in tab.page.locator("#facts").inner_text()
    notebook = json.loads(downloaded(tab, "#exports button:text('Notebook')").read_text())
    assert "numbers = list(range(5))" in str(notebook["cells"])


def test_of_a_flood_the_page_keeps_a_part_and_gives_all_of_it(site: Site, tab: Tab) -> None:
    site.says([Call(code="for number in range(30_000):\n    print('line', number)")], "Flooded.")
    tab.ask("flood")
    tab.decide("y")
    tab.see("Flooded.")
    assert len(tab.page.locator(".output").inner_text()) < 300_000
    lines = downloaded(tab, "text=All of the output").read_text().splitlines()
    assert lines == [f"line {number}" for number in range(30_000)]


def test_what_is_finished_of_an_answer_is_drawn_once(site: Site, tab: Tab) -> None:
    blocks = "".join(f"Block {number}.\n\n" for number in range(40))
    fence = "```python\n" + "".join(f"x{number} = {number}\n" for number in range(60)) + "```\n"
    site.says(f"{blocks}{fence}\nThe end.", pause_s=0.02)
    tab.ask("tell")
    tab.see("Block 5.")
    tab.page.evaluate("document.querySelector('.prose p').mark = true")
    tab.see("The end.")
    tab.idle()
    assert tab.page.evaluate("document.querySelector('.prose p').mark") is True
    assert tab.page.locator(".prose p").count() == 41
    # It was plain while it grew, and has its colours now.
    assert tab.page.locator(".fence .t-num").count() == 60


def test_on_a_phone_the_sessions_lie_over_the_conversation(tabs: Callable[..., Tab]) -> None:
    tab = tabs(PHONE)
    shown = tab.page.locator("#sessionFilter")
    assert not shown.is_visible()
    tab.page.click("#showSessions")
    assert shown.is_visible()
    tab.page.keyboard.press("Escape")
    assert not shown.is_visible()
    assert tab.page.evaluate("document.documentElement.scrollWidth") == PHONE[0]


def test_colours_follow_the_system_until_the_person_chooses(tabs: Callable[..., Tab]) -> None:
    tab = tabs(color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = tab.page.evaluate(ground)
    tab.page.click("#theme")
    light = tab.page.evaluate(ground)
    tab.page.reload()
    assert (dark, light, tab.page.evaluate(ground)) == ("rgb(24, 24, 23)", "rgb(250, 249, 246)", light)


def test_a_session_is_made_with_the_profile_that_was_chosen(site: Site, tab: Tab) -> None:
    tab.page.select_option("#profile", "fast")
    tab.page.fill("#model", "openai/other")
    site.says("Hello.")
    tab.ask("hi")
    tab.see("Hello.")
    assert site.model.requests[-1]["model"] == "other"
