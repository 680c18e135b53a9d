"""The files of a session: those in the directory where its code works."""

from typing import Annotated, Any

import anyio.to_thread
from fastapi import APIRouter, Header, Request, Response
from starlette.convertors import PathConvertor, register_url_convertor

from terp_cli.server import content
from terp_cli.server.bodies import BYTES
from terp_cli.server.failures import Refused, documented
from terp_cli.server.native import forms
from terp_cli.server.sessions import Sessions

_BYTES: dict[str, Any] = {"content": {BYTES: {"schema": {"type": "string", "format": "binary"}}}}
_WHOLE: dict[int | str, dict[str, Any]] = {
    200: {"description": "The file.", **_BYTES},
    206: {"description": "A part of it.", **_BYTES},
    **documented(404, 409, 416),
}
Wanted = Annotated[str, Header(alias="Range")]


class _AnyPath(PathConvertor):
    """A path, in which a name may have a line feed as well."""

    regex = r"[\s\S]*"


def router(sessions: Sessions) -> APIRouter:
    """The routes."""
    register_url_convertor("any_path", _AnyPath())
    routes = APIRouter(prefix="/v1/sessions/{session}", tags=["files"])

    @routes.get("/files", responses=documented(404, 409))
    async def list_files(session: str) -> forms.FileList:
        """The files, without those that are hidden and those that are no plain files."""
        found, more = await anyio.to_thread.run_sync(sessions.get(session).files.listed)
        told = [forms.FileTold(path=one.path, size=one.size, modified=one.modified) for one in found]
        return forms.FileList(files=told, more=more)

    @routes.get("/files/{path:any_path}", response_class=Response, responses=_WHOLE)
    async def download(session: str, path: str, wanted: Wanted = "") -> Response:
        """A file, or a range of its bytes."""
        descriptor = await anyio.to_thread.run_sync(sessions.get(session).files.read, path)
        return content.served_file(descriptor, path.rpartition("/")[2], wanted, BYTES)

    @routes.put(
        "/files/{path:any_path}",
        responses=documented(404, 409),
        openapi_extra={"requestBody": _BYTES},
    )
    async def upload(session: str, path: str, request: Request) -> forms.FileWritten:
        """Write a file: it is there whole, in place of one of the same name, or not at all."""
        files = sessions.get(session).files
        kind = request.headers.get("content-type", BYTES)
        if kind != BYTES:
            raise Refused(415, f"A file is sent as {BYTES}.")
        return forms.FileWritten(path=path, size=await files.write(path, request.stream()))

    @routes.delete("/files/{path:any_path}", status_code=204, responses=documented(404, 409))
    async def remove(session: str, path: str) -> Response:
        """Remove a file."""
        await anyio.to_thread.run_sync(sessions.get(session).files.remove, path)
        return Response(status_code=204)

    @routes.get(
        "/archive",
        response_class=Response,
        responses={
            200: {
                "description": "All files as a zip archive.",
                "content": {"application/zip": {"schema": {"type": "string", "format": "binary"}}},
            },
            **documented(404, 409),
        },
    )
    async def archive(session: str) -> Response:
        """All files in one archive."""
        return content.served_archive(sessions.get(session).files, f"{session}.zip")

    return routes
