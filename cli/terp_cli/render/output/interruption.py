"""The exception by which code ends when the person interrupts it: its traceback tells them nothing new."""

from terp.events import CodeFinished
from terp.events.outputs import Error, Output


class Interruption:
    """Keeps a `KeyboardInterrupt` back until the end of its run tells who meant it."""

    def __init__(self) -> None:
        self._kept: dict[str, Error] = {}

    def keeps(self, call_id: str, output: Output) -> bool:
        """Whether an output is not to be shown, or not yet."""
        if not isinstance(output, Error) or output.name != "KeyboardInterrupt":
            return False
        self._kept[call_id] = output
        return True

    def released(self, finished: CodeFinished) -> list[Error]:
        """What is to be shown after all: code raised it by itself."""
        kept = self._kept.pop(finished.call_id, None)
        return [] if kept is None or finished.status == "interrupted" else [kept]
