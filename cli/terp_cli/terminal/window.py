"""The terminal's window: its title shows the state of terp, and a notification calls the user back.

    window = TerminalWindow(window_features(environ, terminal=out.isatty(), notify=settings.notify))
    painter.send(window.opened())
    window, sequence = window.saw(event, now)       # for every event; also `passed`, `typed`, `focused`
    painter.send(sequence)
    painter.send(window.closed())

A window is a value: an event gives the next one, and a sequence to write to the terminal, which moves and
draws nothing. On a pipe, a dumb terminal or in CI the sequence is always "".
"""

import re
from collections.abc import Mapping
from typing import Literal, assert_never, cast

from terp import events as on
from terp.text.dataclasses import dataclass, replace
from terp_cli.terminal import tty
from terp_cli.terminal.sanitise import one_line

Notification = Literal["off", "bell", "osc9", "osc99", "osc777"]

LONG_TURN_S = 10.0
"""The user is not notified at the end of a shorter turn."""
_AT_THE_KEYS_S = 10.0
"""A user who typed within this time is present, if the terminal does not report the focus."""
_REAL_QUESTION_S = 0.3
"""A question open for this long waits for the user: a policy such as -y answers sooner."""
_LONGEST_WORDS = 40

_NO_TITLE = re.compile(r"linux|cons25|vt\d+|eterm")
_MULTIPLEXED = re.compile(r"screen|tmux")


@dataclass(frozen=True, slots=True)
class WindowFeatures:
    """The sequences about a window that a terminal may get."""

    title: bool = False
    focus: bool = False
    call: Notification = "off"


@dataclass(frozen=True, slots=True)
class TerminalWindow:
    """The state of the window, and the last signs of its user. Times are in seconds."""

    means: WindowFeatures
    words: str = ""
    typed_run: str = ""
    began: float | None = None
    question: str = ""
    asked: float | None = None
    asks: bool = False
    has_focus: bool | None = None
    touched: float | None = None

    @property
    def state(self) -> str:
        """The state of terp, in words: "asks", "waiting", or "running: …"."""
        if self.asks:
            return "asks"
        return "waiting" if self.began is None else f"running: {self.words}"

    @property
    def title(self) -> str:
        """The title: the state of terp."""
        return f"terp · {self.state}"

    def opened(self) -> str:
        """Return the sequence for the start: the terminal saves the old title, and reports its focus."""
        kept = "\x1b[22;0t" if self.means.title else ""
        return kept + self._titled() + self.taken()

    def closed(self) -> str:
        """Return the sequence for the end: it restores the title, and ends the reports."""
        # A terminal that saves no titles shows its default in place of an empty one.
        return self.given() + ("\x1b]2;\x07\x1b[23;0t" if self.means.title else "")

    def taken(self) -> str:
        """Return the sequence for the (next) start of reading keys: only then may focus reports come."""
        return "\x1b[?1004h" if self.means.focus else ""

    def given(self) -> str:
        """Return the sequence to write before the shell or another program reads the keyboard."""
        return "\x1b[?1004l" if self.means.focus else ""

    def saw(self, event: on.Event, now: float) -> tuple["TerminalWindow", str]:
        """Return the window after an event, and the sequence to write."""
        match event:
            # The pieces of a reply come by the thousand, so they are matched first.
            case (
                on.TextDelta() | on.ReasoningDelta() | on.CodeDelta() | on.Printed() | on.CodeCompared()
                | on.CheckStarted() | on.CheckFinished() | on.CodeProposed() | on.HistoryCompacted()
                | on.HistoryRewound() | on.KernelChanged() | on.LateOutput() | on.ModelRetrying()
                | on.Noticed() | on.Progress() | on.SessionForked() | on.SessionResumed()
                | on.UsageReported()
            ):  # fmt: skip
                return self, ""
            case on.TurnStarted(prompt=words) | on.CodeTyped(code=words):
                run = event.call_id if isinstance(event, on.CodeTyped) else ""
                began = replace(self._answered(), words=_first_words(words), typed_run=run, began=now)
                # The command line was typed too.
                return self._next(began.typed(now) if self.touched is None else began)
            case on.Asked(question_id=question):
                return replace(self, question=question, asked=now), ""
            case on.Answered() | on.CodeStarted() | on.CodeDeclined() | on.CodeRejected() | on.ModelCalled():
                return self._next(self._answered())
            case on.TurnFinished(reason=reason):
                return self._over(reason, now)
            case on.CodeFinished() | on.JobChanged():
                return self._of_run(event, now)
            case _:
                assert_never(event)

    def _of_run(self, event: on.CodeFinished | on.JobChanged, now: float) -> tuple["TerminalWindow", str]:
        own = event.call_id == self.typed_run and self.began is not None
        if isinstance(event, on.CodeFinished):
            return self._over("done" if event.status == "ok" else event.status, now) if own else (self, "")
        if event.state == "background":
            # The user can type again; the end of the job gets its own notification.
            return self._next(replace(self._answered(), began=None)) if own else (self, "")
        calls = event.seconds > LONG_TURN_S and self._away(now)
        return self, self._call(f"ended: job {event.job} ({one_line(event.language)})") if calls else ""

    def passed(self, now: float) -> tuple["TerminalWindow", str]:
        """Return the window as of `now`; call this at least once a second while a turn is running."""
        if self.asks or self.asked is None or now - self.asked < _REAL_QUESTION_S:
            return self, ""
        after, sequence = self._next(replace(self, asks=True))
        return after, sequence + (self._call(f"asks: {self.words}") if self._away(now) else "")

    def typed(self, now: float) -> "TerminalWindow":
        """Return the window after a key was typed."""
        return replace(self, touched=now)

    def focused(self, has_focus: bool) -> "TerminalWindow":
        """Return the window after it got or lost the focus."""
        return replace(self, has_focus=has_focus)

    def _answered(self) -> "TerminalWindow":
        return replace(self, question="", asked=None, asks=False)

    def _next(self, after: "TerminalWindow") -> tuple["TerminalWindow", str]:
        return after, after._titled() if after.title != self.title else ""

    def _titled(self) -> str:
        return f"\x1b]2;{self.title}\x07" if self.means.title else ""

    def _over(self, reason: str, now: float) -> tuple["TerminalWindow", str]:
        after, sequence = self._next(replace(self._answered(), began=None))
        long = self.began is not None and now - self.began > LONG_TURN_S
        if not long or reason == "interrupted" or not self._away(now):
            return after, sequence
        return after, sequence + self._call(f"{'done' if reason == 'done' else 'stopped'}: {self.words}")

    def _away(self, now: float) -> bool:
        if self.has_focus is not None:
            return not self.has_focus
        return self.touched is None or now - self.touched > _AT_THE_KEYS_S

    def _call(self, what: str) -> str:
        text = f"terp {what}"
        match self.means.call:
            case "off":
                return ""
            case "bell":
                return "\x07"
            case "osc9":
                return f"\x1b]9;{text}\x1b\\"
            case "osc99":
                return f"\x1b]99;i=terp:o=unfocused;{text}\x1b\\"
            case "osc777":
                # Semicolons separate its parts.
                return f"\x1b]777;notify;terp;{what.replace(';', ',')}\x1b\\"
            case _:
                assert_never(self.means.call)


def window_features(
    environ: Mapping[str, str], *, terminal: bool, notify: str = "auto", screen_reader: bool = False
) -> WindowFeatures:
    """Return the features of the terminal with this environment, within the settings."""
    kind = environ.get("TERM", "")
    if not terminal or not tty.moves_cursor(environ) or environ.get("CI", "").lower() not in _NO_CI:
        return WindowFeatures()
    if screen_reader:
        # The screen reader would read each new title.
        return WindowFeatures(call="off" if notify == "off" else "bell")
    has_title = not (_NO_TITLE.match(kind) or environ.get("INSIDE_EMACS"))
    call = _call_of(environ) if notify == "auto" else cast("Notification", notify)
    return WindowFeatures(title=has_title, focus=has_title, call=call)


_NO_CI = ("", "0", "false")


def _call_of(environ: Mapping[str, str]) -> Notification:
    """Return the notification that this terminal is known to support, else a bell."""
    kind, program = environ.get("TERM", ""), environ.get("TERM_PROGRAM", "")
    if environ.get("TMUX") or _MULTIPLEXED.match(kind):
        # A multiplexer drops unknown sequences and passes bells on.
        return "bell"
    if environ.get("KITTY_WINDOW_ID") or kind == "xterm-kitty":
        return "osc99"
    if program in ("iTerm.app", "WezTerm", "ghostty", "WarpTerminal") or kind == "xterm-ghostty":
        return "osc9"
    if kind.startswith(("foot", "rxvt-unicode")):
        return "osc777"
    return "bell"


def _first_words(prompt: str) -> str:
    words = one_line(" ".join(prompt[: 4 * _LONGEST_WORDS].split()))
    if len(words) <= _LONGEST_WORDS:
        return words
    return f"{words[:_LONGEST_WORDS].rpartition(' ')[0] or words[:_LONGEST_WORDS]}…"
