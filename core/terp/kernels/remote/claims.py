"""The kernels of a gateway that belong to a session."""

import json
import uuid
from collections.abc import Iterable
from pathlib import Path

from terp.text.files import replace_private

NAME = "kernels.json"
"""The name of their file in the folder of a session."""


class Claims:
    """The kernels of a session at a gateway, by language, stored so that the resumed session finds them.

    By `session_id` a gateway recognizes a client that reconnects, for which it keeps messages. Without a
    `folder` nothing is stored. `url` is the address of the gateway; claims of another gateway are ignored.
    """

    def __init__(self, folder: Path | None, url: str) -> None:
        self._path = folder / NAME if folder is not None else None
        self._url = url
        content = _read(self._path, url) if self._path is not None else {}
        self.session_id = str(content.get("session_id") or uuid.uuid4().hex)
        kernels = content.get("kernels")
        self._kernels = {str(k): str(v) for k, v in kernels.items()} if isinstance(kernels, dict) else {}

    @property
    def languages(self) -> Iterable[str]:
        """The languages that have a kernel."""
        return tuple(self._kernels)

    def kernel(self, language: str) -> str:
        """Return the id of the kernel of a language; "" if there is none."""
        return self._kernels.get(language, "")

    def note(self, language: str, kernel_id: str) -> None:
        """Record the kernel of a language."""
        self._kernels[language] = kernel_id
        self._write()

    def forget(self, language: str) -> None:
        """Remove the kernel of a language."""
        if self._kernels.pop(language, ""):
            self._write()

    def _write(self) -> None:
        if self._path is None:
            return
        if not self._kernels:
            self._path.unlink(missing_ok=True)
            return
        content = {"gateway": self._url, "session_id": self.session_id, "kernels": self._kernels}
        replace_private(self._path, json.dumps(content))


def _read(path: Path, url: str) -> dict[str, object]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return content if isinstance(content, dict) and content.get("gateway") == url else {}
