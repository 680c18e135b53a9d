"""From the events of a session to frames. The events alone determine the frames."""

import asyncio
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, assert_never

from terp import events as on
from terp.errors import TerpError, with_remedy
from terp.events.outputs import Clear, Display, DisplayUpdate, Error, InputRequest, Omitted, Output, Text
from terp.secrets.redactor import StreamRedactor
from terp.session.observation import plain_of
from terp.text.dataclasses import dataclass
from terp.text.plain import without_escapes
from terp_cli.server.compat.accumulating import Frame, Misplaced
from terp_cli.server.failures import RequestRefused
from terp_cli.server.sessions import Served

_PICTURES = {"image/png": "base64.png", "image/jpeg": "base64.jpeg"}
_CODE = {"text/html": "html", "application/javascript": "javascript"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a message; it continues the last message if type and format are the same."""

    type: str
    format: str
    content: str


def pieces_of(output: Output) -> Iterator[Piece]:
    """Return an output in pieces; none if it has no content to show."""
    match output:
        case Text(text=text):
            yield printed(text)
        case Omitted(characters=characters):
            yield printed(f"[… {characters:,} more characters came and were not kept …]\n")
        case Display(data=data) | DisplayUpdate(data=data):
            yield _shown(data)
        case Error(name=name, value=value, traceback=traceback):
            text = without_escapes("\n".join(traceback)) or f"{name}: {value}"
            yield printed(text.rstrip("\n") + "\n")
        case InputRequest(prompt=prompt):
            yield printed(prompt)
        case Clear():
            # What was sent is with the client.
            pass
        case _:
            assert_never(output)


def printed(text: str) -> Piece:
    """Return the piece for console text."""
    return Piece("console", "output", text)


def _shown(data: Mapping[str, Any]) -> Piece:
    for mime, format_ in _PICTURES.items():
        if isinstance(picture := data.get(mime), str):
            return Piece("image", format_, picture.replace("\n", ""))
    for mime, format_ in _CODE.items():
        if isinstance(text := data.get(mime), str):
            return Piece("code", format_, text)
    return printed(plain_of(data))


OfRun = on.CodeDeclined | on.CodeRejected | on.CodeStarted | on.Printed | on.CodeFinished
OfTurn = on.TurnStarted | on.Answered | on.TurnFinished
COMPLETE: Frame = {"role": "server", "type": "status", "content": "complete"}
EMPTY = "No chunks sent or unknown error."


def error_frame(text: str) -> Frame:
    """Return the frame that reports a failure to a client."""
    return {"role": "server", "type": "error", "content": text}


FAILED = (Misplaced, RequestRefused, TerpError)
"""A frame of a client cannot be handled."""


def failure_frame(error: Exception) -> Frame:
    """Return the frame that reports an error of those in `FAILED`."""
    return error_frame(with_remedy(str(error), error.remedy if isinstance(error, TerpError) else ""))


@dataclass(frozen=True, slots=True)
class Block:
    """The common fields of all frames from one `start` to its `end`."""

    role: str
    type: str
    format: str = ""

    def frame(self, **fields: Any) -> Frame:
        """Return one frame of the block."""
        named = {"format": self.format} if self.format else {}
        return {"role": self.role, "type": self.type, **named, **fields}


_MESSAGE = Block("assistant", "message")
_CONSOLE = Block("computer", "console")


class FrameBuilder:
    """Converter of events, in order, into frames.

    `answering` is True until the `complete` frame. With `hushed` the running turn ends without that frame
    and without a notice. `shown_already` is code that a client sent itself; it is not shown again.
    """

    def __init__(self) -> None:
        self.answering = False
        self.hushed = False
        self.shown_already = ""
        self._said = False
        self._block: Block | None = None
        self._writing = ""
        self._written = ""
        self._shown = ""
        self._typed = ""

    def of(self, event: on.Event) -> list[Frame]:
        """Return the frames for an event."""
        return list(self._frames(event))

    def pause(self) -> list[Frame]:
        """Return the frames that end the output because code waits for a `go`."""
        return [*self._end(), *self._complete()]

    def _frames(self, event: on.Event) -> Iterator[Frame]:
        match event:
            case on.ModelCalled() | on.ModelRetrying():
                yield from self._end()
                self._writing = ""
            case on.TextDelta(text=text):
                yield from self._more(_MESSAGE, text)
            case on.CodeDelta(call_id=call_id, language=language, text=text):
                yield from self._write(call_id, language, text)
            case on.CodeProposed(call_id=call_id, language=language, code=code):
                yield from self._propose(call_id, language, code)
            case on.CodeTyped(call_id=call_id):
                # It is somebody else's, who reads for themselves what comes of it.
                self._typed = call_id
            case on.CodeDeclined() | on.CodeRejected() | on.CodeStarted() | on.Printed() | on.CodeFinished():
                yield from self._of_run(event) if event.call_id != self._typed else ()
            case on.TurnStarted() | on.Answered() | on.TurnFinished():
                yield from self._of_turn(event)
            case on.Noticed(text=text, remedy=remedy):
                yield from self._note(f"{text} {remedy}".rstrip())
            # The protocol has no word for reasoning, and late output would be taken for that of another cell.
            case (
                on.ReasoningDelta() | on.LateOutput() | on.JobChanged() | on.Asked() | on.UsageReported()
                | on.Progress() | on.KernelChanged() | on.HistoryCompacted() | on.HistoryRewound()
                | on.SessionForked() | on.SessionResumed() | on.CodeCompared() | on.CheckStarted()
                | on.CheckFinished()
            ):  # fmt: skip
                return
            case _:
                assert_never(event)

    def _of_run(self, event: OfRun) -> Iterator[Frame]:
        match event:
            case on.CodeDeclined(reason=reason):
                yield from self._note(f"Not run: {reason}") if reason and not self.hushed else ()
            case on.CodeRejected(reason=reason):
                yield from self._note(reason)
            case on.CodeStarted():
                yield from self._begin(_CONSOLE)
                yield _line(1)
            case on.Printed(output=output):
                for piece in pieces_of(output):
                    yield from self._put_out(piece)
            case on.CodeFinished(note=note):
                yield from self._begin(_CONSOLE)
                yield from self._put_out(printed(f"{note}\n" if note else ""))
                yield _line(None)
                yield from self._end()
            case _:
                assert_never(event)

    def _of_turn(self, event: OfTurn) -> Iterator[Frame]:
        match event:
            case on.TurnStarted():
                yield from self._end()
                self.answering, self._said, self._writing = True, False, ""
            case on.Answered():
                # Another client may have answered: the turn continues.
                self.answering = True
            case on.TurnFinished():
                yield from self._finish(event)
            case _:
                assert_never(event)

    def _write(self, call_id: str, language: str, text: str) -> Iterator[Frame]:
        if not self._writing:
            self._writing, self._written, self._shown = call_id, "", ""
        if call_id != self._writing:
            # Of several calls the one that waits for a `go` must be the last that was shown.
            return
        self._written += text
        if not language:
            return
        block = Block("assistant", "code", language)
        yield from self._more(block, self._written if self._block != block else text)
        self._shown = self._written

    def _propose(self, call_id: str, language: str, code: str) -> Iterator[Frame]:
        shown = self._shown if call_id == self._writing else self.shown_already
        self.shown_already, self._writing, self._shown = "", call_id, code
        if shown != code:
            # What came in pieces is not what would run, or another call was shown.
            yield from self._end()
            yield from self._more(Block("assistant", "code", language), code)
        yield from self._end()

    def _put_out(self, piece: Piece) -> Iterator[Frame]:
        if piece.type == "console":
            if piece.content:
                yield from self._begin(_CONSOLE)
                yield _CONSOLE.frame(format=piece.format, content=piece.content)
            return
        block = Block("computer", piece.type, piece.format)
        yield from self._end()
        yield from self._more(block, piece.content)
        yield from self._end()

    def _note(self, text: str) -> Iterator[Frame]:
        """Return frames for a console line, in a new block if none is open; none outside of an answer."""
        if not self.answering:
            return
        inside = self._block == _CONSOLE
        yield from self._put_out(printed(f"{text.rstrip()}\n"))
        if not inside:
            yield from self._end()

    def _finish(self, finished: on.TurnFinished) -> Iterator[Frame]:
        yield from self._end()
        hushed, self.hushed, self.shown_already = self.hushed, False, ""
        if hushed or not self.answering:
            self.answering = False
            return
        problem = with_remedy(finished.error, finished.remedy)
        if problem or not (self._said or finished.reason == "interrupted"):
            yield error_frame(problem or EMPTY)
        yield from self._complete()

    def _complete(self) -> Iterator[Frame]:
        self.answering = False
        yield COMPLETE

    def _more(self, block: Block, content: str) -> Iterator[Frame]:
        if content:
            yield from self._begin(block)
            yield block.frame(content=content)

    def _begin(self, block: Block) -> Iterator[Frame]:
        self._said = True
        if self._block != block:
            yield from self._end()
            self._block = block
            yield block.frame(start=True)

    def _end(self) -> Iterator[Frame]:
        block, self._block = self._block, None
        if block is not None:
            yield block.frame(end=True)


def _line(number: int | None) -> Frame:
    return _CONSOLE.frame(format="active_line", content=number)


class LogFollower:
    """Follower of a session's log: passes redacted frames to `show`, and each prompt to `began`."""

    def __init__(
        self, served: Served, show: Callable[[list[Frame]], None], began: Callable[[str], None]
    ) -> None:
        self.served = served
        self.frames = FrameBuilder()
        self._show = show
        self._began = began
        self._redaction = StreamRedactor(served.session.resources.redactor)
        self._read = served.session.log.last
        self._following = asyncio.create_task(self._follow())

    def catch_up(self) -> None:
        """Show all events logged so far."""
        for record in self.served.session.log.since(self._read):
            self._read = record.number
            for clean in self._redaction.passed(record):
                if isinstance(clean.event, on.TurnStarted):
                    self._began(clean.event.prompt)
                self.show(self.frames.of(clean.event))

    def pause(self) -> None:
        """Show all events logged so far, then that code waits."""
        self.catch_up()
        self.show(self.frames.pause())

    def show(self, frames: Iterable[Frame]) -> None:
        """Show frames."""
        clean = [self._clean(frame) for frame in frames]
        if clean:
            self._show(clean)

    def stop(self) -> None:
        """Stop following the log."""
        self._following.cancel()

    def _clean(self, frame: Frame) -> Frame:
        # A picture has no words, and must stay as it is.
        return frame if frame.get("type") == "image" else self.served.redactor.redacted_fields(frame)

    async def _follow(self) -> None:
        while not self.served.closed:
            await self.served.session.log.changed()
            self.catch_up()
