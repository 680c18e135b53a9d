"""The prompt of an editor: text, pictures, embedded files and links."""

import base64
import mimetypes
import re
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from acp import schema
from acp.helpers import ContentBlock

from terp.errors import AttachmentError
from terp.events.messages import Attachment
from terp.opening.chat_session import attached
from terp.session.attachments import with_attachments
from terp.session.session import Session
from terp.text.fences import fenced

_MOST_CHARS = 100_000


def read_prompt(blocks: Sequence[ContentBlock], session: Session) -> tuple[str, tuple[Attachment, ...]]:
    """Return the text of a prompt, which names the files in their places, and the attachments.

    Raises:
        AttachmentError: a part cannot be attached.
    """
    words: list[str] = []
    attachments: list[Attachment] = []

    def mention(file: str) -> None:
        """Name a file; the text before it may have no space at its end, as in marimo."""
        words.append(" " * bool(words and re.search(r"[\w`.,:;?!]$", words[-1])) + file)

    for block in blocks:
        match block:
            case schema.TextContentBlock(text=text):
                words.append(text)
            case schema.ImageContentBlock(data=data, mime_type=mime):
                attachments += _of_bytes(data, "picture", mime, session)
            case schema.ResourceContentBlock(uri=uri, name=name):
                path = _path_of(uri)
                mention(f"`{path}`" if path else f"[{name}]({uri})")
                if path is not None and path.is_file():
                    attachments += attached(session, path)
            case schema.EmbeddedResourceContentBlock(resource=resource):
                name = str(_path_of(resource.uri) or resource.uri)
                mention(f"`{name}`")
                if isinstance(resource, schema.BlobResourceContents):
                    attachments += _of_bytes(resource.blob, "file", resource.mime_type or "", session)
                else:
                    attachments.append(_of_text(name, resource.text))
            case schema.AudioContentBlock():
                raise AttachmentError("sounds cannot be attached.")
    text = "".join(words)
    return with_attachments(text, attachments), tuple(attachments)


def _of_text(name: str, text: str) -> Attachment:
    """Return the text of a file as the editor sent it, which may not be saved."""
    is_cut = len(text) > _MOST_CHARS
    notice = f"{name} is cut: the model reads its first {_MOST_CHARS:,} characters." if is_cut else ""
    head = f"[File: {name}] as it is in the editor{', cut' if is_cut else ''}:"
    return Attachment(name, f"{head}\n{fenced(text[:_MOST_CHARS])}", notice=notice)


def _of_bytes(data: str, name: str, mime: str, session: Session) -> Sequence[Attachment]:
    try:
        content = base64.b64decode(data, validate=True)
    except ValueError:
        raise AttachmentError(f"the {name} in the prompt is not base64.") from None
    return attached(session, content, f"{name}{mimetypes.guess_extension(mime) or ''}")


def _path_of(uri: str) -> Path | None:
    """Return the path of a `file:` address; None for any other."""
    parts = urlsplit(uri)
    return Path(unquote(parts.path)) if parts.scheme == "file" and parts.netloc in ("", "localhost") else None
