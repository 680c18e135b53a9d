"""The protocol's HTTP routes. Errors have a fitting HTTP status, and the error text of Open Interpreter."""

import json
import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import anyio.to_thread
from fastapi import APIRouter, Request
from fastapi.responses import JSONResponse, Response
from starlette.datastructures import UploadFile

from terp.events import CodeRejected, Printed
from terp.text.dataclasses import dataclass
from terp.text.plain import mended
from terp_cli.server.compat.accumulating import Misplaced
from terp_cli.server.compat.client_settings import ClientSettings, Rejected
from terp_cli.server.compat.conversation import SharedConversation
from terp_cli.server.compat.frames import Piece, pieces_of, printed
from terp_cli.server.content import served_file
from terp_cli.server.failures import RequestRefused
from terp_cli.server.sessions import Served
from terp_cli.server.tree import Tree
from terp_cli.server.workspaces import Workspaces


@dataclass(eq=False)
class Reachable:
    """The files that clients may write and read; with `anywhere`, also those outside the session's directory.

    Files of terp itself are never among them.
    """

    workspaces: Workspaces
    anywhere: bool

    async def write(self, served: Served, path: str, pieces: AsyncIterator[bytes]) -> None:
        """Write `pieces` to the file at `path`, atomically.

        Raises:
            Rejected, RequestRefused: clients may not write it, or it cannot be written.
        """
        tree, name = self._placed(served, path)
        await tree.write(name, pieces)

    def read(self, served: Served | None, name: str) -> int:
        """Return a file, open for reading; `served` is None if no session is open.

        Raises:
            RequestRefused: there is no such file.
        """
        if self.anywhere:
            return Tree(self.workspaces.root, self.workspaces.own).read(name)
        if served is None:
            raise RequestRefused(404, f"There is no file {name[:80]!r}.")
        return served.files.read(name)

    def _placed(self, served: Served, path: str) -> tuple[Tree, str]:
        home = self.workspaces.root if self.anywhere else served.cwd
        try:
            place = Path(os.path.realpath((home / path).parent)) / Path(path).name
        except ValueError:
            raise Rejected(404, "That is no path.") from None
        if any(place.is_relative_to(os.path.realpath(own)) for own in self._closed(served)):
            raise Rejected(403, "terp's own files are not for clients.")
        if self.anywhere:
            return Tree(place.parent, self.workspaces.own), place.name
        real = Path(os.path.realpath(home))
        if not place.is_relative_to(real):
            raise Rejected(403, "Files outside the session's directory need --compat-unsafe.")
        return served.files, place.relative_to(real).as_posix()

    def _closed(self, served: Served) -> list[Path]:
        # A session without a directory of its choice works in one below the state.
        return [own for own in self.workspaces.own if not served.cwd.is_relative_to(own)] + [
            self.workspaces.places.sessions
        ]


_PIECE = 256 * 1024
SUCCESS = {"status": "success"}


def add_talk(routes: APIRouter, conversation: SharedConversation) -> None:
    """Return the routes for frames and for the heartbeat."""

    @routes.get("/heartbeat")
    async def heartbeat() -> dict[str, str]:
        """The server answers, whatever its sessions do."""
        return {"status": "alive"}

    @routes.post("/")
    async def take(request: Request) -> Response:
        """Handle a frame, as over the WebSocket; its answer goes to the clients there."""
        try:
            await conversation.take(await body_of(request))
        except Misplaced as error:
            raise Rejected(400, str(error)) from error
        return JSONResponse(SUCCESS)


def add_settings(routes: APIRouter, conversation: SharedConversation, wanted: ClientSettings) -> None:
    """Return the routes for settings; the messages are one of them."""

    @routes.post("/settings")
    async def change(request: Request) -> Response:
        """Change settings, load other messages, or forget all."""
        sent = await body_of(request)
        messages = sent.pop("messages", None)
        if messages is not None and not _are_messages(messages):
            raise Rejected(422, "messages must be a list of objects.")
        if messages is not None:
            await conversation.load(messages)
        try:
            wanted.change(sent)
        except Rejected as rejected:
            rejected.applied = [*rejected.applied, *(["messages"] if messages is not None else [])]
            raise
        return JSONResponse(SUCCESS)

    @routes.get("/settings/{name}")
    async def read(name: str) -> Response:
        """A setting: JSON in a string of JSON, as clients of the protocol read it."""
        if name == "messages":
            value: Any = conversation.messages
        elif name == "system_message":
            value = await conversation.shared.system_message()
        else:
            value = wanted.read(name)
        return JSONResponse(json.dumps({name: value}, default=_size))


def add_run(routes: APIRouter, conversation: SharedConversation) -> None:
    """Return the route that runs code without approval."""

    @routes.post("/run")
    async def run_code(request: Request) -> Response:
        """Run code, and return its whole output."""
        sent = await body_of(request)
        language, code = sent.get("language"), sent.get("code")
        if not (isinstance(language, str) and isinstance(code, str) and language and code):
            raise Rejected(400, "Both 'language' and 'code' are required.")
        return JSONResponse({"output": await run(conversation, language, code)})


def add_files(routes: APIRouter, conversation: SharedConversation, reachable: Reachable) -> None:
    """Return the routes for uploads and downloads."""

    @routes.post("/upload")
    async def upload(request: Request) -> Response:
        """Write the `file` of a form to its `path`."""
        async with request.form(max_files=1, max_fields=10) as form:
            file, path = form.get("file"), form.get("path")
            if isinstance(path, str) and path and not isinstance(file, str | None):
                listening = await conversation.shared.opened()
                await reachable.write(listening.served, path, _pieces(file))
                return JSONResponse(SUCCESS)
        raise Rejected(422, "Both 'file' and 'path' are required.")

    @routes.get("/download/{filename}")
    async def download(filename: str) -> Response:
        """Download a file by its path."""
        try:
            # To read opens no session: a page elsewhere can have a browser do it, if not see the answer.
            descriptor = await anyio.to_thread.run_sync(reachable.read, conversation.shared.served, filename)
        except RequestRefused as refused:
            raise Rejected(refused.status, refused.problem.message) from refused
        return served_file(descriptor, filename, "", "application/octet-stream")


async def body_of(request: Request) -> dict[str, Any]:
    """Return the body of a request, a JSON object.

    Raises:
        Rejected: the body is no JSON object.
    """
    try:
        sent = json.loads(await request.body())
    except (ValueError, RecursionError):
        raise Rejected(400, "The body is no JSON.") from None
    if not isinstance(sent, dict):
        raise Rejected(400, "The body must be an object.")
    return sent


async def answer_rejected(_: Request, error: Exception) -> JSONResponse:
    """Return the response for an error; its text may quote the request."""
    assert isinstance(error, Rejected)
    also = {"applied": error.applied} if error.applied else {}
    return JSONResponse({"error": mended(str(error)), **also}, error.status)


def _are_messages(sent: Any) -> bool:
    return isinstance(sent, list) and all(isinstance(message, dict) for message in sent)


async def _pieces(file: UploadFile) -> AsyncIterator[bytes]:
    while piece := await file.read(_PIECE):
        yield piece


def _size(content: Any) -> str:
    return f"[{len(content):,} bytes]"


_WAITS = "Code of the answer waits for its go; say go, or stop, first."


async def run(conversation: SharedConversation, language: str, code: str) -> list[dict[str, str]]:
    """Run code in the conversation's kernel, after the current answer, and return its outputs.

    Raises:
        Rejected: other code waits for its `go`, or this code was stopped before it ran.
        RequestRefused, TerpError: no kernel runs the language, or too many turns wait.
    """
    listening = await conversation.shared.opened()
    served = listening.served
    person = conversation.shared.person
    if person is not None and person.proposed is not None:
        raise Rejected(409, _WAITS)
    served.session.kernels.get(language)
    turn = served.ask(lambda session: session.run(language, code))
    began, ended = await turn.beginning(), await turn.ending()
    if began < 0 or ended < 0:
        raise Rejected(409, "It was stopped before it ran.")
    pieces: list[Piece] = []
    for record in served.session.log.since(began):
        match record.event:
            case Printed(output=output) if record.number <= ended:
                pieces += pieces_of(output)
            case CodeRejected(reason=reason) if record.number <= ended:
                pieces.append(printed(reason))
    return [_piece_json(piece, served.redactor.redacted) for piece in _joined(pieces)]


def _joined(pieces: list[Piece]) -> list[Piece]:
    """Return the pieces, with consecutive console pieces joined."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and piece.type == "console" and joined[-1].type == "console":
            joined[-1] = printed(joined[-1].content + piece.content)
        else:
            joined.append(piece)
    return joined


def _piece_json(piece: Piece, redacted: Callable[[str], str]) -> dict[str, str]:
    content = piece.content if piece.type == "image" else redacted(piece.content)
    return {"type": piece.type, "format": piece.format, "content": content}
