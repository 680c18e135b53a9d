"""What stands around the conversation: files, variables, exports, and how the page looks."""

import json
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from tests.cli.server.page.conftest import DESKTOP, PHONE, Site, Tab, playwright
from tests.loopback import Call, Http


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
    tab.page.wait_for_selector("#variablesPane dt:has-text('numbers list · 5 · ')")
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
    box = tab.page.locator(".output .printed")
    assert box.evaluate("(one) => one.scrollHeight - one.scrollTop - one.clientHeight") < 2
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


@pytest.mark.parametrize("size", [PHONE, DESKTOP], ids=["phone", "desktop"])
def test_nothing_is_wider_than_the_window_and_wide_tables_are_read_by_scrolling(
    site: Site, tabs: Callable[..., Tab], size: tuple[int, int]
) -> None:
    tab = tabs(size)
    names = [f"measurement_{number}" for number in range(14)]
    rows = ("|".join(["", *cells, ""]) for cells in (names, ["-"] * 14, ["1"] * 14))
    site.says("\n".join([*rows, "", "That was it."]))
    tab.ask("measure")
    tab.see("That was it.")
    assert tab.page.evaluate("document.documentElement.scrollWidth") == size[0]
    assert tab.page.evaluate("document.querySelector('.prose th').offsetHeight") < 50


def test_a_long_table_has_pages(site: Site, warm: Tab) -> None:
    code = "import pandas\npandas.options.display.max_rows = None\npandas.DataFrame({'row': range(450)})"
    site.says([Call(code=code)], "Long.")
    warm.ask("go")
    warm.decide("y")
    warm.see("Long.")
    warm.idle()
    first = warm.turn.locator("tbody tr").count()
    warm.page.click("text=Next ›")
    warm.page.click("text=Next ›")
    last = warm.turn.locator("tbody td").all_inner_texts()
    assert (first, last) == (200, [str(row) for row in range(400, 450)])
    assert warm.turn.get_by_text("Rows 401 to 450 of 450").is_visible()
    assert warm.turn.get_by_text("Next ›").is_disabled()


AS_HIGH_AS_ITS_FRAME = """
from IPython.display import HTML
HTML("<style>html, body { height: 100% }</style><div style='height: 300px'>chart</div>")
"""


def test_a_chart_that_is_as_high_as_its_page_is_seen(site: Site, warm: Tab) -> None:
    site.says([Call(code=AS_HIGH_AS_ITS_FRAME)], "Charted.")
    warm.ask("go")
    warm.decide("y")
    warm.see("Charted.")
    playwright.expect(warm.turn.locator(".framed")).to_have_css("height", "310px")


LIVE = """
page = "<p></p><script>document.querySelector('p').textContent = 'live in ' + origin</script>"
import base64, io, matplotlib.pyplot as plt
file = io.BytesIO(); plt.figure(figsize=(1, 1)).savefig(file); plt.close()
drawn = base64.b64encode(file.getvalue()).decode()
display({"image/png": drawn, "text/html": page, "text/plain": "a chart"}, raw=True)
"""


def test_a_chart_with_scripts_is_shown_live_with_its_picture_below(site: Site, warm: Tab) -> None:
    site.says([Call(code=LIVE)], "Charted.")
    warm.ask("go")
    warm.decide("y")
    warm.see("Charted.")
    playwright.expect(warm.turn.frame_locator(".framed").locator("p")).to_have_text("live in null")
    warm.page.get_by_text("As a picture").click()
    playwright.expect(warm.turn.locator("details img")).to_be_visible()


@pytest.mark.parametrize(
    ("page", "why"),
    [
        (
            "<script src='https://cdn.example/x.js'></script>",
            "It loads from cdn.example, but has no network here.",
        ),
        (
            "<script>nothing.there()</script>",
            "It cannot be shown: Uncaught ReferenceError: nothing is not defined",
        ),
    ],
    ids=["network", "failed"],
)
def test_no_frame_is_empty(site: Site, tab: Tab, page: str, why: str) -> None:
    tab.known = "Content Security Policy|nothing is not defined"
    code = f"""display({{"text/html": "{page}", "text/plain": "a chart"}}, raw=True)"""
    site.says([Call(code=code)], "Charted.")
    tab.ask("go")
    tab.decide("y")
    tab.see("Charted.")
    tab.see(why)
    shown = tab.turn.locator(".output").inner_text().split("\n")
    assert ([line for line in shown if line], tab.turn.locator("iframe").count()) == (["a chart", why], 0)


def test_kernels_of_the_server_send_charts_that_are_live(site: Site, warm: Tab) -> None:
    site.says([Call(code="import os; print('live:', os.environ['TERP_LIVE_CHARTS'])")], "Looked.")
    warm.ask("go")
    warm.decide("y")
    warm.see("Looked.")
    warm.idle()
    assert warm.turn.locator(".output").inner_text().strip() == "live: 1"


def test_a_file_may_come_first_and_the_page_still_says_what_it_is_for(site: Site, tab: Tab) -> None:
    assert tab.page.locator("#start").inner_text().startswith("What do you want to do?\n")
    tab.page.evaluate(DROP, "first.csv")
    tab.page.wait_for_selector("#attached li")
    shown = [tab.page.locator(one).is_visible() for one in ("#start h2", "#dropZone")]
    site.says("Read.")
    tab.ask("read it")
    tab.see("Read.")
    assert (shown, tab.page.locator("#start").is_visible()) == ([True, True], False)


def test_a_session_is_in_the_list_while_its_first_turn_goes_on(site: Site, tab: Tab) -> None:
    site.says("Slowly. " * 800, pause_s=0.02)
    tab.ask("a first question that takes long")
    tab.page.wait_for_selector("#sessions [aria-current]:has-text('a first question that takes long')")
    assert tab.page.locator("#stop").is_visible()
    tab.page.keyboard.press("Escape")
    tab.idle()


def test_what_the_model_failed_with_and_what_to_do_have_a_line_each(site: Site, tab: Tab) -> None:
    site.says(Http(401, '{"error": {"message": "Wrong key"}}'))
    tab.ask("go")
    tab.see("Wrong key")
    assert tab.turn.locator("p.problem").inner_text().splitlines() == [
        "openai/scripted: Wrong key",
        "A new session can have another profile, and so another model. "
        "On the server's command line: Check OPENAI_API_KEY, or pick another model with --model.",
    ]


# What comes with the very frame in which the page has scrolled to the end.
GROWN_WHILE_IT_SCROLLS = """(height) => {
  const [messages, scroll] = [document.getElementById("messages"), document.getElementById("scroll")];
  const tall = () => Object.assign(document.createElement("p"), { style: `height: ${height}px` });
  const add = () => messages.append(tall());
  add();
  scroll.scrollTop = scroll.scrollHeight;
  add();
  const soon = (done) => requestAnimationFrame(() => requestAnimationFrame(done));
  return new Promise(soon).then(() => scroll.scrollHeight - scroll.scrollTop - scroll.clientHeight);
}"""


def test_who_looks_at_the_end_is_kept_there_however_fast_it_grows(tab: Tab) -> None:
    assert tab.page.evaluate(GROWN_WHILE_IT_SCROLLS, 2000) < 2


def test_colours_follow_the_system_until_the_person_chooses(tabs: Callable[..., Tab]) -> None:
    tab = tabs(color_scheme="dark")
    workspaces = "getComputedStyle(document.body).backgroundColor"
    dark = tab.page.evaluate(workspaces)
    tab.page.click("#theme")
    light = tab.page.evaluate(workspaces)
    tab.page.reload()
    tab.page.evaluate("localStorage.clear()")
    assert (dark, light, tab.page.evaluate(workspaces)) == ("rgb(24, 24, 23)", "rgb(250, 249, 246)", light)


def test_a_session_is_made_with_the_profile_that_was_chosen(site: Site, tab: Tab) -> None:
    tab.page.select_option("#profile", "fast")
    name_model(tab, "openai/other")
    site.says("Hello.")
    tab.ask("hi")
    tab.see("Hello.")
    assert site.model.requests[-1]["model"] == "other"


def name_model(tab: Tab, name: str) -> None:
    tab.page.select_option("#model", label="Another one …")
    tab.page.fill("#otherModel", name)
    tab.page.press("#otherModel", "Enter")
    tab.page.wait_for_selector(f"#model option:checked:text-is('{name}')", state="attached")


def test_another_model_goes_on_with_the_variables_of_the_kernel(site: Site, warm: Tab) -> None:
    site.says([Call(code="kept = 41")], "Kept.")
    warm.ask("keep")
    warm.decide("y")
    warm.see("Kept.")
    warm.idle()
    name_model(warm, "openai/third")
    site.says([Call(code="print('it is', kept + 1)")], "Shown.")
    warm.ask("show")
    warm.decide("y")
    warm.see("it is 42")
    warm.idle()
    assert site.model.requests[-1]["model"] == "third"
    name_model(warm, "openai/scripted")


def test_the_list_of_models_has_those_of_the_provider(site: Site, tabs: Callable[..., Tab]) -> None:
    site.model.pages = {"/v1/models": {"data": [{"id": "listed"}]}}
    tab = tabs()
    tab.page.wait_for_selector("#model optgroup option:text-is('openai/listed')", state="attached")
    tab.page.select_option("#model", "openai/listed")
    site.says("Hello.")
    tab.ask("hi")
    tab.see("Hello.")
    assert site.model.requests[-1]["model"] == "listed"


def test_a_model_and_a_title_that_are_chosen_in_one_tab_are_shown_in_the_others(
    site: Site, tab: Tab, tabs: Callable[..., Tab]
) -> None:
    site.says("Hello.")
    tab.ask("hi")
    tab.see("Hello.")
    tab.idle()
    other = tabs()
    other.page.evaluate(f"location.hash = '{tab.page.evaluate('location.hash')}'")
    other.page.wait_for_selector("#state[data-state=connected]")
    name_model(tab, "openai/fourth")
    tab.page.click("#rename")
    tab.page.fill("#title input", "Named here")
    tab.page.press("#title input", "Enter")
    other.page.wait_for_selector("#title:text-is('Named here')")
    assert (other.page.input_value("#model"), other.page.title()) == ("openai/fourth", "Named here · terp")


def test_the_head_says_that_there_is_no_sandbox_and_that_it_asks(tab: Tab) -> None:
    tab.page.wait_for_selector("#approvals:not(:empty)")
    assert [tab.page.inner_text(badge) for badge in ("#tier", "#approvals")] == ["no sandbox", "asks"]


def test_a_session_is_renamed_where_its_title_stands(site: Site, tab: Tab) -> None:
    site.says("Hello.")
    tab.ask("a prompt that says little")
    tab.see("Hello.")
    tab.idle()
    tab.page.click("#rename")
    tab.page.fill("#title input", "Sales of November")
    tab.page.press("#title input", "Enter")
    tab.page.wait_for_selector("#sessions [aria-current]:has-text('Sales of November')")
    tab.page.click("#showFacts")
    tab.page.click("#fork")
    tab.page.wait_for_selector("#title input")
    assert tab.page.input_value("#title input") == "Sales of November (copy)"
    tab.page.wait_for_selector("#state[data-state=connected]")


def test_a_search_without_a_hit_says_so_and_esc_ends_it(tab: Tab) -> None:
    tab.page.wait_for_selector("#messageInput:focus")
    tab.page.keyboard.press("Control+k")
    tab.page.keyboard.type("no such session")
    none = tab.page.inner_text("#sessions")
    tab.page.keyboard.press("Escape")
    assert (none, tab.page.input_value("#sessionFilter")) == ("Nothing found.", "")


def test_an_example_is_put_where_it_can_be_changed(tab: Tab) -> None:
    tab.page.click("#examples button >> nth=1")
    assert tab.page.input_value("#messageInput").startswith("How many primes")
    assert tab.focus() == "textarea#messageInput"
