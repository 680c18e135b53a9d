"""The page comes back to where it was."""

from collections.abc import Callable
from pathlib import Path

from tests.cli.running import Terp
from tests.cli.server.page.conftest import Site, Tab, serve
from tests.loopback import Call

# Two seconds of text, in pieces of 50 ms.
LONG = "\n\n".join(f"Paragraph {number} of the answer." for number in range(60)) + "\n\nThat was all."


CATCH_THE_LINE = """
const Plain = WebSocket;
WebSocket = class extends Plain {
  constructor(...about) { super(...about); window.line = this; }
};
"""


def text_of(tab: Tab) -> str:
    return str(tab.page.locator("#messages").inner_text())


def test_a_reload_in_the_middle_of_a_stream_loses_nothing(site: Site, tab: Tab) -> None:
    site.says(LONG, pause_s=0.05)
    tab.ask("tell")
    tab.see("Paragraph 3 ")
    assert "That was all." not in text_of(tab)
    tab.page.reload()
    tab.see("That was all.")
    assert [text_of(tab).count(f"Paragraph {number} of") for number in range(60)] == [1] * 60


def test_a_line_that_breaks_mends_itself_without_a_gap_or_an_echo(site: Site, tab: Tab) -> None:
    tab.page.add_init_script(CATCH_THE_LINE)
    tab.page.reload()
    site.says(LONG, pause_s=0.05)
    tab.ask("tell")
    for number in (3, 12, 25):
        tab.see(f"Paragraph {number} ")
        tab.page.evaluate("line.close()")
    tab.see("That was all.")
    assert [text_of(tab).count(f"Paragraph {number} of") for number in range(60)] == [1] * 60


def test_code_that_waits_still_waits_after_a_reload(site: Site, warm: Tab) -> None:
    site.says([Call(code="print(1 + 1)")], "Two.")
    warm.ask("add")
    warm.page.wait_for_selector("#approval:visible", timeout=20_000)
    warm.page.reload()
    warm.decide("y")
    warm.see("Two.")
    assert text_of(warm).count("Two.") == 1


def test_a_session_is_found_and_gone_on_with(site: Site, tab: Tab) -> None:
    site.says("First answer.", "Second answer.")
    tab.ask("a question that can be found")
    tab.see("First answer.")
    tab.idle()
    tab.page.keyboard.press("Alt+n")
    assert text_of(tab) == ""
    tab.page.keyboard.press("Control+k")
    tab.page.keyboard.type("can be found")
    tab.page.wait_for_selector("#sessions li:only-child :text('can be found')")
    tab.page.keyboard.press("ArrowDown")
    tab.page.keyboard.press("Enter")
    tab.see("First answer.")
    tab.ask("and?")
    tab.see("Second answer.")


def test_a_session_that_was_closed_is_opened_again(site: Site, tab: Tab) -> None:
    # Its files may just be looked at.
    tab.known = "409"
    site.says("Said before.")
    tab.ask("say")
    tab.see("Said before.")
    tab.idle()
    session = tab.page.evaluate("location.hash").partition("=")[2]
    headers = {"Authorization": f"Bearer {site.token}"}
    assert tab.page.request.post(f"{site.url}/v1/sessions/{session}/close", headers=headers).status == 204
    with tab.page.expect_response("**/variables"):
        tab.page.evaluate("document.getElementById('tabVariables').click()")
    tab.page.click("#state button")
    tab.page.wait_for_selector("#state[data-state=connected]")
    tab.see("The session continues.")
    assert text_of(tab).count("Said before.") == 1
    assert tab.page.locator("#notices").inner_text() == ""


def test_another_server_goes_on_with_the_session(
    site: Site, tabs: Callable[..., Tab], tmp_path: Path
) -> None:
    terp = Terp(tmp_path)
    site.says("From the first server.", "From the second.")
    with serve(terp, site.model) as url:
        tab = tabs(entrance=f"{url}/#token={site.token}")
        # A browser reports every attempt that fails.
        tab.known = "ERR_CONNECTION_REFUSED|409"
        tab.ask("first")
        tab.see("From the first server.")
        tab.idle()
    tab.ask("meanwhile")
    tab.page.wait_for_selector("#notices :text('No connection. The page tries again.')")
    with serve(terp, site.model, port=url.rpartition(":")[2]):
        tab.see("The session continues.")
        tab.ask("second")
        tab.see("From the second.")
    assert text_of(tab).count("From the first server.") == 1


def test_without_the_token_nothing_is_shown_and_a_wrong_one_is_asked_again(site: Site, tab: Tab) -> None:
    # A browser reports every answer that is a refusal.
    tab.known = "401"
    tab.page.evaluate("sessionStorage.clear()")
    tab.page.goto(f"{site.url}/?")
    tab.page.fill("#token", "wrong")
    tab.page.click("#authButton")
    tab.page.wait_for_selector("#accessProblem:not(:empty)")
    tab.page.fill("#token", site.token)
    tab.page.click("#authButton")
    tab.page.wait_for_selector("#access", state="hidden")
    assert site.token not in tab.page.url


def test_an_address_with_the_token_is_taken_where_one_is_asked_for(
    site: Site, tabs: Callable[..., Tab]
) -> None:
    tab = tabs(entrance=site.url)
    tab.page.wait_for_selector("#access[open]")
    tab.page.evaluate(f"location.hash = 'token={site.token}'")
    tab.page.wait_for_selector("#approvals:not(:empty)")
    other = tabs(entrance=site.url)
    other.page.fill("#token", site.entrance)
    other.page.press("#token", "Enter")
    other.page.wait_for_selector("#approvals:not(:empty)")
    assert site.token not in tab.page.url + other.page.url


def test_a_server_with_a_new_token_is_said_to_have_one(
    site: Site, tabs: Callable[..., Tab], tmp_path: Path
) -> None:
    terp = Terp(tmp_path)
    with serve(terp, site.model) as url:
        tab = tabs(entrance=f"{url}/#token={site.token}")
        # Its files may be asked for before the session is open again: the panel waits then.
        tab.known = "ERR_|401|409|WebSocket"
        site.says("Hello.")
        tab.ask("hi")
        tab.see("Hello.")
        tab.idle()
    with serve(terp, site.model, url.rpartition(":")[2], token="another-token-of-a-new-start"):
        tab.page.wait_for_selector("#accessProblem:visible")
        assert "has a new token" in tab.page.inner_text("#accessProblem")
        tab.page.fill("#token", "another-token-of-a-new-start")
        tab.page.press("#token", "Enter")
        tab.page.wait_for_selector("#state[data-state=connected]")
        tab.see("Hello.")
