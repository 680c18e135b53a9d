"""The checkpoints of a session: saved from its Python kernel, and loaded into one."""

import asyncio
import re
import secrets
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from terp.errors import KernelBusy, SessionError, SettingsError, TerpError
from terp.events import CodeFinished
from terp.kernels.sandbox.effects import effects_of
from terp.kernels.sandbox.tier import NONE
from terp.person import Consent
from terp.session.values import asked
from terp.store.checkpoints import DATA, NAME, CheckpointStore, Receiver, StoredCheckpoint
from terp.store.journal import NAME as LOG
from terp.text.plain import counted
from terp.text.wording import first_names

if TYPE_CHECKING:
    from terp.kernels.jupyter.running import RunningKernel
    from terp.session.session import Session

AUTO, USUAL = "auto", "last"
"""The names of the checkpoints that are saved after turns, and by /checkpoint without a name."""
_AUTO_BYTES, _AUTO_S, _DAY_S, _BOUND_S = 1_000_000_000, 10.0, 24 * 3600.0, 60.0
_PYTHON, _NAMED = "python", 20
_HELD, _NO_NETWORK = ", effects held", " without network"


def limit_of(setting: str) -> int:
    """Return the bytes that automatic checkpoints of a session may take; 0 if there are none.

    Raises:
        SettingsError: the setting is neither auto nor off nor a size.
    """
    if setting in ("off", AUTO):
        return _AUTO_BYTES if setting == AUTO else 0
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([kmg]?)b?", setting.strip().lower())
    if not found:
        raise SettingsError([f"checkpoint: '{setting}' must be auto, off, or a size such as 500MB."])
    return int(float(found[1]) * 1_000 ** " kmg".index(found[2] or " "))


def is_weaker(now: str, then: str) -> bool:
    """Return True if the sandbox `now` may allow code more than the one `then`."""
    bare, bare_then = now.removesuffix(_HELD), then.removesuffix(_HELD)
    kinds = {bare.removesuffix(_NO_NETWORK), bare_then.removesuffix(_NO_NETWORK)}
    looser = any(limit in then and limit not in now for limit in (_HELD, _NO_NETWORK))
    return then != NONE and (len(kinds) > 1 or looser)


def restored(stored: StoredCheckpoint) -> str:
    """Return a sentence about the variables that were restored."""
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(stored.made))
    return f"Restored from the checkpoint of {when}: {stored.summary()}."


class SessionCheckpoints:
    """Saves the variables of a session's Python kernel, and loads them."""

    def __init__(self, session: "Session", store: CheckpointStore) -> None:
        self.session, self.store, self._limit = session, store, 0
        self._saved_at, self._problem = session.log.last, ""

    def use(self, setting: str) -> None:
        """Save automatic checkpoints as the setting says.

        Raises:
            SettingsError: it is neither auto nor off nor a size.
        """
        self._limit = limit_of(setting)

    async def save(self, name: str = USUAL, *, room: int = 1 << 62, seconds: float = 0.0) -> StoredCheckpoint:
        """Save the variables as checkpoint `name`: at most `room` bytes, in at most `seconds` (0: no limit).

        Raises:
            SessionError: no Python kernel of terp's runs, or the session is not stored.
            KernelBusy: code runs in it.
            KernelError: it was interrupted.
        """
        if not NAME.fullmatch(name):
            raise SessionError(f"'{name}' cannot name a checkpoint.", "Use letters, digits, '-' and '_'.")
        if not (self.store.folder.parent / LOG).is_file():
            raise SessionError("This session is not stored yet.", "Its first turn stores it.")
        if self.session.kernel.status(_PYTHON) == "stopped":
            raise SessionError("There are no variables of Python to save.", "Run code first.")
        async with self.session.dialog.working("Saving the checkpoint"):
            saved = await self.session.kernel.alone(lambda running: self._saved(running, name, room, seconds))
        self._saved_at = self.session.log.last
        return saved

    async def _saved(
        self, running: "RunningKernel", name: str, room: int, seconds: float
    ) -> StoredCheckpoint:
        if running.is_shared or not running.connection_file:
            raise SessionError("Only variables of a kernel that terp started on this machine are saved.")
        pipe = Path(running.connection_file).with_name(f"checkpoint-{secrets.token_hex(4)}")
        receiver = Receiver(self.store, pipe, self.session.resources.redactor(), room)
        receiving = asyncio.create_task(asyncio.to_thread(receiver.run))
        # After an interrupt nothing awaits it: its exception counts as seen.
        receiving.add_done_callback(lambda task: task.cancelled() or task.exception())
        about = [str(pipe), self._known(), room, seconds]
        asking = asyncio.create_task(running.ask_bootstrap("hand_out", _DAY_S, about=about))
        try:
            await asyncio.wait({asking, receiving}, return_when=asyncio.FIRST_COMPLETED)
            # A kernel that has answered has written all.
            if asking.done() and not asking.result():
                receiver.stop()
            complete = await asyncio.shield(receiving)
        except asyncio.CancelledError:
            await running.interrupt()
            raise
        except ValueError as error:
            raise SessionError(f"The kernel sent something other than variables: {error}.") from error
        except OSError as error:
            raise SessionError(f"The checkpoint cannot be written: {error.strerror}.") from error
        finally:
            receiver.stop()
            asking.cancel()
        if not complete:
            raise SessionError("The kernel did not send its variables; the former checkpoint stays.")
        tier, left = self._tier(running.tier), sorted(receiver.left.items())
        saved = StoredCheckpoint(name, time.time(), tier, running.cwd, receiver.pieces, left)
        await asyncio.to_thread(self.store.write, saved)
        return saved

    def _known(self) -> dict[str, str]:
        """Return the digests of the objects of the newest checkpoint by their names."""
        with suppress(SessionError, IndexError):
            pieces = self.store.read(self.store.all()[0]).pieces
            return {",".join(one["names"]): one["digest"] for one in pieces}
        return {}

    def _tier(self, tier: str) -> str:
        return tier + (_HELD if effects_of(self.session.kernels.get(_PYTHON)) else "")

    async def save_automatically(self) -> None:
        """Save the automatic checkpoint, if it is on and code has run since the last; report problems."""
        records = self.session.log.since(self._saved_at)
        ran = any(isinstance(record.event, CodeFinished) for record in records)
        if not (self._limit and ran and self.session.kernel.status(_PYTHON) == "ready"):
            return
        problem, self._saved_at = "", self.session.log.last
        try:
            saved = await self.save(AUTO, room=self._limit, seconds=_AUTO_S)
            if saved.left:
                left = [f"{one} ({why})" for one, why in saved.left]
                problem = f"Not in the checkpoint: {first_names(left, _NAMED)}."
        except KernelBusy:
            return
        except TerpError as error:
            problem = f"No checkpoint was saved. {error.message}"
        # One problem is reported once, not after each turn.
        if problem not in ("", self._problem):
            self.session.dialog.notify(problem)
        self._problem = problem

    async def offer(self) -> str:
        """Ask the user of a resumed session to restore the newest checkpoint; return a message.

        It is "" without a checkpoint.

        Raises:
            TerpError: it cannot be loaded.
        """
        names = self.store.all()
        if not names or self.session.kernels.resumed:
            return ""
        stored = self.store.read(names[0])
        if await self.session.dialog.allow(Consent(f"Restore {stored.summary()}?", as_code=True)):
            return restored(await self.load(names[0]))
        return "/checkpoint load restores them later."

    async def load(self, name: str = "") -> StoredCheckpoint:
        """Bind the names of a checkpoint, by default the newest; each value is read at its first use.

        Code of a kernel with another or a stronger sandbox is loaded only if the user allows it.

        Raises:
            SessionError: there is none, it was changed, or the kernel cannot read it.
            KernelError: the kernel does not start.
        """
        stored = self.store.read(name or next(iter(self.store.all()), USUAL))
        await self.session.kernel.start(_PYTHON)
        kernel = self.session.kernels.get(_PYTHON)
        now, then = self._tier(kernel.tier), stored.tier
        code = [one for one, piece in stored.names.items() if piece["form"] not in DATA]
        is_foreign = is_weaker(now, then) or (then != NONE and kernel.cwd != stored.cwd)
        if code and is_foreign and not await self.session.dialog.allow(_question(len(code), stored, now)):
            left = [*stored.left, *((one, f"it is code from the sandbox {then}") for one in code)]
            data = [piece for piece in stored.pieces if piece["form"] in DATA]
            if not data:
                why = f"Nothing was restored: all is code from the sandbox '{then}', which was not allowed."
                raise SessionError(why, "/checkpoint load asks again.")
            stored = replace(stored, pieces=data, left=left)
        about = (str(self.store.objects), list(stored.pieces))
        answer = await self.session.kernel.alone(lambda running: asked(running, "bind", _BOUND_S, *about))
        if "bound" not in answer:
            why = "it started before there was one" if answer else "terp has not started it"
            raise SessionError(f"The kernel cannot read the checkpoint: {why}.", "Restart it with /restart.")
        self._saved_at = self.session.log.last
        pairs = [pair for one in stored.pieces for pair in zip(one["names"], one["kinds"], strict=True)]
        names, gone = [f"{name} ({kind})" for name, kind in pairs], [name for name, _ in stored.left]
        lost = f" Not restored: {first_names(gone, _NAMED)}." if gone else ""
        text = f"[Python variables were restored from a checkpoint: {first_names(names, _NAMED)}.{lost}]"
        self.session.note_restored(tuple(stored.names), text)
        return stored

    async def drop(self, name: str) -> None:
        """Remove a checkpoint; restored values that no code has used yet are read before.

        Raises:
            SessionError: there is none.
            KernelError: code runs, or it was interrupted.
        """
        if name in self.store.all() and self.session.kernel.status(_PYTHON) != "stopped":
            await self.session.kernel.alone(lambda running: running.ask_bootstrap("load_all", _DAY_S))
        self.store.drop(name)


def _question(count: int, stored: StoredCheckpoint, now: str) -> Consent:
    are = f"{counted(count, 'value')} of the checkpoint {'is' if count == 1 else 'are'}"
    can = "you can do" if now == NONE else f"the sandbox {now} allows"
    where = f"the sandbox '{stored.tier}' ({stored.cwd})"
    return Consent(f"{are} code from {where}, which could then do whatever {can}. Load?")
