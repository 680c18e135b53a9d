"""Where things stand on the page: room for the conversation, and nothing that moves or cannot be reached."""

from collections.abc import Callable

import pytest

from tests.cli.server.page.conftest import DESKTOP, PHONE, Site, Tab, playwright
from tests.loopback import Call

SMALL = (800, 600)
SIZES = pytest.mark.parametrize("size", [PHONE, SMALL, DESKTOP], ids=["phone", "small", "desktop"])

SHIFTS = """
window.shift = 0;
const add = (list) => list.getEntries().forEach((one) => (shift += one.value));
new PerformanceObserver(add).observe({ type: "layout-shift" });
"""


@SIZES
def test_nothing_moves_while_the_page_is_put_together(
    tabs: Callable[..., Tab], size: tuple[int, int]
) -> None:
    tab = tabs(size)
    tab.page.add_init_script(SHIFTS)
    tab.page.reload()
    tab.page.wait_for_selector("#approvals:not(:empty)")
    assert tab.page.evaluate("shift") < 0.005


def test_the_panel_of_a_small_window_takes_the_place_of_the_sessions(tabs: Callable[..., Tab]) -> None:
    tab = tabs(SMALL)
    tab.page.wait_for_selector("#approvals:not(:empty)")
    tab.page.click("#showPanel")
    end = tab.page.evaluate("document.getElementById('approvals').getBoundingClientRect().right")
    shown = [tab.page.locator(one).is_visible() for one in ("#panel", "#sessionFilter")]
    tab.page.keyboard.press("Control+k")
    assert (shown, end < 490, tab.focus()) == ([True, False], True, "input#sessionFilter")


def test_the_start_page_is_seen_from_its_beginning(tabs: Callable[..., Tab]) -> None:
    tab = tabs((800, 420))
    tab.page.wait_for_selector("#approvals:not(:empty)")
    assert tab.page.evaluate("document.getElementById('scroll').scrollTop") == 0


def test_a_new_title_is_sent_once_and_leaves_the_message_as_it_was(site: Site, tab: Tab) -> None:
    site.says("Hello.")
    assert not tab.page.locator("#rename").is_visible()
    tab.ask("hi")
    tab.see("Hello.")
    tab.idle()
    sent: list[str] = []
    tab.page.on("request", lambda request: sent.append(request.method))
    tab.page.click("#rename")
    tab.page.fill("#title input", "Greeting")
    tab.page.press("#title input", "Enter")
    tab.page.wait_for_selector("#sessions [aria-current]:has-text('Greeting')")
    assert (sent.count("PATCH"), tab.page.input_value("#messageInput")) == (1, "")


def test_a_diff_keeps_its_indentation(site: Site, warm: Tab) -> None:
    made = """open("app.py", "w").write("def one():\\n    return 1\\n")"""
    edited = """edit_file("app.py", "    return 1\\n", "    return 2\\n")"""
    for code, answer in (made, "Made."), (edited, "Edited."):
        site.says([Call(code=code)], answer)
        warm.ask("go on")
        warm.decide("y")
        warm.see(answer)
        warm.idle()
    assert warm.turn.locator(".diff ins").inner_text() == "    return 2"


def test_an_output_that_scrolls_is_reached_with_keys(site: Site, warm: Tab) -> None:
    site.says([Call(code="print('long\\n' * 200)")], "Printed.")
    warm.ask("print")
    warm.decide("y")
    warm.see("Printed.")
    assert warm.turn.locator(".printed").get_attribute("tabindex") == "0"


def test_a_formula_that_is_too_wide_is_reached_with_keys(site: Site, tabs: Callable[..., Tab]) -> None:
    tab = tabs(PHONE)
    columns = " & ".join("abc" for _ in range(30))
    site.says(f"$$x$$\n\n$$\\begin{{matrix}} {columns} \\end{{matrix}}$$\n\nThe end.")
    tab.ask("go")
    tab.see("The end.")
    playwright.expect(tab.turn.locator("math")).to_have_count(2)
    tabs_of = "[...document.querySelectorAll('.formula')].map((one) => one.tabIndex)"
    assert tab.page.evaluate(tabs_of) == [-1, 0]


def test_struck_text_of_an_answer_is_struck(site: Site, tab: Tab) -> None:
    site.says("It is ~~four~~ five.")
    tab.ask("go")
    tab.see("five.")
    struck = "getComputedStyle(document.querySelector('.prose del')).textDecorationLine"
    assert tab.page.evaluate(struck) == "line-through"


def test_long_code_is_edited_from_its_beginning(site: Site, warm: Tab) -> None:
    site.says([Call(code="\n".join(f"x{number} = 1" for number in range(120)))], "Not so.")
    warm.ask("go")
    warm.decide("e")
    top = warm.page.evaluate("document.getElementById('edited').scrollTop")
    warm.page.keyboard.press("Escape")
    warm.decide("n")
    warm.page.press("#reason", "Enter")
    warm.see("Not so.")
    assert top == 0
