"""One browser and one server for all tests of the page. Each has a tab, and says what the model says."""

import re
import shutil
import signal
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest

from tests.cli.running import Terp, to
from tests.loopback import Loopback, Scripted

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Locator, Page

TOKEN = "a-token-for-the-tests-of-the-page"
PHONE, DESKTOP = (390, 844), (1280, 800)

FOCUS = """
(({ tagName, id, classList: [kind] }) => tagName.toLowerCase() + (id ? "#" + id : kind ? "." + kind : ""))
(document.activeElement)
"""

playwright = pytest.importorskip("playwright.sync_api")
# A slow machine needs more than its 5 s.
playwright.expect.set_options(timeout=20_000)


@dataclass
class Site:
    """A server that runs. `model` gives what a test has it say."""

    url: str
    model: Loopback
    token: str = TOKEN
    warm: str = ""
    """A session whose kernel runs, once a test has had one: most tests need a kernel, and few a new one."""

    @property
    def entrance(self) -> str:
        return f"{self.url}/#token={self.token}"

    def says(self, *replies: Scripted, pause_s: float = 0.002) -> None:
        """What the model answers from now on, request by request, so long from piece to piece."""
        self.model.pause_s = pause_s
        self.model.script[len(self.model.requests) :] = replies


@dataclass
class Tab:
    """A tab that shows the page, and what its console has complained of; `known` matches what it may."""

    page: "Page"
    problems: list[str] = field(default_factory=list)
    known: str = ""

    @property
    def unknown(self) -> list[str]:
        return [one for one in self.problems if not (self.known and re.search(self.known, one))]

    def ask(self, prompt: str) -> None:
        self.page.fill("#messageInput", prompt)
        self.page.press("#messageInput", "Enter")

    def see(self, text: str) -> None:
        """Wait until the conversation has this text."""
        playwright.expect(self.page.locator("#messages")).to_contain_text(text)

    def idle(self) -> None:
        """Wait until no turn goes on."""
        playwright.expect(self.page.locator("#stop")).to_be_hidden()

    @property
    def turn(self) -> "Locator":
        """The last turn."""
        return self.page.locator(".turn").last

    def state(self) -> str:
        """How the last call stands."""
        return str(self.page.locator(".card[data-state]").last.get_attribute("data-state"))

    def focus(self) -> str:
        """What has the focus, as a selector would name it."""
        return str(self.page.evaluate(FOCUS))

    def decide(self, key: str) -> None:
        """Press a key at the code that waits, once a person could have read it."""
        self.page.wait_for_selector("#approveCodeButton:visible:enabled", timeout=20_000)
        self.page.locator("#approval").press(key)


@contextmanager
def serve(terp: Terp, model: Loopback, port: str = "0", *flags: str, token: str = TOKEN) -> Iterator[str]:
    """A server that sends requests to `model`, by its address."""
    process = terp.start(
        *("serve", "--port", port, *to(model), *flags),
        stdin=subprocess.DEVNULL,
        environ={"OPENAI_API_KEY": "unused", "TERP_SERVER_TOKEN": token, "TERP_REFERENCES": "true"},
    )
    assert process.stderr is not None
    address = process.stderr.readline().split()[-1]
    # The log of the requests of all tests is more than a pipe holds: unread, it would stop the server.
    reading = threading.Thread(target=process.stderr.read)
    reading.start()
    try:
        yield address
    finally:
        process.send_signal(signal.SIGTERM)
        reading.join(timeout=20)
        with process:
            process.wait(timeout=20)


@pytest.fixture(scope="package")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    terp = Terp(tmp_path_factory.mktemp("page"))
    with Loopback([], chunk=40) as model, serve(terp, model) as url:
        yield Site(url, model)


@pytest.fixture(scope="package")
def browser() -> Iterator["Browser"]:
    program = shutil.which("chromium")
    if program is None:
        pytest.skip("there is no chromium")
    with playwright.sync_playwright() as drive:
        # As root, as in a container, it has no sandbox of its own.
        yield drive.chromium.launch(executable_path=program, args=["--no-sandbox"])


@pytest.fixture(scope="package")
def context(browser: "Browser") -> "BrowserContext":
    """One for all tests: a tab is cheap, and has storage of its own for the token."""
    return browser.new_context()


@pytest.fixture
def tabs(site: Site, context: "BrowserContext") -> Iterator[Callable[..., Tab]]:
    """Opens tabs at the entrance. No console may have anything to complain of in the end."""
    made: list[Tab] = []

    def opened(size: tuple[int, int] = DESKTOP, entrance: str = "", **media: Any) -> Tab:
        tab = Tab(context.new_page())
        made.append(tab)
        tab.page.set_viewport_size({"width": size[0], "height": size[1]})
        tab.page.emulate_media(**media)
        tab.page.on("console", lambda said: tab.problems.extend([said.text] * (said.type == "error")))
        tab.page.on("pageerror", lambda error: tab.problems.append(str(error)))
        tab.page.goto(entrance or site.entrance)
        return tab

    yield opened
    for tab in made:
        tab.page.close()
    assert [tab.unknown for tab in made] == [[] for _ in made]


@pytest.fixture
def tab(tabs: Callable[..., Tab]) -> Tab:
    """At a new session."""
    return tabs()


@pytest.fixture
def warm(site: Site, tabs: Callable[..., Tab]) -> Tab:
    """In a session whose kernel runs, behind what other tests have done in it."""
    tab = tabs()
    headers = {"Authorization": f"Bearer {site.token}", "Content-Type": "application/json"}
    # The server may just have closed the idle connection of an earlier test.
    post = partial(tab.page.request.post, headers=headers, data="{}", max_retries=2)
    site.warm = site.warm or post(f"{site.url}/v1/sessions").json()["id"]
    # A test that failed may have left code that waits.
    post(f"{site.url}/v1/sessions/{site.warm}/interrupt")
    tab.page.evaluate(f"location.hash = 'session={site.warm}'")
    tab.page.wait_for_selector("#state[data-state=connected]")
    return tab
