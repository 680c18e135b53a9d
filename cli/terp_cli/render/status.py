"""The status line: the cause and the duration of waiting."""

from rich.text import Text

from terp.events import KernelChanged
from terp_cli.render import look
from terp_cli.terminal.sanitise import one_line

_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"
_FRAMES_A_SECOND = 8


class Status:
    """The cause of waiting, its start, and the seconds after which it is shown."""

    def __init__(self) -> None:
        self._what = ""
        self._since = 0.0
        self._after_s = 0.0
        self._until = 0.0
        self._hint = ""

    @property
    def what(self) -> str:
        """The cause of waiting; "" for none."""
        return self._what

    def wait(self, what: str, now: float, after_s: float = 0.3) -> None:
        """Begin to wait for `what`."""
        self._what, self._since, self._after_s, self._until = what, now, after_s, 0.0
        self._hint = ""

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

    def rows(self, now: float) -> list[Text]:
        """Return the present line, with a hint below it; no rows if nothing is due."""
        waited = now - self._since
        if not self._what or waited < self._after_s:
            return []
        frame = _FRAMES[int(waited * _FRAMES_A_SECOND) % len(_FRAMES)]
        time = f"in {max(0.0, self._until - now):.0f} s" if self._until else elapsed(waited)
        line = f"{self._what} · {time}{' · the code does not answer' if self._hint else ''}"
        below = [Text(f"  {self._hint}", look.DIM)] if self._hint else []
        return [Text.assemble((f"{frame} ", look.MARKER), (line, look.DIM)), *below]


def elapsed(seconds: float) -> str:
    """Return a duration in words: 420 ms, 7.0 s, 3 min 20 s."""
    if seconds < 1:
        return f"{max(1.0, seconds * 1000):.0f} ms"
    if seconds < 60:
        return f"{seconds:.0f} s" if seconds >= 10 else f"{seconds:.1f} s"
    return f"{int(seconds // 60)} min {int(seconds % 60)} s"
