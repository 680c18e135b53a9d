"""One process of a check, from its start to the end of all that it began."""

import asyncio
import os
import secrets
import time
from codecs import getincrementaldecoder
from contextlib import ExitStack
from dataclasses import dataclass

from terp.kernels.jupyter.orphans import MARK, end_marked, lifeline, supervised
from terp.kernels.sandbox.tier import ProcessCommand
from terp.text.headtail import HeadTail
from terp.text.plain import Lines

_PIECE = 1 << 16
_LAST_OUTPUT_S = 1.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: `status` is None when it took too long."""

    status: int | None
    output: str
    seconds: float


async def run(command: ProcessCommand, *, timeout_s: float, max_chars: int) -> Ended:
    """Run a command to its end; the head and the tail of what it put out. Cancelling this ends it.

    Processes that it has left running are ended. 0 s is no limit.

    Raises:
        OSError: it cannot be started.
    """
    mark, began = secrets.token_hex(8), time.monotonic()
    stream, reader, pipe = await _pipe()
    output = HeadTail(max_chars)
    try:
        with ExitStack() as line:
            try:
                process = await _begun(command, mark, line.enter_context(lifeline()), pipe)
            finally:
                os.close(pipe)
            reading = asyncio.create_task(_read(stream, output))
            try:
                status = await _waited(process, timeout_s)
            finally:
                line.close()
                await process.wait()
                # Somebody may have killed the supervisor before.
                await asyncio.to_thread(end_marked, mark)
                await asyncio.wait({reading}, timeout=_LAST_OUTPUT_S)
                reading.cancel()
    finally:
        reader.close()
    return Ended(status, output.text(), time.monotonic() - began)


async def _begun(command: ProcessCommand, mark: str, stdin: int, output: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *supervised(command.argv, afterwards=command.afterwards),
        env={**command.environment, MARK: mark},
        cwd=command.cwd,
        stdin=stdin,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )


async def _waited(process: asyncio.subprocess.Process, timeout_s: float) -> int | None:
    try:
        return await asyncio.wait_for(process.wait(), timeout_s or None)
    except TimeoutError:
        return None


async def _pipe() -> tuple[asyncio.StreamReader, asyncio.ReadTransport, int]:
    """What is read, and where it is written: of a pipe of asyncio's own every holder would be waited for."""
    read, write = os.pipe()
    stream = asyncio.StreamReader()
    reader, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(read, "rb")
    )
    return stream, reader, write


async def _read(stream: asyncio.StreamReader, output: HeadTail) -> None:
    decoder, lines = getincrementaldecoder("utf-8")("replace"), Lines()
    try:
        while piece := await stream.read(_PIECE):
            output.add(lines.feed(decoder.decode(piece)))
    finally:
        output.add(lines.rest())
