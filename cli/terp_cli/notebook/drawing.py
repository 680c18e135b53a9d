"""Turns in a notebook or IPython: the front end for pipes, whose lines the kernel shows.

The answer is Markdown, which grows in a notebook, and notes are small print. Outputs of code are not shown:
the kernel that runs it does that.
"""

import html
import io
import re
import time

from terp import events as on
from terp.analysis.edits import spelled_edits
from terp.session.cost.budget import Tally
from terp.text.fences import fenced, opening_fence
from terp_cli.fronts.plain import PlainFront
from terp_cli.notebook.pipe import KernelPipe
from terp_cli.render.sentences import effects_line
from terp_cli.terminal.sanitise import readable, visible

_EVERY_S = 0.1
# A front end loads a picture of Markdown or HTML at once: its address could carry data away.
_ACTIVE = re.compile(r"<(?=[A-Za-z/!?])|!(?=\[)")
_APART = "\N{ZERO WIDTH SPACE}"


def inert(text: str) -> str:
    """Return Markdown in which nothing loads by itself: no HTML, and links in place of pictures.

    Code in fences is left as it is.
    """
    lines, fence = [], None
    for line in text.split("\n"):
        if fence is not None:
            fence = None if fence.is_closed_by(line) else fence
        elif (opened := opening_fence(line)) and not opened.indent:
            fence = opened
        else:
            line = _ACTIVE.sub(lambda found: found[0] + _APART, line)  # noqa: PLW2901
        lines.append(line)
    return "\n".join(lines)


class NotebookFront(PlainFront):
    """Shows a turn in a notebook, or, if it is not `rich`, as plain text in IPython at a terminal."""

    def __init__(self, pipe: KernelPipe, *, rich: bool) -> None:
        self._pipe, self._rich = pipe, rich
        self._lines = io.StringIO()
        super().__init__(self._lines, self._lines)
        self._text = self._shown = ""
        self._block = 0
        self._drawn_at = 0.0
        self._used = Tally()

    def note(self, text: str) -> None:
        """Show lines in small print."""
        if plain := readable(text.strip("\n")):
            marked = f"<small>{html.escape(plain).replace(chr(10), '<br>')}</small>"
            self._pipe.show({"text/html": marked, "text/plain": plain})

    def take(self, event: on.Event) -> None:
        """Show one event; the kernel shows outputs, and the end of a turn that did not succeed."""
        match event:
            case on.TextDelta():
                self._text += event.text
                if self._rich and time.monotonic() - self._drawn_at > _EVERY_S:
                    self._draw()
                return
            case on.UsageReported():
                self._used = self._used.plus(event)
                return
            case on.Printed() | on.LateOutput():
                return
            case on.ModelRetrying():
                self._text = ""
            case _:
                self._draw()
        match event:
            case on.ModelCalled():
                self._block += 1
                self._text = self._shown = ""
            case on.CodeProposed():
                code = fenced(visible(event.code).rstrip("\n"), event.language)
                self._pipe.show({"text/markdown": code, "text/plain": code})
                edits = spelled_edits(event.language, event.code, event.cwd)
                self.note(effects_line(event.effects, edits))
            case on.TurnFinished():
                tokens, cost = self._used.input_tokens + self._used.output_tokens, self._used.cost_usd
                self.note((f"{tokens:,} tokens" if tokens else "") + (f" · ${cost:.4f}" if cost else ""))
                self._used = Tally()
            case _:
                super().take(event)
                self.note(self._lines.getvalue())
                self._lines.seek(0)
                self._lines.truncate()

    def _draw(self) -> None:
        """Show the text of the reply so far, in the place of what was shown of it."""
        if self._text == self._shown:
            return
        plain = readable(self._text)
        data = {"text/markdown": inert(plain), "text/plain": plain}
        self._pipe.show(data, f"terp-{id(self)}-{self._block}", update=bool(self._shown))
        self._shown, self._drawn_at = self._text, time.monotonic()
