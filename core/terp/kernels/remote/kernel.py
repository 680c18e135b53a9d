"""A kernel at a gateway: messages over its websocket, its life over REST."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from terp.errors import GatewayUnavailable, KernelStartFailed
from terp.kernels.jupyter.channels import Connection, Message, Route, is_set_within, new_request
from terp.kernels.remote.kernels import GatewayConnector
from terp.kernels.remote.wire import Wire

# Poll intervals for the state of the kernel, with and without open requests: the websocket of a kernel that
# was ended over REST stays open and silent.
_BUSY_POLL_S, _IDLE_POLL_S = 3.0, 20.0
# Time limit for the end of a kernel: servers first send it a shutdown request.
_FAREWELL_S = 20.0
# Time limit for an abandoned start, to end the kernel then.
_ABANDONED_S = 10.0
_RESTARTED = ("restarting", "autorestarting", "dead")


class GatewayKernel(Connection):
    """Implements `Connection` with the kernel that the claims have for the language.

    If it does not run, one is started.
    """

    def __init__(self, connector: GatewayConnector) -> None:
        super().__init__()
        self._connector = connector
        self._api = connector.api
        self._claims = connector.claims
        # An ipykernel keeps its session id to its end, which other kernels may not.
        self._has_one_id = bool(connector.bootstrap)
        self._id = ""
        self._was_there = False
        self._ready = False
        self._route: Route | None = None
        self._unanswered = Unanswered(self._api.gateway.host, self._deliver)
        self._wire: Wire | None = None
        self._watch: asyncio.Task[None] | None = None
        self._starting: asyncio.Task[str] | None = None
        self._asked = asyncio.Event()
        self._client = self._life = ""

    async def open(self, route: Route) -> None:
        """Find the kernel or start it, and connect to it."""
        self._route = route
        self._id = await self._found() or await self._started()
        gateway = self._api.gateway
        self._wire = Wire(
            gateway,
            gateway.channels(self._id, self._claims.session_id),
            self._api.tls,
            route=self._received,
            back=self._unanswered.ask,
            lost=self._lost,
        )
        await self._wire.open()
        self._watch = asyncio.create_task(self._poll())

    def send(self, channel: str, message: dict[str, Any]) -> None:
        """Send a message, now or after reconnecting."""
        assert self._wire is not None
        self._client = message["header"]["session"]
        self._unanswered.sent(channel, message)
        self._asked.set()
        self._wire.send(channel, message)

    async def interrupt(self) -> None:
        """Have the gateway interrupt the kernel, as its kernelspec defines."""
        # The caller may try again.
        with suppress(KernelStartFailed):
            await self._api.interrupt(self._id)

    async def kill(self) -> None:
        """End the kernel, unless it ran before this session and has not answered."""
        if self.gone.done():
            return
        if self._was_there and not self._ready:
            self.may_live = True
            self._ended(
                f"The kernel at {self._api.gateway.host} keeps running: it belongs to an earlier session."
            )
            return
        host, problem = self._api.gateway.host, ""
        try:
            if self._id:
                async with asyncio.timeout(_FAREWELL_S):
                    await self._api.delete(self._id)
        except KernelStartFailed as error:
            problem = error.message
        except TimeoutError:
            problem = f"The gateway has not done it in {_FAREWELL_S:.0f} s."
        self.may_live = bool(problem)
        if not problem:
            self._claims.forget(self._connector.language)
        self._ended(f"The kernel at {host} {f'could not be ended: {problem}' if problem else 'was ended.'}")

    async def _disconnect(self) -> None:
        await self._abandon()
        self._unanswered.close()
        if self._watch is not None:
            self._watch.cancel()
            await asyncio.wait({self._watch})
        if self._wire is not None:
            await self._wire.close()
        self._ended(f"The kernel at {self._api.gateway.host} was disconnected.")

    def not_up(self, seconds: float) -> KernelStartFailed:
        """Return the error for a kernel that did not start."""
        host = self._api.gateway.host
        if self.gone.done():
            return GatewayUnavailable(self.gone.result(), f"See the log of the gateway at {host}.")
        if self._was_there:
            return KernelStartFailed(
                f"The kernel at {host} still runs earlier code, and has not answered for {seconds:.0f} s.",
                "Try again later, or begin a new session.",
            )
        return KernelStartFailed(
            f"The kernel at {host} did not answer within {seconds:.0f} s.",
            "See the log of the gateway.",
        )

    async def _found(self) -> str:
        """Return the id of the claimed kernel, if it still runs."""
        claimed = self._claims.kernel(self._connector.language)
        self._was_there = bool(claimed and await self._api.state(claimed))
        return claimed if self._was_there else ""

    async def _started(self) -> str:
        # Not cancelled with the caller: a kernel whose id is not received would never be ended.
        self._starting = asyncio.create_task(
            self._api.start(self._connector.spec, self._connector.environment)
        )
        kernel_id = await asyncio.shield(self._starting)
        self._starting = None
        self._claims.note(self._connector.language, kernel_id)
        return kernel_id

    async def _abandon(self) -> None:
        """End the kernel of a start that was cancelled before the gateway answered."""
        if self._starting is None:
            return
        await asyncio.wait({self._starting}, timeout=_ABANDONED_S)
        if not self._starting.done():
            self._starting.cancel()
        elif self._starting.exception() is None:
            with suppress(KernelStartFailed):
                await self._api.delete(self._starting.result())

    def _received(self, channel: str, message: Message) -> None:
        kind = message["msg_type"]
        self._ready = self._ready or (channel == "shell" and kind == "kernel_info_reply")
        if kind == "status" and channel == "iopub":
            self._look_for_death(str(message["content"].get("execution_state")))
        self._look_for_another_life(channel, message)
        if self._unanswered.received(channel, message) and self._route is not None:
            self._route(channel, message)

    def _deliver(self, channel: str, message: dict[str, Any]) -> None:
        """Route a message that `Unanswered` has made, or send its question to the kernel."""
        if message["parent_header"] and self._route is not None:
            self._route(channel, {**message, "msg_type": message["header"]["msg_type"]})
        elif self._wire is not None:
            self._wire.send(channel, message)

    def _look_for_death(self, state: str) -> None:
        """Report a kernel that died: the gateway restarts it, and open requests get no answer."""
        host = self._api.gateway.host
        if state in _RESTARTED:
            self._ended(f"The kernel at {host} died.")
        elif state == "starting" and self._ready:
            self._ended(f"The kernel at {host} was restarted by somebody else.")

    def _look_for_another_life(self, channel: str, message: Message) -> None:
        """Detect an unreported restart by another client: the kernel then answers under another id."""
        is_ours = (message["parent_header"] or {}).get("session") == self._client
        # The server sends messages of its own: notices of dropped output.
        is_the_kernels = channel == "shell" or message["msg_type"] == "status"
        if not (self._has_one_id and is_ours and is_the_kernels):
            return
        life = str(message["header"].get("session") or "")
        self._life = self._life or life
        if life != self._life:
            self._ended(f"The kernel at {self._api.gateway.host} was restarted by somebody else.")

    def _lost(self, error: KernelStartFailed) -> None:
        self.may_live = True
        self._ended(f"The connection to {self._api.gateway.host} is lost: {error.message}")

    async def _poll(self) -> None:
        while not self.gone.done():
            # A request wakes it, so that the end of the kernel is noticed soon.
            await is_set_within(_IDLE_POLL_S, self._asked)
            await asyncio.sleep(_BUSY_POLL_S)
            if not self._unanswered:
                self._asked.clear()
            # `Wire` reports a gateway that does not answer at all.
            with suppress(KernelStartFailed):
                if not await self._api.state(self._id):
                    self._ended(f"The kernel at {self._api.gateway.host} was ended there.")


# After the kernel has answered again, this much silence means that no older messages will arrive.
_QUIET_S = 0.5

Deliver = Callable[[str, dict[str, Any]], None]


class Unanswered:
    """Tracks the requests on the shell channel without an `idle`, and ends those that will not get one.

    A gateway keeps messages while terp is disconnected, but not all: `idle` can be missing, and if another
    client is connected nothing is kept. A kernel answers in order, so after it has answered a request that
    was sent after reconnecting, all older open requests have lost their end. `deliver` then gets an `idle`
    for them, as if the kernel had sent it. `deliver` also sends that request, which has no parent.
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
        """Return True if a request waits for its end."""
        return bool(self._open)

    def sent(self, channel: str, message: dict[str, Any]) -> None:
        """Note a request that was sent."""
        if channel == "shell":
            self._open[message["header"]["msg_id"]] = message["header"]

    def received(self, channel: str, message: Message) -> bool:
        """Note an arriving message. Return True if it must be passed on."""
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
        """Find out, after `away_s` seconds without a connection, which requests get no end any more."""
        if not self._open:
            return
        question = new_request("kernel_info_request")
        self._question = question["header"]["msg_id"]
        self._before, self._away_s = tuple(self._open), away_s
        self._deliver("shell", question)

    def close(self) -> None:
        """Stop waiting."""
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
                self._deliver("iopub", self._answer(header, "stream", name="stderr", text=self._lost_note()))
            self._deliver("iopub", self._answer(header, "status", execution_state="idle"))
            self._forget(message_id)

    def _lost_note(self) -> str:
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
