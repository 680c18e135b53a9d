"""The page, and the frame in which it shows HTML that code made. Neither holds anything of a session."""

from functools import cache

from fastapi import APIRouter, Header, Response

from terp_cli.server.page.document import Document, frame, page

PUBLIC = ("/", "/frame")


def router() -> APIRouter:
    """The routes."""
    routes = APIRouter(include_in_schema=False)
    # Put together for the first who asks: most servers are never looked at.
    whole, framed = cache(page), cache(frame)

    @routes.api_route("/", methods=["GET", "HEAD"])
    def shell(if_none_match: str = Header("")) -> Response:
        return _answer(whole(), if_none_match)

    @routes.api_route("/frame", methods=["GET", "HEAD"])
    def shown(if_none_match: str = Header("")) -> Response:
        return _answer(framed(), if_none_match)

    return routes


def _answer(document: Document, known: str) -> Response:
    headers = {
        "ETag": document.tag,
        "Cache-Control": "no-cache",
        "Content-Security-Policy": document.policy,
        "Cross-Origin-Opener-Policy": "same-origin",
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
    }
    if known == document.tag:
        return Response(status_code=304, headers=headers)
    return Response(document.content, headers=headers, media_type="text/html")
