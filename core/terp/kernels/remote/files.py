"""Files of a kernel on another machine: copies of files that runs change, and transfers to the kernel.

They are sent as messages, through terp's own package in the kernel: a gateway may have no file server, or one
that does not serve the kernel's files.
"""

import asyncio
import base64
import hashlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from terp.errors import KernelError
from terp.events.outputs import FileChange
from terp.kernels.jupyter.channels import Message
from terp.kernels.jupyter.files import RunFiles
from terp.kernels.jupyter.reports import files_in
from terp.kernels.jupyter.run import KernelRun
from terp.kernels.jupyter.running import RunningKernel
from terp.text.files import make_private
from terp.text.paths import unused

LARGEST, LARGEST_OF_RUN = 20_000_000, 50_000_000
"""Limits in bytes for one file, and for all files of a run, that are fetched."""

_PIECE = 1_000_000
_PIECE_S = 30.0


class RemoteFiles(RunFiles):
    """Finds the files by the kernel's reports; copies of the files go into `folder`."""

    def __init__(self, folder: Path, host: str) -> None:
        self._folder = folder
        self._host = host

    async def changed_by(self, run: KernelRun, running: RunningKernel) -> tuple[FileChange, ...]:
        """Return the changes that the kernel reported, with copies of files that are not too large."""
        room = LARGEST_OF_RUN
        changes = []
        for change in files_in(run.report, self._host):
            copy = ""
            if change.action != "deleted" and change.size <= min(LARGEST, room):
                copy = await self._fetched(change, running, run.number)
                room -= change.size
            changes.append(replace(change, copy=copy))
        return tuple(changes)

    async def _fetched(self, change: FileChange, running: RunningKernel, number: int) -> str:
        """Copy the file; return the path of the copy, "" if it cannot be read."""
        content = await fetched(running, change.path, LARGEST)
        if content is None:
            return ""
        name = PurePosixPath(change.path).name or "file"
        path = unused(make_private(self._folder) / (f"{number}-{name}" if number else name))
        await asyncio.to_thread(path.write_bytes, content)
        return str(path)


async def fetched(running: RunningKernel, path: str, most: int) -> bytes | None:
    """Return the content of a file of the kernel; None if it cannot be read or exceeds `most` bytes."""
    content = b""
    while len(content) <= most:
        answer = await running.ask_bootstrap("read", _PIECE_S, about=(path, str(len(content)), str(_PIECE)))
        piece = ((answer or {}).get("read") or {}).get("piece")
        if not isinstance(piece, str):
            return None
        read = base64.b64decode(piece)
        content += read
        if len(read) < _PIECE:
            return content
    return None


async def given(running: RunningKernel, source: Path, name: str = "") -> str:
    """Copy a file of this machine into the kernel's directory; return its path there, never another file's.

    `name` is its name there, by default that of `source`.

    Raises:
        KernelError: it cannot be written there.
        OSError: it cannot be read here.
    """
    digest = await asyncio.to_thread(_digest, source)
    begun = _write_answer(
        await running.ask_bootstrap("write", _PIECE_S, about=("begin", name or source.name, digest))
    )
    path = str(begun.get("path"))
    start = 0
    while not begun.get("there") and (piece := await asyncio.to_thread(_piece, source, start)):
        encoded = base64.b64encode(piece).decode()
        _write_answer(await running.ask_bootstrap("write", _PIECE_S, about=("add", path, encoded)))
        start += len(piece)
    return path


def _digest(source: Path) -> str:
    with source.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _piece(source: Path, start: int) -> bytes:
    with source.open("rb") as file:
        file.seek(start)
        return file.read(_PIECE)


def _write_answer(answer: Message | None) -> Message:
    written = (answer or {}).get("write")
    if not isinstance(written, Mapping):
        raise KernelError("The kernel does not answer.")
    if "error" in written:
        raise KernelError(f"The kernel cannot write it: {written['error']}.")
    return written
