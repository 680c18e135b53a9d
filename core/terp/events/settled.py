"""The final outputs of a run, as a notebook stores them."""

from collections.abc import Iterator
from dataclasses import replace

from terp.events.outputs import Clear, Display, DisplayUpdate, InputRequest, Omitted, Output, StreamName, Text


class Displays:
    """The outputs that show a display id, in all runs of a session."""

    def __init__(self) -> None:
        self._shown: dict[str, list[list[Output]]] = {}

    def note(self, display_id: str, outputs: list[Output]) -> None:
        """Remember that `outputs` hold a display with this id."""
        self._shown.setdefault(display_id, []).append(outputs)

    def update(self, update: DisplayUpdate) -> None:
        """Give every display with this id its new content."""
        for outputs in self._shown.get(update.display_id, ()):
            for at, output in enumerate(outputs):
                if isinstance(output, Display) and output.display_id == update.display_id:
                    outputs[at] = replace(
                        output, data=update.data, metadata=update.metadata, path=update.path
                    )


class Settled:
    """The outputs of one run: text of one stream joined, updates applied, cleared output gone."""

    def __init__(self, displays: Displays) -> None:
        self._displays = displays
        self._outputs: list[Output] = []
        self._stream: StreamName = "stdout"
        # Joined at the end: a flood comes in very many pieces.
        self._pieces: list[str] = []
        self._clear_next = False

    def __iter__(self) -> Iterator[Output]:
        self._end_text()
        return iter(self._outputs)

    def add(self, output: Output) -> None:
        """Add an output."""
        if isinstance(output, Clear):
            self._clear_next = output.wait
            if not output.wait:
                self._forget()
            return
        if self._clear_next:
            self._forget()
            self._clear_next = False
        match output:
            case DisplayUpdate():
                self._displays.update(output)
            case InputRequest(prompt=prompt):
                self._text(Text("stdout", prompt))
            case Text():
                self._text(output)
            case Omitted():
                self._omit(output)
            case _:
                self._end_text()
                self._outputs.append(output)
                if isinstance(output, Display) and output.display_id:
                    self._displays.note(output.display_id, self._outputs)

    def typed(self, line: str) -> None:
        """Add the line that the user typed for the code."""
        self._text(Text("stdout", f"{line}\n"))

    def _text(self, text: Text) -> None:
        if text.stream != self._stream:
            self._end_text()
            self._stream = text.stream
        self._pieces.append(text.text)

    def _end_text(self) -> None:
        if text := "".join(self._pieces):
            self._outputs.append(Text(self._stream, text))
        self._pieces.clear()

    def _omit(self, more: Omitted) -> None:
        self._end_text()
        last = self._outputs[-1] if self._outputs else None
        if isinstance(last, Omitted) and last.spooled == more.spooled:
            self._outputs.pop()
            more = Omitted(more.characters + last.characters, more.lines + last.lines, more.spooled)
        self._outputs.append(more)

    def _forget(self) -> None:
        self._outputs.clear()
        self._pieces.clear()
