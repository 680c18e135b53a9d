"""Turns in the page, in a real browser against a real server with real kernels."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.server.page.conftest import DESKTOP, PHONE, Site, Tab, playwright
from tests.loopback import Call

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
    site: Site, warm: Tab, tmp_path: Path
) -> None:
    table = tmp_path / "sales.csv"
    table.write_text("month,sold\nJan,3\nFeb,5\nMar,4\n")
    site.says(["I draw it.", Call(code=PLOT)], "You sold **12** in all. The plot is [sold.png](sold.png).")
    warm.page.set_input_files("#chosenFiles", table)
    warm.page.wait_for_selector("#attached li")
    warm.ask("How much did I sell?")
    warm.decide("y")
    warm.see("You sold 12 in all.")
    assert "sales.csv" in str(site.model.requests[-1]["messages"])
    assert warm.page.evaluate("[...document.querySelectorAll('.display img')].at(-1).naturalWidth") > 100
    with warm.page.expect_download() as coming:
        warm.page.click("a[data-file='sold.png']")
    assert Path(coming.value.path()).read_bytes().startswith(b"\x89PNG")


def test_a_refusal_tells_the_model_why_and_runs_nothing(site: Site, warm: Tab) -> None:
    site.says([Call(code="print('ran')")], "Then in another way.")
    warm.ask("go")
    warm.decide("n")
    warm.page.fill("#reason", "use numpy")
    warm.page.press("#reason", "Enter")
    warm.see("Then in another way.")
    assert "use numpy" in str(site.model.requests[-1]["messages"])
    assert (warm.state(), warm.turn.locator(".output").inner_text()) == ("declined", "")


def test_edited_code_is_what_runs_without_a_second_answer(site: Site, warm: Tab) -> None:
    site.says([Call(code="print('first')")], "Done so.")
    warm.ask("go")
    warm.decide("e")
    warm.page.fill("#edited", "print('se' + 'cond')")
    warm.page.press("#edited", "Control+Enter")
    warm.see("Done so.")
    assert warm.turn.locator("code").inner_text() == "print('se' + 'cond')"
    assert warm.turn.locator(".output").inner_text().strip() == "second"


def test_edited_code_with_an_invisible_character_is_shown_again(site: Site, warm: Tab) -> None:
    site.says([Call(code="print('first')")], "Not run, then.")
    warm.ask("go")
    warm.decide("e")
    warm.page.fill("#edited", "print('a\u202eb')")
    warm.page.press("#edited", "Control+Enter")
    warm.page.wait_for_selector(".card[data-state=waiting] code:has-text('<U+202E>')")
    warm.decide("n")
    warm.page.press("#reason", "Enter")
    warm.see("Not run, then.")
    assert (warm.state(), warm.turn.locator(".output").inner_text()) == ("declined", "")


def test_a_message_that_is_changed_undoes_its_turn_and_all_after_it(site: Site, tab: Tab) -> None:
    site.says(
        [Call(code="size = 1")], "One.", "Two.", "Three.", [Call(code="print('size' in dir())")], "Four."
    )
    tab.ask("first")
    tab.decide("y")
    tab.see("One.")
    tab.idle()
    tab.ask("second")
    tab.see("Two.")
    tab.idle()
    first = tab.page.locator(".asked").first
    first.hover()
    first.get_by_text("Edit").click()
    tab.page.keyboard.press("Control+a")
    tab.page.keyboard.type("otherwise")
    tab.page.keyboard.press("Enter")
    tab.see("Three.")
    tab.idle()
    # The variable went with its turn.
    tab.ask("look")
    tab.decide("y")
    tab.see("Four.")
    assert tab.turn.locator(".output").inner_text().strip() == "False"
    shown = "document.getElementById('messages').innerText"
    words = tab.page.evaluate(shown)
    assert words.startswith("2 turns were undone\n")
    assert "One." not in words
    [_, *sent] = [message["content"] for message in site.model.requests[-3]["messages"]]
    assert [one.partition("\n")[0] for one in sent] == ["otherwise"]


def test_a_message_is_answered_again(site: Site, tab: Tab) -> None:
    site.says("Badly.", "Well.")
    tab.ask("try")
    tab.see("Badly.")
    tab.idle()
    tab.page.locator(".asked").hover()
    tab.page.click("text=Retry")
    tab.see("Well.")
    tab.idle()
    assert tab.page.locator(".turn").last.inner_text().startswith("try\n")
    assert len(site.model.requests[-1]["messages"]) == 2


@pytest.mark.parametrize(("answer", "left"), [("Yes", "one False"), ("No, keep them", "two True")])
def test_before_a_turn_is_undone_it_is_asked_about_the_files_that_it_changed(
    site: Site, tab: Tab, answer: str, left: str
) -> None:
    looking = "import os\nprint(open('notes').read(), os.path.exists('more'))"
    changing = "for name in ('notes', 'more'): open(name, 'w').write('two')"
    for code, said in ("open('notes', 'w').write('one')", "One."), (changing, "Two."), (looking, "Three."):
        site.says([Call(code=code)], said)
        if said == "Three.":
            tab.page.locator(".asked").last.hover()
            tab.page.get_by_text("Retry").last.click()
            assert tab.page.locator(".choice p").inner_text() == "Restore notes and delete more?"
            tab.page.get_by_role("button", name=answer).press("Enter")
        else:
            tab.ask("go")
        tab.decide("y")
        tab.see(said)
        tab.idle()
    assert tab.turn.locator(".printed").inner_text().strip() == left


def test_the_question_about_files_is_seen_whole_and_can_be_left(site: Site, tabs: Callable[..., Tab]) -> None:
    tab = tabs(PHONE)
    long = "".join(f"# {number}\n" for number in range(20))
    site.says([Call(code=f"{long}open('notes', 'w').write('one')")], "Written.")
    tab.ask("go")
    tab.decide("y")
    tab.see("Written.")
    tab.idle()
    tab.page.locator(".asked").hover()
    tab.page.click("text=Edit")
    tab.page.keyboard.type("!")
    tab.page.keyboard.press("Enter")
    question = tab.page.locator(".choice p")
    playwright.expect(question).to_be_in_viewport(ratio=1)
    head, below = tab.page.locator("main > header").bounding_box(), question.bounding_box()
    assert head is not None and below is not None and head["height"] < below["y"]
    tab.page.keyboard.press("Escape")
    assert (tab.page.locator(".choice, .gone").count(), tab.focus()) == (0, "textarea")


def test_a_value_that_was_put_into_an_answer_is_marked_and_the_model_cannot_mark_one(
    site: Site, warm: Tab
) -> None:
    forged = '\ufdd07\ufdd1, <u>8</u>, <u title="computed">9</u>'
    values = r"counted = 42; named = 'a\ufdd1b'"
    site.says([Call(code=values)], "There are **{{counted:.1f}}**, and " + forged + ", {{named}}.")
    warm.ask("go")
    warm.decide("y")
    warm.see("There are 42.0, and 7, 8, <u")
    assert warm.turn.locator("strong u[title=computed]").all_inner_texts() == ["42.0"]
    warm.see("9, ab.")
    assert warm.turn.locator("u[title]").all_inner_texts() == ["42.0", "ab"]


CLICK_AT_ONCE = """
const approval = document.getElementById("approval");
const look = () => approval.hidden || document.getElementById("approveCodeButton").click();
new MutationObserver(look).observe(approval, { attributes: true });
"""


def test_a_click_that_comes_with_the_question_decides_nothing(site: Site, warm: Tab) -> None:
    warm.page.evaluate(CLICK_AT_ONCE)
    site.says([Call(code="1")], "Never said.")
    warm.ask("go")
    warm.page.wait_for_selector("#approveCodeButton:visible:enabled", timeout=20_000)
    assert warm.state() == "waiting"
    warm.decide("n")
    warm.page.click("#declineAndStop")
    warm.idle()


def test_escape_stops_code_that_runs(site: Site, warm: Tab) -> None:
    site.says([Call(code="import time\nprint('begun', flush=True)\ntime.sleep(60)")], "Never said.")
    warm.ask("go")
    warm.decide("y")
    warm.page.wait_for_selector(".printed:has-text('begun')")
    warm.page.keyboard.press("Escape")
    warm.idle()
    assert warm.state() == "interrupted"
    assert warm.turn.locator("summary").inner_text() == "KeyboardInterrupt"


def test_code_gets_the_line_that_it_asks_for(site: Site, warm: Tab) -> None:
    site.says([Call(code="print('Hello ' + input('Your name? '))")], "Well.")
    warm.ask("go")
    warm.decide("y")
    warm.page.wait_for_selector(".question input:focus")
    warm.page.keyboard.type("Ada")
    warm.page.keyboard.press("Enter")
    warm.see("Hello Ada")
    assert warm.focus() == "textarea#messageInput"


def test_a_choice_is_made_with_the_keyboard_and_told_in_its_words(site: Site, warm: Tab) -> None:
    site.says([Call(code="import seaborn_of_the_tests")], "Not installed.")
    warm.ask("go")
    warm.decide("y")
    warm.page.wait_for_selector(".question:focus button:text-is('no')")
    for key in ("Tab", "Tab", "Enter"):
        warm.page.keyboard.press(key)
    warm.see("Not installed.")
    assert warm.turn.locator(".question .muted").all_inner_texts() == ["no"]
    warm.page.reload()
    warm.see("Not installed.")
    assert warm.turn.locator(".question .muted").all_inner_texts() == ["no"]


def test_two_tabs_show_the_same_and_the_first_answer_counts(
    site: Site, warm: Tab, tabs: Callable[..., Tab]
) -> None:
    site.says([Call(code="print(6 * 7)")], "It is 42.")
    warm.ask("go")
    warm.page.wait_for_selector("#approval:visible", timeout=20_000)
    session = warm.page.evaluate("location.hash")
    other = tabs()
    other.page.evaluate(f"location.hash = '{session}'")
    other.decide("y")
    for one in (warm, other):
        one.see("It is 42.")
        one.idle()
    shown = "document.getElementById('messages').innerText"
    assert warm.page.evaluate(shown) == other.page.evaluate(shown)


def test_a_table_of_data_is_a_table_and_other_html_has_a_frame_of_its_own(site: Site, warm: Tab) -> None:
    code = """
import pandas
from IPython.display import HTML, display
display(pandas.DataFrame({"a": [1, 2]}))
HTML("<b id=x>no script</b><script>document.getElementById('x').textContent = 'by ' + origin</script>")
"""
    site.says([Call(code=code)], "Both are shown.")
    warm.ask("go")
    warm.decide("y")
    warm.see("Both are shown.")
    assert warm.turn.locator(".display tbody td").all_inner_texts() == ["1", "2"]
    assert warm.turn.frame_locator(".framed").locator("#x").inner_text() == "by null"


def test_of_an_output_that_is_too_long_both_ends_are_shown_also_when_loaded_again(
    site: Site, warm: Tab
) -> None:
    site.says([Call(code="for n in range(4_000):\n    print('line', n, 'x' * 60)")], "It is long.")
    warm.ask("print much")
    warm.decide("y")
    warm.see("It is long.")
    for _ in range(2):
        shown = warm.turn.locator(".output").inner_text().splitlines()
        [gap] = [line for line in shown if "left out" in line]
        left = int(gap.split()[1].replace(",", ""))
        assert (shown[0][:7], shown[-1][:9], len(shown) + left) == ("line 0 ", "line 3999", 4_001)
        warm.page.reload()
        warm.see("It is long.")
        warm.idle()


def test_code_that_waits_hides_nothing_beside_the_screen(site: Site, warm: Tab) -> None:
    hidden = "x = 1" + " " * 220 + "; print('hidden')\nprint(x)"
    site.says([Call(code=hidden)], "Not so.")
    warm.ask("go")
    warm.page.wait_for_selector("#approveCodeButton:visible:enabled")
    code = warm.turn.locator(".card > pre")
    assert code.evaluate("pre => pre.scrollWidth <= pre.clientWidth")
    assert code.locator(".blanks").get_attribute("data-told") == "220 blanks"
    assert code.inner_text() == hidden
    assert warm.turn.locator(".told").inner_text().startswith("2 lines — ")
    warm.decide("n")
    warm.page.press("#reason", "Enter")
    warm.see("Not so.")


def test_formulas_are_drawn_and_what_is_none_stays_as_it_was_written(site: Site, tab: Tab) -> None:
    written = "$$\\int_0^1 x^2\\,dx$$", "\\(a_1 \\ast b\\)", "$a*b*c$", "\\[\n- x\\\\\n\\]"
    first, *more, last = written
    site.says(f"So {first} is {', '.join(more)} of $5 *and* $10, $\\nono$.\n\n{last}\n\nThe end.")
    tab.ask("go")
    tab.see("The end.")
    tab.idle()
    tab.page.wait_for_selector(".turn math")
    titles = [span.get_attribute("title") for span in tab.turn.locator("span:has(> math)").all()]
    assert titles == list(written)
    assert tab.turn.locator(".prose code").all_text_contents() == ["$\\nono$"]
    assert tab.turn.locator(".prose em").all_text_contents() == ["and"]


MAKING = """
open("app.py", "w").write("one\\ntwo\\n")
"""
EDITING = """
edit_file("app.py", "two\\n", "2\\nthree\\n")
"""


@pytest.mark.parametrize(("size", "columns"), [(DESKTOP, 4), (PHONE, 2)], ids=["side by side", "below"])
def test_an_edit_shows_its_diff(
    site: Site, tabs: Callable[..., Tab], size: tuple[int, int], columns: int
) -> None:
    tab = tabs(size)
    site.says([Call(code=MAKING)], "Made.")
    tab.ask("make")
    tab.decide("y")
    tab.see("Made.")
    tab.idle()
    site.says([Call(code=EDITING)], "Edited.")
    tab.ask("edit")
    tab.decide("y")
    tab.see("Edited.")
    tab.idle()
    shown = tab.page.locator(".diff")
    rows = [row.inner_text().split() for row in shown.locator("> div").all()][1:]
    context = ["1", "one"] * (columns // 2)
    assert rows == [context, ["2", "two", "2", "2"], ["3", "three"]]
    widths = "getComputedStyle(document.querySelector('.changed')).gridTemplateColumns.split(' ').length"
    assert tab.page.evaluate(widths) == columns


SAVED = """
import matplotlib.pyplot as plt
for number in range(5):
    plt.plot([number]); plt.savefig(f"saved-{number}.png"); plt.close()
"""


def test_pictures_that_code_saved_and_closed_are_drawn_up_to_four_and_all_are_named(
    site: Site, warm: Tab
) -> None:
    site.says([Call(code=SAVED)], "Saved: ![the first](saved-0.png) ![the last](saved-4.png)")
    warm.ask("go")
    warm.decide("y")
    warm.see("Saved:")
    warm.idle()
    # The fifth is drawn below the answer that names it, the first, which stands above, is not again.
    playwright.expect(warm.turn.locator("img")).to_have_count(5)
    drawn = [warm.turn.locator(f"{where} img").count() for where in (".card", ":scope > .display")]
    named = warm.turn.locator(".after .file").all_inner_texts()
    assert (drawn, [one.split(" · ")[0] for one in named[:5]]) == (
        [4, 1],
        [f"⤓ saved-{number}.png" for number in range(5)],
    )


def test_many_changed_files_are_told_by_folder(site: Site, warm: Tab) -> None:
    code = "import os; os.mkdir('made')\nfor n in range(9): open(f'made/{n}.txt', 'w').close()"
    site.says([Call(code=code)], "All made.")
    warm.ask("go")
    warm.decide("y")
    warm.see("All made.")
    assert warm.turn.locator(".after .file").all_inner_texts() == ["9 files: made/ 9 · created"]


DRAWN = """
with open("drawn.svg", "w") as file:
    file.write('<svg xmlns="http://www.w3.org/2000/svg" width="200" height="50"></svg>')
"""


def test_an_svg_that_code_wrote_is_drawn(site: Site, warm: Tab) -> None:
    site.says([Call(code=DRAWN)], "Written.")
    warm.ask("go")
    warm.decide("y")
    warm.see("Written.")
    width = "(image) => image.decode().then(() => image.naturalWidth)"
    assert warm.turn.locator("img").evaluate(width) == 200
