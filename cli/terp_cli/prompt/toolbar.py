"""The last line of the screen: model, tokens, cost, environment, jobs and sandbox."""

from collections.abc import Callable

from terp.events import Event, JobChanged, KernelChanged, UsageReported
from terp.session.cost.tally import Tally
from terp_cli.terminal.sanitise import one_line

_STATES = {"starting": "starting", "busy": "busy", "died": "died"}


class Toolbar:
    """A toolbar; it stores facts from events and formats them as one line."""

    def __init__(
        self,
        model: Callable[[], str],
        tier: Callable[[], str],
        unasked: Callable[[], bool],
        profile: Callable[[], str] = lambda: "default",
        python: Callable[[], str] = lambda: "",
        used: Callable[[], Tally] = Tally,
        jobs: Callable[[], int] = lambda: 0,
    ) -> None:
        """Take functions that return the present values.

        `tier` is that of the sandbox; `unasked` is True if code runs without approval. `profile` is shown
        unless it is "default". `python` names the environment of the code, "" for terp's own. `used` is the
        usage of the session, `jobs` the number of runs in the background.
        """
        self._python = python
        self._jobs = jobs
        self._profile = profile
        self._model = model
        self._tier = tier
        self._unasked = unasked
        self._used = used
        self._kernels: dict[str, str] = {}

    def note(self, event: Event) -> bool:
        """Store the facts of `event`; return True if the line may have changed."""
        match event:
            case UsageReported():
                # The session counts the usage.
                return True
            case KernelChanged(language=language, state=state):
                self._kernels[language] = _STATES.get(state, "")
            case JobChanged():
                return True
            case _:
                return False
        return True

    def text(self) -> str:
        """Return the line."""
        parts = [one_line(part) for part in (self._model(), self._profile()) if part and part != "default"]
        used = self._used()
        if tokens := used.input_tokens + used.output_tokens:
            parts.append(f"{tokens:,} tokens".replace(",", " "))
        if cost := used.cost_usd:
            parts.append(f"${cost:.2f}" if cost >= 0.01 else "<$0.01")
        if environment := self._python():
            parts.append(one_line(environment))
        parts += [f"{one_line(language)} {state}" for language, state in self._kernels.items() if state]
        if jobs := self._jobs():
            parts.append("1 job" if jobs == 1 else f"{jobs} jobs")
        parts.append("no sandbox" if self._tier() == "none" else one_line(self._tier()))
        if self._unasked():
            parts.append("runs unasked")
        return " · ".join([*parts, "/help"])
