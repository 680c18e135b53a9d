"""A process of a check: its start, its end, and the report that it writes for terp."""

import asyncio
import json
import os
import secrets
import shutil
import time
from codecs import getincrementaldecoder
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from terp.checks.until.inside.channel import VARIABLE
from terp.kernels.jupyter.orphans import MARK, end_marked, lifeline, supervised
from terp.kernels.sandbox.tier import ProcessCommand
from terp.settings.project.bounded import Refused, read_bounded
from terp.text.headtail import HeadTail
from terp.text.plain import Lines

_LARGEST = 1 << 20
_NUMBERS = ("status", "collected", "ended", "passed", "failed")
_LISTS = ("skipped", "files", "broken", "by", "loaded")


@dataclass(frozen=True, slots=True)
class Tests:
    """The tests of one session of pytest; `files` have them, and those that are `skipped_by` skipped some.

    Code in the files `by` has judged them, and modules of the project were `loaded` beside it. The names that
    are `broken` stood for something else in the end.
    """

    status: int
    collected: int
    ended: int
    passed: int
    failed: int
    skipped_by: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    broken: tuple[str, ...] = ()
    by: tuple[str, ...] = ()
    loaded: tuple[str, ...] = ()


class Channel:
    """A folder in which one process may say what it found, and the programs by which it does.

    Those have a name that no project can have prepared for. Files that are `left_out` have no tests for it.
    """

    def __init__(self, folder: Path, left_out: Sequence[str] = ()) -> None:
        self._folder = folder
        self._word = secrets.token_hex(16)
        self.package = f"terp_{secrets.token_hex(8)}"
        folder.mkdir()
        shutil.copytree(
            Path(__file__).with_name("inside"),
            folder / self.package,
            ignore=shutil.ignore_patterns("__pycache__"),
        )
        (folder / "word").write_text(self._word)
        (folder / "left_out").write_text(json.dumps(left_out))

    @property
    def variables(self) -> Mapping[str, str]:
        """What the environment of the process must have, the folder of programs first in its `PYTHONPATH`."""
        return {VARIABLE: str(self._folder), "PYTHONPATH": str(self._folder)}

    def facts(self) -> Mapping[str, Any] | None:
        """What the process has told; None when it did not come to that, or another has written there."""
        try:
            told = json.loads(read_bounded(self._folder / "report", _LARGEST))
        except (Refused, ValueError, RecursionError):
            return None
        return told if isinstance(told, dict) and told.get("word") == self._word else None


def tests_in(facts: Mapping[str, Any] | None, copy: Path, root: Path) -> Tests | None:
    """The tests that a process has told of, which ran in a `copy` of the project at `root`."""
    if facts is None:
        return None
    numbers = [facts.get(name) for name in _NUMBERS]
    lists = [facts.get(name) for name in _LISTS]
    if not all(type(number) is int for number in numbers) or not all(isinstance(one, list) for one in lists):
        return None
    status, collected, ended, passed, failed = (int(number or 0) for number in numbers)
    here = (tuple(str(path).replace(str(copy), str(root)) for path in paths or ()) for paths in lists)
    return Tests(status, collected, ended, passed, failed, *here)


_PIECE = 1 << 16
_LAST_OUTPUT_S = 1.0


@dataclass(frozen=True, slots=True)
class Ended:
    """How a process ended: `status` is None when it took too long."""

    status: int | None
    output: str
    seconds: float


async def run(command: ProcessCommand, *, timeout_s: float, max_chars: int) -> Ended:
    """Run a command to its end; the head and the tail of what it put out. Cancelling this ends it.

    Processes that it has left running are ended. 0 s is no limit.

    Raises:
        OSError: it cannot be started.
    """
    mark, began = secrets.token_hex(8), time.monotonic()
    stream, reader, pipe = await _pipe()
    output = HeadTail(max_chars)
    try:
        with ExitStack() as line:
            try:
                process = await _begun(command, mark, line.enter_context(lifeline()), pipe)
            finally:
                os.close(pipe)
            reading = asyncio.create_task(_read(stream, output))
            try:
                status = await _waited(process, timeout_s)
            finally:
                line.close()
                await process.wait()
                # Somebody may have killed the supervisor before.
                await asyncio.to_thread(end_marked, mark)
                await asyncio.wait({reading}, timeout=_LAST_OUTPUT_S)
                reading.cancel()
    finally:
        reader.close()
    return Ended(status, output.text(), time.monotonic() - began)


async def _begun(command: ProcessCommand, mark: str, stdin: int, output: int) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        *supervised(command.argv, afterwards=command.afterwards),
        env={**command.environment, MARK: mark},
        cwd=command.cwd,
        stdin=stdin,
        stdout=output,
        stderr=output,
        start_new_session=True,
    )


async def _waited(process: asyncio.subprocess.Process, timeout_s: float) -> int | None:
    try:
        return await asyncio.wait_for(process.wait(), timeout_s or None)
    except TimeoutError:
        return None


async def _pipe() -> tuple[asyncio.StreamReader, asyncio.ReadTransport, int]:
    """What is read, and where it is written: of a pipe of asyncio's own every holder would be waited for."""
    read, write = os.pipe()
    stream = asyncio.StreamReader()
    reader, _ = await asyncio.get_running_loop().connect_read_pipe(
        lambda: asyncio.StreamReaderProtocol(stream), os.fdopen(read, "rb")
    )
    return stream, reader, write


async def _read(stream: asyncio.StreamReader, output: HeadTail) -> None:
    decoder, lines = getincrementaldecoder("utf-8")("replace"), Lines()
    try:
        while piece := await stream.read(_PIECE):
            output.add(lines.feed(decoder.decode(piece)))
    finally:
        output.add(lines.rest())
