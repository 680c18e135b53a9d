"""Requests to a kernel that wait for their end, through drops of the connection."""

import asyncio
from collections.abc import Callable
from typing import Any

from terp.kernels.jupyter.channels import Message
from terp.kernels.jupyter.requests import new_request

# After the kernel has answered again, this much silence means that nothing more of before comes.
_QUIET_S = 0.5

Deliver = Callable[[str, dict[str, Any]], None]


class Unanswered:
    """Knows which requests on the shell channel have not come to `idle`, and ends those that never will.

    What a gateway keeps while nobody is connected is not all: `idle` can be missing, and with another client
    at the same kernel nothing is kept. A kernel answers in order, so once it has answered a question that was
    asked after the connection came back, whatever is still open has lost its end. `deliver` then gets the
    `idle`, as if the kernel had sent it; and it is given that question, which has no parent, to be sent.
    """

    def __init__(self, host: str, deliver: Deliver) -> None:
        self._host = host
        self._deliver = deliver
        self._open: dict[str, dict[str, Any]] = {}
        self._replied: set[str] = set()
        self._question = ""
        self._before: tuple[str, ...] = ()
        self._away_s = 0.0
        self._quiet: asyncio.TimerHandle | None = None

    def __bool__(self) -> bool:
        """Whether something waits for its end."""
        return bool(self._open)

    def sent(self, channel: str, message: dict[str, Any]) -> None:
        """A request was sent."""
        if channel == "shell":
            self._open[message["header"]["msg_id"]] = message["header"]

    def received(self, channel: str, message: Message) -> bool:
        """Note what arrives; whether it is for anybody else."""
        parent = str((message["parent_header"] or {}).get("msg_id") or "")
        if self._question and parent == self._question:
            if channel == "shell":
                self._question = ""
                self._wait()
            return False
        if self._quiet is not None and parent in self._before:
            self._wait()
        if channel == "shell" and parent in self._open:
            self._replied.add(parent)
        elif message["content"].get("execution_state") == "idle":
            self._forget(parent)
        return True

    def ask(self, away_s: float) -> None:
        """The connection is back after so many seconds: find out what has lost its end."""
        if not self._open:
            return
        question = new_request("kernel_info_request")
        self._question = question["header"]["msg_id"]
        self._before, self._away_s = tuple(self._open), away_s
        self._deliver("shell", question)

    def close(self) -> None:
        """Wait for nothing any more."""
        if self._quiet is not None:
            self._quiet.cancel()

    def _wait(self) -> None:
        self.close()
        self._quiet = asyncio.get_running_loop().call_later(_QUIET_S, self._end)

    def _end(self) -> None:
        self._quiet = None
        for message_id in self._before:
            header = self._open.get(message_id)
            if header is None:
                continue
            if message_id not in self._replied and header["msg_type"] == "execute_request":
                self._deliver("iopub", self._answer(header, "stream", name="stderr", text=self._told()))
            self._deliver("iopub", self._answer(header, "status", execution_state="idle"))
            self._forget(message_id)

    def _told(self) -> str:
        return (
            f"\n[terp: the connection to {self._host} was lost for {self._away_s:.0f} s. The result of this "
            "run, and what it put out meanwhile, did not come through; whether it ran to its end is not "
            "known.]\n"
        )

    def _answer(self, header: dict[str, Any], kind: str, **content: Any) -> dict[str, Any]:
        return {**new_request(kind, content), "parent_header": header}

    def _forget(self, message_id: str) -> None:
        self._open.pop(message_id, None)
        self._replied.discard(message_id)
