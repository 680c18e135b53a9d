"""The tools and resources of the MCP server, over the sessions of its clients."""

import asyncio
import base64
import mimetypes
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
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
SessionOf = Callable[[Context], Awaitable[ClientSession]]
"""Returns the session of the client that sent a request; opens it with the first one."""
_EVERY_S = 0.5
_LINKS = 10
_LISTED = 200
_INSTRUCTIONS = """\
A live kernel: variables, imports and the working directory stay between calls, in {cwd}. \
Use it for all computing: load data once, then ask about it. Pictures come back as images. \
{safety} A refused effect is said in the result, with its reason: do not work around it."""


def _schema(required: str = "", **properties: tuple[str, str]) -> dict[str, Any]:
    rows = {name: {"type": kind, "description": about} for name, (kind, about) in properties.items()}
    for row in rows.values():
        if row["type"] == "array":
            row["items"] = {"type": "string"}  # type: ignore[assignment]
    return {"type": "object", "properties": rows, **({"required": required.split()} if required else {})}


def tool_list(languages: Sequence[str]) -> list[types.Tool]:
    """Return the tools; code runs in one of the `languages`, the first by default."""
    language = ("string", f"one of {', '.join(languages)}; default {languages[0]}")
    reads, changes = types.ToolAnnotations(read_only_hint=True), types.ToolAnnotations(destructive_hint=True)
    rows: list[tuple[str, str, dict[str, Any], types.ToolAnnotations]] = [
        (
            "execute",
            "Run code in the live kernel; variables stay for the next call. Returns output, the value of the "
            "last expression, pictures, and which variables and files changed.",
            _schema("code", code=("string", "the code"), language=language),
            changes,
        ),
        ("variables", "List the variables: name, type, shape, beginning.", _schema(), reads),
        (
            "output",
            "Read the whole output of an earlier run, of which the result was cut.",
            _schema(
                "n",
                n=("integer", "number of the run; -1 is the last"),
                grep=("string", "only lines with this text; a|b for several"),
                lines=("string", "only these lines: 1-50, 200-, or -20 for the last 20"),
            ),
            reads,
        ),
        ("interrupt", "Stop the running code; variables stay.", _schema(), changes),
        ("restart", "Restart the kernel: variables are lost.", _schema(language=language), changes),
        (
            "install",
            "Install Python packages into the kernel's environment.",
            _schema("packages", packages=("array", "names, such as pandas or numpy>=2")),
            changes,
        ),
    ]
    return [
        types.Tool(name=name, description=about, input_schema=schema, annotations=annotations)
        for name, about, schema, annotations in rows
    ]


def mcp_server(session_of: SessionOf, cwd: Path, safety: str) -> Server[Any]:
    """Return the server; `safety` is a sentence on the sandbox and on what is asked."""

    async def list_tools(ctx: Context, _: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(tools=tool_list((await session_of(ctx)).session.kernels.languages))

    async def call_tool(
        ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult | types.InputRequiredResult:
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
        files = (await session_of(ctx)).files()[:_LISTED]
        return types.ListResourcesResult(
            resources=[types.Resource(name=one.name, uri=_uri(one), mime_type=_type_of(one)) for one in files]
        )

    async def read_resource(
        ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        client, uri = await session_of(ctx), str(params.uri)
        try:
            path = Path(unquote(urlsplit(uri).path))
            return types.ReadResourceResult(contents=[_contents(client, uri, path, client.read(path))])
        except (OSError, ValueError) as error:
            raise MCPError(types.INVALID_PARAMS, f"{uri} cannot be read: {error}") from error

    return Server(
        "terp",
        version=__version__,
        instructions=_INSTRUCTIONS.format(cwd=cwd, safety=safety),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_read_resource=read_resource,
    )


class _Arguments(dict[str, Any]):
    def __missing__(self, name: str) -> Any:
        raise TerpError(f"The argument {name!r} is missing.")


async def _called(
    ctx: Context, client: ClientSession, params: types.CallToolRequestParams
) -> types.CallToolResult | types.InputRequiredResult:
    given = _Arguments(params.arguments or {})
    language = str(given.get("language") or client.session.kernels.languages[0])
    match params.name:
        case "execute":
            return await _run(ctx, client, params, language, str(given["code"]))
        case "install":
            return await _run(ctx, client, params, "python", installing(list(map(str, given["packages"]))))
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
) -> types.CallToolResult | types.InputRequiredResult:
    """Run code, and ask the client's user meanwhile; a call that the client cancels is interrupted.

    From 2026-07-28 on a server sends no requests: the call returns with the question, and the client calls
    again with the answer and the `request_state`.
    """
    capabilities = ctx.session.client_capabilities
    can_ask = capabilities is not None and capabilities.elicitation is not None
    run = client.running.get(params.request_state or "") or client.begin(language, code, can_ask=can_ask)
    for name, answer in (params.input_responses or {}).items():
        if isinstance(answer, types.ElicitResult) and (question := run.open.pop(name, None)):
            question.take(answer.action, answer.content)
    assert run.task is not None, "it has begun"
    reporting = asyncio.create_task(_report(ctx, client, run))
    try:
        while not await _has_ended(run):
            form: types.InputRequests = {name: _form(one) for name, one in run.open.items()}
            if not ctx.session.can_send_request:
                return types.InputRequiredResult(input_requests=form, request_state=run.call.id)
            await _ask(ctx, run)
        return _result(run.task.result())
    except asyncio.CancelledError:
        # Whoever cancels this waits for no answer, but the code must end.
        await asyncio.shield(client.stop(run))
        raise
    finally:
        reporting.cancel()


async def _has_ended(run: ClientRun) -> bool:
    """Wait for the end of a run, or a question about it; return True for the end."""
    assert run.task is not None, "it has begun"
    asked = asyncio.create_task(run.questions.get())
    try:
        await asyncio.wait([run.task, asked], return_when=asyncio.FIRST_COMPLETED)
    finally:
        asked.cancel()
    if run.task.done():
        return True
    run.open[f"q{time.monotonic_ns()}"] = asked.result()
    return False


async def _ask(ctx: Context, run: ClientRun) -> None:
    """Ask the client's user, until there is an answer from there or elsewhere, or the run ends."""
    assert run.task is not None, "it has begun"
    _, question = run.open.popitem()
    asking = asyncio.create_task(
        ctx.session.elicit_form(question.message, dict(question.schema), ctx.request_id)
    )
    ends: list[asyncio.Future[Any]] = [asking, run.task, question.answer]
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    if not asking.done():
        asking.cancel()
    with suppress(asyncio.CancelledError, Exception):
        # A client that fails to ask is a client that nobody answers at.
        result = await asking
        question.take(result.action, result.content)
    question.take("cancel", None)


async def _report(ctx: Context, client: ClientSession, run: ClientRun) -> None:
    """Report the progress of a run, also that it goes on: clients give up on silent servers."""
    began = time.monotonic()
    while True:
        said = client.progress(run)
        await ctx.session.report_progress(time.monotonic() - began, None, said or "running")
        await asyncio.sleep(_EVERY_S)


def _form(question: Any) -> types.ElicitRequest:
    params = types.ElicitRequestFormParams(message=question.message, requested_schema=dict(question.schema))
    return types.ElicitRequest(params=params)


def _result(outcome: ClientResult) -> types.CallToolResult:
    content: list[types.ContentBlock] = [types.TextContent(text=outcome.text)]
    content += [types.ImageContent(data=one.data, mime_type=one.mime) for one in outcome.images]
    content += [
        types.ResourceLink(name=one.name, uri=_uri(one), mime_type=_type_of(one))
        for one in outcome.files[:_LINKS]
    ]
    return types.CallToolResult(content=content, is_error=outcome.failed)


def _contents(
    client: ClientSession, uri: str, path: Path, content: bytes
) -> types.TextResourceContents | types.BlobResourceContents:
    try:
        text = client.session.resources.redacted(content.decode())
    except UnicodeDecodeError:
        blob = base64.b64encode(content).decode()
        return types.BlobResourceContents(uri=uri, mime_type=_type_of(path), blob=blob)
    return types.TextResourceContents(uri=uri, mime_type=_type_of(path), text=text)


def _uri(path: Path) -> str:
    return f"file://{quote(str(path))}"


def _type_of(path: Path) -> str:
    return mimetypes.guess_type(path.name)[0] or "application/octet-stream"
