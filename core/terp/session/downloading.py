"""Files that the user attaches by their address."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from terp.errors import AttachmentError
from terp.text.paths import fitting, unused

LIMIT = 100_000_000
"""The size limit of a download, in bytes."""

_TIMEOUT_S = 30.0
_NOT_IN_NAMES = re.compile(r"[\x00-\x1f/\\]+")


def is_address(name: str) -> bool:
    """Return True if a file is named by its address: `http://…`, `https://…`."""
    return name.lower().startswith(("http://", "https://"))


def downloaded(address: str, folder: Path, limit: int = LIMIT) -> Path:
    """Download a file into `folder`, under the last name in its address; never overwrite another file.

    Raises:
        AttachmentError: it cannot be downloaded or written, or it is larger than `limit`.
    """
    # Few calls name an address.
    import httpx  # noqa: PLC0415

    target, whole = unused(folder / _name_in(address)), False
    try:
        with target.open("xb") as file:
            try:
                for piece in _pieces(httpx, address, limit):
                    file.write(piece)
                whole = True
            finally:
                if not whole:
                    target.unlink()
    except httpx.HTTPStatusError as error:
        answer = error.response
        why = f"{answer.status_code} {answer.reason_phrase}".strip()
        raise AttachmentError(f"cannot fetch '{address}': {why}.") from error
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise AttachmentError(f"cannot fetch '{address}': {str(error) or type(error).__name__}.") from error
    except OSError as error:
        raise AttachmentError(f"cannot write '{target}': {error.strerror}.") from error
    return target


def _pieces(httpx: Any, address: str, limit: int) -> Iterator[bytes]:
    length = 0
    with httpx.stream("GET", address, follow_redirects=True, timeout=_TIMEOUT_S) as answer:
        answer.raise_for_status()
        for piece in answer.iter_bytes():
            length += len(piece)
            if length > limit:
                raise AttachmentError(
                    f"'{address}' is larger than {limit:,} bytes; download it yourself and attach the file."
                )
            yield piece


def _name_in(address: str) -> str:
    name = unquote(urlsplit(address).path.rstrip("/").rpartition("/")[2])
    path = Path(_NOT_IN_NAMES.sub("_", name).strip(". ") or "download")
    return fitting(path.stem, path.suffix)
