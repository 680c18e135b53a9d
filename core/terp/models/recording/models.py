"""Models whose calls are recorded, and recordings that replace a model.

The form of the file is described in `recording.file`.
"""

from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal

from terp.errors import ContextFull, RecordingMiss
from terp.events.messages import Message
from terp.events.model import Chunk, Model, ModelWrapper, Replied, Retrying, demanded
from terp.models.recording.file import Recording, RecordingEntry, reply_as_json
from terp.models.recording.recorded_request import answers, difference, digest, likeness, request_as_json
from terp.secrets.redactor import Redactor

ReplayMode = Literal["strict", "new", "sequence"]


class RecordingModel(ModelWrapper):
    """A model whose successful calls are recorded.

    Failed and aborted calls are not recorded, except requests that are too long. It must be the outermost
    wrapper, around retries and the text fallback: then a recording does not depend on the adapter.
    `sampling` are the settings that change the replies.
    """

    def __init__(
        self,
        inner: Model,
        path: Path | str,
        *,
        redactor: Redactor | None = None,
        sampling: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(inner)
        self._recording = Recording(path)
        self._redactor = redactor or Redactor()
        self._sampling = sampling or {}

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """Send one request to the wrapped model, and record it.

        Raises:
            SettingsError: the recording cannot be written; before anything is sent.
        """
        sampling = {**self._sampling, **demanded(tools)}
        request = request_as_json(self.name, messages, tools, sampling, self._redactor)
        self._recording.make_sure_it_can_be_written()
        chunks = recorded(self._inner.stream(messages, tools), request, self._recording, self._redactor)
        async with aclosing(chunks):
            async for chunk in chunks:
                yield chunk


class ReplayModel:
    """A recording in place of a model.

    Modes: "strict" answers only recorded requests; the n-th equal request gets the n-th of its
    replies. "new" sends other requests to `inner`, and records them.
    "sequence" answers request n with the n-th entry, without comparing them.

    `name` is the model's name in requests; without one it is that of `inner` or of the recording.
    `pace` is awaited between two chunks; without it a reply comes without delay.
    """

    def __init__(
        self,
        path: Path | str,
        mode: ReplayMode = "strict",
        inner: Model | None = None,
        *,
        redactor: Redactor | None = None,
        sampling: Mapping[str, Any] | None = None,
        name: str = "",
        pace: Callable[[], Awaitable[None]] | None = None,
    ) -> None:
        self._recording = Recording(path)
        if mode == "new":
            self._recording.make_sure_it_can_be_written()
        self._entries = self._recording.entries()
        self._mode = mode
        self._inner = inner
        self._redactor = redactor or Redactor()
        self._sampling = sampling or {}
        self._name = name or (inner.name if inner else self._recorded_name())
        self._pace = pace
        self._asked: Counter[str] = Counter()
        self._turn = 0
        self.answered_by: list[int] = []
        """The line of the entry that answered each request so far; 0 for the model itself."""

    @property
    def name(self) -> str:
        """The name of the model that requests are compared with."""
        return self._name

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """Yield the recorded reply to a request.

        Raises:
            RecordingMiss: there is no reply, and no model that could answer.
            ContextFull: the model could not read a request of this length.
        """
        sampling = {**self._sampling, **demanded(tools)}
        request = request_as_json(self.name, messages, tools, sampling, self._redactor)
        entry = self._next_entry() if self._mode == "sequence" else self._entry_for(request)
        self.answered_by.append(entry.line if entry else 0)
        if entry is None:
            if self._mode != "new" or self._inner is None:
                raise self._miss(request)
            chunks = recorded(self._inner.stream(messages, tools), request, self._recording, self._redactor)
        else:
            chunks = self._paced(entry.chunks(messages))
        async with aclosing(chunks):
            async for chunk in chunks:
                yield chunk

    async def aclose(self) -> None:
        """Close the wrapped model, if there is one."""
        if self._inner is not None:
            await self._inner.aclose()

    def _recorded_name(self) -> str:
        names = (entry.request.get("model") for entry in self._entries if entry.request)
        return str(next(names, "") or "recorded")

    def _next_entry(self) -> RecordingEntry | None:
        if self._turn >= len(self._entries):
            return None
        entry = self._entries[self._turn]
        self._turn += not entry.is_pinned
        return entry

    def _entry_for(self, request: Mapping[str, Any]) -> RecordingEntry | None:
        equal = [
            entry for entry in self._entries if entry.request is not None and answers(entry.request, request)
        ]
        if pinned := next((entry for entry in equal if entry.is_pinned), None):
            return pinned
        key = digest(request)
        turn = self._asked[key]
        self._asked[key] += 1
        return equal[turn] if turn < len(equal) else None

    async def _paced(self, chunks: Sequence[Chunk]) -> AsyncGenerator[Chunk, None]:
        for number, chunk in enumerate(chunks):
            if number and self._pace:
                await self._pace()
            yield chunk

    def _miss(self, request: Mapping[str, Any]) -> RecordingMiss:
        number, path = len(self.answered_by), self._recording.path
        if self._mode == "sequence":
            return RecordingMiss(f"{path} has {len(self._entries)} replies; this is request {number}.")
        with_request = [entry for entry in self._entries if entry.request is not None]
        what = f"{path} has no reply for request {number}"
        remedy = "Record it again, or replay with --replay-mode new (asks the model) or sequence (in order)."
        if not with_request:
            return RecordingMiss(f"{what}: no entry in it has a request.", remedy)
        nearest = max(with_request, key=lambda entry: likeness(entry.request or {}, request))
        shown = difference(nearest.request or {}, request)
        if not shown:
            times = self._asked[digest(request)]
            return RecordingMiss(f"{what}: it was recorded {times - 1} times and is asked again.", remedy)
        return RecordingMiss(
            f"{what}. The nearest is line {nearest.line}; first difference:\n{shown}", remedy
        )


async def recorded(
    chunks: AsyncGenerator[Chunk, None], request: Mapping[str, Any], recording: Recording, redactor: Redactor
) -> AsyncGenerator[Chunk, None]:
    """Yield the chunks of a reply; record it when it is complete, or that the request was too long."""
    heard: list[Chunk] = []
    try:
        async with aclosing(chunks):
            async for chunk in chunks:
                match chunk:
                    case Retrying():
                        heard = []
                    case Replied():
                        recording.append({"request": request, **reply_as_json(heard, chunk, redactor)})
                    case _:
                        heard.append(chunk)
                yield chunk
    except ContextFull:
        # The session answers it with a shorter request, which nobody would send in a replay without this.
        recording.append({"request": request, "too_long": True})
        raise
