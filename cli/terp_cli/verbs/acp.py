"""`terp acp`: an agent of the Agent Client Protocol on stdin and stdout, which an editor starts."""

import asyncio
import logging
import os
import traceback
from typing import Any, cast

from acp.agent.connection import AgentSideConnection

from terp.errors import SettingsError
from terp_cli.acp.agent import TerpAgent
from terp_cli.acp.lines import open_lines
from terp_cli.fronts.invocation import STDIN, Invocation, keep_imports

_STDOUT, _STDERR = 1, 2


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
        lines = await open_lines(os.dup(STDIN), stdout)
    except ValueError:
        raise SettingsError(["terp acp needs pipes as stdin and stdout."]) from None

    async def end() -> None:
        lines.end()

    keep_imports()
    # Resuming and closing sessions are stable in the protocol, not yet in the SDK. The agent has the methods
    # that it advertises, not all of the SDK's protocol.
    connection = AgentSideConnection(cast("Any", agent), lines, listening=False, use_unstable_protocol=True)
    with call.stopping.watching(end, end):
        try:
            await connection.listen()
        finally:
            await agent.aclose()
            await connection.close()
    return 0


class _Notes(logging.Handler):
    """Handler that writes log records to stderr, redacted."""

    def __init__(self, call: Invocation) -> None:
        super().__init__()
        self._call = call

    def emit(self, record: logging.LogRecord) -> None:
        """Write one record."""
        trace = "".join(traceback.format_exception(*record.exc_info)) if record.exc_info else ""
        self._call.say(self._call.secrets.redacted(f"{record.getMessage()}\n{trace}".rstrip()))
