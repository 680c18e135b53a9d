"""What a page elsewhere can send without asking changes nothing, even where a browser adds what it knows."""

from dataclasses import replace
from pathlib import Path

from terp_cli.server.page.document import PUBLIC
from tests.cli.server.attacks.raw import Request, exchanged, json_request
from tests.cli.server.attacks.target import BOTH, attacked, compat, http_routes

FORMS = {
    "text/plain": b"{}",
    "text/plain;charset=application/json": b"{}",
    "application/x-www-form-urlencoded": b'{"prompt":"=hi"}',
    "multipart/form-data; boundary=x": b'--x\r\nContent-Disposition: form-data; name="a"\r\n\r\n{}\r\n--x--',
    "application/csp-report": b"{}",
    "text/json": b"{}",
    "application/jsonp": b"{}",
    "": b"{}",
}
"""The types that a form or `navigator.sendBeacon` sends without a preflight, and what looks like JSON."""
TAKEN: dict[tuple[str, str], tuple[str, ...]] = {
    # So the protocol has it. A page elsewhere is still one of another origin, and this form lacks a file.
    ("POST", "/upload"): ("multipart/form-data",),
}
"""Types beyond JSON and bytes that a route takes, by method and path: each needs a reason beside it."""
OVERRIDES = ("X-HTTP-Method-Override", "X-Method-Override", "X-HTTP-Method", "_method")


@BOTH
async def test_no_body_that_a_form_can_send_is_taken_by_any_route(tmp_path: Path, kind: str) -> None:
    async with attacked(tmp_path, kind=kind) as on:
        before, got = on.state(), {}
        for route in http_routes(on.app):
            for content, body in FORMS.items():
                if content.partition(";")[0] in TAKEN.get((route.method, route.path), ()):
                    continue
                lines = (f"Content-Type: {content}",) if content else ()
                answer = await exchanged(
                    on.port, Request(route.method, on.path(route), lines=lines, body=body)
                )
                if answer.status != 415:
                    got[route, content] = answer
        assert got == {}
        assert on.state() == before


async def test_a_form_with_the_cookies_of_a_browser_is_a_stranger(tmp_path: Path) -> None:
    sent = ("Cookie: session=1", "Sec-Fetch-Mode: no-cors")
    async with attacked(tmp_path) as on:
        before = on.state()
        answers = [
            await exchanged(
                on.port, replace(json_request(route.method, on.path(route), b"{}").with_lines(*sent), auth="")
            )
            for route in http_routes(on.app)
            if route.changes
        ]
        assert {answer.status for answer in answers} == {401}
        assert on.state() == before


async def test_no_header_and_no_query_makes_another_method_of_one(tmp_path: Path) -> None:
    lines = [f"{name}: DELETE" for name in OVERRIDES]
    async with attacked(tmp_path) as on:
        paths = [f"/v1/sessions/{on.session}", f"/v1/sessions/{on.session}/files/a.txt"]
        for path in paths:
            for method in ("GET", "POST", "HEAD"):
                request = json_request(method, f"{path}?_method=DELETE", b"{}" if method == "POST" else b"")
                await exchanged(on.port, request.with_lines(*lines))
        assert [await _status(on.port, path) for path in paths] == [200, 200]


async def _status(port: int, path: str) -> int:
    return (await exchanged(port, Request(path=path))).status


@BOTH
async def test_who_comes_from_a_page_elsewhere_gets_nothing_but_pages(tmp_path: Path, kind: str) -> None:
    """To GET something a browser names no origin; it says that the call comes from another site."""
    async with attacked(tmp_path, kind=kind, compat=compat(kind, key="")) as on:
        before = on.state()
        statuses = {
            (route, site): (
                await exchanged(
                    on.port, Request(route.method, on.path(route), lines=(f"Sec-Fetch-Site: {site}",))
                )
            ).status
            for route in http_routes(on.app)
            if route.path not in PUBLIC
            for site in ("cross-site", "same-site", "", "cross-site, same-origin")
        }
        own = await exchanged(on.port, Request(lines=("Sec-Fetch-Site: same-origin",)))
        page = await exchanged(on.port, Request(path="/", auth="", lines=("Sec-Fetch-Site: cross-site",)))
        assert on.state() == before
    assert (set(statuses.values()), own.status, page.status) == ({403}, 200, 200)


@BOTH
async def test_reading_changes_nothing(tmp_path: Path, kind: str) -> None:
    async with attacked(tmp_path, kind=kind) as on:
        before = on.state()
        statuses = {
            (method, route.path): (await exchanged(on.port, Request(method, on.path(route)))).status
            for route in http_routes(on.app)
            if not route.changes
            for method in ("GET", "HEAD", "OPTIONS", "TRACE", "PROPFIND")
        }
        assert on.state() == before
    assert {name: status for name, status in statuses.items() if status >= 500} == {}
    assert {status for (method, _), status in statuses.items() if method == "TRACE"} <= {404, 405}


async def test_no_answer_may_be_framed_or_sniffed_into_a_page(tmp_path: Path) -> None:
    page = b"<script>parent.postMessage('mine', '*')</script>"
    async with attacked(tmp_path) as on:
        path = f"/v1/sessions/{on.session}/files/page.html"
        await exchanged(
            on.port, Request("PUT", path, lines=("Content-Type: application/octet-stream",), body=page)
        )
        answer = await exchanged(on.port, Request(path=path))
    assert "content-type: application/octet-stream" in answer.headers.lower()
    assert "x-content-type-options: nosniff" in answer.headers.lower()
    assert "content-disposition: attachment" in answer.headers.lower()
    assert "content-security-policy: default-src 'none'; sandbox" in answer.headers.lower()
