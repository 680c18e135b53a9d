"""What a model, a file or a program writes cannot do anything in the page."""

from tests.cli.server.page.conftest import Site, Tab
from tests.loopback import Call

HOSTILE = """
<script>window.owned = 1</script>

<img src=x onerror="window.owned = 1"> <svg onload="window.owned = 1">
<iframe srcdoc="<script>parent.owned=1</script>">

[click](javascript:window.owned=1) [data](data:text/html,<script>window.owned=1</script>)
<a href="vbscript:x">v</a> <javascript:window.owned=1>

![picture](http://127.0.0.1:9/look "x\\" onerror=\\"window.owned=1")

<style>@import 'http://127.0.0.1:9/x'; body { display: none }</style> <p style="background:url(http://127.0.0.1:9/y)">css</p>

<details open ontoggle="window.owned=1"><summary>s</summary></details>
<math><mtext><table><mglyph><style><img src=x onerror=window.owned=1>

$\\href{javascript:window.owned=1}{x}$ $\\includegraphics[width=1em]{http://127.0.0.1:9/z}$ $x$

<form id=approval action=http://127.0.0.1:9><input name=token><button id=approveCodeButton>Run</button></form>

`</code><script>window.owned=1</script>`

```"><script>window.owned=1</script>
</pre><script>window.owned=1</script>
```

The end of it.
"""


def test_a_hostile_answer_executes_nothing_and_reaches_nobody(site: Site, tab: Tab) -> None:
    asked: list[str] = []
    tab.page.on("request", lambda request: asked.append(request.url))
    site.says(HOSTILE)
    tab.ask("go")
    tab.see("The end of it.")
    tab.idle()
    for link in tab.page.locator(".prose a").all():
        assert (link.get_attribute("href") or "#").startswith(("http://127.0.0.1:9/", "#"))
    assert tab.page.evaluate("window.owned") is None
    drawn = ".prose span > math"
    active = ".prose :is(script, img, svg, iframe, style, form, input, [style], [onerror], [id])"
    assert tab.page.locator(drawn).last.text_content() == "x"
    assert tab.page.locator(".prose math").count() == tab.page.locator(drawn).count()
    assert tab.page.locator(active).count() == 0
    assert [url for url in asked if not url.startswith((site.url, "blob:", "data:"))] == []


def test_code_is_shown_as_it_runs(site: Site, warm: Tab) -> None:
    site.says([Call(code="safe = '\u202e\u2066# no harm\u2069'\n# <b onclick=x>\u200b")], "Never.")
    warm.ask("go")
    warm.page.wait_for_selector("#approval:visible", timeout=20_000)
    shown = warm.turn.locator(".card code").inner_text()
    assert shown == "safe = '<U+202E><U+2066># no harm<U+2069>'\n# <b onclick=x><U+200B>"
    warm.decide("n")
    warm.page.click("#declineAndStop")
    warm.idle()


def test_what_a_program_puts_out_is_text(site: Site, warm: Tab) -> None:
    code = r"print('<img src=x onerror=window.owned=1>\x1b[31mred\x1b[0m\x1b]8;;http://x\x07link\n10%\r20%')"
    site.says([Call(code=code)], "Said.")
    warm.ask("go")
    warm.decide("y")
    warm.see("Said.")
    shown = warm.turn.locator(".printed").inner_text().rstrip()
    assert shown == "<img src=x onerror=window.owned=1>redlink\n20%"
    assert warm.turn.locator(".printed .a-c1").inner_text() == "red"


def test_a_frame_of_html_reaches_no_network_and_not_the_page(site: Site, tab: Tab) -> None:
    # It complains itself that the policy holds.
    tab.known = f"{site.url}/heartbeat"
    code = f"""
from IPython.display import HTML
HTML('''<p id=x>waits</p><script>
fetch("{site.url}/heartbeat").then(() => "reached", () => "blocked").then((told) => {{
  let above = "hidden";
  try {{ above = String(parent.document.title); }} catch {{}}
  document.getElementById("x").textContent = told + " " + above + " " + origin;
}});
</script>''')
"""
    site.says([Call(code=code)], "Shown.")
    tab.ask("go")
    tab.decide("y")
    tab.see("Shown.")
    told = tab.turn.frame_locator(".framed").locator("#x")
    told.filter(has_not_text="waits").wait_for()
    assert told.inner_text() == "blocked hidden null"
