"""Text files as the editor has them, for `edit_file` and `read_file` in the kernel."""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from acp import Client
from acp.exceptions import RequestError

from terp.errors import TerpError
from terp.kernels.sandbox.policy import is_below
from terp.kernels.sandbox.private_places import obeyed_pattern
from terp.kernels.sandbox.tier import is_confined
from terp.session.session import Session

TOOLS = str(Path(__file__).with_name("editor_tools.py"))
"""The tool file with `read_file`."""
PRELUDE = "__import__('terp_home.shipped').shipped.use_editor()"
"""The code that lets `edit_file` change files in the editor."""
Edited = Callable[[str, str | None, str], None]


class EditorFileServices:
    """The services behind `EditorFiles` in the kernel; they leave a file to the disk that the editor lacks.

    An editor knows no sandbox. Code in one that runs unasked is therefore left to the disk, and approved code
    in one reaches only files that it could reach itself. `edited` is called with each change.
    """

    def __init__(self, client: Client, session: Session, edited: Edited) -> None:
        self._client = client
        self._session = session
        self._edited = edited
        self._before: dict[str, str] = {}

    def offer(self) -> None:
        """Let code call the services."""
        self._session.offer("read_text_file", self.read)
        self._session.offer("write_text_file", self.write)

    async def read(self, arguments: Mapping[str, Any]) -> str | None:
        """Return the text of a file with unsaved changes; None if the editor does not have it."""
        path = str(arguments["path"])
        if not self._may_reach(path):
            return None
        try:
            text = (await self._client.read_text_file(self._session.folder.name, path)).content
        except RequestError:
            return None
        self._before[path] = text
        return text

    async def write(self, arguments: Mapping[str, Any]) -> bool:
        """Replace the text of a file in the editor; return False if that is left to the disk.

        Raises:
            TerpError: the editor did not write it.
        """
        path, text = str(arguments["path"]), str(arguments["text"])
        if not self._may_reach(path):
            return False
        try:
            await self._client.write_text_file(self._session.folder.name, path, text)
        except RequestError as error:
            raise TerpError(f"The editor did not write {path}: {error}.") from error
        self._edited(path, self._before.pop(path, None), text)
        return True

    def _may_reach(self, path: str) -> bool:
        confinement, kernel = self._session.resources.confinement, self._session.kernels.get("python")
        if not is_confined(kernel.tier):
            return True
        if confinement is None or confinement.unasked() or confinement.holds:
            return False
        real, policy = os.path.realpath(path), confinement.policy_of("python")
        within = os.path.relpath(real, policy.cwd)
        return (
            is_below(real, policy.writable)
            and not is_below(real, (*policy.read_only, *policy.hidden))
            and not re.fullmatch(obeyed_pattern(), within)
        )
