"""No name in a path, a query or a body leads to a file that is not of the session."""

import json
import os
from pathlib import Path
from urllib.parse import quote

from tests.cli.server.attacks.raw import Answer, Request, exchanged, json_request
from tests.cli.server.attacks.target import BOTH, Attacked, Route, attacked, http_routes

CANARY = "the canary of another place"
NAMES = [
    "..%2fcanary",
    "%2e%2e%2fcanary",
    "%2e%2e/canary",
    "../canary",
    "a/../../canary",
    "a/%2e%2e/%2e%2e/canary",
    "..%5ccanary",
    "..%c0%afcanary",
    "%252e%252e%252fcanary",
    "....//canary",
    "%2fetc%2fpasswd",
    "//etc/passwd",
    "a//b",
    "canary%00.txt",
    "a%00",
    "a%0a",
    "a%0d%0aX-Injected:%201",
    ".env",
    ".ssh/id_rsa",
    "sub/.git/config",
    "nul",
    "CON.txt",
    "com1",
    "lpt9.csv",
    "trailing.",
    "trailing%20",
    "a:stream",
    "C:%5cwindows",
    "%5c%5chost%5cshare",
    "x" * 256,
    "%e6%b1%89" * 86,
    "/".join("d" * 40),
    "%2e",
    "%ff%fe",
    "link",
    "folder/canary",
    "pipe",
    "device",
    "",
]
PLACES = [
    "..",
    "/",
    "/etc",
    "../..",
    "{folder}/outside",
    "link",
    "folder",
    "~",
    "a\0b",
    "\ud800",
    "x" * 5_000,
]


def laid(on: Attacked, folder: Path) -> None:
    """A place beside the session's, with canaries, and what leads from the session there."""
    outside = folder / "outside"
    outside.mkdir()
    for place in (
        outside,
        on.server.sessions.workspaces.work,
        folder,
        on.server.sessions.workspaces.places.sessions,
    ):
        place.mkdir(exist_ok=True, parents=True)
        (place / "canary").write_text(CANARY)
    work = on.server.sessions.workspaces.work / on.session
    (work.parent / f"{on.session}-secret").mkdir()
    (work.parent / f"{on.session}-secret" / "canary").write_text(CANARY)
    for top in (work, on.server.sessions.workspaces.root):
        (top / "link").symlink_to(outside / "canary")
        (top / "folder").symlink_to(outside)
        (top / "device").symlink_to("/dev/zero")
        os.mkfifo(top / "pipe")


def with_hostile_parts(on: Attacked, route: Route) -> list[str]:
    """The path of a route with each of its parts hostile in turn."""
    return [
        route.filled(**{"session": on.session, "path": "a.txt", "output": "1", part: name})
        for part in route.parts
        for name in NAMES
    ]


@BOTH
async def test_no_path_of_any_route_leads_out_of_the_session(tmp_path: Path, kind: str) -> None:
    async with attacked(tmp_path, kind=kind) as on:
        laid(on, tmp_path)
        before = _elsewhere(on, tmp_path)
        bodies = {"PUT": (b"mine", "application/octet-stream"), "POST": (b"{}", "application/json")}
        got = {}
        for route in http_routes(on.app):
            # Ends of its own are no part of this.
            for path in with_hostile_parts(on, route) if route.method != "DELETE" else []:
                body, content = bodies.get(route.method, (b"", "application/json"))
                lines = (f"Content-Type: {content}",) if body else ()
                answer = await exchanged(on.port, Request(route.method, path, lines=lines, body=body))
                if _succeeded(route, answer):
                    got[route.method, path] = answer
        assert got == {}
        assert _elsewhere(on, tmp_path) == before


def _succeeded(route: Route, answer: Answer) -> bool:
    """Whether something was had that is not of the session."""
    if CANARY in answer.body or "root:" in answer.body or "x-injected" in answer.headers.lower():
        return True
    reads = "/files/" in route.path or route.path.startswith("/download/")
    was_read = route.method == "GET" and reads and answer.status < 400
    return answer.status >= 500 or was_read


async def test_no_path_of_any_route_removes_what_is_not_of_the_session(tmp_path: Path) -> None:
    async with attacked(tmp_path) as on:
        laid(on, tmp_path)
        before = _elsewhere(on, tmp_path)
        for route in http_routes(on.app):
            for path in with_hostile_parts(on, route) if route.method == "DELETE" else []:
                answer = await exchanged(on.port, Request("DELETE", path))
                # A session of no name is the list of them all.
                assert answer.status in (204, 400, 404, 405), (path, answer)
        assert _elsewhere(on, tmp_path) == before


async def test_no_field_names_a_place_that_is_not_for_clients(tmp_path: Path) -> None:
    async with attacked(tmp_path) as on:
        laid(on, tmp_path)
        turns = f"/v1/sessions/{on.session}/turns"
        got = {}
        for place in PLACES:
            name = place.replace("{folder}", str(tmp_path))
            bodies = [
                ("/v1/sessions", {"cwd": name}),
                ("/v1/sessions", {"profile": f"../{name}"}),
                (turns, {"prompt": "read", "attachments": [name], "stream": False}),
                (turns, {"prompt": "read", "attachments": [f"{name}/canary"], "stream": False}),
            ]
            for path, body in bodies:
                answer = await exchanged(on.port, json_request("POST", path, json.dumps(body).encode()))
                if answer.status not in (404, 409, 422):
                    got[path, str(body)] = answer
        assert got == {}
        assert len(on.server.sessions.open) == 1


async def test_no_query_names_a_file(tmp_path: Path) -> None:
    async with attacked(tmp_path) as on:
        laid(on, tmp_path)
        answers = [
            await exchanged(
                on.port, Request(path=f"/v1/sessions/{on.session}/{what}={quote(name, safe='%')}")
            )
            for what in ("export?format", "variables?language", "events?after")
            for name in NAMES
            if name
        ]
    assert {answer.status for answer in answers} <= {404, 422}
    assert [answer for answer in answers if CANARY in answer.body] == []


def _elsewhere(on: Attacked, folder: Path) -> dict[str, str]:
    """The plain files that are not of the session, with what they hold."""
    work = on.server.sessions.workspaces.work / on.session
    files = [path for path in folder.rglob("*") if path.is_file() and not path.is_symlink()]
    return {str(path): path.read_text() for path in files if not path.is_relative_to(work)}
