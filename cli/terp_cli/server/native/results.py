"""What runs left: variables, full outputs, pictures; and the session as a file that others can open."""

import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from mimetypes import guess_type
from pathlib import Path
from typing import Annotated, Any, Literal

import anyio.to_thread
from fastapi import APIRouter, Header, Query, Response

from terp.session.artifacts import OUTPUTS
from terp.store.export.writing import export
from terp.text.languages import language_of
from terp_cli.server import content
from terp_cli.server.failures import Refused, documented
from terp_cli.server.native import forms
from terp_cli.server.served import Served
from terp_cli.server.sessions import Sessions
from terp_cli.server.tree import Tree

_TYPES = {
    "ipynb": "application/x-ipynb+json",
    "py": "text/x-python",
    "md": "text/markdown",
    "html": "text/html",
    "zip": "application/zip",
}
_ANY: dict[str, Any] = {"content": {"*/*": {"schema": {}}}}


Wanted = Annotated[str, Header(alias="Range")]


def router(sessions: Sessions) -> APIRouter:
    """The routes."""
    routes = APIRouter(prefix="/v1/sessions/{session}", tags=["results"])

    @routes.get("/variables", responses=documented(404, 409))
    async def variables(
        session: str, language: Annotated[str, Query(max_length=40)] = "python"
    ) -> forms.VariableList:
        """The variables of a kernel; it is not started for this."""
        kernels = sessions.get(session).session.kernels
        known = language_of(language, kernels.languages)
        if not known:
            raise Refused(404, f"No kernel here runs {language!r}. There is: {', '.join(kernels.languages)}.")
        kernel = kernels.get(known)
        found = [
            forms.VariableTold(
                name=one.name, type=one.type, shape=list(one.shape), size=one.size, head=one.head
            )
            for one in await kernel.variables()
        ]
        return forms.VariableList(language=kernel.language, variables=found)

    @routes.get(
        "/outputs/{output}",
        response_class=Response,
        responses={
            200: {"description": "The output.", **_ANY},
            206: {"description": "A part of it.", **_ANY},
            **documented(404, 409, 416),
        },
    )
    async def output(
        session: str, output: str, wanted: Annotated[str, Header(alias="Range")] = ""
    ) -> Response:
        """The full text of a run by its number (3), or a picture by the last part of its path (3-1.png)."""
        served = sessions.get(session)
        name = f"{output}.txt" if output.isdigit() else output
        outputs = Tree(served.session.folder / OUTPUTS)
        descriptor = await anyio.to_thread.run_sync(outputs.read, name)
        kind = "text/plain; charset=utf-8" if name.endswith(".txt") else guess_type(name)[0]
        return content.served_file(descriptor, name, wanted, kind or "application/octet-stream")

    @routes.get(
        "/export",
        response_class=Response,
        responses={200: {"description": "The session, as it is until now.", **_ANY}, **documented(404, 409)},
    )
    async def exported(
        session: str,
        format: Annotated[Literal["ipynb", "py", "md", "html"], Query()] = "ipynb",  # noqa: A002  (its name)
    ) -> Response:
        """The session as a notebook, a script, Markdown or a page; many files come as a zip archive."""
        name, written = await anyio.to_thread.run_sync(_exported, sessions.get(session), format)
        kind = _TYPES[name.rpartition(".")[2]]
        headers = {**content.SAFE, "Content-Disposition": f'attachment; filename="{name}"'}
        return Response(written, headers=headers, media_type=kind)

    return routes


def _exported(served: Served, format: Literal["ipynb", "py", "md", "html"]) -> tuple[str, bytes]:  # noqa: A002
    with _folder() as folder:
        records = served.session.log.since(0)
        target = folder / f"{served.id}.{format}"
        path = export(records, served.session.folder, format, target, scrubber=served.scrubber)
        beside = sorted(one for one in folder.rglob("*") if one.is_file() and one != path)
        if not beside:
            return path.name, path.read_bytes()
        packed = BytesIO()
        with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
            for one in (path, *beside):
                archive.write(one, one.relative_to(folder))
        return f"{served.id}.zip", packed.getvalue()


@contextmanager
def _folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="terp-") as name:
        yield Path(name)
