"""The status line: the present work, its duration, the tokens of the turn, and the keys that help."""

from rich.cells import cell_len
from rich.text import Text

from terp.events import KernelChanged
from terp.session.cost.budget import Tally
from terp_cli.render import look
from terp_cli.terminal.sanitise import one_line

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAMES_A_SECOND = 8
_STALLED_S = 3.0
_BACKGROUND = "Ctrl-B background"
_ON_TERMINAL = "!!COMMAND has the terminal"


class Status:
    """The present work, its start, and the seconds after which it is shown.

    `stops` names the key that interrupts ("Esc stops"), and `detaches` is True if Ctrl-B moves running code
    to the background. `shell` is True while a command that the user typed runs: it may need the terminal.
    """

    def __init__(self) -> None:
        self.stops = ""
        self.detaches = self.shell = False
        self._what = ""
        self._since = 0.0
        self._after_s = 0.0
        self._until = 0.0
        self._hint = ""
        self._received: float | None = None
        self._runs = False

    @property
    def what(self) -> str:
        """The present work; "" for none."""
        return self._what

    def wait(self, what: str, now: float, after_s: float = 0.3, *, runs: bool = False) -> None:
        """Begin to wait for `what`; `runs` if it is code of the model."""
        self._what, self._since, self._after_s, self._until = what, now, after_s, 0.0
        self._hint, self._received, self._runs = "", None, runs

    def receive(self, what: str, now: float) -> None:
        """Note that data came, of a stream called `what`."""
        if self._what != what:
            self.wait(what, now)
        self._received = now

    def kernel_changed(self, event: KernelChanged, now: float) -> None:
        """Begin to wait for a kernel that starts, or for code that ignores an interrupt."""
        name = one_line(event.language)
        if event.state == "starting" and not self._what:
            self.wait(f"starting {name}", now)
        elif event.state == "ready" and self._what == f"starting {name}":
            self.clear()
        elif event.state == "interrupting" and self._what:
            # It is shown after this time.
            self.wait("interrupting", now - 2.0)
            self._hint = f"Ctrl-C again ends {name} and its variables"

    def count_down(self, what: str, now: float, seconds: float) -> None:
        """Begin to wait for so many seconds."""
        self.wait(what, now, after_s=0.0)
        self._until = now + seconds

    def clear(self) -> None:
        """Stop waiting."""
        self._what = ""

    def rows(self, now: float, width: int, used: Tally) -> list[Text]:
        """Return the present line, with a hint below it; no rows if nothing is due.

        `used` are the tokens of the turn so far. What has no room is left out, the keys last.
        """
        waited = now - self._since
        if not self._what or waited < self._after_s:
            return []
        frame = _FRAMES[int(waited * _FRAMES_A_SECOND) % len(_FRAMES)]
        time = f"in {max(0.0, self._until - now):.0f} s" if self._until else elapsed(waited)
        silent = now - self._received if self._received is not None else 0.0
        parts = [self._what, time]
        if self._hint:
            parts.append("the code does not answer")
        elif silent >= _STALLED_S:
            parts.append(f"no data for {elapsed(silent)}")
        keys = [] if self._hint or not self.stops else [self.stops]
        keys += [_BACKGROUND] if keys and self._runs and self.detaches else []
        more = [_ON_TERMINAL] if keys and self._runs and self.shell and waited >= _STALLED_S else []
        tokens = [_tokens(used)] if used.input_tokens or used.output_tokens else []
        rows = ([*parts, *tokens, *keys, *more], [*parts, *tokens, *keys], [*parts, *keys], parts)
        lines = [" · ".join(line) for line in rows]
        line = next((line for line in lines if cell_len(line) <= width - 2), lines[-1])
        below = [Text(f"  {self._hint}", look.DIM)] if self._hint else []
        return [Text.assemble((f"{frame} ", look.MARKER), (line, look.DIM)), *below]


def _tokens(used: Tally) -> str:
    return f"{used.input_tokens:,} in, {used.output_tokens:,} out"


def elapsed(seconds: float) -> str:
    """Return a duration in words: 420 ms, 7.0 s, 3 min 20 s."""
    if seconds < 1:
        return f"{max(1.0, seconds * 1000):.0f} ms"
    if seconds < 60:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"
