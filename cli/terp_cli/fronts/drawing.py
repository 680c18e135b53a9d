"""A turn on a screen: its transcript, the rows that wait for a frame, and the painting."""

from collections.abc import Callable, Mapping, Sequence

from rich.text import Text

from terp.events import Event, Noticed
from terp_cli.fronts.event_order import CallOrder
from terp_cli.render import words
from terp_cli.render.ansi import Palette, TerminalScreen
from terp_cli.render.fold import hanging, indented
from terp_cli.render.output.display import Draw
from terp_cli.render.pictures.drawer import drawer_on
from terp_cli.render.transcript import DrawnTranscript
from terp_cli.terminal import tty
from terp_cli.terminal.painter import Painter
from terp_cli.terminal.rows import Graphic
from terp_cli.terminal.sanitise import readable
from terp_cli.terminal.theme import theme_of

_FRAME_S, _SLOWEST_FRAME_S = 0.05, 0.1


class Drawing:
    """A turn on a screen, painted at most 20 times a second, and less often if painting is slow."""

    def __init__(
        self, screen: TerminalScreen, clock: Callable[[], float], draw: Draw | None, *, verbose: bool
    ) -> None:
        self._screen = screen
        self._clock = clock
        self._order = CallOrder()
        self._waiting: list[Text | Graphic] = []
        self._next_frame = 0.0
        self.transcript = DrawnTranscript(
            lambda: screen.width,
            lambda: screen.tail_rows,
            clock,
            verbose=verbose,
            draw=draw,
            rows=lambda: screen.rows,
        )
        self.transcript.ascii_only = screen.ascii_only

    def add(self, event: Event) -> None:
        """Take an event; its rows wait for the next frame."""
        for one in self._order.passed(event):
            if isinstance(one, Noticed) and self.transcript.grows:
                width = self._screen.width
                self.write([part for row in words.sentence(one) for part in indented(row, width)])
            else:
                self._waiting += self.transcript.show(one)

    def say(self, lines: Sequence[str]) -> None:
        """Write lines of terp; control characters are spelled out."""
        self.write([row for line in lines for row in hanging(readable(line), self._screen.width)])

    def write(self, rows: Sequence[Text]) -> None:
        """Write rows without control characters, below a block that still grows, then after it."""
        if self.transcript.grows and self._screen.aside(rows):
            return
        self._waiting += [*self.transcript.rest(), *rows]
        self.paint(final=True)

    def flush(self) -> None:
        """Paint everything that is held back."""
        self._waiting += self.transcript.rest()
        self.paint(final=True)

    def tick(self) -> None:
        """Paint what has changed, unless the last frame is too recent."""
        if self._clock() >= self._next_frame:
            self.paint()

    def paint(self, *, final: bool = False) -> None:
        """Paint the waiting rows, and below them the block that grows, unless this is `final`."""
        began = self._clock()
        rows, self._waiting = self._waiting, []
        tail, passing = ([], []) if final else self.transcript.unfinished(self._screen.tail_rows)
        self._screen.update(rows, tail, passing, grows=self.transcript.grows)
        ended = self._clock()
        self._next_frame = ended + min(_SLOWEST_FRAME_S, max(_FRAME_S, 10 * (ended - began)))


def screen_on(painter: Painter, theme: str, environ: Mapping[str, str]) -> TerminalScreen:
    """Return a screen with the colours of its environment, and the setting `theme`."""
    # The console of Linux shows the sequence of a link as text.
    links = painter.live and environ.get("TERM") != "linux"
    ground = lambda: theme_of(theme, painter.facts.background, environ)  # noqa: E731
    palette = Palette(tty.colours_of(environ), ground, links=links)
    return TerminalScreen(painter, palette)


def pictures_on(painter: Painter, images: str, environ: Mapping[str, str]) -> Draw | None:
    """Return the drawer of pictures for a terminal, with the setting `images`; None if it shows none."""
    return drawer_on(painter.out, images, environ, lambda: painter.facts)
