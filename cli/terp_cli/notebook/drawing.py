"""Turns in a notebook or IPython: the front end for pipes, whose lines the kernel shows.

In a notebook the answer is Markdown that grows, and notes are small print. Outputs of code are not shown: the
kernel that runs it does that.
"""

import html
import io
import re
import time

from terp import events as on
from terp.analysis.edits import spelled_edits
from terp.text.fences import marks_around, opening_fence
from terp_cli.fronts.plain import PlainFront
from terp_cli.notebook.pipe import KernelPipe
from terp_cli.render.sentences import effects_line
from terp_cli.terminal.sanitise import one_line, readable, visible

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


class IPythonFront(PlainFront):
    """Shows a turn in IPython at a terminal, as plain text."""

    def __init__(self, pipe: KernelPipe) -> None:
        self._pipe = pipe
        self._lines = _TerminalText()
        super().__init__(self._lines, self._lines)

    def note(self, text: str) -> None:
        """Write lines."""
        self._pipe.send("write", text=f"{readable(text)}\n")

    def take(self, event: on.Event) -> None:
        """Show one event; the kernel shows outputs, and the end of a turn that did not succeed."""
        is_end = isinstance(event, on.TurnFinished) and event.reason != "done"
        if is_end or isinstance(event, on.Printed | on.LateOutput):
            return
        super().take(event)
        if text := self._lines.getvalue().rstrip("\n"):
            self.note(text)
        self._lines.seek(0)
        self._lines.truncate()


class NotebookFront(IPythonFront):
    """Shows a turn in a notebook."""

    def __init__(self, pipe: KernelPipe) -> None:
        super().__init__(pipe)
        self._text, self._shown = "", ""
        self._block = 0
        self._drawn_at = 0.0
        self._tokens = 0
        self._cost: float | None = 0.0

    def note(self, text: str) -> None:
        """Show lines in small print."""
        plain = readable(text.strip("\n"))
        marked = f"<small>{html.escape(plain).replace(chr(10), '<br>')}</small>"
        self._pipe.send("show", data={"text/html": marked, "text/plain": plain})

    def take(self, event: on.Event) -> None:
        """Show one event: text and code as Markdown, others as lines."""
        if isinstance(event, on.TextDelta):
            self._text += event.text
            if time.monotonic() - self._drawn_at > _EVERY_S:
                self._draw()
            return
        if isinstance(event, on.ModelRetrying):
            self._text = ""
        if not isinstance(event, on.UsageReported):
            self._draw()
        match event:
            case on.ModelCalled():
                self._block += 1
                self._text = self._shown = ""
            case on.UsageReported(cost_usd=cost):
                self._cost = None if cost is None or self._cost is None else self._cost + cost
                self._tokens += event.input_tokens + event.output_tokens
            case on.CodeProposed():
                self._code(event)
            case on.TurnFinished():
                self._account()
            case _:
                super().take(event)

    def _code(self, event: on.CodeProposed) -> None:
        code = visible(event.code).rstrip("\n")
        marks = marks_around(code)
        text = f"{marks}{one_line(event.language)}\n{code}\n{marks}"
        self._pipe.send("show", data={"text/markdown": text, "text/plain": code})
        edits = spelled_edits(event.language, event.code, event.cwd)
        if expected := effects_line(event.effects, edits):
            self.note(expected)

    def _draw(self) -> None:
        """Show the text of the reply so far, in the place of what was shown of it."""
        if self._text == self._shown:
            return
        plain = readable(self._text)
        data = {"text/markdown": inert(plain), "text/plain": plain}
        self._pipe.send("show", data=data, id=f"terp-{id(self)}-{self._block}", update=bool(self._shown))
        self._shown, self._drawn_at = self._text, time.monotonic()

    def _account(self) -> None:
        if self._tokens:
            price = "" if self._cost is None else f" · ${self._cost:.4f}"
            self.note(f"{self._tokens:,} tokens{price}")
        self._tokens, self._cost = 0, 0.0


class _TerminalText(io.StringIO):
    """Text that a terminal will show."""

    def isatty(self) -> bool:
        return True
