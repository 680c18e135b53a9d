"""A server with the protocol on loopback, and clients that speak it as those of 0.4.3 do."""

import asyncio
import json
import socket
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from websockets.asyncio.client import ClientConnection, connect

from terp.events.kernel import Kernels
from terp.settings import Settings
from terp.testing import EchoKernel, Scripted, ScriptedModel
from terp_cli.server.access import OwnNames, ServerToken
from terp_cli.server.compat.client_settings import Variables
from terp_cli.server.compat.compat import Compat, stateful_of
from terp_cli.server.connections import ServerLimits
from terp_cli.server.openai import routes as openai
from terp_cli.server.serving import HttpServer, application
from terp_cli.server.sessions import Sessions
from tests.cli.server.serving import TOKEN, FakeOpener, plain_client, workspaces

Frame = dict[str, Any]
KEY = "the-key-of-the-protocol"
COMPLETE = {"role": "server", "type": "status", "content": "complete"}
INSECURE = {"INTERPRETER_INSECURE_ROUTES": "true"}


class Client:
    """One connection: frames go as objects, and come as objects."""

    def __init__(self, socket: ClientConnection) -> None:
        self.socket = socket

    async def send(self, *frames: Frame | str | bytes) -> None:
        for frame in frames:
            await self.socket.send(frame if isinstance(frame, str | bytes) else json.dumps(frame))

    async def ask(self, text: str) -> None:
        """A message in the three frames of the documentation."""
        await self.send(
            {"role": "user", "type": "message", "start": True},
            {"role": "user", "type": "message", "content": text},
            {"role": "user", "type": "message", "end": True},
        )

    async def command(self, word: str) -> None:
        await self.send(
            {"role": "user", "type": "command", "start": True},
            {"role": "user", "type": "command", "content": word},
            {"role": "user", "type": "command", "end": True},
        )

    async def receive(self) -> Frame:
        async with asyncio.timeout(20):
            frame: Frame = json.loads(await self.socket.recv())
        return frame

    async def until(self, last: Mapping[str, Any] = COMPLETE) -> list[Frame]:
        """All frames up to one with these fields, that included."""
        frames = []
        while True:
            frames.append(await self.receive())
            if last.items() <= frames[-1].items():
                return frames

    async def answer(self, text: str) -> list[Frame]:
        """What comes of a message, pieces of one text joined."""
        await self.ask(text)
        return joined(await self.until())


@dataclass
class Speaking:
    """A server that runs, and what is behind it."""

    port: int
    http: httpx.AsyncClient
    sessions: Sessions
    opener: FakeOpener
    compat: Compat

    @asynccontextmanager
    async def client(self, **headers: str) -> AsyncGenerator[Client, None]:
        url = f"ws://127.0.0.1:{self.port}/"
        async with connect(url, additional_headers=headers, proxy=None) as socket:
            yield Client(socket)

    async def setting(self, name: str) -> Any:
        """A setting as clients decode it: twice."""
        answer = await self.http.get(f"/settings/{name}")
        assert answer.status_code == 200, answer.text
        return json.loads(answer.json())[name]

    @property
    def model(self) -> ScriptedModel:
        """The model of the one session."""
        model = self.opener.made[0].model
        assert isinstance(model, ScriptedModel)
        return model

    @property
    def kernel(self) -> EchoKernel:
        kernel = self.opener.made[0].kernels
        assert isinstance(kernel, EchoKernel)
        return kernel


@asynccontextmanager
async def speaking(
    folder: Path,
    *replies: Scripted,
    auto_run: bool = True,
    kernels: Callable[[], Kernels] = EchoKernel,
    unsafe: bool = False,
    alone: bool = True,
    limits: ServerLimits | None = None,
    environ: Mapping[str, str] | None = None,
) -> AsyncGenerator[Speaking, None]:
    """A server whose one conversation is answered with `replies`."""
    limits = limits or ServerLimits(patience_s=30.0)
    opener = FakeOpener(workspaces(folder), lambda: ScriptedModel(*replies), kernels)
    sessions = Sessions(opener, opener.workspaces, limits)
    variables, token = Variables(environ or {}), ServerToken(TOKEN)
    settings = Settings(auto_run=auto_run)
    names = OwnNames("127.0.0.1" if alone else "0.0.0.0", 0)
    compat = Compat(sessions, settings, variables, token, names, unsafe=unsafe)
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        port = listening.getsockname()[1]
        app = application(sessions, token, OwnNames("127.0.0.1", port), compat=compat)
        app.include_router(openai.router(sessions, stateful=stateful_of(compat)))
        server = HttpServer(app, limits)
        running = asyncio.create_task(server.serve(sockets=[listening]))
        base = f"http://127.0.0.1:{port}"
        async with plain_client(base, timeout=20) as http:
            try:
                yield Speaking(port, http, sessions, opener, compat)
            finally:
                await sessions.aclose()
                server.should_exit = True
        await running


@asynccontextmanager
async def talking(folder: Path, *replies: Scripted, **options: Any) -> AsyncGenerator[Client, None]:
    """One client of such a server."""
    async with speaking(folder, *replies, **options) as server, server.client() as client:
        yield client


def joined(frames: Sequence[Frame]) -> list[Frame]:
    """The frames with pieces of one text, that follow one another, as one."""
    found: list[Frame] = []
    for frame in frames:
        last = found[-1] if found else {}
        same = {**frame, "content": ""} == {**last, "content": ""} and "content" in frame
        if same and isinstance(frame["content"], str) and frame["role"] != "server":
            found[-1] = {**last, "content": last["content"] + frame["content"]}
        else:
            found.append(frame)
    return found


def block(role: str, type_: str, format_: str = "", *content: str) -> list[Frame]:
    """The frames of one block."""
    head = {"role": role, "type": type_, **({"format": format_} if format_ else {})}
    return [{**head, "start": True}, *({**head, "content": one} for one in content), {**head, "end": True}]


def message(text: str) -> list[Frame]:
    return block("assistant", "message", "", text)


def code(text: str) -> list[Frame]:
    return block("assistant", "code", "python", text)


def console(*outputs: str) -> list[Frame]:
    """The frames of a run that puts out text."""
    head = {"role": "computer", "type": "console"}
    return [
        {**head, "start": True},
        {**head, "format": "active_line", "content": 1},
        *({**head, "format": "output", "content": output} for output in outputs),
        {**head, "format": "active_line", "content": None},
        {**head, "end": True},
    ]


def text_of(frames: Sequence[Frame], type_: str) -> str:
    """All text of one type."""
    return "".join(str(frame.get("content") or "") for frame in frames if frame.get("type") == type_)
