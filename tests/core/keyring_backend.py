"""A keyring in a file, for the package `keyring`: named by PYTHON_KEYRING_BACKEND, as its documentation says.

The file is the one that KEYRING_OF_TEST names. Without it every request is refused.
"""

import json
import os
from pathlib import Path

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked

VARIABLE = "KEYRING_OF_TEST"
NAME = "tests.core.keyring_backend.FileKeyring"


class FileKeyring(KeyringBackend):
    """Keeps passwords in a JSON object."""

    priority = 5.0

    def get_password(self, service: str, username: str) -> str | None:
        return self._kept().get(f"{service}/{username}")

    def set_password(self, service: str, username: str, password: str) -> None:
        self._keep({**self._kept(), f"{service}/{username}": password})

    def delete_password(self, service: str, username: str) -> None:
        kept = self._kept()
        del kept[f"{service}/{username}"]
        self._keep(kept)

    def _kept(self) -> dict[str, str]:
        content: dict[str, str] = json.loads(self._path().read_text() or "{}")
        return content

    def _keep(self, kept: dict[str, str]) -> None:
        self._path().write_text(json.dumps(kept))

    @staticmethod
    def _path() -> Path:
        if VARIABLE not in os.environ:
            raise KeyringLocked("it is locked")
        return Path(os.environ[VARIABLE])
