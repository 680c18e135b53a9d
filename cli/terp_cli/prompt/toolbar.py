"""The last line of the screen: model, tokens, cost, environment, jobs and sandbox."""

from typing import TYPE_CHECKING

from terp.events import Event, JobChanged, KernelChanged, UsageReported
from terp.settings.interpreter import environment_name
from terp_cli.terminal.sanitise import one_line

if TYPE_CHECKING:
    from terp.session.session import Session

_STATES = {"starting": "starting", "busy": "busy", "died": "died"}


class Toolbar:
    """A toolbar; it stores facts from events and formats them as one line."""

    def __init__(self) -> None:
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

    def text(self, session: "Session", profile: str = "default", *, unasked: bool = False) -> str:
        """Return the line; `unasked` is True if code runs without approval."""
        kernel = session.kernels.get(session.kernels.languages[0])
        parts = [one_line(part) for part in (session.model.name, profile) if part and part != "default"]
        used = session.budget.used
        if tokens := used.input_tokens + used.output_tokens:
            parts.append(f"{tokens:,} tokens")
        if cost := used.cost_usd:
            parts.append(f"${cost:.2f}" if cost >= 0.01 else "<$0.01")
        if environment := _environment(session, kernel.place):
            parts.append(one_line(environment))
        parts += [f"{one_line(language)} {state}" for language, state in self._kernels.items() if state]
        if jobs := len(session.jobs.running):
            parts.append("1 job" if jobs == 1 else f"{jobs} jobs")
        parts.append("no sandbox" if kernel.tier == "none" else one_line(kernel.tier))
        if unasked:
            parts.append("runs unasked")
        return " · ".join([*parts, "/help"])


def _environment(session: "Session", place: str) -> str:
    """Return the name of the environment of the code; "" for terp's own."""
    if place:
        # What stands in brackets would take the room of what follows it.
        return place.partition(" (")[0]
    pythons = session.resources.pythons
    return environment_name(pythons.current if pythons else None)
