"""A list to pick from: arrows move, typed words narrow it, Esc leaves.

at = await prompt.pick("Resume which session?", [Pick(("About apples", "3 h ago"), also="2026-11-21-ab")])
"""

import asyncio
from collections.abc import Sequence

from prompt_toolkit.application import get_app
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition, has_focus
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.keys import Keys
from prompt_toolkit.layout import (
    BufferControl,
    ConditionalContainer,
    Dimension,
    FormattedTextControl,
    HSplit,
    VSplit,
    Window,
)
from prompt_toolkit.utils import get_cwidth

from terp_cli.prompt.interface import Pick, Typed, matching
from terp_cli.terminal.sanitise import one_line, readable

_ROWS, _PREVIEWED = 12, 6
# Rows of the filter, the keys, the toolbar, and some of the conversation.
_OTHERS = 8
_GAP = 2
_NARROWEST = 24
_PREVIEW_FROM = 100
_KEYS = "↑↓ choose · type to narrow · Enter takes it · Esc leaves"


def rows_of(picks: Sequence[Pick], width: int) -> list[str]:
    """Return the rows in aligned columns; the first is cut to the room that the others leave.

    Where that is too little, the last columns are left out.
    """
    table = [[one_line(cell) for cell in pick.cells] for pick in picks]
    widths = [max(map(get_cwidth, column)) for column in zip(*table, strict=True)]
    while len(widths) > 1 and width - sum(widths[1:]) - _GAP * (len(widths) - 1) < min(_NARROWEST, widths[0]):
        widths.pop()
    widths[0] = min(widths[0], width - sum(widths[1:]) - _GAP * (len(widths) - 1))
    gap = " " * _GAP
    return [gap.join(map(_padded, cells[: len(widths)], widths)).rstrip() for cells in table]


def _padded(text: str, width: int) -> str:
    if get_cwidth(text) > width:
        while get_cwidth(text) > width - 1:
            text = text[:-1]
        text += "…"
    return text + " " * (width - get_cwidth(text))


class Picker:
    """A question whose answer is the position of a row, as text; "" if the user leaves."""

    edits = False

    def __init__(self, title: str, picks: Sequence[Pick], at: int = 0) -> None:
        """Begin at row `at`."""
        self.answered: asyncio.Future[Typed] = asyncio.get_running_loop().create_future()
        self._title = title
        self._picks = picks
        self._found = list(range(len(picks)))
        self._at = at
        self._read: dict[int, str] = {}
        self._filter = Buffer(multiline=False, on_text_changed=self._narrow)
        self.window = Window(
            BufferControl(self._filter, key_bindings=self._bindings()),
            height=1,
            get_line_prefix=lambda _line, _wrapped: [("bold", f"{title} "), ("class:mark", "› ")],
        )
        previewed = Condition(lambda: self._width >= _PREVIEW_FROM and any(one.preview for one in picks))
        listed = Window(FormattedTextControl(self._rows), dont_extend_height=True)
        beside = VSplit(
            [
                Window(width=1, char="│", style="class:quiet"),
                Window(FormattedTextControl(self._preview), wrap_lines=True),
            ],
            padding=1,
            width=lambda: Dimension.exact(self._width - self._list_width - 1),
            # As high as the whole list, so that nothing moves as it gets shorter.
            height=lambda: Dimension.exact(min(self._height, max(len(picks), _PREVIEWED)) + 1),
        )
        keys = Window(FormattedTextControl(self._keys), height=1)
        self.layout = HSplit(
            [
                self.window,
                VSplit([HSplit([listed, keys]), ConditionalContainer(beside, filter=previewed)]),
            ]
        )
        self._previews = previewed

    @property
    def said(self) -> str:
        """The question and its answer, for the screen; "" if the user left."""
        done = self.answered.done() and not self.answered.cancelled() and not self.answered.exception()
        chosen = self.answered.result().text if done else ""
        return f"{self._title} › {one_line(self._picks[int(chosen)].cells[0])}" if chosen else ""

    @property
    def _width(self) -> int:
        return get_app().output.get_size().columns

    @property
    def _height(self) -> int:
        return max(3, min(_ROWS, get_app().output.get_size().rows - _OTHERS))

    @property
    def _list_width(self) -> int:
        return self._width * 3 // 5 if self._previews() else self._width

    def _narrow(self, buffer: Buffer) -> None:
        self._found, self._at = matching(self._picks, buffer.text), 0

    def _rows(self) -> StyleAndTextTuples:
        if not self._found:
            return [("class:quiet", "  Nothing matches.")]
        first = min(max(0, self._at - self._height // 2), max(0, len(self._found) - self._height))
        rows = rows_of([self._picks[at] for at in self._found], self._list_width - 3)
        shown = list(enumerate(rows))[first : first + self._height]
        lines = [
            ("reverse" if at == self._at else "", f"{'›' if at == self._at else ' '} {row}")
            for at, row in shown
        ]
        parts: StyleAndTextTuples = []
        for style, line in lines:
            parts += [("", "\n")] * bool(parts) + [(style, line)]
        return parts

    def _keys(self) -> StyleAndTextTuples:
        number = f"{self._at + 1} of {len(self._found)} · " if len(self._found) > self._height else ""
        return [("class:quiet", f"  {number}{_KEYS}")]

    def _preview(self) -> StyleAndTextTuples:
        if not self._found:
            return []
        at = self._found[self._at]
        if at not in self._read:
            preview = self._picks[at].preview
            self._read[at] = readable(preview() if preview else "")
        return [("", self._read[at])]

    def _take(self) -> None:
        if self._found and not self.answered.done():
            self.answered.set_result(Typed(str(self._found[self._at]), pasted=False))

    def _leave(self) -> None:
        if not self.answered.done():
            self.answered.set_result(Typed("", pasted=False))

    def _move(self, by: int) -> None:
        self._at = max(0, min(len(self._found) - 1, self._at + by))

    def _bindings(self) -> KeyBindings:
        bindings = KeyBindings()
        here = has_focus(self._filter)
        for keys, by in ((("up", "c-p"), -1), (("down", "c-n", "tab"), 1)):
            for key in keys:
                bindings.add(key, filter=here)(lambda _, by=by: self._move(by))
        bindings.add("pageup", filter=here)(lambda _: self._move(-self._height))
        bindings.add("pagedown", filter=here)(lambda _: self._move(self._height))
        bindings.add("enter", filter=here)(lambda _: self._take())
        for key in ("escape", "c-c", "c-d"):
            # Esc may begin no other key here.
            bindings.add(key, filter=here, eager=True)(lambda _: self._leave())

        @bindings.add(Keys.BracketedPaste, filter=here)
        def _paste(event: KeyPressEvent) -> None:
            event.current_buffer.insert_text(" ".join(event.data.split()))

        return bindings
