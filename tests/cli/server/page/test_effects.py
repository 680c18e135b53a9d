"""Questions about effects (`approve: effect`) in the page, in a real browser, with real kernels."""

from collections.abc import Callable, Iterator

import pytest

from tests.cli.running import Terp
from tests.cli.server.effects import connects, needs_holder
from tests.cli.server.page.conftest import Site, Tab, playwright, serve
from tests.loopback import Call, Loopback

pytestmark = needs_holder


@pytest.fixture(scope="module")
def asking(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """A server that asks at effects."""
    terp = Terp(tmp_path_factory.mktemp("effects"))
    with Loopback([], chunk=40) as model, serve(terp, model, "0", "--approve", "effect") as url:
        yield Site(url, model)


def test_an_effect_is_asked_about_and_named_after_the_run(asking: Site, tabs: Callable[..., Tab]) -> None:
    tab = tabs(entrance=asking.entrance)
    playwright.expect(tab.page.locator("#asks")).to_contain_text("asked at its effects")
    asking.says([Call(code=connects(asking.model))], "Done so.")
    tab.ask("go")
    tab.page.get_by_role("button", name="yes, once").click()
    tab.see("Done so.")
    assert tab.turn.locator(".output").inner_text() == "connected\n"
    playwright.expect(tab.turn.locator(".after").last).to_contain_text("connected to 127.0.0.1")


def test_a_refused_effect_fails_in_the_code(asking: Site, tabs: Callable[..., Tab]) -> None:
    tab = tabs(entrance=asking.entrance)
    asking.says([Call(code=connects(asking.model))], "Done so.")
    tab.ask("go")
    tab.page.get_by_role("button", name="no", exact=True).click()
    tab.see("Done so.")
    assert tab.turn.locator(".output").inner_text() == "refused\n"
    playwright.expect(tab.turn.locator(".after").last).to_contain_text("refused to let it connect")
