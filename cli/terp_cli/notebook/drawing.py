"""Turns as displays of a notebook: the answer as Markdown that grows, notes in small print.

Outputs of code are not among them: the kernel that runs it shows them itself.
"""

import html
import io
import re
import time
from typing import assert_never

from terp import events as on
from terp.analysis.edits import spelled_edits
from terp.errors import with_remedy
from terp.events.changes import delta_line, described_files, file_groups, stopped_line
from terp.text.fences import marks_around, opening_fence
from terp_cli.fronts.plain import PlainFront
from terp_cli.notebook.pipe import KernelPipe
from terp_cli.render import sentences
from terp_cli.render.sentences import effects_line
from terp_cli.terminal.sanitise import one_line, readable, visible

OfReply = on.TextDelta | on.ReasoningDelta | on.CodeDelta | on.ModelCalled | on.ModelRetrying
OfCode = on.CodeProposed | on.CodeTyped | on.CodeDeclined | on.CodeRejected | on.CodeStarted | on.CodeFinished
Other = (
    on.TurnStarted | on.Asked | on.Answered | on.Printed | on.LateOutput | on.Progress | on.KernelChanged
    | on.JobChanged | on.UsageReported | on.HistoryCompacted | on.HistoryRewound | on.SessionForked
    | on.SessionResumed | on.CodeCompared | on.CheckStarted | on.CheckFinished | on.Noticed | on.TurnFinished
)  # fmt: skip
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


class NotebookFront:
    """Shows a turn in a notebook."""

    def __init__(self, pipe: KernelPipe) -> None:
        self._pipe = pipe
        self._text, self._shown = "", ""
        self._block = 0
        self._drawn_at = 0.0
        self._tokens = 0
        self._cost: float | None = 0.0

    def note(self, text: str) -> None:
        """Show a line in small print."""
        plain = readable(text)
        marked = f"<small>{html.escape(plain).replace(chr(10), '<br>')}</small>"
        self._pipe.send("show", data={"text/html": marked, "text/plain": plain})

    def take(self, event: on.Event) -> None:
        """Show one event."""
        match event:
            case (
                on.TextDelta() | on.ReasoningDelta() | on.CodeDelta() | on.ModelCalled() | on.ModelRetrying()
            ):
                self._of_reply(event)
            case (
                on.CodeProposed() | on.CodeTyped() | on.CodeDeclined() | on.CodeRejected()
                | on.CodeStarted() | on.CodeFinished()
            ):  # fmt: skip
                self._draw()
                self._of_code(event)
            case _:
                self._other(event)

    def _other(self, event: Other) -> None:
        match event:
            case on.Noticed(text=text, remedy=remedy):
                self.note(with_remedy(text, remedy))
            case on.HistoryCompacted():
                self.note(sentences.compacted(event, "{:,}".format))
            case on.HistoryRewound() | on.SessionForked() | on.SessionResumed() | on.CodeCompared():
                self.note(sentences.of_past(event))
            case on.CheckStarted():
                self.note(sentences.check_started(event))
            case on.CheckFinished():
                self.note(sentences.check_finished(event))
            case on.Answered(by=by, answer=answer) if by.startswith(on.RULE):
                self.note(sentences.answered(by, answer))
            case on.UsageReported(cost_usd=cost):
                self._cost = None if cost is None or self._cost is None else self._cost + cost
                self._tokens += event.input_tokens + event.output_tokens
            case on.TurnFinished():
                self._draw()
                self._account()
            case (
                on.TurnStarted() | on.Asked() | on.Answered() | on.Printed() | on.LateOutput()
                | on.Progress() | on.KernelChanged() | on.JobChanged()
            ):  # fmt: skip
                # The kernel shows its outputs and its state, the question is asked by the code that waits.
                return
            case _:
                assert_never(event)

    def _of_reply(self, event: OfReply) -> None:
        match event:
            case on.ModelCalled():
                self._block += 1
                self._text = self._shown = ""
            case on.TextDelta(text=text):
                self._text += text
                if time.monotonic() - self._drawn_at > _EVERY_S:
                    self._draw()
            case on.ModelRetrying(reason=reason, delay_s=delay_s):
                self._text = ""
                self._draw()
                self.note(f"Again in {delay_s:.0f} s: {reason}")
            case on.ReasoningDelta() | on.CodeDelta():
                self._draw()
            case _:
                assert_never(event)

    def _of_code(self, event: OfCode) -> None:
        match event:
            case on.CodeProposed():
                self._proposed(event)
            case on.CodeDeclined(reason=reason):
                self.note(f"Not run. {reason}".rstrip())
            case on.CodeRejected(reason=reason):
                self.note(f"This cannot run: {reason}")
            case on.CodeFinished():
                self._finished(event)
            case on.CodeTyped() | on.CodeStarted():
                return
            case _:
                assert_never(event)

    def _proposed(self, event: on.CodeProposed) -> None:
        code = visible(event.code).rstrip("\n")
        marks = marks_around(code)
        text = f"{marks}{one_line(event.language)}\n{code}\n{marks}"
        self._pipe.send("show", data={"text/markdown": text, "text/plain": code})
        edits = spelled_edits(event.language, event.code, event.cwd)
        if expected := effects_line(event.effects, edits):
            self.note(expected)

    def _finished(self, event: on.CodeFinished) -> None:
        lines = [
            f"{group[0].action.capitalize()} {described_files(group, event.cwd)}"
            for group in file_groups(event.files)
        ]
        if event.status not in ("ok", "error"):
            lines.append(f"{event.status.capitalize()}. {event.note}".rstrip())
        if event.stopped_at:
            lines.append(f"Stopped at {stopped_line(event.stopped_at)}")
        lines.append(delta_line(event.changes, event.more_changes))
        if any(lines):
            self.note("\n".join(line for line in lines if line))

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


class IPythonFront(PlainFront):
    """Shows a turn in IPython at a terminal, as plain text."""

    def __init__(self, pipe: KernelPipe) -> None:
        self._stream = _PipeText(pipe)
        super().__init__(self._stream, self._stream)

    def note(self, text: str) -> None:
        """Write a line."""
        self._stream.write(f"{readable(text)}\n")

    def take(self, event: on.Event) -> None:
        """Write one event; IPython writes the outputs."""
        is_end = isinstance(event, on.TurnFinished) and event.reason != "done"
        if not is_end and not isinstance(event, on.Printed | on.LateOutput):
            super().take(event)


class _PipeText(io.StringIO):
    """A stream whose text the kernel writes."""

    def __init__(self, pipe: KernelPipe) -> None:
        super().__init__()
        self._pipe = pipe

    def write(self, text: str) -> int:
        self._pipe.send("write", text=text)
        return len(text)

    def isatty(self) -> bool:
        return True
