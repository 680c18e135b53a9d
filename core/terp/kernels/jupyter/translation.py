"""Translation of Jupyter's messages about output into terp's outputs."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from terp.events.outputs import Clear, Display, DisplayUpdate, Error, Omitted, Output, Text
from terp.kernels.jupyter.channels import Message

REPORT = "application/vnd.terp.report+json"
"""MIME type of the bootstrap's reports about a run; never shown."""

RUN_NUMBER = "terp_run"
"""Key in the metadata of a request to run code: which run of the session it is."""

RUN_MOMENT = "terp_moment"
"""Key in the metadata of a request to run code: the start of its turn, as a number that only grows."""

WATCH = "terp_watch"
"""Key in the metadata of a request to run code: the conditions to evaluate after it."""

COMM_TARGET = "terp"
"""Name of the comm (a Jupyter channel) on which terp asks the bootstrap in the kernel for other things."""

_DISPLAY_IDS = 10_000


class Translator:
    """Turns iopub messages into outputs. One per kernel: display ids live longer than runs."""

    def __init__(self) -> None:
        self._display_ids: dict[str, None] = {}

    def outputs(self, message: Message) -> Sequence[Output]:
        """Return the outputs in a message; none for a message that is not about output."""
        make = _MAKERS.get(message["msg_type"])
        return make(self, message["content"]) if make else ()

    def _stream(self, content: Message) -> Sequence[Output]:
        name, text = content.get("name"), content.get("text", "")
        return (Text("stderr" if name == "stderr" else "stdout", text),) if text else ()

    def _display(self, content: Message, *, is_result: bool = False) -> Sequence[Output]:
        data, metadata = content.get("data") or {}, content.get("metadata") or {}
        display_id = (content.get("transient") or {}).get("display_id")
        shown = Display(data, metadata, display_id, is_result)
        if display_id is None:
            return (shown,)
        seen = display_id in self._display_ids
        self._remember(display_id)
        # A second display of an id also changes the first one.
        return (DisplayUpdate(display_id, data, metadata), shown) if seen else (shown,)

    def _update(self, content: Message) -> Sequence[Output]:
        display_id = (content.get("transient") or {}).get("display_id")
        if display_id not in self._display_ids:
            return ()
        return (DisplayUpdate(display_id, content.get("data") or {}, content.get("metadata") or {}),)

    def _remember(self, display_id: str) -> None:
        self._display_ids[display_id] = None
        if len(self._display_ids) > _DISPLAY_IDS:
            del self._display_ids[next(iter(self._display_ids))]


_MAKERS: Mapping[str, Callable[[Translator, Message], Sequence[Output]]] = {
    "stream": Translator._stream,
    "display_data": Translator._display,
    "execute_result": lambda translator, content: translator._display(content, is_result=True),
    "update_display_data": Translator._update,
    "error": lambda _, content: (error_of(content),),
    "clear_output": lambda _, content: (Clear(bool(content.get("wait"))),),
}


def error_of(content: Message) -> Error:
    """Return the error in an `error` message or in a reply with status "error"."""
    traceback = tuple(content.get("traceback") or ())
    return Error(content.get("ename") or "Error", content.get("evalue") or "", traceback)


def report_of(message: Message) -> Mapping[str, Any] | None:
    """Return the report of terp's package in a message, or None."""
    if message["msg_type"] != "display_data":
        return None
    report = (message["content"].get("data") or {}).get(REPORT)
    return report if isinstance(report, Mapping) else None


def pages(reply: Message) -> Sequence[Display]:
    """Yield the pager output in a reply, as of `obj?`."""
    payload = reply.get("payload") or ()
    return [Display(part.get("data") or {}) for part in payload if part.get("source") == "page"]


def wants_exit(reply: Message) -> bool:
    """Return True if the code called `exit` or `quit`."""
    payload = reply.get("payload") or ()
    return any(part.get("source") == "ask_exit" and not part.get("keepkernel") for part in payload)


def is_dropped(reply: Message) -> bool:
    """Return True if the kernel skipped the code because earlier code failed."""
    return reply.get("status") in ("aborted", "abort")


def size_of(output: Output) -> int:
    """Return the size of an output in characters."""
    match output:
        case Text(text=text):
            return len(text)
        case Display(data=data) | DisplayUpdate(data=data):
            return sum(
                len(value) if isinstance(value, str) else len(json.dumps(value)) for value in data.values()
            )
        case Error(value=value, traceback=traceback):
            return len(value) + sum(map(len, traceback))
        case _:
            return 0


def omitted(report: Mapping[str, Any]) -> Omitted | None:
    """Return the output that the limiter in the kernel dropped, or None."""
    characters, lines = report.get("omitted") or (0, 0)
    return Omitted(characters, lines, spooled=False) if characters else None
