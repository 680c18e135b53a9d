"""A running kernel: the requests to it and their answers, over any connection."""

import asyncio
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from terp.errors import KernelStartFailed
from terp.kernels.jupyter.channels import (
    CommAnswer,
    Connection,
    Connector,
    Dispatcher,
    KernelReply,
    Message,
    Recipient,
    first_of,
    is_set_within,
    new_request,
)
from terp.kernels.jupyter.translation import COMM_TARGET, is_dropped

# Time limit for the subscription to iopub, before the probe is sent again.
_PROBE_S = 0.25
# Time limit for the working directory of a kernel that has just answered.
_FACTS_S = 5.0
# How long a late result is waited for.
_LAG_S = 0.5
# Time limit for removing terp's package from another program's kernel.
_FAREWELL_S = 1.0
# How often code is sent again that the kernel has dropped because other code failed.
_TRIES = 5


class RunningKernel:
    """One life of a kernel. It begins with `start`, and cannot be used after `gone` is done.

    `connector` has the code to run before the first cell; `unclaimed` gets output of no known request. `info`
    is the kernel's reply about itself, `cwd` its current working directory. It is `used` once code was sent
    to it, and `was_left` if it keeps running after terp has disconnected.
    """

    def __init__(
        self, connector: Connector, connection: Connection, unclaimed: Callable[[str, str, Message], None]
    ) -> None:
        self._connector = connector
        self._connection = connection
        self._unclaimed = unclaimed
        self._dispatcher = Dispatcher(self._on_unclaimed)
        self._guest = connector.guest
        self._session = connector.guest.session if connector.guest else uuid.uuid4().hex
        self._welcome = asyncio.Event()
        self._ready = False
        self._why = ""
        self._subshell: KernelReply | None = None
        self.used = self.was_left = False
        self.info: Message = {}
        self.cwd = connector.cwd

    @property
    def gone(self) -> asyncio.Future[str]:
        """Done when the kernel is, with how it ended as a sentence."""
        return self._connection.gone

    @property
    def tier(self) -> str:
        """The sandbox of the kernel."""
        return self._connector.tier

    @property
    def has_bootstrap(self) -> bool:
        """True if terp's package is in the kernel."""
        return bool(self._connector.bootstrap)

    @property
    def is_shared(self) -> bool:
        """True if another program's code may run in it."""
        return self._guest is not None

    @property
    def may_live(self) -> bool:
        """True if it may still run after `gone` is done."""
        return self._connection.may_live

    @property
    def connection_file(self) -> str:
        """Jupyter's connection file, "" without one."""
        return self._connection.connection_file

    async def start(self) -> None:
        """Start the kernel and wait until it answers.

        Raises:
            KernelStartFailed: it cannot be started or reached, ends at once, or does not answer in time.
        """
        try:
            await self._connection.open(self._dispatcher.route)
            await self._until_ready()
            self._ready = True
        except BaseException:
            await self.kill()
            await self.close()
            raise

    def send(
        self,
        kind: str,
        content: Mapping[str, Any],
        recipient: Recipient,
        *,
        channel: str = "shell",
        subshell: str = "",
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        """Send a request; `recipient` gets what answers it. Returns its id."""
        message = new_request(kind, content, session=self._session, metadata=metadata, subshell=subshell)
        message_id = str(message["header"]["msg_id"])
        self._dispatcher.expect(message_id, recipient)
        self._connection.send(channel, message)
        return message_id

    def forget(self, message_id: str) -> None:
        """Close a request: its sender needs no more messages."""
        self._dispatcher.forget(message_id)

    async def ask(
        self, kind: str, content: Mapping[str, Any], timeout_s: float, *, busy: bool = False
    ) -> Message | None:
        """Send a request and return the content of its reply, or None if it does not arrive in time.

        With `busy` the request goes to a subshell, which answers while code runs; None at once when
        the kernel has no subshells.
        """
        return await self._asked(kind, content, KernelReply(), timeout_s, busy=busy)

    async def ask_bootstrap(
        self, what: str, timeout_s: float, *, busy: bool = False, about: Sequence[Any] = ()
    ) -> Message | None:
        """Return the answer of terp's package in the kernel, or None as for `ask`. Runs no code of a cell."""
        data = {"ask": what, "about": list(about)}
        content = {"comm_id": uuid.uuid4().hex, "target_name": COMM_TARGET, "data": data}
        return await self._asked("comm_open", content, CommAnswer(), timeout_s, busy=busy)

    async def catch_up(self) -> None:
        """Wait for late results of a run, in a kernel that sends them."""
        if self._connector.results_lag:
            nothing = {"code": "", "silent": True, "store_history": False, "allow_stdin": False}
            await self.ask("execute_request", nothing, _LAG_S)

    def type_in(self, value: str) -> None:
        """Answer the kernel's open `input_request`."""
        self._post("stdin", "input_reply", {"value": value})

    def poke(self) -> None:
        """Wake the kernel's event loop.

        A signal that arrives while code awaits is noticed only when the loop wakes up for another
        reason (ipykernel issue 881); a request is one.
        """
        self._post("shell", "kernel_info_request", {})

    async def interrupt(self) -> None:
        """Ask the code to stop."""
        await self._connection.interrupt()

    async def stack(self) -> str:
        """Return the stack of the code in a kernel that is killed next; "" if it is not available at once."""
        return await self._connection.stack() if self.has_bootstrap else ""

    async def kill(self, why: str = "") -> None:
        """Kill the kernel, or leave it if it is another program's; `why` is shown to the user."""
        self._why = "" if self.is_shared or self.gone.done() else why
        self.was_left = self.is_shared and not self.gone.done()
        await self._connection.kill()

    async def close(self) -> None:
        """Leave another program's kernel, or end terp's own. Harmless when repeated."""
        if self._guest is not None and self._guest.farewell and not self.gone.done():
            farewell = {"code": self._guest.farewell, "silent": True, "store_history": False}
            # If other code runs, this request waits for its end.
            await self.ask("execute_request", farewell, _FAREWELL_S)
        await self._connection.close()

    def obituary(self, consequence: str = "") -> str:
        """Describe the kernel's end, with the consequence and the last lines of its log."""
        # A kernel that may still run is not reported as ended.
        why = "" if self.may_live else self._why
        how = why or (self.gone.result() if self.gone.done() else "The kernel was ended.")
        words = self._connection.last_words()
        quoted = f"Its last words:\n{words}" if words else ""
        return " ".join(part for part in (how, consequence, quoted) if part)

    async def _asked(
        self,
        kind: str,
        content: Mapping[str, Any],
        answer: KernelReply,
        timeout_s: float,
        *,
        busy: bool,
    ) -> Message | None:
        deadline = time.monotonic() + timeout_s
        if busy and not await self._has_subshell(timeout_s):
            return None
        message_id = self.send(kind, content, answer, subshell=self._aside(busy=busy))
        try:
            return await self._first(answer.content, deadline - time.monotonic())
        finally:
            self.forget(message_id)

    def _post(self, channel: str, kind: str, content: Mapping[str, Any]) -> None:
        """Send a message without waiting for an answer."""
        self._connection.send(channel, new_request(kind, content, session=self._session))

    async def _until_ready(self) -> None:
        deadline = time.monotonic() + self._connector.start_timeout_s
        boot = self._boot()
        while True:
            probe = KernelReply()
            self.send("kernel_info_request", {}, probe)
            info = await self._first(probe.content, deadline - time.monotonic())
            if info is None:
                raise self._connection.not_up(self._connector.start_timeout_s)
            self.info = info
            # The reply proves only the shell channel. Until the subscription to iopub is proved too (by a
            # welcome or an `idle` message), outputs would be lost.
            if self._welcome.is_set() or await is_set_within(_PROBE_S, probe.idle):
                break
        if self._connector.bootstrap:
            await self._until_booted(boot)
            if not self.cwd:
                facts = await self.ask_bootstrap("cwd", _FACTS_S) or {}
                self.cwd = str(facts.get("cwd") or "")

    def _boot(self) -> KernelReply:
        boot = KernelReply()
        if self._connector.bootstrap:
            silent = {"code": self._connector.bootstrap, "silent": True, "store_history": False}
            self.send("execute_request", silent | {"stop_on_error": False}, boot)
        return boot

    async def _until_booted(self, boot: KernelReply) -> None:
        for _ in range(_TRIES):
            reply = await boot.content
            if not is_dropped(reply):
                break
            boot = self._boot()
        if reply.get("status") != "ok":
            raise KernelStartFailed(
                f"The kernel's preparation failed: {reply.get('ename')}: {reply.get('evalue')}",
                "Update ipykernel and IPython in the kernel's environment.",
            )

    async def _first(self, reply: asyncio.Future[Message], timeout_s: float) -> Message | None:
        """Return the reply, or None if the kernel ends or the time is up before."""
        await first_of(reply, self.gone, timeout_s=max(timeout_s, 0))
        return reply.result() if reply.done() else None

    async def _has_subshell(self, timeout_s: float) -> bool:
        """Return True if a subshell is there in time. It is requested only once."""
        if self._subshell is None and "kernel subshells" in (self.info.get("supported_features") or ()):
            self._subshell = KernelReply()
            self.send("create_subshell_request", {}, self._subshell, channel="control")
        return self._subshell is not None and await self._first(self._subshell.content, timeout_s) is not None

    def _aside(self, *, busy: bool) -> str:
        """Return the id of the subshell for requests beside a run; "" for the main one."""
        reply = self._subshell.content if busy and self._subshell is not None else None
        return str(reply.result().get("subshell_id") or "") if reply is not None else ""

    def _on_unclaimed(self, channel: str, parent: str, message: Message) -> None:
        # Answers to other clients are theirs, and messages during the start belong to no run.
        asked_by = (message.get("parent_header") or {}).get("session") or self._session
        if message["msg_type"] == "iopub_welcome":
            self._welcome.set()
        elif channel == "iopub" and asked_by == self._session and self._ready:
            self._unclaimed(channel, parent, message)
