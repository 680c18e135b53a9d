"""The body of a chat completion: bytes in, chunks as mappings out.

It also handles servers that do not stream properly: one whole JSON reply, an error within a 200, a web
page, an end without `[DONE]`.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

import jiter

from terp.errors import RequestRejected
from terp.models.adapters.failures import BROKE_OFF, Target, classify, message_in, unreachable


class ChatStream:
    """Reads one response. `done` is set by `[DONE]`; `complete` when the reply itself has ended."""

    def __init__(self, target: Target) -> None:
        self._target = target
        self._reader = EventReader()
        self._started = False
        self._whole: list[bytes] | None = None
        self.done = False
        self.complete = False

    def feed(self, received: bytes) -> list[Mapping[str, Any]]:
        """Return the chunks that these bytes complete.

        Raises:
            ModelError: the server reports an error.
        """
        if not self._started:
            received = received.lstrip(b"\xef\xbb\xbf \t\r\n")
            if not received:
                return []
            self._started = True
            # The content type cannot be relied on; the first character can.
            if received[:1] in (b"{", b"<", b"["):
                self._whole = []
        if self._whole is not None:
            self._whole.append(received)
            return []
        return self._chunks(self._reader.feed(received))

    def finish(self) -> list[Mapping[str, Any]]:
        """Return the chunks that the end of the body completes.

        Raises:
            ModelError: the body was an error, or ended before the reply did.
        """
        if self._whole is not None:
            return self._unstreamed(b"".join(self._whole))
        chunks = self._chunks(self._reader.finish())
        if not self.complete:
            raise unreachable(self._target, BROKE_OFF)
        return chunks

    def _chunks(self, events: Iterable[bytes]) -> list[Mapping[str, Any]]:
        chunks: list[Mapping[str, Any]] = []
        for data in events:
            if data.startswith(b"[DONE]"):
                self.done = self.complete = True
                break
            for chunk in self._parsed(data):
                self._look_at(chunk)
                chunks.append(chunk)
        return chunks

    def _look_at(self, chunk: Mapping[str, Any]) -> None:
        if chunk.get("error") or chunk.get("object") == "error":
            raise self._failure(chunk)
        for choice in chunk.get("choices") or ():
            if choice.get("finish_reason"):
                self.complete = True
            if choice.get("error"):
                raise self._failure(choice)

    def _failure(self, chunk: Mapping[str, Any]) -> Exception:
        error = chunk.get("error") or chunk
        code = str(error.get("code") or error.get("status_code") or "") if isinstance(error, Mapping) else ""
        status = int(code) if code.isdecimal() and 400 <= int(code) <= 599 else 0
        return classify(self._target, status, json.dumps(chunk), streaming=True)

    def _parsed(self, data: bytes) -> list[Mapping[str, Any]]:
        chunk = _json(data)
        # `isinstance` of `Mapping` is slower, and this runs for each token.
        if isinstance(chunk, dict):
            return [chunk]
        # Servers that leave out the empty line between events make several of them look like one.
        chunks = [_json(line) for line in data.split(b"\n") if line != b"[DONE]"]
        if not all(isinstance(chunk, Mapping) for chunk in chunks):
            raise unreachable(self._target, f"not JSON in the answer: {_shown(data)}")
        return chunks

    def _unstreamed(self, body: bytes) -> list[Mapping[str, Any]]:
        found = _json(body)
        if isinstance(found, Mapping) and found.get("choices"):
            self._look_at(found)
            self.complete = True
            return [found]
        if isinstance(found, Mapping | list):
            # Errors as [{"error": …}] are Gemini's.
            error = found[0] if isinstance(found, list) and found else found
            raise self._failure(error if isinstance(error, Mapping) else {"error": str(error)})
        if body.startswith(b"<"):
            where = self._target.api_base or self._target.provider
            said = message_in(body.decode(errors="replace"))
            raise RequestRejected(
                f"{self._target.model}: {where} sent {said}.", "Check --api-base: it usually ends in /v1."
            )
        raise unreachable(self._target, f"{BROKE_OFF}: {_shown(body)}")


def _json(data: bytes) -> Any:
    """Return the value, or None if `data` is not JSON."""
    try:
        return jiter.from_json(data)
    except ValueError:
        # Half of a surrogate pair, or bytes that are not UTF-8: json.loads takes both.
        try:
            return json.loads(data.decode(errors="replace"))
        except ValueError:
            return None


def _shown(data: bytes) -> str:
    return repr(data[:80].decode(errors="replace"))


class EventReader:
    """Parser of server-sent events (WHATWG): takes bytes, cut anywhere; returns the `data` of each event."""

    def __init__(self) -> None:
        self._rest = b""
        self._data: list[bytes] = []
        self._after_cr = False

    def feed(self, received: bytes) -> list[bytes]:
        """Return the data of every event that these bytes complete."""
        if self._after_cr and received.startswith(b"\n"):
            received = received[1:]
        self._after_cr = received.endswith(b"\r")
        if b"\r" in received:
            received = received.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        lines = (self._rest + received).split(b"\n")
        self._rest = lines.pop()
        events = []
        for line in lines:
            if line.startswith(b"data:"):
                self._data.append(line[5:].lstrip(b" "))
            elif not line and self._data:
                events.append(self._event())
        return events

    def finish(self) -> list[bytes]:
        """Return the data of an event cut off by the end; some servers leave out the last line."""
        if self._rest.startswith(b"data:"):
            self._data.append(self._rest[5:].lstrip(b" "))
        return [self._event()] if self._data else []

    def _event(self) -> bytes:
        data, self._data = self._data, []
        return data[0] if len(data) == 1 else b"\n".join(data)
