"""The tools and resources of the MCP server, over the sessions of its clients."""

import asyncio
import base64
import mimetypes
import time
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server

from terp import __version__
from terp.errors import TerpError, with_remedy
from terp_cli.mcp_server.client_session import ClientResult, ClientRun, ClientSession, installing

Context = ServerRequestContext[Any, Any]
CallOutcome = types.CallToolResult | types.InputRequiredResult
SessionOf = Callable[[Context], Awaitable[ClientSession]]
"""Returns the session of the client that sent a request; opens it with the first one."""
_EVERY_S = 0.5
_LINKS = 10
_LISTED = 200
_INSTRUCTIONS = """\
A live kernel: variables, imports and the working directory stay between calls, in {cwd}. \
Use it for all computing: load data once, then ask about it. Pictures come back as images. \
{safety} The result names a refused effect and the reason: do not work around it."""


_RUN = "Run code in the live kernel; variables stay for the next call. Returns output, the value of the last \
expression, pictures, and which variables and files changed."


def _field(kind: str, about: str) -> dict[str, Any]:
    return {"type": kind, "description": about}


def tool_list(languages: Sequence[str]) -> list[types.Tool]:
    """Return the tools; code runs in one of the `languages`, the first by default."""
    language = {"language": _field("string", f"one of {', '.join(languages)}; default {languages[0]}")}
    names = {**_field("array", "names, such as pandas or numpy>=2"), "items": {"type": "string"}}
    parts = {
        "n": _field("integer", "number of the run; -1 is the last"),
        "grep": _field("string", "only lines with this text; a|b for several"),
        "lines": _field("string", "only these lines: 1-50, 200-, or -20 for the last 20"),
    }
    rows: tuple[tuple[str, str, dict[str, Any], list[str]], ...] = (
        ("execute", _RUN, {"code": _field("string", "the code"), **language}, ["code"]),
        ("variables", "List the variables: name, type, shape, beginning.", {}, []),
        ("output", "Read the whole output of an earlier run, of which the result was cut.", parts, ["n"]),
        ("interrupt", "Stop the running code; variables stay.", {}, []),
        ("restart", "Restart the kernel: variables are lost.", language, []),
        ("install", "Install packages into the Python of the kernel.", {"packages": names}, ["packages"]),
    )
    return [
        types.Tool(
            name=name,
            description=about,
            input_schema={"type": "object", "properties": fields, "required": required},
            annotations=types.ToolAnnotations(read_only_hint=name in ("variables", "output")),
        )
        for name, about, fields, required in rows
    ]


def mcp_server(session_of: SessionOf, cwd: Path, safety: str) -> Server[Any]:
    """Return the server; `safety` is a sentence on the sandbox and on what is asked."""

    async def list_tools(ctx: Context, _: types.RequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tool_list((await session_of(ctx)).session.kernels.languages))

    async def call_tool(ctx: Context, params: types.CallToolRequestParams) -> CallOutcome:
        client = await session_of(ctx)
        try:
            return await _called(ctx, client, params)
        except TerpError as error:
            said = with_remedy(error.message, error.remedy)
        except (TypeError, ValueError) as error:
            said = str(error)
        return _result(ClientResult(client.session.resources.redacted(said), failed=True))

    async def list_resources(
        ctx: Context, _: types.PaginatedRequestParams | None
    ) -> types.ListResourcesResult:
        files = [_described(one) for one in (await session_of(ctx)).files()[:_LISTED]]
        return types.ListResourcesResult(resources=[types.Resource(**one) for one in files])

    async def read_resource(
        ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        client, uri = await session_of(ctx), str(params.uri)
        try:
            content = client.read(Path(unquote(urlsplit(uri).path)))
        except (OSError, ValueError) as error:
            raise MCPError(types.INVALID_PARAMS, f"{uri} cannot be read: {error}") from error
        return types.ReadResourceResult(contents=[_contents(client, uri, content)])

    instructions = _INSTRUCTIONS.format(cwd=cwd, safety=safety)
    calls: dict[str, Any] = {"on_list_tools": list_tools, "on_call_tool": call_tool}
    resources: dict[str, Any] = {"on_list_resources": list_resources, "on_read_resource": read_resource}
    return Server("terp", version=__version__, instructions=instructions, **calls, **resources)


class _Arguments(dict[str, Any]):
    def __missing__(self, name: str) -> Any:
        raise TerpError(f"The argument {name!r} is missing.")


async def _called(ctx: Context, client: ClientSession, params: types.CallToolRequestParams) -> CallOutcome:
    given = _Arguments(params.arguments or {})
    language = str(given.get("language") or client.session.kernels.languages[0])
    match params.name:
        case "execute":
            return await _run(ctx, client, params, language, str(given["code"]))
        case "install":
            return await _run(ctx, client, params, "python", installing(given["packages"]))
        case "variables":
            said = await client.variables()
        case "output":
            said = client.output(int(given["n"]), str(given.get("grep") or ""), str(given.get("lines") or ""))
        case "interrupt":
            said = "Interrupted; variables stay." if await client.interrupt() else "Nothing is running."
        case "restart":
            said = await client.restart(language)
        case _:
            raise TerpError(f"There is no tool {params.name!r}.")
    return _result(ClientResult(said))


async def _run(
    ctx: Context, client: ClientSession, params: types.CallToolRequestParams, language: str, code: str
) -> CallOutcome:
    """Run code, and ask the client's user meanwhile; a call that the client cancels is interrupted.

    From 2026-07-28 on a server sends no requests: the call returns with the question, and the client calls
    again with the answer and the `request_state`.
    """
    capabilities, elicit = ctx.session.client_capabilities, None
    can_ask = capabilities is not None and capabilities.elicitation is not None
    if ctx.session.can_send_request:
        elicit = partial(ctx.session.elicit_form, related_request_id=ctx.request_id)
    run = client.running.get(params.request_state or "")
    run = run or client.begin(language, code, can_ask=can_ask, elicit=elicit)
    assert run.task is not None, "it has begun"
    for name, answer in (params.input_responses or {}).items():
        if isinstance(answer, types.ElicitResult) and (waits := run.close(name)):
            waits.set_result(answer)
    asked, reporting = asyncio.create_task(run.asked.wait()), asyncio.create_task(_report(ctx, client, run))
    try:
        await asyncio.wait([run.task, asked], return_when=asyncio.FIRST_COMPLETED)
        if run.task.done():
            return _result(run.task.result())
        forms: types.InputRequests = {name: form for name, (form, _) in run.open.items()}
        return types.InputRequiredResult(input_requests=forms, request_state=run.call.id)
    except asyncio.CancelledError:
        # The client waits for no answer, but the code must end.
        await asyncio.shield(client.stop(run))
        raise
    finally:
        asked.cancel()
        reporting.cancel()


async def _report(ctx: Context, client: ClientSession, run: ClientRun) -> None:
    """Report the progress of a run at intervals, also a silent one: clients give up on silent servers."""
    began = time.monotonic()
    while True:
        await ctx.session.report_progress(time.monotonic() - began, None, client.progress(run))
        await asyncio.sleep(_EVERY_S)


def _result(outcome: ClientResult) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(text=outcome.text)]
    content += [types.ImageContent(data=one.data, mime_type=one.mime) for one in outcome.images]
    content += [types.ResourceLink(**_described(one)) for one in outcome.files[:_LINKS]]
    return types.CallToolResult(content=content, is_error=outcome.failed)


def _contents(
    client: ClientSession, uri: str, content: bytes
) -> types.TextResourceContents | types.BlobResourceContents:
    kind = _type_of(uri)
    try:
        text = client.session.resources.redacted(content.decode())
    except UnicodeDecodeError:
        return types.BlobResourceContents(uri=uri, mime_type=kind, blob=base64.b64encode(content).decode())
    return types.TextResourceContents(uri=uri, mime_type=kind, text=text)


def _described(path: Path) -> dict[str, Any]:
    return {"name": path.name, "uri": f"file://{quote(str(path))}", "mime_type": _type_of(path.name)}


def _type_of(name: str) -> str:
    return mimetypes.guess_type(name)[0] or "application/octet-stream"
