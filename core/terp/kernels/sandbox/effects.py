"""Effects of running code, held until they are allowed: terp's end of the line to a kernel's holder.

The holder (`entering/holder.py`) stops each system call that changes, sends or starts something. It decides
by the grants that terp sends, and asks terp where these say nothing.
"""

import asyncio
import json
import re
import socket
import time
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Protocol, runtime_checkable

from terp.analysis.edits import compared
from terp.events.outputs import EffectVerb, FileChange, PerformedEffect
from terp.events.performed import FILE_EFFECTS
from terp.text.dataclasses import dataclass

QUIET_ENVIRONMENT = {"GIT_OPTIONAL_LOCKS": "0", "PYTHONDONTWRITEBYTECODE": "1"}
"""Variables with which git only reads for `git status`, and Python writes no bytecode beside modules.

Otherwise these would be effects, and a question, of code that only looks.
"""
_ANSWER_S = 5.0
# Files are compared, read and written.
_FILES_S = 120.0
# A longer message could find no room on its way.
_LONGEST_CHARS = 50_000
_REFUSED = "refused "
_ANSWERED = ("account", "changed", "restore")


@dataclass(frozen=True, slots=True)
class AskedEffect:
    """An effect that waits for a decision.

    `what` is a real path, or an address as "10.0.0.1:443" or "unix:/path". `to` is the new path of a file
    that is moved. `program` is the name of the process's program.
    """

    verb: EffectVerb
    what: str
    to: str = ""
    program: str = ""


@dataclass(frozen=True, slots=True)
class Grant:
    """A decision in advance about effects with one of `verbs`, on what matches the whole regular expression.

    `allowed` None has the user asked. The effects that a `counted` one allows are counted while they happen.
    """

    verbs: tuple[EffectVerb, ...]
    pattern: str
    allowed: bool | None = True
    counted: bool = False

    @property
    def key(self) -> str:
        """The name under which its effects are counted."""
        return f"{self.verbs[0]} {self.pattern}"

    def decides(self, effect: AskedEffect) -> bool:
        """Return True if it is about this effect."""
        return effect.verb in self.verbs and re.fullmatch(self.pattern, effect.what) is not None


@dataclass(frozen=True, slots=True)
class Account:
    """The effects of a run, and the changes of files that they made, sorted by path."""

    effects: tuple[PerformedEffect, ...] = ()
    files: tuple[FileChange, ...] = ()


@dataclass(frozen=True, slots=True)
class SavedFile:
    """A file that code has changed, with the state from before its first change, at the time `when`, in ns.

    `can` is "put back", "remove" (it did not exist), "same" or "not", for the reason `why`. `as_left`: it is
    as the last run of this kernel has left it.
    """

    path: str
    can: str
    why: str
    when: int
    as_left: bool


@dataclass(frozen=True, slots=True)
class SavedFiles:
    """The files that a kernel's code changed since a checkpoint; those of `more` changes are not known.

    The first checkpoint of the kernel's process is `since`; None if it has none.
    """

    files: Sequence[SavedFile] = ()
    more: int = 0
    since: int | None = None


Ask = Callable[[AskedEffect], Awaitable[bool]]


async def refuse(_: AskedEffect) -> bool:
    """Refuse any effect: nobody was found who decides."""
    return False


class HeldEffects:
    """The effects of one kernel's code, over all of its lives. `ask` decides about one; it can be set.

    `counted` is called with the key of a counted grant and the number of effects that it has allowed.
    `active` is True while a kernel runs whose effects are held; while they are `required` no code runs in any
    other.
    """

    def __init__(self) -> None:
        self.ask: Ask = refuse
        self.counted: Callable[[str, int], None] = lambda _key, _times: None
        self.active = self.required = False
        self._grants: Sequence[Grant] = ()
        self._free = False
        self._taken = asyncio.Event()
        self._line: socket.socket | None = None
        self._received = b""
        self._asking: dict[int, asyncio.Task[None]] = {}
        self._answers: dict[int, asyncio.Future[dict[str, Any] | None]] = {}
        self._moment: int | None = None
        # That of a process that has ended.
        self._last: Account | None = None
        self._count = 0
        self._waiting_since: float | None = None
        self._waited_s = 0.0

    def connect(self) -> socket.socket:
        """Return the holder's end of a new line, for the process that starts now."""
        self.close()
        self._line, theirs = socket.socketpair()
        self._line.setblocking(False)
        asyncio.get_running_loop().add_reader(self._line, self._receive)
        self.active = True
        # The kernel itself starts, and no code of a model runs before `hold`.
        self._moment = self._last = None
        self._send({"free": True, "grants": []})
        return theirs

    def close(self) -> None:
        """Close the line: the process has ended. Harmless when repeated."""
        self.active = False
        if self._line is not None:
            asyncio.get_running_loop().remove_reader(self._line)
            self._line.close()
            self._line = None
        for task in self._asking.values():
            task.cancel()
        for answer in self._answers.values():
            if not answer.done():
                answer.set_result(None)
        self._asking, self._answers, self._received = {}, {}, b""
        self._note_waiting()

    def grant(self, grants: Sequence[Grant], *, free: bool = False) -> None:
        """Decide in advance, in place of earlier grants; the first that is about an effect counts.

        With `free` all other effects are allowed. Counts for the next process too.
        """
        self._grants, self._free = tuple(grants), free
        self._send_grants()

    async def hold(self, moment: int | None = None) -> bool:
        """Return True once the grants count in the kernel that runs; False if they must, and cannot.

        From then on files are saved before they change, for the checkpoint `moment`; None is the last one.
        """
        self._moment = self._moment if moment is None else moment
        if not self.active:
            return not self.required
        self._taken.clear()
        self._send_grants()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._taken.wait(), _ANSWER_S)
            return True
        return False

    @asynccontextmanager
    async def freed(self) -> AsyncGenerator[None, None]:
        """Allow all effects inside the block: terp itself acts in the kernel."""
        free, self._free = self._free, True
        await self.hold()
        try:
            yield
        finally:
            self._free = free
            self._send_grants()

    def _send_grants(self) -> None:
        rows = [[one.verbs, one.pattern, one.allowed, one.counted] for one in self._grants]
        self._send({"free": self._free, "grants": rows, "moment": self._moment})

    def interrupt(self) -> None:
        """Let all effects that wait fail with EINTR."""
        self._send({"interrupt": True})

    async def account(self) -> Account | None:
        """Return the effects since the last account, also of a process that has ended; None if unknown."""
        if (answer := await self._answer_to("account", _ANSWER_S)) is not None:
            return await asyncio.to_thread(_account, answer)
        last, self._last = self._last, None
        return last

    async def saved_since(self, moment: int) -> SavedFiles | None:
        """Return the files that were saved since a checkpoint; None if they cannot be known."""
        answer = await self._answer_to("changed", _FILES_S, moment=moment)
        if answer is None:
            return None
        return SavedFiles(tuple(SavedFile(*row) for row in answer["files"]), answer["more"], answer["since"])

    async def restore(self, moment: int, paths: Sequence[str]) -> dict[str, tuple[str, str]]:
        """Restore files in this order; return for each "back", "removed" or "not", and the reason.

        No file counts as made by the code any more, so later changes are asked about.
        """
        done: dict[str, tuple[str, str]] = {}
        for some in [*_in_parts(paths)] or [()]:
            answer = await self._answer_to("restore", _FILES_S, moment=moment, paths=some) or {}
            done |= {path: (what, why) for path, what, why in answer.get("files", ())}
        return done

    async def _answer_to(self, question: str, timeout_s: float, **about: Any) -> dict[str, Any] | None:
        if not self.active:
            return None
        self._count += 1
        answer = self._answers[self._count] = asyncio.get_running_loop().create_future()
        self._send({question: self._count, **about})
        with suppress(TimeoutError):
            return await asyncio.wait_for(answer, timeout_s)
        return None

    def waited_s(self) -> float:
        """Return the seconds in which code has waited for decisions, until now."""
        pending = 0.0 if self._waiting_since is None else time.monotonic() - self._waiting_since
        return self._waited_s + pending

    def _send(self, message: dict[str, Any]) -> None:
        if self._line is None:
            return
        try:
            # The socket has room for the longest message; if it is full, the holder is gone or stopped.
            self._line.sendall(json.dumps(message).encode() + b"\n")
        except OSError:
            self.close()

    def _receive(self) -> None:
        assert self._line is not None
        try:
            received = self._line.recv(1 << 20)
        except BlockingIOError:
            return
        except OSError:
            received = b""
        if not received:
            self.close()
            return
        *lines, self._received = (self._received + received).split(b"\n")
        for line in lines:
            self._take(json.loads(line))

    def _take(self, message: dict[str, Any]) -> None:
        if "ask" in message:
            number = int(message["ask"])
            effect = AskedEffect(message["verb"], message["what"], message["to"], message["program"])
            self._asking[number] = asyncio.create_task(self._decide(number, effect))
        elif "settled" in message and (task := self._asking.pop(message["settled"], None)):
            task.cancel()
        elif "granted" in message:
            self._taken.set()
        elif "counted" in message:
            self.counted(*message["counted"])
        else:
            number = next((message[one] for one in _ANSWERED if one in message), 0)
            if (answer := self._answers.pop(number, None)) and not answer.done():
                answer.set_result(message)
            elif "account" in message:
                self._last = _account(message)
        self._note_waiting()

    async def _decide(self, number: int, effect: AskedEffect) -> None:
        allowed = False
        try:
            allowed = await self.ask(effect)
        finally:
            # Also after an error: what nobody decided does not happen.
            if self._asking.pop(number, None) is not None:
                self._send({"answer": number, "allow": allowed})
            self._note_waiting()

    def _note_waiting(self) -> None:
        now = time.monotonic()
        if self._asking and self._waiting_since is None:
            self._waiting_since = now
        elif not self._asking and self._waiting_since is not None:
            self._waited_s += now - self._waiting_since
            self._waiting_since = None


@runtime_checkable
class HoldsEffects(Protocol):
    """A kernel whose code can be stopped at its effects."""

    @property
    def effects(self) -> HeldEffects:
        """The effects of its code."""


def effects_of(kernel: object) -> HeldEffects | None:
    """Return the effects of a kernel that runs and holds them; None for any other."""
    return kernel.effects if isinstance(kernel, HoldsEffects) and kernel.effects.active else None


def _in_parts(paths: Sequence[str]) -> Iterator[Sequence[str]]:
    part: list[str] = []
    size = 0
    for path in paths:
        size += len(json.dumps(path))
        if part and size > _LONGEST_CHARS:
            yield part
            part, size = [], len(json.dumps(path))
        part.append(path)
    if part:
        yield part


def _account(message: dict[str, Any]) -> Account:
    files = sorted(message["files"])
    sizes = {path: size for path, action, size, *_ in files if action != "deleted"}

    def performed(verb: str, what: str, to: str, times: int) -> PerformedEffect:
        did: Any = verb.removeprefix(_REFUSED)
        size = sizes.get(to or what) if did in FILE_EFFECTS else None
        return PerformedEffect(did, what, to, times, refused=verb != did, size=size)

    changes = (
        compared(FileChange(path, action, size, source=source), *(texts or [None]))
        for path, action, size, source, *texts in files
    )
    return Account(tuple(performed(*row) for row in message["effects"]), tuple(changes))
