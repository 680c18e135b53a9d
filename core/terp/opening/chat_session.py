"""`ChatSession`: a session that was built from settings, with whole answers and checks of a program."""

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from inspect import iscoroutinefunction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from terp.checks.until.loop import ask
from terp.errors import AttachmentError, SessionError, TerpError
from terp.events import Event, Noticed
from terp.events.messages import Attachment
from terp.session.artifacts import CHECKPOINTS, OUTPUTS
from terp.session.live_kernel import check_text
from terp.session.reply import Reply, TurnFailed, reply_of
from terp.session.session import Session
from terp.settings import Settings
from terp.text.files import make_private
from terp.text.paths import unused

if TYPE_CHECKING:
    from terp.checks.solve.phases import Outcome
    from terp.checks.solve.problem import Problem
    from terp.store.checkpointing import SessionCheckpoints

Attachable = Attachment | str | os.PathLike[str] | bytes | Any
"""A file by its path, bytes, or a table with `to_csv` or `write_csv`, as those of pandas and polars."""
OnEvent = Callable[[Event], object]
"""A function that is called with each event, and not awaited."""
_FAILURES = frozenset(
    """
    error until_failed watch_broken rejected context_full unavailable rate_limited auth approval_needed usage
    """.split()  # noqa: SIM905  (a table of names, to be read)
)


class ChatSession(Session):
    """The session that `async with terp.open(…)` returns. `settings` are those that it was opened with."""

    settings = Settings()
    # The key that signs the checkpoints of a stored session, and these once they are used.
    checkpoint_key: Path | None = None
    _checkpoints: "SessionCheckpoints | None" = None
    # The number of the last record of which `ask` has reported the notice.
    _reported = 0

    def keep_checkpoints(self, key: Path, setting: str) -> None:
        """Sign checkpoints with the key in this file, and save automatic ones as the setting says."""
        self.checkpoint_key = key
        if setting != "off":
            self.checkpoints.use(setting)

    @property
    def checkpoints(self) -> "SessionCheckpoints":
        """The checkpoints of the variables of Python.

        Raises:
            SessionError: this session is not stored.
        """
        if self.checkpoint_key is None:
            raise SessionError("This session is not stored, so it has no checkpoints.")
        if self._checkpoints is None:
            from terp.store.checkpointing import SessionCheckpoints  # noqa: PLC0415  (few sessions have any)
            from terp.store.checkpoints import CheckpointStore  # noqa: PLC0415  (see above)

            store = CheckpointStore(self.folder / CHECKPOINTS, self.checkpoint_key)
            self._checkpoints = SessionCheckpoints(self, store)
            self._foreground.afterwards = self._checkpoints.save_automatically
        return self._checkpoints

    async def aclose(self) -> None:
        """End the session, after the last automatic checkpoint."""
        if self._checkpoints is not None and not (self._closed or self._foreground.busy):
            await self._checkpoints.save_automatically()
        await super().aclose()

    async def ask(
        self,
        prompt: str,
        attachments: Sequence[Attachable] | Attachable = (),
        *,
        until: str = "",
        on_event: OnEvent | None = None,
    ) -> Reply:
        """Run one turn to its end; `on_event` is called with each event, and with notices since the last one.

        `attachments`, one or several, are paths of files, bytes or tables; these are written to the session's
        folder, tables as CSV. With `until`, a shell command or `py:` and a Python expression, the turn is
        repeated until that check passes, as often as `max_revisions` allows.

        Raises:
            AttachmentError: there is no such file, or an object is of another type.
            SettingsError: the check is malformed.
            TurnFailed: there is no answer. A turn that stopped at a limit, or that the user ended, returns
                its reply.
            RuntimeError: another turn of this session is running.
        """
        check_text("The prompt", prompt)
        check_text("until", until)
        _check_function(on_event)
        if isinstance(attachments, str | bytes | bytearray) or not isinstance(attachments, Sequence):
            attachments = [attachments]
        attached = await asyncio.to_thread(_all_attached, self, attachments) if attachments else ()
        if on_event is not None:
            for record in self.log.since(max(self._reported, self.log.resumed_at)):
                if isinstance(record.event, Noticed):
                    on_event(record.event)
        before = self.resources.goal
        if until:
            from terp.checks.until.goal import goal_of  # noqa: PLC0415  (most prompts have no check)

            self.resources.goal = goal_of(self.settings, typed=until)
        try:
            reply = await _gathered(ask(self, prompt, attached), on_event)
        finally:
            self._reported = self.log.last
            if until:
                self.resources.goal = before
        if reply.stop_reason in _FAILURES:
            raise TurnFailed(reply.error, reply.remedy, reply=reply)
        return reply

    async def solve(
        self,
        problem: "Problem | str | os.PathLike[str]",
        *,
        on_event: OnEvent | None = None,
        keep: bool = False,
    ) -> "Outcome":
        """Write a program that passes the tests of a problem, as `terp solve` does; return its outcome.

        `problem` is a folder or file (.md, .py) by its path, or the text itself, in Markdown or Python. No
        code of the solution runs in a kernel: tests run in limited processes, in the sandbox. The outcome has
        the `code`, and `passed` if it passes all tests. The requests are turns of this conversation. With
        `keep` the state is stored in the session's folder after each phase (`terp.checks.solve.state`).

        Raises:
            SettingsError: the problem is malformed, or the kernels are behind a gateway.
            NoSandbox: no sandbox works here.
        """
        from terp.checks.solve.checker import checker_for  # noqa: PLC0415  (few sessions solve problems)
        from terp.checks.solve.phases import Accepting, SolveContext, solve  # noqa: PLC0415  (see above)
        from terp.checks.solve.problem import Problem, problem_in  # noqa: PLC0415  (see above)
        from terp.checks.solve.state import State, first_state, write_state  # noqa: PLC0415  (see above)

        if not isinstance(problem, Problem | str | os.PathLike):
            raise TypeError(f"The problem is {problem!r}, must be text or a path.")
        _check_function(on_event)
        state = first_state(problem_in(problem), self.settings.max_revisions)
        checker = checker_for(self.kernels, self.settings)
        requests, limits = self._requests, self.resources.limits
        system, code = requests.system, requests.offers_code
        show = on_event or (lambda _: None)

        def store(state: State) -> None:
            write_state(self.folder, state, self.resources.redactor)

        context = SolveContext(self, checker, self.dialog.notify, show)
        try:
            return await solve(context, state, Accepting(), store if keep else lambda _: None)
        finally:
            requests.system, requests.offers_code, self.resources.limits = system, code, limits


def _check_function(on_event: object) -> None:
    if on_event is not None and not callable(on_event):
        raise TypeError(f"on_event is {on_event!r}, must be a function.")
    if iscoroutinefunction(on_event):
        raise TypeError(
            "on_event is async, must be an ordinary function; with async iterate session.turn(…)."
        )


def checkpoints_of(session: Session) -> "SessionCheckpoints":
    """Return the checkpoints of a session.

    Raises:
        SessionError: it is not stored.
    """
    if not isinstance(session, ChatSession):
        raise SessionError("This session has no checkpoints.")
    return session.checkpoints


async def offer_checkpoint(session: Session) -> str:
    """Ask the user of a resumed session to restore its newest checkpoint; return the result, or ""."""
    try:
        return await checkpoints_of(session).offer() if session.log.resumed_at else ""
    except TerpError as error:
        return f"{error.message} {error.remedy}".rstrip()


def _all_attached(session: Session, attachments: Sequence[Attachable]) -> Sequence[Attachment]:
    return [one for given in attachments for one in attached(session, given)]


def attached(session: Session, given: Attachable, name: str = "attachment") -> Sequence[Attachment]:
    """Return the attachment for an object; bytes are written to the session's folder as `name`.

    Raises:
        AttachmentError: there is no such file, or the object is of another type.
    """
    if isinstance(given, Attachment):
        return [given]
    from terp.session.attachments import attach, attach_elsewhere  # noqa: PLC0415  (most prompts have none)

    if not isinstance(given, str | os.PathLike):
        # Code in a sandbox can read this folder.
        name = name if isinstance(given, bytes | bytearray) else "table.csv"
        path = unused(make_private(session.folder / OUTPUTS) / name)
        _write(given, path)
        given = path
    files = [os.fspath(given)]
    return attach_elsewhere(files) if session.readiness.carries else attach(files, Path(session.kernels.cwd))


def _write(given: Any, path: Path) -> None:
    if isinstance(given, bytes | bytearray):
        path.write_bytes(given)
    elif hasattr(given, "to_csv"):
        given.to_csv(path, index=type(getattr(given, "index", None)).__name__ != "RangeIndex")
    elif hasattr(given, "write_csv"):
        given.write_csv(path)
    else:
        raise AttachmentError(
            f"cannot attach an object of type {type(given).__name__}: give a path, bytes, or a table of "
            "pandas or polars."
        )


async def _gathered(turn: AsyncGenerator[Event, None], on_event: OnEvent | None) -> Reply:
    seen: list[Event] = []
    async with aclosing(turn) as events:
        async for event in events:
            seen.append(event)
            if on_event is not None:
                on_event(event)
    return reply_of(seen)
