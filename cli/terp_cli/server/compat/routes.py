"""What the protocol has over HTTP. Errors have a status that says so, and the text that its clients know."""

import json
from collections.abc import AsyncIterator
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from starlette.datastructures import UploadFile

from terp.text.plain import mended
from terp_cli.server.compat.accumulating import Misplaced
from terp_cli.server.compat.conversation import Conversation
from terp_cli.server.compat.files import Reachable
from terp_cli.server.compat.running import run
from terp_cli.server.compat.wanted import Rejected, Wanted
from terp_cli.server.content import served_file
from terp_cli.server.failures import Refused

_PIECE = 256 * 1024
SUCCESS = {"status": "success"}


def talk_router(conversation: Conversation) -> APIRouter:
    """Frames, and whether the server lives."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/heartbeat")
    async def heartbeat() -> dict[str, str]:
        """The server answers, whatever its sessions do."""
        return {"status": "alive"}

    @routes.post("/")
    async def take(request: Request) -> Response:
        """A frame, as over the WebSocket; the answer goes to those who are connected there."""
        try:
            await conversation.take(await body_of(request))
        except Misplaced as error:
            return failure(400, str(error))
        except Rejected as rejected:
            return failure(rejected.status, str(rejected))
        return JSONResponse(SUCCESS)

    return routes


def settings_router(conversation: Conversation, wanted: Wanted) -> APIRouter:
    """Settings, of which the messages are one."""
    routes = APIRouter(include_in_schema=False)

    @routes.post("/settings")
    async def change(request: Request) -> Response:
        """Change settings, load other messages, or forget all."""
        try:
            sent = await body_of(request)
        except Rejected as rejected:
            return failure(rejected.status, str(rejected))
        messages = sent.pop("messages", None)
        if messages is not None and not _are_messages(messages):
            return failure(422, "messages must be a list of objects.")
        if messages is not None:
            await conversation.load(messages)
        try:
            wanted.change(sent)
        except Rejected as rejected:
            applied = [*rejected.applied, *(["messages"] if messages is not None else [])]
            return failure(rejected.status, str(rejected), **({"applied": applied} if applied else {}))
        return JSONResponse(SUCCESS)

    @routes.get("/settings/{name}")
    async def read(name: str) -> Response:
        """A setting: JSON in a string of JSON, as clients of the protocol read it."""
        try:
            if name == "messages":
                value: Any = conversation.messages
            elif name == "system_message":
                value = await conversation.shared.system_message()
            else:
                value = wanted.read(name)
        except Rejected as rejected:
            return failure(rejected.status, str(rejected))
        return JSONResponse(json.dumps({name: value}, default=_size))

    return routes


def run_router(conversation: Conversation) -> APIRouter:
    """Code that runs unasked."""
    routes = APIRouter(include_in_schema=False)

    @routes.post("/run")
    async def run_code(request: Request) -> Response:
        """Run code and wait for all that it puts out."""
        try:
            sent = await body_of(request)
            language, code = sent.get("language"), sent.get("code")
            if not (isinstance(language, str) and isinstance(code, str) and language and code):
                return failure(400, "Both 'language' and 'code' are required.")
            return JSONResponse({"output": await run(conversation, language, code)})
        except Rejected as rejected:
            return failure(rejected.status, str(rejected))

    return routes


def files_router(conversation: Conversation, reachable: Reachable) -> APIRouter:
    """Files that come and go."""
    routes = APIRouter(include_in_schema=False)

    @routes.post("/upload")
    async def upload(request: Request) -> Response:
        """Write the `file` of a form to its `path`."""
        async with request.form(max_files=1, max_fields=10) as form:
            file, path = form.get("file"), form.get("path")
            if isinstance(path, str) and path and not isinstance(file, str | None):
                try:
                    listening = await conversation.shared.opened()
                    await reachable.write(listening.served, path, _pieces(file))
                except Rejected as rejected:
                    return failure(rejected.status, str(rejected))
                return JSONResponse(SUCCESS)
        return failure(422, "Both 'file' and 'path' are required.")

    @routes.get("/download/{filename}")
    async def download(filename: str) -> Response:
        """A file by its name."""
        try:
            # To read opens no session: a page elsewhere can have a browser do it, if not see the answer.
            descriptor = await anyio.to_thread.run_sync(reachable.read, conversation.shared.served, filename)
        except Refused as refused:
            return failure(refused.status, refused.problem.message)
        return served_file(descriptor, filename, "", "application/octet-stream")

    return routes


async def body_of(request: Request) -> dict[str, Any]:
    """The object that a request sends.

    Raises:
        Rejected: it sends something else.
    """
    try:
        sent = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise Rejected(400, "The body is no JSON.") from None
    if not isinstance(sent, dict):
        raise Rejected(400, "The body must be an object.")
    return sent


def failure(status: int, text: str, **also: Any) -> JSONResponse:
    """An answer that says why something was not done; what a client sent may be quoted in it."""
    return JSONResponse({"error": mended(text), **also}, status)


def _are_messages(sent: Any) -> bool:
    return isinstance(sent, list) and all(isinstance(message, dict) for message in sent)


async def _pieces(file: UploadFile) -> AsyncIterator[bytes]:
    while piece := await file.read(_PIECE):
        yield piece


def _size(content: Any) -> str:
    return f"[{len(content):,} bytes]"
