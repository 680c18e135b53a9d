"""The prompt of an editor: text, pictures, embedded files and links."""

import base64
import binascii
import mimetypes
from collections.abc import Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from acp import schema

from terp.errors import AttachmentError
from terp.events.messages import Attachment
from terp.session.artifacts import OUTPUTS
from terp.session.attachments import attach, attach_elsewhere, with_attachments
from terp.session.session import Session
from terp.text.fences import fenced
from terp.text.files import make_private
from terp.text.paths import unused

Block = (
    schema.TextContentBlock | schema.ImageContentBlock | schema.AudioContentBlock
    | schema.ResourceContentBlock | schema.EmbeddedResourceContentBlock
)  # fmt: skip
_MOST_CHARS = 100_000


def read_prompt(blocks: Sequence[Block], session: Session) -> tuple[str, tuple[Attachment, ...]]:
    """Return the text of a prompt, which names the files in their places, and the attachments.

    Raises:
        AttachmentError: a part cannot be attached.
    """
    words: list[str] = []
    attachments: list[Attachment] = []
    for block in blocks:
        match block:
            case schema.TextContentBlock(text=text):
                words.append(text)
            case schema.ImageContentBlock(data=data, mime_type=mime):
                attachments += _of_file(_stored(data, "picture", mime, session), session)
            case schema.ResourceContentBlock(uri=uri, name=name):
                path = _path_of(uri)
                words.append(f"`{path}`" if path else f"[{name}]({uri})")
                if path is not None and path.is_file():
                    attachments += _of_file(path, session)
            case schema.EmbeddedResourceContentBlock(resource=resource):
                name = str(_path_of(resource.uri) or resource.uri)
                words.append(f"`{name}`")
                if isinstance(resource, schema.BlobResourceContents):
                    stored = _stored(resource.blob, "file", resource.mime_type or "", session)
                    attachments += _of_file(stored, session)
                else:
                    attachments.append(_of_text(name, resource.text))
            case schema.AudioContentBlock():
                raise AttachmentError("sounds cannot be attached.")
    text = "".join(words)
    return with_attachments(text, attachments), tuple(attachments)


def _of_file(path: Path, session: Session) -> tuple[Attachment, ...]:
    if session.readiness.carries:
        return attach_elsewhere([str(path)])
    return attach([str(path)], Path(session.kernels.cwd))


def _of_text(name: str, text: str) -> Attachment:
    """Return the text of a file as the editor sent it, which may not be saved."""
    cut = len(text) - _MOST_CHARS
    more = f"\n[… {cut:,} characters left out …]" if cut > 0 else ""
    notice = f"{name} is cut: the model reads its first {_MOST_CHARS:,} characters." if cut > 0 else ""
    return Attachment(
        name, f"[File: {name}] as it is in the editor:\n{fenced(text[:_MOST_CHARS])}{more}", notice=notice
    )


def _stored(data: str, name: str, mime: str, session: Session) -> Path:
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        raise AttachmentError(f"the {name} in the prompt is not base64.") from None
    path = unused(make_private(session.folder / OUTPUTS) / f"{name}{mimetypes.guess_extension(mime) or ''}")
    path.write_bytes(content)
    return path


def _path_of(uri: str) -> Path | None:
    """Return the path of a `file:` address; None for any other."""
    parts = urlsplit(uri)
    return Path(unquote(parts.path)) if parts.scheme == "file" and parts.netloc in ("", "localhost") else None
