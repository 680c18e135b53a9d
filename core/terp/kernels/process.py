"""One kernel process from its start to its end, and the channels to it."""

import asyncio
import signal
import time
import uuid
from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any

import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient
from jupyter_client.kernelspec import KernelSpec
from jupyter_client.manager import AsyncKernelManager

from terp.errors import KernelStartFailed
from terp.kernels.channels import Dispatcher, Message, Recipient, read
from terp.kernels.launch import Launch
from terp.kernels.orphans import MARK, Guard, end_marked
from terp.kernels.provisioner import GroupProvisioner
from terp.kernels.rundir import RunDir
from terp.kernels.translation import COMM_TARGET
from terp.kernels.waiting import first_of, is_set_within

# How often the process is asked whether it lives: iopub is silent after a crash.
_POLL_S = 0.1
# The same while its end is awaited.
_QUICK_POLL_S = 0.01
# How long a subscription to iopub is given to show up before the probe is sent again.
_PROBE_S = 0.25
# How long a late result is waited for.
_LAG_S = 0.5
# How long a kernel that is about to be killed may take to write its stack.
_STACK_S = 0.2
# How long a kernel that is asked to end may take.
_FAREWELL_S = 1.0


class Reply:
    """A recipient that waits for one reply, and for the `idle` that follows it on iopub."""

    def __init__(self) -> None:
        self.content: asyncio.Future[Message] = asyncio.get_running_loop().create_future()
        self.idle = asyncio.Event()

    def received(self, channel: str, message: Message) -> None:
        """Take a message."""
        if channel == "iopub":
            if message["content"].get("execution_state") == "idle":
                self.idle.set()
        elif not self.content.done():
            self.content.set_result(message["content"])


class CommAnswer:
    """A recipient that waits for what a comm of the bootstrap sends back."""

    def __init__(self) -> None:
        self.data: asyncio.Future[Message] = asyncio.get_running_loop().create_future()

    def received(self, channel: str, message: Message) -> None:
        """Take a message."""
        if message["msg_type"] in ("comm_msg", "comm_close") and not self.data.done():
            self.data.set_result(message["content"].get("data") or {})


class KernelProcess:
    """A running kernel. Made by `start`; after `gone` is done it is of no use any more.

    `gone` holds the exit code of the process, negative for a signal; `cwd` is where its code has taken it.
    """

    def __init__(self, launch: Launch, unclaimed: Callable[[str, str, Message], None]) -> None:
        self._launch = launch
        self._unclaimed = unclaimed
        self._dispatcher = Dispatcher(self._on_unclaimed)
        self._welcome = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._closed = False
        self._last_words = ""
        self._mark = uuid.uuid4().hex
        self._guard: Guard | None = None
        self._subshell: Reply | None = None
        self.info: Message = {}
        self.cwd = launch.cwd
        self.gone: asyncio.Future[int] = asyncio.get_running_loop().create_future()

    async def start(self) -> None:
        """Bring the process up and wait until it answers.

        Raises:
            KernelStartFailed: it cannot be started, ends at once, or does not answer in time.
        """
        self._dir = RunDir()
        self._context = zmq.asyncio.Context()
        # With the default limit a busy reader loses output and even `idle` (measured: 18 000 of
        # 20 000 messages); memory is bounded by the limiter in the kernel.
        self._context.rcvhwm = 0
        self._context.linger = 0
        self._context.reconnect_ivl = 10
        try:
            await self._spawn()
            self._connect()
            assert self._provisioner.pid is not None
            left = self._provisioner.afterwards
            self._guard = Guard(self._provisioner.pid, self._mark, self._dir.path, left)
            await self._until_ready()
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
        subshell: str = "",
        metadata: Mapping[str, Any] | None = None,
    ) -> str:
        """Send a request on the shell channel; `recipient` gets what answers it. Returns its id."""
        message = self._client.session.msg(kind, dict(content), metadata=dict(metadata or {}))
        if subshell:
            message["header"]["subshell_id"] = subshell
        message_id = str(message["header"]["msg_id"])
        self._dispatcher.expect(message_id, recipient)
        self._post("shell", message)
        return message_id

    def forget(self, message_id: str) -> None:
        """No more messages for this request are wanted by its sender."""
        self._dispatcher.forget(message_id)

    async def ask(
        self, kind: str, content: Mapping[str, Any], timeout_s: float, *, busy: bool = False
    ) -> Message | None:
        """The content of the reply to a request, or None when it does not come in time.

        With `busy` the request goes to a subshell, which answers while code runs; None at once when
        the kernel has no subshells.
        """
        deadline = time.monotonic() + timeout_s
        if busy and not await self._has_subshell(timeout_s):
            return None
        reply = Reply()
        message_id = self.send(kind, content, reply, subshell=self._aside(busy=busy))
        try:
            return await self._first(reply.content, deadline - time.monotonic())
        finally:
            self.forget(message_id)

    async def ask_bootstrap(
        self, what: str, timeout_s: float, *, busy: bool = False, about: Sequence[str] = ()
    ) -> Message | None:
        """What the bootstrap in the kernel answers, or None as for `ask`. Runs no code of a cell."""
        deadline = time.monotonic() + timeout_s
        if busy and not await self._has_subshell(timeout_s):
            return None
        answer = CommAnswer()
        content = {
            "comm_id": uuid.uuid4().hex,
            "target_name": COMM_TARGET,
            "data": {"ask": what, "about": list(about)},
        }
        message_id = self.send("comm_open", content, answer, subshell=self._aside(busy=busy))
        try:
            return await self._first(answer.data, deadline - time.monotonic())
        finally:
            self.forget(message_id)

    async def catch_up(self) -> None:
        """Wait until what a run has put out is here, in a kernel that sends results late."""
        if self._launch.results_lag:
            nothing = {"code": "", "silent": True, "store_history": False, "allow_stdin": False}
            await self.ask("execute_request", nothing, _LAG_S)

    def type_in(self, value: str) -> None:
        """Answer the kernel's open `input_request`."""
        self._post("stdin", self._client.session.msg("input_reply", {"value": value}))

    async def interrupt(self) -> None:
        """Send SIGINT to the kernel and its children, or the message that a kernel wants instead."""
        if self._launch.interrupt_by == "message":
            self._post("control", self._client.session.msg("interrupt_request", {}))
            return
        await self._provisioner.send_signal(signal.SIGINT)

    def poke(self) -> None:
        """Wake the kernel's event loop.

        A signal that arrives while code awaits is noticed only when the loop wakes up for another
        reason (ipykernel issue 881); a request is one.
        """
        self._post("shell", self._client.session.msg("kernel_info_request", {}))

    @property
    def tier(self) -> str:
        """What confines it."""
        return self._launch.confined.what

    @property
    def has_bootstrap(self) -> bool:
        """Whether terp's own package is in the kernel."""
        return bool(self._launch.bootstrap)

    async def stack(self) -> str:
        """Where the code stands, as faulthandler writes it: works in C code too, and without values.

        Only for a kernel that is killed next: code that has taken the signal for itself may end of it.
        "" when it does not come at once.
        """
        if not self.has_bootstrap:
            return ""
        self._provisioner.signal_kernel(signal.SIGUSR1)
        deadline = time.monotonic() + _STACK_S
        while not (stack := self._dir.stack()) and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(_QUICK_POLL_S)
        return stack

    async def kill(self) -> None:
        """End the process and its group at once."""
        if not hasattr(self, "_provisioner") or self._provisioner.pid is None:
            return
        await self._provisioner.send_signal(signal.SIGKILL)
        await self._until_gone()

    async def close(self) -> None:
        """Ask the process to end, end it if it does not, and remove its traces. Harmless when repeated."""
        if self._closed:
            return
        self._closed = True
        if hasattr(self, "_client") and not self.gone.done():
            self._post("control", self._client.session.msg("shutdown_request", {"restart": False}))
            await self._until_gone()
        # Also after a farewell: what the kernel left running ends with it.
        await self.kill()
        await asyncio.to_thread(end_marked, self._mark)
        if self._guard is not None:
            self._guard.dismiss()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if hasattr(self, "_client"):
            self._client.stop_channels()
        self._context.destroy(linger=0)
        self._dir.close()

    def obituary(self, consequence: str = "") -> str:
        """How the process ended, what follows from it, and the end of its log; also after `close`."""
        code = self.gone.result() if self.gone.done() else 0
        how = f"by signal {_signal_name(-code)}" if code < 0 else f"with exit code {code}"
        self._last_words = self._last_words or self._dir.log_tail()
        quoted = f"Its last words:\n{self._last_words}" if self._last_words else ""
        return " ".join(part for part in (f"The kernel ended {how}.", consequence, quoted) if part)

    def _post(self, channel: str, message: dict[str, Any]) -> None:
        """Send a message through the socket that is also read.

        jupyter_client would send past its event loop, which takes away the signal that a message has
        arrived: when both happen at once, nothing is received on that channel ever again.
        """
        socket: zmq.asyncio.Socket = getattr(self._client, f"{channel}_channel").socket
        socket.send_multipart(self._client.session.serialize(message))

    async def _spawn(self) -> None:
        spec = KernelSpec(argv=list(self._launch.argv), language=self._launch.language)
        manager = AsyncKernelManager(
            connection_file=str(self._dir.connection_file),
            transport=self._launch.transport,
            context=self._context,
        )
        manager._kernel_spec = spec
        self._provisioner = GroupProvisioner(kernel_id="", kernel_spec=spec, parent=manager)
        self._provisioner.log_path = self._dir.log
        self._provisioner.launch = self._launch
        manager.provisioner = self._provisioner
        self._manager = manager
        try:
            await manager.start_kernel(
                cwd=self._launch.cwd, env={**self._launch.environment, MARK: self._mark}
            )
        except OSError as error:
            raise KernelStartFailed(
                f"The kernel cannot be started: {error}", "Check --python and the working directory."
            ) from error

    def _connect(self) -> None:
        client = self._manager.client(context=self._context)
        assert isinstance(client, AsyncKernelClient)
        client.start_channels(hb=False)
        self._client = client
        for name in ("shell", "iopub", "stdin", "control"):
            socket = getattr(client, f"{name}_channel").socket
            self._spawn_task(read(name, self._receiver(socket), self._dispatcher.route))
        self._spawn_task(self._watch())

    def _spawn_task(self, work: Coroutine[Any, Any, None]) -> None:
        self._tasks.append(asyncio.create_task(work))

    def _receiver(self, socket: zmq.asyncio.Socket) -> Callable[[], Coroutine[Any, Any, Message]]:
        session = self._client.session

        async def receive() -> Message:
            _, frames = session.feed_identities(await socket.recv_multipart())
            message: Message = session.deserialize(frames)
            return message

        return receive

    async def _watch(self) -> None:
        while not await self._look():  # noqa: ASYNC110
            await asyncio.sleep(_POLL_S)

    async def _until_gone(self) -> None:
        """Wait for the end of the process, as long as a farewell may take."""
        deadline = time.monotonic() + _FAREWELL_S
        while not await self._look() and time.monotonic() < deadline:  # noqa: ASYNC110
            await asyncio.sleep(_QUICK_POLL_S)

    async def _look(self) -> bool:
        """Whether the process is gone."""
        code = await self._provisioner.poll()
        if code is not None and not self.gone.done():
            self.gone.set_result(code)
        return code is not None

    async def _until_ready(self) -> None:
        deadline = time.monotonic() + self._launch.start_timeout_s
        boot = Reply()
        if self._launch.bootstrap:
            silent = {"code": self._launch.bootstrap, "silent": True, "store_history": False}
            self.send("execute_request", silent | {"stop_on_error": False}, boot)
        while True:
            probe = Reply()
            self.send("kernel_info_request", {}, probe)
            info = await self._first(probe.content, deadline - time.monotonic())
            if info is None:
                raise self._not_up()
            self.info = info
            # The reply proves the shell channel; a subscription needs a proof of its own
            # (a welcome, or an idle that came through), or the first outputs are lost.
            if self._welcome.is_set() or await is_set_within(_PROBE_S, probe.idle):
                break
        if self._launch.bootstrap:
            self._check_boot(await boot.content)

    def _check_boot(self, reply: Message) -> None:
        if reply.get("status") != "ok":
            raise KernelStartFailed(
                f"The kernel's preparation failed: {reply.get('ename')}: {reply.get('evalue')}",
                "Update ipykernel and IPython in the kernel's environment.",
            )

    def _not_up(self) -> KernelStartFailed:
        python = self._launch.argv[0]
        if not self.gone.done():
            return KernelStartFailed(
                f"The kernel did not answer within {self._launch.start_timeout_s:.0f} s.",
                "Run `terp doctor` to check its environment.",
            )
        if "No module named ipykernel" in self._dir.log_tail():
            return KernelStartFailed(
                f"{python} has no ipykernel, which runs the code.",
                f"Install it with `{python} -m pip install ipykernel`, or choose another with --python.",
            )
        return KernelStartFailed(
            f"The kernel did not come up. {self.obituary()}", "Run `terp doctor` to check its environment."
        )

    async def _first(self, reply: asyncio.Future[Message], timeout_s: float) -> Message | None:
        """The reply, or None when the process ends or the time is up before it comes."""
        await first_of(reply, self.gone, timeout_s=max(timeout_s, 0))
        return reply.result() if reply.done() else None

    async def _has_subshell(self, timeout_s: float) -> bool:
        """Whether a subshell is there in time. It is asked for once, however late the answer comes."""
        if self._subshell is None and "kernel subshells" in (self.info.get("supported_features") or ()):
            message = self._client.session.msg("create_subshell_request", {})
            self._subshell = Reply()
            self._dispatcher.expect(message["header"]["msg_id"], self._subshell)
            self._post("control", message)
        return self._subshell is not None and await self._first(self._subshell.content, timeout_s) is not None

    def _aside(self, *, busy: bool) -> str:
        """The id of the subshell for questions beside a run; "" for the main one."""
        reply = self._subshell.content if busy and self._subshell is not None else None
        return str(reply.result().get("subshell_id") or "") if reply is not None else ""

    def _on_unclaimed(self, channel: str, parent: str, message: Message) -> None:
        if message["msg_type"] == "iopub_welcome":
            self._welcome.set()
        elif channel == "iopub":
            self._unclaimed(channel, parent, message)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return str(number)
