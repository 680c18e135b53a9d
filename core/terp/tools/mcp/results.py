"""What a server gave, as JSON that goes into the kernel: a value, and parts to be shown there."""

import json
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from terp.errors import TerpError
from terp.tools.mcp.functions import is_wrapped

if TYPE_CHECKING:
    import mcp.types as mcp

LARGEST = 40_000_000
"""The longest result that is passed on, in characters."""


class CallFailed(TerpError):
    """A server answered a call with an error, or not at all."""


def of_call(name: str, result: "mcp.CallToolResult", schema: Mapping[str, Any] | None) -> dict[str, Any]:
    """The result of a tool: `parts`, and `value` where it is structured; `schema` is that of the value.

    Raises:
        CallFailed: the tool reports an error, or what it gave is too large.
    """
    parts = [_part(one) for one in result.content]
    if result.is_error:
        raise CallFailed(f"{name}: {_said(parts) or 'it failed, and said nothing.'}")
    found: dict[str, Any] = {"parts": parts}
    if result.structured_content is not None:
        value = result.structured_content
        wrapped = schema is not None and is_wrapped(schema) and isinstance(value, Mapping)
        found["value"] = value.get("result") if wrapped else value
        # Beside a value the text only says the same, for clients that know no values.
        found["parts"] = [part for part in parts if "said" not in part]
    return _bounded(name, found)


def of_resource(name: str, result: "mcp.ReadResourceResult") -> dict[str, Any]:
    """The contents of a resource.

    Raises:
        CallFailed: it is too large.
    """
    return _bounded(name, {"parts": [_contents(one) for one in result.contents], "quiet": True})


def of_resources(name: str, found: Iterable["mcp.Resource"]) -> dict[str, Any]:
    """The list of a server's resources.

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
    # Of the two kinds only one has each of these fields.
    text, data = getattr(one, "text", None), getattr(one, "blob", None)
    held = {"text": text} if text is not None else {"data": data}
    return {**held, "mime": one.mime_type or "", "uri": one.uri}
