"""Styled text as rows for one kind of terminal, and the screen that shows them."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import pairwise

from rich.color import Color, ColorSystem
from rich.style import Style
from rich.text import Text

from terp_cli.render.fold import fold, wrapped
from terp_cli.terminal.glyphs import writes_formulas
from terp_cli.terminal.painter import Painter
from terp_cli.terminal.program_text import Colour, Ink
from terp_cli.terminal.rows import Graphic, Row, Run
from terp_cli.terminal.theme import Theme, own_colours


class Palette:
    """Converter of styles into SGR parameters for one kind of terminal; None draws without any.

    `theme` may change until the terminal has answered all queries. It sets terp's own colours; the
    colours of programs stay as they are. With `links` addresses and files can be opened with a click.
    """

    def __init__(
        self, colours: ColorSystem | None, theme: Callable[[], Theme] = own_colours, *, links: bool = False
    ) -> None:
        self._colours = colours
        self._links = links
        self._theme = theme
        self._known: dict[Style, str] = {}
        self._known_in = theme()

    def row(self, text: Text) -> Row:
        """Return one line of `text` as runs; spaces never begin a run."""
        theme = self._theme()
        if theme is not self._known_in:
            self._known_in, self._known = theme, {}
        runs: list[Run] = []
        for piece, style in _pieces(text):
            sgr = self._parameters(style)
            if runs and (runs[-1][1] == sgr or (piece.isspace() and _has_no_ground(runs[-1][1], sgr))):
                runs[-1] = (runs[-1][0] + piece, runs[-1][1])
            else:
                runs.append((piece, sgr))
        return tuple(runs)

    def _parameters(self, style: Style) -> str:
        known = self._known.get(style)
        if known is None:
            known = self._compute(style)
            if style.link and self._links:
                known = f"{known}|{style.link}"
            self._known[style] = known
        return known

    def _compute(self, style: Style) -> str:
        if self._colours is None:
            return ""
        codes = [code for on, code in _attributes(style) if on]
        theme = self._known_in
        if not theme.colours:
            return ";".join(codes)
        if style.color and not style.color.is_default:
            own = theme.sgr.get(style.color.name)
            codes += style.color.downgrade(self._colours).get_ansi_codes() if own is None else (own,)
        if style.bgcolor and not style.bgcolor.is_default:
            codes += style.bgcolor.downgrade(self._colours).get_ansi_codes(foreground=False)
        return ";".join(filter(None, codes))


@lru_cache(maxsize=512)
def style_of(ink: Ink) -> Style:
    """Return the rich style of a program's ink."""
    return Style(
        color=_colour(ink.colour),
        bgcolor=_colour(ink.background),
        bold=ink.bold or None,
        dim=ink.dim or None,
        italic=ink.italic or None,
        underline=ink.underline or None,
        strike=ink.strike or None,
        reverse=ink.reverse or None,
    )


def text_of(line: Iterable[tuple[str, Ink]]) -> Text:
    """Return a program's line as rich text."""
    text = Text()
    for run, ink in line:
        text.append(run, style_of(ink))
    text.expand_tabs(8)
    return text


def _colour(colour: Colour) -> Color | None:
    if colour is None:
        return None
    return Color.from_ansi(colour) if isinstance(colour, int) else Color.from_rgb(*colour)


def _attributes(style: Style) -> tuple[tuple[bool | None, str], ...]:
    return (
        (style.bold, "1"),
        (style.dim, "2"),
        (style.italic, "3"),
        (style.underline, "4"),
        (style.reverse, "7"),
        (style.strike, "9"),
    )


def _pieces(text: Text) -> Iterable[tuple[str, Style]]:
    base = _style(text.style)
    if not (text.spans or base):
        yield text.plain, base
        return
    plain, at = text.plain, 0
    if _in_order(text):
        for span in text.spans:
            if span.start > at:
                yield plain[at : span.start], base
            yield plain[span.start : span.end], base + _style(span.style)
            at = max(at, span.end)
    else:
        edges = sorted({0, len(plain), *(edge for span in text.spans for edge in (span.start, span.end))})
        for start, end in pairwise(edges):
            style = base
            for span in text.spans:
                if span.start <= start and end <= span.end:
                    style += _style(span.style)
            yield plain[start:end], style
        at = len(plain)
    if at < len(plain):
        yield plain[at:], base


def _in_order(text: Text) -> bool:
    at = 0
    for span in text.spans:
        if span.start < at:
            return False
        at = span.end
    return at <= len(text.plain)


def _style(style: str | Style) -> Style:
    return style if isinstance(style, Style) else Style.parse(style)


def _has_no_ground(before: str, after: str) -> bool:
    # On a space a colour or weight is invisible; a background, a line or reverse is not.
    if "|" in before or "|" in after:
        return False
    return not any(_SEEN_ON_SPACE & set(sgr.split(";")) or "48;" in sgr for sgr in (before, after))


_SEEN_ON_SPACE = {"4", "7", "9", *(str(code) for code in (*range(40, 48), *range(100, 108)))}


class TerminalScreen:
    """A target of rows. One object at a time draws on a terminal."""

    def __init__(self, painter: Painter, palette: Palette) -> None:
        self._painter = painter
        self._palette = palette

    @property
    def width(self) -> int:
        """The cells of a row, at least 20."""
        return self._painter.width

    @property
    def rows(self) -> int:
        """The rows of the terminal."""
        return self._painter.rows

    @property
    def tail_rows(self) -> int:
        """The most rows of a tail; 0 on a terminal that cannot repaint."""
        return self._painter.tail_rows

    @property
    def ascii_only(self) -> bool:
        """True if formulas are written in ASCII: on a dumb terminal, or if the encoding lacks signs."""
        painter = self._painter
        return not (painter.live and writes_formulas(painter.out.encoding or "utf-8"))

    def update(
        self,
        finished: Sequence[Text | Graphic],
        tail: Sequence[Text] = (),
        passing: Sequence[Text] = (),
        *,
        grows: bool = False,
    ) -> None:
        """Append `finished`, show `tail` and `passing`; write once, or not at all if nothing changed.

        The rows of the tail become final with little change. `grows`: their block is not complete.
        """
        rows: list[Row | Graphic] = [
            self._palette.row(row) if isinstance(row, Text) else row for row in finished
        ]
        self._painter.update(rows, self._live(tail), self._live(passing), grows=grows)

    def aside(self, rows: Sequence[Text]) -> bool:
        """Show rows below a block that grows, and append them after it; return False if there is no room."""
        fitting = (part for row in rows for part in wrapped(row, self.width))
        return self._painter.aside([self._palette.row(part) for part in fitting])

    def _live(self, rows: Sequence[Text]) -> list[Row]:
        # One row of a tail is one row of the screen, or moving up in it would miss.
        fitting = [part for row in rows for part in fold(row, self.width)] if self.tail_rows else []
        return [self._palette.row(part) for part in fitting[-self.tail_rows :]]
