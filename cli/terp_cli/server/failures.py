"""Error responses: the same form for every failed request."""

from collections.abc import Mapping, Sequence
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, Match
from starlette.types import Scope

from terp.errors import KernelStartFailed, TerpError, UnknownLanguage

_NAMED = 10
_CODES = {
    400: "bad_request",
    401: "no_token",
    403: "not_from_here",
    404: "not_found",
    405: "method_not_allowed",
    408: "too_slow",
    409: "conflict",
    413: "too_large",
    414: "long_address",
    415: "wrong_content_type",
    416: "no_such_range",
    421: "not_this_host",
    422: "wrong_value",
    429: "too_many",
    431: "long_header",
    500: "mistake",
}


_KINDS = {401: "authentication_error", 403: "permission_error", 429: "rate_limit_error"}


class ErrorDetail(BaseModel):
    """The reason of a failure: a code for programs, a sentence, and the remedy.

    `type` and `param` are there for clients of OpenAI's interface, whose errors have them.
    """

    code: str
    message: str
    remedy: str = ""
    type: str = "invalid_request_error"
    param: None = None


class ErrorBody(BaseModel):
    """The body of every error response."""

    error: ErrorDetail


class RequestRefused(Exception):
    """A refused request, with its HTTP status."""

    def __init__(self, status: int, message: str, remedy: str = "", *, code: str = "") -> None:
        super().__init__(message)
        self.status = status
        kind = _KINDS.get(status, "server_error" if status >= 500 else "invalid_request_error")
        self.problem = ErrorDetail(code=code or _CODES[status], message=message, remedy=remedy, type=kind)


def answer(refused: RequestRefused, headers: Mapping[str, str] | None = None) -> JSONResponse:
    """Return the response to a refused request."""
    return JSONResponse({"error": refused.problem.model_dump()}, refused.status, headers=dict(headers or {}))


Documented = dict[int | str, dict[str, Any]]
"""Answers of a route in the OpenAPI document, by their status."""
# Named, not given as a model: of that FastAPI builds a validator for every status of every route, which took
# four fifths of the time that a server needs to start. The one model of `application` has it in the document.
_BODY = {"application/json": {"schema": {"$ref": f"#/components/schemas/{ErrorBody.__name__}"}}}


def documented(*statuses: int) -> Documented:
    """Return the failures of a route for the OpenAPI document, including those that all routes have."""
    every = (400, 401, 403, 405, 408, 413, 414, 415, 421, 422, 429, 431)
    return {
        status: {"description": _CODES[status], "content": _BODY} for status in sorted({*every, *statuses})
    }


def sending(about: str, content: Mapping[str, Any], *statuses: int) -> Documented:
    """Return the documented answers of a route that sends content; with 416 also for a range of it."""
    part: Documented = {206: {"description": "A part of it.", "content": content}} if 416 in statuses else {}
    return {200: {"description": about, "content": content}, **part, **documented(*statuses)}


def install(app: FastAPI) -> None:
    """Answer every error of `app` in this form."""
    for kind in (RequestRefused, TerpError, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, _failed)


async def _failed(request: Request, error: Exception) -> JSONResponse:
    if not isinstance(error, HTTPException):
        return answer(refusal_of(error))
    if error.status_code == 405:
        refused = RequestRefused(405, f"There is no {request.method[:20]} here.")
        return answer(refused, {"Allow": ", ".join(_methods(request))})
    status = error.status_code if error.status_code in _CODES else 400
    return answer(RequestRefused(status, str(error.detail)), error.headers)


def refusal_of(error: Exception) -> RequestRefused:
    """Return the refusal that answers an error; the details of a mistake of terp are only in the log."""
    match error:
        case RequestRefused():
            return error
        case KernelStartFailed() | UnknownLanguage():
            return RequestRefused(422, error.message, error.remedy, code=error.stop_reason)
        case TerpError():
            # What is asked for is well said, and does not go with how things are here.
            return RequestRefused(409, error.message, error.remedy, code=error.stop_reason)
        case RequestValidationError():
            return RequestRefused(422, "; ".join(validation_lines(error.errors())))
    return RequestRefused(500, "An internal error occurred.", "Its log says which.")


def validation_lines(problems: Sequence[Any]) -> list[str]:
    """Return the first problems, each with its place; sent values are left out, as they may be secret."""
    lines = [
        f"{'.'.join(map(str, problem['loc']))[:200]}: {problem['msg'][:300]}" for problem in problems[:_NAMED]
    ]
    left = len(problems) - len(lines)
    return [*lines, f"and {left} more"] if left else lines


def _methods(request: Request) -> Sequence[str]:
    """Return the methods of all routes with this path; the router itself only reports those of the first."""
    return [
        method
        for method in ("DELETE", "GET", "HEAD", "PATCH", "POST", "PUT")
        if any(_has(route, {**request.scope, "method": method}) for route in request.app.routes)
    ]


def _has(route: BaseRoute, scope: Scope) -> bool:
    return route.matches(scope)[0] is Match.FULL
