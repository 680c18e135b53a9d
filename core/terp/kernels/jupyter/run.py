"""One run of code in a kernel: its outputs, in order and within limits, and its end."""

import asyncio
import os
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any

from terp.events.outputs import (
    BackCall,
    Display,
    DisplayUpdate,
    Error,
    InputRequest,
    Omitted,
    Output,
    RunEnded,
    RunItem,
    RunStarted,
    RunStatus,
    StreamName,
    Text,
)
from terp.kernels.jupyter.channels import Message
from terp.kernels.jupyter.reports import back_call_in, tool_in
from terp.kernels.jupyter.translation import (
    Translator,
    error_of,
    is_dropped,
    omitted,
    pages,
    report_of,
    size_of,
)


class _Pieces:
    """Text of one stream, in the pieces in which it came."""

    def __init__(self, stream: StreamName, text: str) -> None:
        self.stream = stream
        self.texts = [text]


class Backlog:
    """A queue of outputs that stays small when its reader is slow.

    Pieces of one stream are merged while they wait. Output past `total` characters of a run, or
    past `pending` unread ones, is counted and replaced by `Omitted`; errors and items that are not
    output always pass.
    """

    def __init__(self, total: int, pending: int = 16_000_000) -> None:
        self._left = total
        self._room = pending
        self._queue: deque[RunItem | _Pieces] = deque()
        self._wake = asyncio.Event()

    def put(self, item: RunItem) -> None:
        """Add one item, within the limits."""
        match item:
            case Text() | Display() | DisplayUpdate():
                self._put_limited(item)
            case Omitted() if self._queue and isinstance(last := self._queue[-1], Omitted):
                self._queue[-1] = Omitted(
                    last.characters + item.characters, last.lines + item.lines, spooled=False
                )
            case _:
                self._queue.append(item)
        self._wake.set()

    async def items(self) -> AsyncGenerator[RunItem, None]:
        """Yield the items in order, until `RunEnded`."""
        while True:
            while self._queue:
                item = self._take()
                yield item
                if isinstance(item, RunEnded):
                    return
            self._wake.clear()
            await self._wake.wait()

    def _put_limited(self, item: Text | Display | DisplayUpdate) -> None:
        size = size_of(item)
        # A display cannot be truncated: as the first item in the queue it may have any size.
        room = self._room if self._queue or isinstance(item, Text) else size
        fits = max(0, min(size, self._left, room))
        if isinstance(item, Text):
            self._put_text(item.stream, item.text[:fits])
            rest = item.text[fits:]
            lost, lines = len(rest), rest.count("\n")
        else:
            lost, lines = (0, 0) if fits == size else (size, 0)
            fits = size if fits == size else 0
            if fits or not size:
                self._queue.append(item)
        self._left -= fits
        self._room -= fits
        if lost:
            self.put(Omitted(lost, lines, spooled=False))

    def _put_text(self, stream: StreamName, text: str) -> None:
        if not text:
            return
        last = self._queue[-1] if self._queue else None
        if isinstance(last, _Pieces) and last.stream == stream:
            last.texts.append(text)
        else:
            self._queue.append(_Pieces(stream, text))

    def _take(self) -> RunItem:
        item = self._queue.popleft()
        taken = Text(item.stream, "".join(item.texts)) if isinstance(item, _Pieces) else item
        match taken:
            case Text() | Display() | DisplayUpdate():
                self._room += size_of(taken)
            case _:
                pass
        return taken


# An `input_request` can overtake earlier output, which is sent on another channel. Without a report that the
# output is complete it is held back so long.
_INPUT_GRACE_S = 0.1
_LONGEST_PATH = 4_096


class KernelRun:
    """The recipient of all that a kernel sends about one request.

    `again` sends code again that the kernel has dropped, a limited number of times. `begun` is set when the
    kernel starts it, `reply` is the kernel's reply, `ended` is set when the code has ended, `idle` when the
    output is complete, `over` when no more messages will arrive. `stopped` is the status of a run that was
    stopped from outside, `interrupt_reported` is True once that was reported, `overtime` is the message about
    a timeout. `resists` is set when the code has not reacted to an interrupt, `insisted` is done after
    another request to stop it, which kills the kernel; with `may_be_killed` that needs no second request.
    `stack` is the stack of the code before its kernel was `killed`.
    """

    def __init__(
        self,
        run_id: str,
        translator: Translator,
        backlog: Backlog,
        token: str,
        *,
        code: str = "",
        number: int = 0,
        moment: int = 0,
    ) -> None:
        self.run_id = run_id
        self.code = code
        self.number = number
        self.moment = moment
        self.message_id = ""
        self.sent_ns = 0
        self.messages = 0
        self.backlog = backlog
        self.reply: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self.again: Callable[[], bool] = lambda: False
        self.begun = asyncio.Event()
        self.ended = asyncio.Event()
        self.idle = asyncio.Event()
        self.over = asyncio.Event()
        self.stop_requested = asyncio.Event()
        self.stopped: RunStatus | None = None
        self.interrupt_reported = False
        self.overtime = ""
        self.resists = asyncio.Event()
        self.insisted: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.killed = self.may_be_killed = False
        self.stack = ""
        self.report: dict[str, Any] = {}
        self._translator = translator
        self._back_prompt = f"terp:{token}:"
        self._asked_at: float | None = None
        self._waited_s = 0.0
        self._failed = False
        self._started = False
        self._held: InputRequest | BackCall | None = None
        self._markers = 0

    @property
    def touched(self) -> Mapping[str, Any]:
        """Paths that the code wrote to, with their state before. Code can forge them."""
        value = self.report.get("touched")
        return value if isinstance(value, Mapping) else {}

    @property
    def cwd(self) -> str:
        """The kernel's new working directory; "" when it is unchanged. Code can forge it."""
        value = self.report.get("cwd")
        if not isinstance(value, str) or len(value) > _LONGEST_PATH:
            return ""
        return value if os.path.isabs(value) else ""  # noqa: PTH117

    @property
    def lost(self) -> str:
        """The reason why the state is lost although the kernel lives; "" while it is kept."""
        value = self.report.get("lost")
        return value if isinstance(value, str) else ""

    def stop(self, status: RunStatus) -> None:
        """Note that the run is being stopped from outside; the first reason stays."""
        self.stopped = self.stopped or status
        self.stop_requested.set()

    def answered(self) -> None:
        """Note that a question of the code was answered."""
        if self._asked_at is not None:
            self._waited_s += time.monotonic() - self._asked_at
            self._asked_at = None

    def waited_s(self) -> float:
        """Seconds that the code has waited for the user or terp: not counted against its time limit."""
        pending = 0.0 if self._asked_at is None else time.monotonic() - self._asked_at
        return self._waited_s + pending

    def received(self, channel: str, message: Message) -> None:
        """Take one message of the kernel."""
        self.messages += 1
        if channel == "iopub":
            self._on_iopub(message)
        elif channel == "stdin":
            self._on_stdin(message["content"])
        elif message["msg_type"] == "execute_reply" and not self.reply.done():
            self._on_reply(message["content"])

    def finish_output(self) -> None:
        """Add what only the reply carries: the pager's text, and an error that was not published."""
        if not self.reply.done():
            # Code may end its kernel before its start is reported: the code may have run.
            self._started_with(0)
            return
        reply = self.reply.result()
        self._started_with(reply.get("execution_count") or 0)
        for page in pages(reply):
            self._put(page)
        if reply.get("status") == "error" and not self._failed:
            self._put(error_of(reply))

    def _on_reply(self, content: Message) -> None:
        if is_dropped(content) and not (self._started or self.stopped) and self.again():
            self.idle.clear()
            self.begun.clear()
            return
        self.reply.set_result(content)
        self.ended.set()

    def _on_iopub(self, message: Message) -> None:
        kind = message["msg_type"]
        if kind == "status":
            self.begun.set()
            if message["content"].get("execution_state") == "idle":
                self.idle.set()
        elif kind == "execute_input":
            self._started_with(message["content"].get("execution_count") or 0)
        elif (report := report_of(message)) is not None:
            self._on_report(report)
        else:
            for output in self._translator.outputs(message):
                self._put(output)

    def _on_report(self, report: Message) -> None:
        if report.get("asks"):
            self._markers += 1
            self._release()
        if tool := tool_in(report):
            self._started_with(0)
            self.backlog.put(tool)
            return
        dropped = omitted(report)
        if dropped:
            self._put(dropped)
        self.report.update(report)

    def _put(self, output: Output) -> None:
        self._failed = self._failed or isinstance(output, Error)
        self._started_with(0)
        self.backlog.put(output)

    def _started_with(self, execution_count: int) -> None:
        if not self._started:
            self._started = True
            self.backlog.put(RunStarted(execution_count))

    def _on_stdin(self, content: Message) -> None:
        prompt = str(content.get("prompt") or "")
        if prompt.startswith(self._back_prompt):
            self._held = back_call_in(prompt[len(self._back_prompt) :])
        else:
            self._held = InputRequest(prompt, bool(content.get("password")))
        if self._markers:
            self._release()
        else:
            asyncio.get_running_loop().call_later(_INPUT_GRACE_S, self._release, self._held)

    def _release(self, only: InputRequest | BackCall | None = None) -> None:
        if self._held is None or (only is not None and only is not self._held):
            return
        self._markers = 0
        self._asked_at = time.monotonic()
        self._started_with(0)
        self.backlog.put(self._held)
        self._held = None
