"""What an MCP server gave, as values of Python; what is for the eyes is displayed at once."""

from __future__ import annotations

import base64
from typing import Any

from .tools import Reply

SHOWN_AS_TEXT = ("text/markdown", "image/svg+xml")


class Resource:
    """Something that a server handed over: `text`, or `data` in bytes; `mime` and `uri` where it has them."""

    def __init__(self, part: dict[str, Any], source: str) -> None:
        self.mime = part.get("mime") or ""
        self.uri = part.get("uri") or ""
        self.text = part.get("text")
        self.data = base64.b64decode(part["data"]) if part.get("data") is not None else None
        self.source = source
        self._shown = False

    def __repr__(self) -> str:
        """What it is, without what it holds."""
        size = len(self.data) if self.data is not None else len(self.text or "")
        unit = "bytes" if self.data is not None else "characters"
        about = ", ".join(part for part in (self.uri, self.mime) if part) or "resource"
        return "<%s from %s, %s %s>" % (about, self.source, format(size, ","), unit)  # noqa: UP031

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        return {"text/plain": repr(self)} if self._shown else self._bundle()

    def _bundle(self) -> dict[str, Any]:
        if self.text is None:
            shown = {"text/plain": repr(self)}
            if self.mime.startswith(("image/", "audio/", "video/")) or self.mime == "application/pdf":
                shown[self.mime] = base64.b64encode(self.data or b"").decode("ascii")
            return shown
        kind = self.mime.partition(";")[0]
        return {"text/plain": self.text, **({kind: self.text} if kind in SHOWN_AS_TEXT else {})}

    def show(self) -> None:
        """Display it; the value itself says only what it is from then on."""
        from IPython.display import publish_display_data  # noqa: PLC0415

        publish_display_data(self._bundle())  # type: ignore[no-untyped-call]
        self._shown = True


class Link(dict):  # type: ignore[type-arg]
    """A resource that a server names: `uri`, `name`, `mime`."""

    def __repr__(self) -> str:
        """As a line."""
        return "<link to %s: %s>" % (self["name"], self["uri"])  # noqa: UP031


def received(name: str, result: dict[str, Any]) -> Any:
    """The value of a call: what is structured, else the text; with more than that, all of it in a list."""
    parts = [made(name, part) for part in texts_joined(result["parts"])]
    for part in parts:
        if isinstance(part, Resource) and not result.get("quiet"):
            part.show()
    if "value" in result:
        value = result["value"]
        return Reply(value) if isinstance(value, str) else value
    return (parts[0] if len(parts) == 1 else parts) if parts else None


def made(name: str, part: dict[str, Any]) -> Any:
    """A part of a result as a value."""
    if "said" in part:
        return Reply(part["said"])
    if "link" in part:
        return Link(uri=part["link"], name=part["name"], mime=part["mime"])
    return Resource(part, name)


def texts_joined(parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The parts with all texts in one, where the first of them is."""
    said = [part["said"] for part in parts if "said" in part]
    first = next((at for at, part in enumerate(parts) if "said" in part), 0)
    return [
        {"said": "\n".join(said)} if "said" in part else part
        for at, part in enumerate(parts)
        if "said" not in part or at == first
    ]
