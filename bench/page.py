"""The page in Chromium: first paint, tasks and shifts while text streams, axe-core, and the keyboard."""

import shutil
import statistics
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from playwright.sync_api import sync_playwright

from bench.measure import Row, show
from bench.server import TOKEN, model, serving

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

ROUNDS = 5
SIZES = {"desktop": (1280, 800), "phone": (390, 844)}
OBSERVED = """
window.tasks = []; window.shifts = [];
const into = (found) => new PerformanceObserver((list) => found.push(...list.getEntries()));
into(tasks).observe({ type: "longtask" });
into(shifts).observe({ type: "layout-shift" });
"""
# With Tab alone, from the beginning of the page; tabs of one list are reached by arrows.
UNREACHED = """
() => {
  const all = document.querySelectorAll("button, a[href], input, select, textarea, summary, [tabindex='0']");
  const shown = (one) => one.checkVisibility({ visibilityProperty: true });
  const seen = (one) => shown(one) && !one.disabled && one.tabIndex >= 0;
  return [...all].filter((one) => seen(one) && !reached.has(one)).map((one) => one.id || one.outerHTML);
}
"""


def axe() -> str:
    """axe-core as a script, from its npm package; "" without npm or a registry."""
    with tempfile.TemporaryDirectory() as folder:
        packed = ["npm", "pack", "axe-core@4.14.1", "--silent"]
        if not shutil.which("npm") or subprocess.run(packed, cwd=folder, check=False).returncode:
            return ""
        [package] = Path(folder).glob("*.tgz")
        with tarfile.open(package) as files:
            script = files.extractfile("package/axe.min.js")
            return script.read().decode() if script else ""


@contextmanager
def tab(browser: "Browser", url: str, size: str = "desktop", scheme: str = "light") -> "Iterator[Page]":
    """A tab at an address, which observes itself."""
    width, height = SIZES[size]
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if scheme == "dark" else "light"
    )
    page = context.new_page()
    page.add_init_script(OBSERVED)
    page.goto(url)
    yield page
    context.close()


def first_paint(browser: "Browser", url: str) -> float:
    """Milliseconds to the first paint."""
    with tab(browser, url) as page:
        page.wait_for_timeout(300)
        return float(page.evaluate("performance.getEntriesByName('first-paint')[0].startTime"))


def streamed(browser: "Browser", url: str) -> tuple[float, float]:
    """The longest task in milliseconds, and the sum of shifts, while an answer streams."""
    with tab(browser, url) as page:
        page.fill("#messageInput", "hello")
        page.press("#messageInput", "Enter")
        page.wait_for_selector("#stop:visible")
        page.evaluate("tasks.length = shifts.length = 0")
        page.wait_for_selector("#stop", state="hidden")
        longest = page.evaluate("Math.max(0, ...tasks.map((one) => one.duration))")
        return longest, page.evaluate("shifts.reduce((sum, one) => sum + one.value, 0)")


def examined(browser: "Browser", url: str, script: str) -> tuple[list[str], list[str]]:
    """Violations of axe-core's rules, and what Tab does not reach, in every state, size and colour."""
    violations, unreached = set[str](), set[str]()
    for size in SIZES:
        for scheme in ("light", "dark"):
            with tab(browser, url, size, scheme) as page:
                if script:
                    page.evaluate(script)
                page.wait_for_selector("#approvals:not(:empty)")
                for state in ("start", "waiting"):
                    if state == "waiting":
                        _bring_to_wait(page)
                    found = page.evaluate("axe.run()")["violations"] if script else []
                    for one in found:
                        nodes = ", ".join(str(node["target"][0]) for node in one["nodes"])
                        violations.add(f"{size} {scheme} {state}: {one['id']} ({nodes})")
                    unreached.update(_unreached(page))
    return sorted(violations), sorted(unreached)


def _bring_to_wait(page: "Page") -> None:
    page.fill("#messageInput", "sleep")
    page.press("#messageInput", "Enter")
    page.wait_for_selector("#approveCodeButton:visible:enabled")
    page.click("#showFacts")
    page.wait_for_selector("#facts dd")


def _unreached(page: "Page") -> list[str]:
    page.evaluate("window.reached = new Set(); document.activeElement.blur(); document.body.focus()")
    for _ in range(80):
        page.keyboard.press("Tab")
        page.evaluate("reached.add(document.activeElement)")
    return list(page.evaluate(UNREACHED))


def rows() -> list[Row]:
    """The results."""
    program = shutil.which("chromium")
    if program is None:
        return []
    with (
        tempfile.TemporaryDirectory() as home,
        model() as (answers, _),
        serving(answers, home) as (url, _),
        sync_playwright() as drive,
    ):
        browser = drive.chromium.launch(executable_path=program, args=["--no-sandbox"])
        entrance = f"{url}/#token={TOKEN}"
        # The first round warms up.
        paints = [
            [first_paint(browser, one) for one in (entrance, f"{url}/frame")] for _ in range(ROUNDS + 1)
        ]
        ours, empty = (statistics.median(times) for times in zip(*paints[1:], strict=True))
        streams = [streamed(browser, entrance) for _ in range(ROUNDS)]
        longest, shift = (statistics.median(values) for values in zip(*streams, strict=True))
        script = axe()
        violations, unreached = examined(browser, entrance, script)
        browser.close()
    return [
        Row("first paint", ours - empty, "ms more", 150, f"{ours:.0f} ms; an empty page {empty:.0f} ms"),
        Row("longest task", longest, "ms", 50, "while 200 tokens a second stream; 0: none over 50 ms"),
        Row("layout shift", shift, "", 0, "while they stream"),
        Row("violations of axe-core", len(violations), "", 0, "; ".join(violations) if script else "not run"),
        Row("not reached with Tab", len(unreached), "controls", 0, "; ".join(unreached)),
    ]


if __name__ == "__main__":
    show(__doc__, rows())
