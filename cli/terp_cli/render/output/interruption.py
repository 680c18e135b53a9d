"""The `KeyboardInterrupt` of interrupted code, whose traceback is not shown."""

from terp.events import CodeFinished
from terp.events.outputs import Error, Output


class Interruption:
    """Holder of a `KeyboardInterrupt` until the end of its run shows its cause."""

    def __init__(self) -> None:
        self._kept: dict[str, Error] = {}

    def keeps(self, call_id: str, output: Output) -> bool:
        """Return True if an output is hidden, or held back."""
        if not isinstance(output, Error) or output.name != "KeyboardInterrupt":
            return False
        self._kept[call_id] = output
        return True

    def released(self, finished: CodeFinished) -> list[Error]:
        """Return the held error, if the code raised it itself."""
        kept = self._kept.pop(finished.call_id, None)
        return [] if kept is None or finished.status == "interrupted" else [kept]
