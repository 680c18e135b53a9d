"""`terp acp`: an agent of the Agent Client Protocol on stdin and stdout, which an editor starts."""

import asyncio
import json
import logging
import os
import traceback
from contextlib import redirect_stdout
from typing import Any, cast

from acp import stdio_streams
from acp.agent.connection import AgentSideConnection
from acp.exceptions import RequestError

from terp.errors import SettingsError
from terp.text.plain import mended
from terp_cli.acp.agent import TerpAgent
from terp_cli.fronts.invocation import Invocation, keep_imports

_STDOUT, _STDERR = 1, 2
# A picture in a prompt is one line.
_LONGEST = 50_000_000


def acp(call: Invocation) -> int:
    """Serve an editor until it leaves; return the exit code."""
    if call.source != "data":
        raise SettingsError(["terp acp is started by an editor: see terp docs editors."])
    # A print, or a program that is started, must not write among the messages.
    stdout = os.dup(_STDOUT)
    os.dup2(_STDERR, _STDOUT)
    logging.basicConfig(handlers=[_Notes(call)], level=logging.WARNING)
    return asyncio.run(_serve(TerpAgent(call), call, stdout))


async def _serve(agent: TerpAgent, call: Invocation, stdout: int) -> int:
    try:
        with redirect_stdout(os.fdopen(stdout, "w")):
            reader, writer = await stdio_streams(_LONGEST)
    except ValueError:
        raise SettingsError(["terp acp needs pipes as stdin and stdout."]) from None

    async def end() -> None:
        reader.feed_eof()

    keep_imports()
    # Resuming and closing sessions are stable in the protocol, not yet in the SDK. The agent has the methods
    # that it advertises, not all of the SDK's protocol.
    lines = _Lines(reader, writer)
    connection = AgentSideConnection(cast("Any", agent), lines, listening=False, use_unstable_protocol=True)
    with call.stopping.watching(end, end):
        try:
            await connection.listen()
        finally:
            await agent.aclose()
            await connection.close()
    return 0


class _Lines:
    """The SDK's `Transport`: one JSON object a line. A line that is no message is answered with an error."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message; return when the client has room for more.

        Raises:
            ConnectionError: the client is gone.
        """
        error = message.get("error") or {}
        if wrong := (error.get("data") or {}).get("errors"):
            # The SDK's error has what was sent, which may be secret or no JSON.
            lines = [f"{'.'.join(map(str, one['loc']))[:200]}: {one['msg'][:300]}" for one in wrong[:10]]
            text = f"{error['message']}: {'; '.join(lines)}"
            message = {**message, "error": {"code": error["code"], "message": text}}
        try:
            self._writer.write(mended(json.dumps(message, ensure_ascii=False)).encode() + b"\n")
            await self._writer.drain()
        except ConnectionError:
            # Requests to the client would wait for ever.
            self._reader.feed_eof()
            raise

    async def receive(self) -> dict[str, Any] | None:
        """Return the next message; None when the client is gone."""
        while True:
            try:
                if not (line := await self._reader.readline()):
                    return None
                message = json.loads(line)
            except ConnectionError:
                return None
            except (ValueError, RecursionError):
                # Also of a line that is too long.
                message = None
            # The SDK fails at anything else.
            if isinstance(message, dict) and ("method" in message or isinstance(message.get("id"), int)):
                return message
            error = RequestError.invalid_request({"remedy": "Send one JSON object of JSON-RPC 2.0 a line."})
            await self.send({"jsonrpc": "2.0", "id": None, "error": error.to_error_obj()})

    async def close(self) -> None:
        """Close stdout."""
        self._writer.close()


class _Notes(logging.Handler):
    """Handler that writes log records to stderr, redacted."""

    def __init__(self, call: Invocation) -> None:
        super().__init__()
        self._call = call

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        trace = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else ""
        self._call.say(self._call.secrets.redacted(f"{record.getMessage()}\n{trace}".rstrip()))
