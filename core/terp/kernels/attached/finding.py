"""The search for a running kernel of another program, and its facts."""

import asyncio
from ast import literal_eval
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import zmq.asyncio
from jupyter_client.asynchronous.client import AsyncKernelClient

from terp.errors import KernelStartFailed
from terp.kernels.attached.attachment import (
    NEWEST,
    ConnectionFile,
    KernelAttachment,
    named,
    runtime_folder,
    written,
)
from terp.kernels.attached.kernel import beats, owner_of
from terp.kernels.jupyter.channels import KernelReply, first_of, new_request
from terp.kernels.jupyter.sockets import Sockets, new_context
from terp.kernels.runtimes.kernelspecs import find_specs
from terp.kernels.runtimes.runtime import Machine
from terp.settings.profile_file import short_path
from terp.text.dataclasses import dataclass

# Most kernels have ended; the newest files are the ones that matter.
_MOST_FILES = 40
_BEAT_S, _INFO_S, _WHERE_S = 1.0, 3.0, 1.0
_WHERE = {"cwd": "__import__('os').getcwd()"}


@dataclass(frozen=True, slots=True)
class FoundKernel:
    """The kernel that was found, and the names of others that are running."""

    attachment: KernelAttachment
    others: tuple[str, ...] = ()


async def find_attachment(target: str, environ: Mapping[str, str], cwd: str) -> FoundKernel:
    """Return the newest running kernel that `target` names (see `named`).

    Raises:
        SettingsError: nothing is called so, or the file is no connection file.
        KernelStartFailed: no kernel answers there.
    """
    context = new_context()
    try:
        files = named(target, environ, cwd)[:_MOST_FILES]
        alive = await _alive(context, files)
        if not alive:
            raise await _nobody(context, target, files, environ)
        for file in alive:
            if attachment := await _met(context, file, environ):
                return FoundKernel(attachment, tuple(one.name for one in alive if one is not file))
        raise KernelStartFailed(
            f"The kernel of {alive[0].title} runs, but does not answer: {alive[0].path} has another key.",
            "In a notebook, %connect_info shows its kernel's file.",
        )
    finally:
        context.destroy(linger=0)


async def running_kernels(environ: Mapping[str, str]) -> Sequence[ConnectionFile]:
    """Return the kernels of other programs that answer, the newest first."""
    context = new_context()
    try:
        return await _alive(context, written(environ)[:_MOST_FILES])
    finally:
        context.destroy(linger=0)


async def _alive(context: zmq.asyncio.Context, files: Sequence[ConnectionFile]) -> Sequence[ConnectionFile]:
    beating = await asyncio.gather(*(beats(context, file.address("hb"), _BEAT_S) for file in files))
    return [file for file, lives in zip(files, beating, strict=True) if lives]


async def _nobody(
    context: zmq.asyncio.Context, target: str, files: Sequence[ConnectionFile], environ: Mapping[str, str]
) -> KernelStartFailed:
    folder = short_path(runtime_folder(environ))
    if target == NEWEST:
        return KernelStartFailed(
            f"No kernel runs whose connection file is in {folder}.",
            "Start one in Jupyter or VS Code, or name its connection file: terp attach FILE.",
        )
    others = [file.name for file in await _alive(context, written(environ)[:_MOST_FILES])]
    return KernelStartFailed(
        f"No kernel answers behind {short_path(Path(files[0].path))}: it has ended, or is out of reach.",
        f"These run: {', '.join(others)}." if others else f"None runs whose file is in {folder}.",
    )


async def _met(
    context: zmq.asyncio.Context, file: ConnectionFile, environ: Mapping[str, str]
) -> KernelAttachment | None:
    """Return the facts that a kernel reports; None if it does not answer."""
    meeting = _Meeting(context, file)
    try:
        info = await meeting.ask("kernel_info_request", {}, _INFO_S, "control", "shell")
        if info is None:
            return None
        described = info.get("language_info") or {}
        language = str(described.get("name") or "").casefold()
        is_ipython = language == "python" and info.get("implementation") in ("ipython", "async")
        return KernelAttachment(
            file,
            language,
            str(described.get("version") or ""),
            await meeting.where() if is_ipython else "",
            takes_guests=info.get("implementation") == "ipython",
            is_here=bool(await asyncio.to_thread(owner_of, file)),
            interrupt_by=_interrupt_by(file.spec, environ),
        )
    finally:
        await meeting.close()


def _interrupt_by(spec: str, environ: Mapping[str, str]) -> Literal["signal", "message"]:
    specs = {one.name: one.interrupt_by for one in find_specs(Machine(environ))}
    return specs.get(spec.casefold(), "signal")


class _Meeting:
    """The first questions to a kernel."""

    def __init__(self, context: zmq.asyncio.Context, file: ConnectionFile) -> None:
        client = AsyncKernelClient(context=context)
        client.load_connection_file(file.path)
        self._open: dict[str, KernelReply] = {}
        self._sockets = Sockets(client, self._received)

    async def ask(
        self, kind: str, content: Mapping[str, Any], timeout_s: float, *channels: str
    ) -> Mapping[str, Any] | None:
        """Return the first reply on any of the channels; None if there is none in time."""
        reply = KernelReply()
        for channel in channels:
            message = new_request(kind, content)
            self._open[message["header"]["msg_id"]] = reply
            self._sockets.send(channel, message)
        await first_of(reply.content, timeout_s=timeout_s)
        return reply.content.result() if reply.content.done() else None

    async def where(self) -> str:
        """Return the working directory of a Python kernel; "" if it is busy."""
        content = {"code": "", "silent": True, "store_history": False, "user_expressions": _WHERE}
        reply = await self.ask("execute_request", content, _WHERE_S, "shell") or {}
        shown = ((reply.get("user_expressions") or {}).get("cwd") or {}).get("data") or {}
        try:
            return str(literal_eval(shown.get("text/plain", "''")))
        except (ValueError, SyntaxError):
            return ""

    async def close(self) -> None:
        """Close the sockets."""
        await self._sockets.close()

    def _received(self, channel: str, message: Mapping[str, Any]) -> None:
        parent = (message.get("parent_header") or {}).get("msg_id") or ""
        if channel != "iopub" and parent in self._open:
            self._open[parent].received(channel, message)
