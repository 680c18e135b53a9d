from collections.abc import AsyncIterator

from terp.events import CodeStarted, Event, TurnFinished, TurnStarted
from terp_cli.fronts.plain import PlainFront
from terp_cli.fronts.titles import Titles
from terp_cli.terminal.guard import Unguarded
from terp_cli.terminal.window import WindowFeatures
from tests.cli.screens import Terminal


async def turn() -> AsyncIterator[Event]:
    yield TurnStarted("plot it")
    yield CodeStarted("c1", 1)
    yield TurnFinished("done", "Plotted.")


async def test_the_title_tells_what_goes_on_and_is_given_back() -> None:
    sent: list[str] = []
    titles = Titles(lambda: WindowFeatures(title=True), sent.append, Unguarded(), lambda: 0.0)
    await titles.beside(PlainFront(Terminal(), Terminal())).show(turn())
    assert sent == [
        "\x1b[22;0t\x1b]2;terp · waiting\x07",
        "\x1b]2;terp · running: plot it\x07",
        "\x1b]2;terp · waiting\x07",
        "\x1b]2;\x07\x1b[23;0t",
    ]
