"""An editor: the SDK's own client in front of the real `terp acp`, which answers as a test says."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Self, cast

from acp import Client, connect_to_agent
from acp.client.connection import ClientSideConnection
from acp.connection import StreamDirection, StreamEvent
from acp.exceptions import RequestError
from acp.helpers import text_block
from acp.schema import (
    AcceptElicitationResponse,
    AllowedOutcome,
    ClientCapabilities,
    DeniedOutcome,
    ElicitationCapabilities,
    ElicitationFormCapabilities,
    FileSystemCapabilities,
    Implementation,
    NewSessionResponse,
    PermissionOption,
    PromptResponse,
    ReadTextFileResponse,
    RequestPermissionResponse,
    ToolCallUpdate,
    WriteTextFileResponse,
)

from tests.cli.running import Terp, to
from tests.loopback import Loopback

Answer = tuple[str, Mapping[str, Any]]
"""The id of an option or its beginning, "" for none, and the fields in `_meta.terp`."""
LIMIT = 20_000_000


class Editor:
    """A client that keeps every message, and answers questions in order with `answers`; then with none.

    `buffers` are files with unsaved changes. `told` has what the agent was sent, `heard` what it sent.
    """

    def __init__(
        self, *answers: Answer | str, line: str = "", buffers: Mapping[str, str] | None = None
    ) -> None:
        self.answers = [(one, {}) if isinstance(one, str) else one for one in answers]
        self.line = line
        self.buffers = dict(buffers or {})
        self.heard: list[dict[str, Any]] = []
        self.told: list[dict[str, Any]] = []
        self.asked: list[tuple[ToolCallUpdate, list[PermissionOption], dict[str, Any]]] = []
        self.forms: list[str] = []
        self.agent: ClientSideConnection
        self.process: asyncio.subprocess.Process
        self._came = asyncio.Condition()

    async def request_permission(
        self, session_id: str, tool_call: ToolCallUpdate, options: list[PermissionOption], **meta: Any
    ) -> RequestPermissionResponse:
        self.asked.append((tool_call, options, meta))
        if not self.answers:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        wanted, own = self.answers.pop(0)
        option = next(one.option_id for one in options if one.option_id.startswith(wanted))
        return RequestPermissionResponse(
            outcome=AllowedOutcome(outcome="selected", option_id=option), field_meta={"terp": own}
        )

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        async with self._came:
            self._came.notify_all()

    async def read_text_file(self, session_id: str, path: str, **_: Any) -> ReadTextFileResponse:
        if path not in self.buffers:
            raise RequestError.resource_not_found(path)
        return ReadTextFileResponse(content=self.buffers[path])

    async def write_text_file(
        self, session_id: str, path: str, content: str, **_: Any
    ) -> WriteTextFileResponse:
        self.buffers[path] = content
        return WriteTextFileResponse()

    async def create_elicitation(self, message: str, mode: Any, **_: Any) -> AcceptElicitationResponse:
        self.forms.append(message)
        return AcceptElicitationResponse(action="accept", content={"line": self.line})

    def on_connect(self, agent: Any) -> None:
        """Nothing: the connection is at hand."""

    def observe(self, event: StreamEvent) -> None:
        (self.heard if event.direction is StreamDirection.INCOMING else self.told).append(event.message)

    async def begin(self, *, files: bool = False, forms: bool = False, name: str = "test") -> Any:
        """Initialize the connection with these abilities."""
        return await self.agent.initialize(
            protocol_version=1,
            client_info=Implementation(name=name, version="1"),
            client_capabilities=ClientCapabilities(
                fs=FileSystemCapabilities(read_text_file=files, write_text_file=files),
                elicitation=ElicitationCapabilities(form=ElicitationFormCapabilities()) if forms else None,
            ),
        )

    async def new(self, cwd: Path) -> NewSessionResponse:
        return await self.agent.new_session(cwd=str(cwd), mcp_servers=[])

    async def ask(self, session: NewSessionResponse | str, *parts: Any) -> PromptResponse:
        """Send a prompt of texts and other parts; return the end of its turn."""
        id_ = session if isinstance(session, str) else session.session_id
        blocks = [text_block(part) if isinstance(part, str) else part for part in parts]
        return await self.agent.prompt(session_id=id_, prompt=blocks)

    async def until(self, wanted: Callable[[Self], bool]) -> None:
        """Return when it holds, looking again at each update."""
        async with self._came:
            await self._came.wait_for(lambda: wanted(self))

    def updates(self, kind: str = "") -> list[dict[str, Any]]:
        """The updates of a kind, in order; of all kinds with ""."""
        found = [one["params"]["update"] for one in self.heard if one.get("method") == "session/update"]
        return [one for one in found if kind in ("", one["sessionUpdate"])]

    def text(self, kind: str = "agent_message_chunk") -> str:
        """The text of the chunks of a kind."""
        return "".join(one["content"]["text"] for one in self.updates(kind))

    def calls(self) -> dict[str, dict[str, Any]]:
        """The tool calls by id, as they are after all updates."""
        found: dict[str, dict[str, Any]] = {}
        for one in self.updates():
            if one["sessionUpdate"] in ("tool_call", "tool_call_update"):
                found.setdefault(one["toolCallId"], {}).update(one)
        return found


def parts_of(call: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The content of a call: blocks, and diffs."""
    return [one.get("content", one) for one in call.get("content", ())]


def texts_of(call: Mapping[str, Any]) -> str:
    """The text of all content of a call."""
    return "\n".join(part["text"] for part in parts_of(call) if part["type"] == "text")


@asynccontextmanager
async def opened(
    terp: Terp, server: Loopback, editor: Editor, flags: Sequence[str] = (), **environ: str
) -> AsyncIterator[Editor]:
    """Start `terp acp` with this client, and end it as an editor does: by closing its stdin."""
    process = editor.process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "terp_cli", "acp", *to(server), *flags),
        cwd=terp.cwd,
        env={**terp.environ, **environ},
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=None if os.environ.get("ACP_LOG") else asyncio.subprocess.DEVNULL,
        limit=LIMIT,
    )
    assert process.stdin is not None and process.stdout is not None
    editor.agent = connect_to_agent(
        cast("Client", editor),
        process.stdin,
        process.stdout,
        use_unstable_protocol=True,
        observers=[editor.observe],
    )
    try:
        yield editor
    finally:
        process.stdin.close()
        await asyncio.wait_for(process.wait(), 30)
        await editor.agent.close()
