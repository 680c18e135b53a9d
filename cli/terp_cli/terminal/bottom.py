"""prompt_toolkit's layout as the painter's bottom, so that only the painter writes to the terminal."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Size
from prompt_toolkit.layout import Layout
from prompt_toolkit.layout.mouse_handlers import MouseHandlers
from prompt_toolkit.layout.screen import Screen, WritePosition
from prompt_toolkit.output import DummyOutput
from prompt_toolkit.output.vt100 import BG_ANSI_COLORS, FG_ANSI_COLORS
from prompt_toolkit.renderer import Renderer
from prompt_toolkit.styles import Attrs, BaseStyle

from terp_cli.terminal.guard import TerminalListener
from terp_cli.terminal.painter import Painter
from terp_cli.terminal.rows import Row, Run
from terp_cli.terminal.sanitise import readable
from terp_cli.terminal.theme import Theme

_PASTES_ARE_MARKED, _PASTES_ARE_NOT = "\x1b[?2004h", "\x1b[?2004l"


class Measured(DummyOutput):
    """Output for prompt_toolkit that has the size of the terminal and writes only the bell."""

    def __init__(self, painter: Painter) -> None:
        self._painter = painter

    def get_size(self) -> Size:
        """Return the current rows and columns."""
        return Size(rows=self._painter.rows, columns=self._painter.width)

    def bell(self) -> None:
        """Ring."""
        self._painter.send("\a")


class Bottom(Renderer):
    """Renderer that passes the rows of the layout to the painter.

    prompt_toolkit erases before another program uses the terminal (`run_in_terminal`, suspending) or when
    the size has changed, and renders afterwards: the painter pauses in between.
    """

    def __init__(
        self,
        style: BaseStyle,
        painter: Painter,
        listener: TerminalListener,
        theme: Callable[[], Theme],
    ) -> None:
        """`theme` may change until the terminal has answered all queries."""
        self._painter = painter
        self._listener = listener
        self._theme = theme
        self._marks_pastes = False
        self._known: dict[str, str] = {}
        self._known_in = theme()
        super().__init__(style, Measured(painter))

    def render(self, app: Application[Any], layout: Layout, is_done: bool = False) -> None:
        """Paint the current layout."""
        if is_done:
            self.erase()
            return
        if not self._marks_pastes:
            self._painter.send(_PASTES_ARE_MARKED)
            self._listener.taken()
            self._marks_pastes = True
        if (theme := self._theme()) is not self._known_in:
            self._known_in, self._known = theme, {}
        columns, height = self._painter.width, self._painter.rows
        height = min(layout.container.preferred_height(columns, height).preferred, height)
        screen = Screen()
        layout.container.write_to_screen(
            screen,
            MouseHandlers(),
            WritePosition(xpos=0, ypos=0, width=columns, height=height),
            parent_style="",
            erase_bg=False,
            z_index=None,
        )
        screen.draw_all_floats()
        app.layout.visible_windows = screen.visible_windows
        cursor = screen.get_cursor_position(layout.current_window)
        rows = [self._row(screen, row, columns) for row in range(height)]
        self._painter.place(rows, (min(cursor.y, max(0, height - 1)), min(cursor.x, columns - 1)))
        self._painter.resume()
        if app.loop is not None and (wait := self._painter.waits_s):
            app.loop.call_later(wait, app.invalidate)

    def erase(self, leave_alternate_screen: bool = True) -> None:
        """Leave the terminal to another program, until the next `render`."""
        self._painter.pause()
        if self._marks_pastes:
            self._painter.send(_PASTES_ARE_NOT)
            self._listener.given()
            self._marks_pastes = False

    def reset(self, _scroll: bool = False, leave_alternate_screen: bool = True) -> None:
        """Do nothing: the painter knows the screen."""

    def request_absolute_cursor_position(self) -> None:
        """Do nothing: rows are counted from the first that was written."""

    def clear(self) -> None:
        """Clear the screen (Ctrl+L)."""
        self._painter.clear()

    def _row(self, screen: Screen, number: int, columns: int) -> Row:
        cells = screen.data_buffer[number]
        runs: list[Run] = []
        at, before = 0, ""
        while at < columns:
            cell = cells[at]
            at += cell.width or 1
            sgr = self.sgr(cell.style)
            shown = _shown(cell.char, cell.width, before, cells[at].char[:1] if at < columns else "")
            before = cell.char[:1]
            if runs and runs[-1][1] == sgr:
                runs[-1] = (runs[-1][0] + shown, sgr)
            else:
                runs.append((shown, sgr))
        if runs and not _seen_on_spaces(runs[-1][1]):
            last = runs[-1][0].rstrip(" ")
            runs[-1:] = [(last, runs[-1][1])] if last else []
        return tuple(runs)

    def sgr(self, style: str) -> str:
        """Return the SGR parameters of a style."""
        known = self._known.get(style)
        if known is None:
            attributes = self.style.get_attrs_for_style_str(style)
            known = self._known[style] = _parameters(attributes, self._known_in)
        return known


def _parameters(attributes: Attrs, theme: Theme) -> str:
    codes = [
        code
        for on, code in (
            (attributes.bold, "1"),
            (attributes.dim, "2"),
            (attributes.italic, "3"),
            (attributes.underline, "4"),
            (attributes.reverse, "7"),
        )
        if on
    ]
    if theme.colours:
        colour = attributes.color or ""
        codes.append(theme.sgr.get(colour.removeprefix("ansi"), str(FG_ANSI_COLORS.get(colour, ""))))
        codes.append(str(BG_ANSI_COLORS.get(attributes.bgcolor or "", "")))
    return ";".join(filter(None, codes))


def _seen_on_spaces(sgr: str) -> bool:
    return any(
        code in ("4", "7") or (code.isdigit() and 40 <= int(code) % 60 < 48) for code in sgr.split(";")
    )


@lru_cache(maxsize=2048)
def _shown(text: str, width: int, before: str, after: str) -> str:
    """Return the text of a cell of this width, or U+FFFD if it could control the terminal.

    A joiner is judged by the characters `before` and `after` the cell.
    """
    around = before + text + after
    return text if readable(text) == text or readable(around) == around else "\ufffd".ljust(width)
