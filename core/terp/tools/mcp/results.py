"""Results of MCP servers as JSON for the kernel (a value, and parts to display), and their failures."""

import errno
import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from terp.errors import TerpError
from terp.settings.installation import install_extra
from terp.settings.mcp_servers import McpServer
from terp.tools.mcp.functions import is_wrapped

if TYPE_CHECKING:
    import mcp.types as mcp

LARGEST = 40_000_000
"""Characters in the longest result that is passed to the kernel."""


class CallFailed(TerpError):
    """A server answered a call with an error, or did not answer."""


def of_call(name: str, result: "mcp.CallToolResult", schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """Return the result of a tool: `parts`, and `value` if it is structured by `schema`.

    Raises:
        CallFailed: the tool reports an error, or the result is too large.
    """
    parts = [_part(one) for one in result.content]
    if result.is_error:
        raise CallFailed(f"{name}: {_said(parts) or 'it failed without a message.'}")
    found: dict[str, Any] = {"parts": parts}
    if result.structured_content is not None:
        value = result.structured_content
        wrapped = schema is not None and is_wrapped(schema) and isinstance(value, Mapping)
        found["value"] = value.get("result") if wrapped else value
        # Beside a value the text repeats it, for clients without structured results.
        found["parts"] = [part for part in parts if "said" not in part]
    return _bounded(name, found)


def of_resource(name: str, result: "mcp.ReadResourceResult") -> dict[str, Any]:
    """Return the contents of a resource.

    Raises:
        CallFailed: they are too large.
    """
    return _bounded(name, {"parts": [_contents(one) for one in result.contents], "quiet": True})


def of_resources(name: str, found: Iterable["mcp.Resource"]) -> dict[str, Any]:
    """Return the list of a server's resources.

    Raises:
        CallFailed: it is too large.
    """
    value = [one.model_dump(mode="json", by_alias=True, exclude_none=True) for one in found]
    return _bounded(name, {"value": value, "parts": []})


def _bounded(name: str, found: dict[str, Any]) -> dict[str, Any]:
    size = len(json.dumps(found))
    if size > LARGEST:
        raise CallFailed(f"{name}: the result has {size:,} characters, and {LARGEST:,} are passed on.")
    return found


def _said(parts: Iterable[Mapping[str, Any]]) -> str:
    return "\n".join(part["said"] for part in parts if "said" in part)


def _part(content: "mcp.ContentBlock") -> dict[str, Any]:
    match content.type:
        case "text":
            return {"said": content.text}
        case "image" | "audio":
            return {"data": content.data, "mime": content.mime_type, "uri": ""}
        case "resource":
            return _contents(content.resource)
        case "resource_link":
            return {
                "link": content.uri,
                "name": content.title or content.name,
                "mime": content.mime_type or "",
            }


def _contents(one: "mcp.TextResourceContents | mcp.BlobResourceContents") -> dict[str, Any]:
    # Each of the two classes has one of these fields.
    text, data = getattr(one, "text", None), getattr(one, "blob", None)
    held = {"text": text} if text is not None else {"data": data}
    return {**held, "mime": one.mime_type or "", "uri": one.uri}


_LONGEST = 300


class ServerDown(TerpError):
    """A server cannot be reached, or has ended. Its next call tries to connect again."""


def no_library() -> ServerDown:
    """Return the error for a missing MCP library."""
    return ServerDown(f"MCP servers need the library mcp, which is not installed: {install_extra('mcp')}")


def why(error: BaseException, server: McpServer) -> str:
    """Return the reason of a failure in one sentence, to follow a colon."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    if isinstance(error, TimeoutError):
        return "it does not answer."
    if isinstance(error, OSError) and error.errno == errno.ENOENT and server.command:
        directory = f", or no directory {server.cwd!r}" if server.cwd else ""
        return f"there is no program {server.command!r}{directory}."
    if isinstance(error, OSError) and error.strerror:
        return f"{error.strerror}."
    said = " ".join(str(error).split())[:_LONGEST] or type(error).__name__
    return said if said.endswith((".", "!", "?")) else f"{said}."
