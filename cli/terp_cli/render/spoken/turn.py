"""The events of a turn for a screen reader: labelled lines, in complete blocks."""

import re
from collections.abc import Callable
from dataclasses import replace
from typing import assert_never

from rich.text import Text

from terp import events as on
from terp.analysis.edits import spelled_edits
from terp.events.changes import delta_words
from terp.events.outputs import Output
from terp.session.cost.budget import Tally
from terp.text.plain import counted
from terp_cli.render import words
from terp_cli.render.diff import spoken_diff
from terp_cli.render.output.output import Interruption
from terp_cli.render.pieces import Pieces
from terp_cli.render.sentences import OfPast, effects_line, notable
from terp_cli.render.spoken.output import SpokenOutput
from terp_cli.render.spoken.prose import SpokenProse, code_lines
from terp_cli.render.status import elapsed
from terp_cli.terminal.sanitise import one_line, readable

OfReply = on.ReasoningDelta | on.TextDelta | on.CodeDelta | on.CodeProposed
OfRun = on.CodeStarted | on.Printed | on.LateOutput | on.CodeFinished | on.JobChanged
Said = (
    on.TurnStarted | on.Answered | on.CodeDeclined | on.CodeRejected | on.HistoryCompacted | on.Noticed
    | on.KernelChanged | on.CodeTyped | on.UsageReported
)  # fmt: skip
Waiting = on.ModelCalled | on.ModelRetrying | on.Progress | on.Asked | on.CheckStarted | on.CheckFinished

_FIRST_S, _AGAIN_S = 2.0, 10.0
"""Seconds until waiting is reported, and between further reports."""
_LONGEST_REASONING = 300
_GAP = re.compile(r"(?<=\d),(?=\d{3})")
_ENDS = {
    "ok": "Done in",
    "error": "Failed after",
    "interrupted": "Interrupted, with all variables kept, after",
    "timeout": "Out of time after",
    "died": "The kernel died after",
}


class SpokenTurn:
    """Converter of the events of a session into lines, one turn after the other.

    `verbose` shortens nothing; `repeats` adds the prompts. If code runs without approval (`asks` is False),
    only its notable effects are written.
    """

    def __init__(
        self,
        clock: Callable[[], float],
        *,
        verbose: bool = False,
        repeats: bool = True,
        asks: Callable[[], bool] = lambda: True,
    ) -> None:
        self._asks = asks
        self._repeats = repeats
        self._clock = clock
        self.verbose = verbose
        self._what = ""
        self._since = 0.0
        self._reported_at: float | None = None
        self._reasoning = Pieces()
        self._prose = SpokenProse()
        self._replying = False
        self._output: SpokenOutput | None = None
        self._cwd = ""
        self._obituary = ""
        self._interruption = Interruption()
        self._usage = Tally()

    def take(self, event: on.Event) -> list[str]:
        """Return the lines that `event` completes."""
        if isinstance(event, OfReply):
            return self._of_reply(event)
        if isinstance(event, OfRun):
            return self._of_run(event)
        if isinstance(event, Waiting):
            return self._of_waiting(event)
        if isinstance(event, Said):
            said = self._sentence(event)
            return [*self.rest(), *said] if said else []
        if isinstance(event, OfPast):
            return [*self.rest(), *_plain(words.of_past(event))]
        return self._finished(event)

    def rest(self) -> list[str]:
        """Return all held lines. Called when another block follows, or the turn is over."""
        lines = self._reasoned() + self._replied(self._prose.finish())
        self._replying = False
        return lines + (self._output.taken() if self._output else [])

    def waiting(self) -> list[str]:
        """Return the cause and the duration of waiting, if due; for a long run also its output so far."""
        now = self._clock()
        waited = now - self._since
        if (
            not self._what
            or waited < _FIRST_S
            or (self._reported_at is not None and now - self._reported_at < _AGAIN_S)
        ):
            return []
        self._reported_at = now
        so_far = self._output.taken() if self._output else []
        return [*so_far, f"{self._what}, {elapsed(waited)}."]

    def _of_reply(self, event: OfReply) -> list[str]:
        match event:
            case on.ReasoningDelta(text=text):
                self._wait("Thinking")
                self._reasoning.add(text)
                return []
            case on.TextDelta(text=text, reference=reference):
                self._wait("Writing")
                said = f"{text} (computed)" if reference else text
                return self._reasoned() + self._replied(self._prose.feed(said))
            case on.CodeDelta():
                # It is written when it is complete.
                self._wait("Writing code")
                return []
            case on.CodeProposed(language=language, code=code, cwd=cwd):
                self._what, self._cwd = "", cwd
                asks = self._asks() or bool(event.asks)
                shown = event.effects if asks else notable(event.effects, cwd)
                edits = spelled_edits(language, code, cwd)
                effects = [f"Expected: {effects_line(shown, edits)}."] if shown.found or asks else []
                diffs = [line for edit in edits for line in spoken_diff(edit.path, edit.lines, edit.diff)]
                return [*self.rest(), *code_lines(language, code), *(diffs if asks else ()), *effects]
            case _:
                assert_never(event)

    def _of_run(self, event: OfRun) -> list[str]:
        match event:
            case on.CodeStarted():
                lines = self.rest()
                self._wait("Running")
                self._output = SpokenOutput(self._cwd, whole=self.verbose)
                return lines
            case on.Printed(call_id=call_id, output=output):
                if not self.verbose and self._interruption.keeps(call_id, output):
                    return []
                return self._said(output)
            case on.LateOutput(output=output):
                late = SpokenOutput(self._cwd, whole=self.verbose)
                lines = [*late.add(output), *late.taken()]
                return [*self.rest(), "Output of an earlier run:", *lines] if lines else []
            case on.CodeFinished():
                self._what = ""
                errors = self._interruption.released(event)
                after_all = [line for error in errors for line in self._said(error)]
                return [*after_all, *self.rest(), *self._ended(event)]
            case on.JobChanged():
                lines = [*self.rest(), _of_job(event)]
                self._what, self._output = "", None
                return lines
            case _:
                assert_never(event)

    def _said(self, output: Output) -> list[str]:
        self._output = self._output or SpokenOutput(self._cwd, whole=self.verbose)
        return self._output.add(output)

    def _of_waiting(self, event: Waiting) -> list[str]:
        match event:
            case on.ModelCalled(model=model):
                lines = self.rest()
                self._wait(f"Waiting for {one_line(model)}")
                return lines
            case on.ModelRetrying(delay_s=delay_s):
                lines = self.rest()
                self._wait("Waiting to try again")
                return [*lines, *_plain(words.retrying(event)), f"In {delay_s:.0f} s."]
            case on.CheckStarted():
                lines = [*self.rest(), *_plain(words.of_check(event))]
                self._wait("Checking")
                return lines
            case on.CheckFinished():
                self._what = ""
                return [*self.rest(), *_plain(words.of_check(event))]
            case on.Progress(seconds=seconds):
                self._wait("" if event.is_over else words.progress(event), seconds)
                return []
            case on.Asked():
                # The code that asks writes the question, perhaps on another terminal.
                self._what = ""
                return self.rest()
            case _:
                assert_never(event)

    def _sentence(self, event: Said) -> list[str]:
        match event:
            case on.TurnStarted(prompt=prompt, attachments=names):
                asked = _asked(prompt) if self._repeats else []
                return [*asked, *([f"Attached: {', '.join(map(one_line, names))}."] if names else [])]
            case on.Noticed(text=text, remedy=remedy):
                return _lines(f"Note: {text}") + (_lines(remedy) if remedy else [])
            case on.KernelChanged():
                return self._of_kernel(event)
            case on.Answered() | on.CodeDeclined() | on.CodeRejected() | on.HistoryCompacted():
                return _plain(words.sentence(event))
            case on.CodeTyped():
                # It is on the screen as the typed line.
                return []
            case on.UsageReported():
                self._usage = self._usage.plus(event)
                return []
            case _:
                assert_never(event)

    def _of_kernel(self, event: on.KernelChanged) -> list[str]:
        name = one_line(event.language)
        starting = f"Starting {name}"
        if event.state == "died":
            self._obituary = event.why
        elif event.state == "interrupting":
            return [f"The code does not answer. Ctrl-C again ends {name} and its variables."]
        elif event.state == "starting" and not self._what:
            self._wait(starting)
        elif event.state == "ready" and self._what == starting:
            self._what = ""
        return _plain(words.kernel_changed(event))

    def _ended(self, event: on.CodeFinished) -> list[str]:
        """Return the end of a run, its changed files, and the file of its output if lines were omitted."""
        cut = self._output is not None and self._output.cut
        self._output = None
        # The death was reported when it happened.
        note = event.note.removesuffix(self._obituary).rstrip()
        self._obituary = ""
        # A screen reader would read grouped digits as several numbers.
        changed = _GAP.sub("", delta_words(event.changes, event.more_changes))
        _, *lines = _plain(words.finished(replace(event, note=note, changes=(), more_changes=0)))
        lines += [f"Variables: {one_line(changed)}"] if changed else []
        lines += _plain(words.left_behind(event, cut=cut))
        return [f"{_ENDS[event.status]} {elapsed(event.seconds)}.", *(line.strip() for line in lines)]

    def _finished(self, event: on.TurnFinished) -> list[str]:
        self._what = ""
        # A screen reader would read grouped digits as several numbers.
        used = _GAP.sub("", words.usage_line(self._usage)).replace(" · ", ", ")
        lines = [*self.rest(), *_plain(words.ended(event, Tally())), *([used] if used else [])]
        self._output, self._reported_at, self._usage = None, None, Tally()
        return lines

    def _reasoned(self) -> list[str]:
        text = " ".join(readable(self._reasoning.take()).split())
        if len(text) > _LONGEST_REASONING and not self.verbose:
            text = text[:_LONGEST_REASONING].rpartition(" ")[0] + " …"
        return [f"Reasoning: {text}"] if text else []

    def _replied(self, lines: list[str]) -> list[str]:
        if not lines or self._replying:
            return lines
        self._replying = True
        return [f"terp: {lines[0]}", *lines[1:]]

    def _wait(self, what: str, seconds: float = 0.0) -> None:
        if what != self._what:
            self._what, self._since = what, self._clock() - seconds


def _asked(prompt: str) -> list[str]:
    first, *more = readable(prompt).strip().split("\n")
    return [f"You: {first}", *([f"And {counted(len(more), 'more line')}."] if more else [])]


def _of_job(event: on.JobChanged) -> str:
    name = f"job {event.job}, {one_line(event.language)}"
    if event.state == "ended":
        return f"What came of {name}:"
    return f"Runs in the background as {name}, after {elapsed(event.seconds)}."


def _plain(rows: list[Text]) -> list[str]:
    return [row.plain.replace(" · ", ", ") for row in rows]


def _lines(text: str) -> list[str]:
    return readable(text).split("\n")
