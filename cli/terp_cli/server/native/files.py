"""The routes of files in a session's working directory, and of results: variables, outputs, exports."""

import tempfile
import zipfile
from io import BytesIO
from mimetypes import guess_type
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio.to_thread
from fastapi import APIRouter, Header, Query, Request, Response
from starlette.convertors import PathConvertor, register_url_convertor

from terp.session.artifacts import OUTPUTS
from terp.store.export.writing import export
from terp_cli.server.bodies import BYTES
from terp_cli.server.content import SAFE, served_archive, served_file
from terp_cli.server.failures import RequestRefused, documented, sending
from terp_cli.server.native import forms
from terp_cli.server.native.code import known_language
from terp_cli.server.sessions import Served, Sessions
from terp_cli.server.tree import Tree

_BINARY = {"schema": {"type": "string", "format": "binary"}}
_ANY: dict[str, Any] = {"*/*": {"schema": {}}}
Wanted = Annotated[str, Header(alias="Range")]


class _AnyPath(PathConvertor):
    """Path converter that also accepts line feeds in names."""

    regex = r"[\s\S]*"


def files_router(sessions: Sessions) -> APIRouter:
    """The routes."""
    register_url_convertor("any_path", _AnyPath())
    routes = APIRouter(prefix="/v1/sessions/{session}", tags=["files"])

    @routes.get("/files", responses=documented(404, 409))
    async def list_files(session: str) -> forms.FileList:
        """List the plain files that are not hidden."""
        found, more = await anyio.to_thread.run_sync(sessions.get(session).files.listed)
        return forms.FileList(files=found, more=more)

    whole = sending("The file.", {BYTES: _BINARY}, 404, 409, 416)

    @routes.get("/files/{path:any_path}", response_class=Response, responses=whole)
    async def download(session: str, path: str, wanted: Wanted = "") -> Response:
        """A file, or a range of its bytes."""
        descriptor = await anyio.to_thread.run_sync(sessions.get(session).files.read, path)
        return served_file(descriptor, path.rpartition("/")[2], wanted, BYTES)

    @routes.put(
        "/files/{path:any_path}",
        responses=documented(404, 409),
        openapi_extra={"requestBody": {"content": {BYTES: _BINARY}}},
    )
    async def upload(session: str, path: str, request: Request) -> forms.FileWritten:
        """Write a file atomically; a file of the same name is replaced."""
        files = sessions.get(session).files
        kind = request.headers.get("content-type", BYTES)
        if kind != BYTES:
            raise RequestRefused(415, f"A file is sent as {BYTES}.")
        return forms.FileWritten(path=path, size=await files.write(path, request.stream()))

    @routes.delete("/files/{path:any_path}", status_code=204, responses=documented(404, 409))
    async def remove(session: str, path: str) -> Response:
        """Remove a file."""
        await anyio.to_thread.run_sync(sessions.get(session).files.remove, path)
        return Response(status_code=204)

    @routes.get(
        "/archive",
        response_class=Response,
        responses=sending("All files as a zip archive.", {"application/zip": _BINARY}, 404, 409),
    )
    async def archive(session: str) -> Response:
        """Send all files as one archive."""
        return served_archive(sessions.get(session).files, f"{session}.zip")

    return routes


_TYPES = {
    "ipynb": "application/x-ipynb+json",
    "py": "text/x-python",
    "md": "text/markdown",
    "html": "text/html",
    "zip": "application/zip",
}


def results_router(sessions: Sessions) -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/v1/sessions/{session}", tags=["results"])

    @routes.get("/variables", responses=documented(404, 409))
    async def variables(
        session: str, language: Annotated[str, Query(max_length=40)] = "python"
    ) -> forms.VariableList:
        """The variables of a kernel; it is not started for this."""
        served = sessions.get(session)
        kernel = served.session.kernels.get(known_language(served, language))
        found = {"language": kernel.language, "variables": await kernel.variables()}
        return forms.VariableList.model_validate(found, from_attributes=True)

    @routes.get(
        "/outputs/{output}",
        response_class=Response,
        responses=sending("The output.", _ANY, 404, 409, 416),
    )
    async def output(session: str, output: str, wanted: Wanted = "") -> Response:
        """The full output of a run by its number (3), or a picture of it by its file name (3-1.png)."""
        served = sessions.get(session)
        name = f"{output}.txt" if output.isdigit() else output
        outputs = Tree(served.session.folder / OUTPUTS)
        descriptor = await anyio.to_thread.run_sync(outputs.read, name)
        kind = "text/plain; charset=utf-8" if name.endswith(".txt") else guess_type(name)[0]
        return served_file(descriptor, name, wanted, kind or "application/octet-stream")

    @routes.get(
        "/export",
        response_class=Response,
        responses=sending("The session, as it is until now.", _ANY, 404, 409),
    )
    async def exported(
        session: str,
        format: Annotated[Literal["ipynb", "py", "md", "html"], Query()] = "ipynb",  # noqa: A002  (its name)
    ) -> Response:
        """The session as a notebook, a script, Markdown or a page; many files come as a zip archive."""
        name, written = await anyio.to_thread.run_sync(_exported, sessions.get(session), format)
        kind = _TYPES[name.rpartition(".")[2]]
        headers = {**SAFE, "Content-Disposition": f'attachment; filename="{name}"'}
        return Response(written, headers=headers, media_type=kind)

    return routes


def _exported(served: Served, format: Literal["ipynb", "py", "md", "html"]) -> tuple[str, bytes]:  # noqa: A002
    with tempfile.TemporaryDirectory(prefix="terp-") as name:
        folder, records = Path(name), served.session.log.since(0)
        target = folder / f"{served.id}.{format}"
        path = export(records, served.session.folder, format, target, redactor=served.redactor)
        beside = sorted(one for one in folder.rglob("*") if one.is_file() and one != path)
        if not beside:
            return path.name, path.read_bytes()
        packed = BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for one in (path, *beside):
                archive.write(one, one.relative_to(folder))
        return f"{served.id}.zip", packed.getvalue()
