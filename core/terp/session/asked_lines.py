"""Which run a line was typed for: that of a job may be asked for long after it wanted one."""

from terp.events import Asked, Event, Printed
from terp.events.outputs import InputRequest


class AskedLines:
    """Follows the events of a session; `run_of` gives the call whose code a question was of."""

    def __init__(self) -> None:
        self._wanted: list[tuple[str, str]] = []
        self._runs: dict[str, str] = {}

    def take(self, event: Event) -> None:
        """Go on with one event."""
        if isinstance(event, Printed) and isinstance(event.output, InputRequest):
            self._wanted.append((event.call_id, event.output.prompt))
        elif isinstance(event, Asked) and event.kind == "input":
            # Before the prompt of a job stands which job it is; one without words ends any.
            fitting = [one for one in self._wanted if event.what.endswith(one[1])]
            if fitting:
                found = max(fitting, key=lambda one: len(one[1]))
                self._wanted.remove(found)
                self._runs[event.question_id] = found[0]

    def run_of(self, question_id: str) -> str:
        """The call; "" when it is not known, or the question was of another kind."""
        return self._runs.get(question_id, "")
