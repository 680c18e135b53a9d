"""A turn as Markdown: the model's text, code and output in fences, pictures as links."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import assert_never

from terp import events as on
from terp.events.error_text import readable
from terp.events.outputs import Clear, Display, DisplayUpdate, Error, InputRequest, Omitted, Output, Text
from terp.text.fences import fenced, marks_around_lines, quoted
from terp.text.plain import Lines
from terp_cli.render import sentences

_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp", ".svg"})


class Markdown:
    """Converter of the events of one answer into text.

    `link` returns the URL of a file that a run wrote; `cwd` is the working directory of the code.
    """

    def __init__(self, link: Callable[[str], str], cwd: str) -> None:
        self._link = link
        self._cwd = cwd
        self._end = ""
        self._fence = ""
        self._apart = False
        self._lines: dict[str, Lines] = {}

    @property
    def begun(self) -> bool:
        """Return True if there is any text yet."""
        return bool(self._end)

    def take(self, event: on.Event) -> str:
        """Return the text that an event adds."""
        return "".join(self._text(event))

    def block(self, text: str) -> str:
        """Return a separate paragraph."""
        return "".join([*self._closed(), *self._block(text)])

    def _text(self, event: on.Event) -> Iterator[str]:
        match event:
            case on.TextDelta(text=text):
                yield from self._closed()
                yield from self._flowing(text)
            case on.CodeProposed(language=language, code=code):
                yield from self._closed()
                yield from self._block(fenced(code, language))
            case on.Printed(output=output) | on.LateOutput(output=output):
                yield from self._output(output)
            case on.CodeFinished(status=status, note=note):
                yield from self._closed()
                if note or status not in ("ok", "error"):
                    yield from self._block(quoted(note or f"The run ended: {status}."))
            case on.CodeDeclined() | on.Noticed() | on.CheckStarted() | on.CheckFinished():
                yield from self._remark(event)
            case on.ModelRetrying():
                # What came of the reply cannot be taken back: the next one begins apart from it.
                self._apart = self.begun
            # CodeRejected stays between the model and terp: the model reads the problem and calls again.
            case (
                on.TurnStarted() | on.ModelCalled() | on.ReasoningDelta() | on.CodeDelta() | on.CodeTyped()
                | on.Asked() | on.Answered() | on.CodeRejected() | on.CodeStarted() | on.KernelChanged()
                | on.Progress() | on.JobChanged() | on.UsageReported() | on.HistoryCompacted()
                | on.HistoryRewound() | on.SessionForked() | on.SessionResumed() | on.CodeCompared()
                | on.TurnFinished()
            ):  # fmt: skip
                return
            case _:
                assert_never(event)

    def _remark(
        self, event: on.CodeDeclined | on.Noticed | on.CheckStarted | on.CheckFinished
    ) -> Iterator[str]:
        if isinstance(event, on.CheckFinished) and event.output.strip():
            yield from self._console(f"{event.output.rstrip()}\n")
        yield from self._closed()
        yield from self._block(quoted(_remarked(event)))

    def _output(self, output: Output) -> Iterator[str]:
        match output:
            case Text(stream=stream, text=text):
                yield from self._console(self._lines.setdefault(stream, Lines()).feed(text))
            case Omitted(characters=characters, lines=lines):
                yield from self._console(f"[{lines:,} lines, {characters:,} characters left out]\n")
            case Error():
                yield from self._console(f"{readable(output, self._cwd)}\n")
            case InputRequest(prompt=prompt):
                yield from self._console(f"{prompt}\n")
            case Display(path=path) | DisplayUpdate(path=path) if path:
                yield from self._closed()
                name = Path(path).name
                shows = "!" if Path(path).suffix in _PICTURES else ""
                yield from self._block(f"{shows}[{name}]({self._link(name)})")
            case Display(data=data):
                yield from self._console(f"{data.get('text/plain', '')}\n")
            case DisplayUpdate() | Clear():
                # What was sent cannot be changed any more.
                return
            case _:
                assert_never(output)

    def _console(self, text: str) -> Iterator[str]:
        """Return whole lines inside the fence for output; opens the fence, or replaces it by a longer one."""
        if not text:
            return
        needed = marks_around_lines(text)
        if len(needed) > len(self._fence):
            yield from self._shut()
            self._fence = needed
            yield from self._block(f"{needed}output\n")
        yield self._wrote(text)

    def _closed(self) -> Iterator[str]:
        for lines in self._lines.values():
            if rest := lines.rest():
                yield from self._console(f"{rest}\n")
        self._lines.clear()
        yield from self._shut()

    def _shut(self) -> Iterator[str]:
        if self._fence:
            yield self._wrote(("" if self._end.endswith("\n") else "\n") + self._fence)
            self._fence, self._apart = "", True

    def _flowing(self, text: str) -> Iterator[str]:
        if self._apart:
            yield self._gap()
        self._apart = False
        yield self._wrote(text)

    def _block(self, text: str) -> Iterator[str]:
        yield self._gap()
        yield self._wrote(text)
        self._apart = True

    def _gap(self) -> str:
        if not self.begun:
            return ""
        newlines = len(self._end) - len(self._end.rstrip("\n"))
        return self._wrote("\n" * (2 - newlines))

    def _wrote(self, text: str) -> str:
        self._end = (self._end + text)[-2:]
        return text


class LastReply(Markdown):
    """Converter for an answer whose format the client has set: its text is only the last reply.

    Code that waits for an approval is shown with its question.
    """

    _kept = ""

    def take(self, event: on.Event) -> str:
        """Return the text of the last reply, at the end of the turn."""
        if isinstance(event, on.ModelCalled | on.ModelRetrying):
            self._kept = ""
        elif isinstance(event, on.TextDelta):
            self._kept += event.text
        elif isinstance(event, on.CodeProposed):
            self._kept = f"{fenced(event.code, event.language)}\n\n"
        elif isinstance(event, on.TurnFinished):
            kept, self._kept = self._kept, ""
            return self._wrote(kept)
        return ""

    def block(self, text: str) -> str:
        """Return a separate paragraph, after the code that it may refer to."""
        return super().block(self._kept + text)


def _remarked(event: on.CodeDeclined | on.Noticed | on.CheckStarted | on.CheckFinished) -> str:
    """Return a remark that the user must see beside the answer."""
    match event:
        case on.CodeDeclined(reason=reason):
            return f"Not run: {reason}" if reason else "Not run."
        case on.Noticed(text=text, remedy=remedy):
            return f"{text} {remedy}".rstrip()
        case on.CheckStarted():
            return sentences.check_started(event)
        case on.CheckFinished():
            return sentences.check_finished(event)
