"""Text files as the editor has them, for `edit_file` and `read_file` in the kernel."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from acp import Client

from terp.errors import TerpError
from terp.kernels.sandbox.tier import is_confined
from terp.session.session import Session
from terp.tools.toolbox import SHIPPED
from terp_cli.acp.person import FAILED

TOOLS = str(Path(__file__).parent / "tools" / "editor_tools.py")
"""The tool file with `read_file`, in a folder by itself: the kernel finds modules beside a tool file."""
PRELUDE = "__import__('terp_home.shipped').shipped.use_editor()"
"""The code that lets `edit_file` change files in the editor."""


class EditorFileServices:
    """The services behind `EditorFiles` in the kernel; they leave a file to the disk that the editor lacks.

    An editor knows no sandbox, so code in one works on the disk. `edited` is called with the path,
    the text before and the text after each change.
    """

    def __init__(
        self, client: Client, session: Session, edited: Callable[[str, str | None, str], None]
    ) -> None:
        self._client = client
        self._session = session
        self._edited = edited
        self._before: dict[str, str] = {}
        box = session.resources.toolbox
        # Its effects are known, as those of the tools that ship with terp.
        tools = (replace(one, source=SHIPPED) if one.target == TOOLS else one for one in box.tools)
        session.resources.toolbox = replace(box, tools=tuple(tools))
        session.offer("read_text_file", self.read)
        session.offer("write_text_file", self.write)

    async def read(self, arguments: Mapping[str, Any]) -> str | None:
        """Return the text of a file with unsaved changes; None if the editor does not have it."""
        if is_confined(self._session.kernels.get("python").tier):
            return None
        path = str(arguments["path"])
        try:
            text = (await self._client.read_text_file(self._session.folder.name, path)).content
        except FAILED:
            return None
        self._before[path] = text
        return text

    async def write(self, arguments: Mapping[str, Any]) -> bool:
        """Replace the text of a file in the editor; return False if that is left to the disk.

        Raises:
            TerpError: the editor did not write it.
        """
        if is_confined(self._session.kernels.get("python").tier):
            return False
        path, text = str(arguments["path"]), str(arguments["text"])
        try:
            await self._client.write_text_file(self._session.folder.name, path, text)
        except FAILED as error:
            raise TerpError(f"The editor did not write {path}: {error}.") from error
        self._edited(path, self._before.pop(path, None), text)
        return True
