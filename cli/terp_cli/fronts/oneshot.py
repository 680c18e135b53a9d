"""One turn from its prompt to an exit code, with its files (`--out`) and its variable (`--emit`)."""

import filecmp
import shutil
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import Literal, TextIO

from terp.checks.until.goal import current_goal
from terp.checks.until.loop import ask, until
from terp.errors import SettingsError, TerpError
from terp.events import Event, TurnFinished
from terp.events.messages import Attachment
from terp.session.emitting import Emission, emission, emitted
from terp.session.session import Session
from terp.text.dataclasses import dataclass, replace
from terp.text.paths import unused
from terp.text.plain import without_escapes
from terp_cli.fronts.front_end import FrontEnd
from terp_cli.line.flags import Options
from terp_cli.line.stopping import EXIT_CODES, TIME_IS_OVER, Stopping
from terp_cli.terminal.sanitise import readable

First = Literal["", "go_on", "rerun"]


@dataclass(frozen=True, slots=True)
class OneShotPrompt:
    """A prompt with its attachments, and the folder for the files of the run (None: they are not collected).

    `first`: before it, the interrupted turn of a stored session is continued ("go_on"), or the session's code
    is run again ("rerun"). The prompt may be empty then.
    """

    prompt: str
    attachments: tuple[Attachment, ...] = ()
    out: Path | None = None
    first: First = ""

    @property
    def asks(self) -> bool:
        """True if there is a prompt, an attachment, or work before it."""
        return bool(self.prompt.strip() or self.attachments or self.first)


async def one_shot(
    session: Session,
    question: OneShotPrompt,
    front: FrontEnd,
    stopping: Stopping,
    last: Callable[[Session], Awaitable[None]] | None = None,
) -> int:
    """Run and show one turn, close the session, and return the exit code.

    `last` is called with the session before it is closed, if the turn ended well.
    """
    with stopping.watching(session.interrupt, session.kernels.aclose):
        try:
            code = await one_turn(session, question, front, stopping)
            if last is not None and code == EXIT_CODES["done"]:
                await last(session)
            return code
        finally:
            await session.aclose()


async def one_turn(session: Session, question: OneShotPrompt, front: FrontEnd, stopping: Stopping) -> int:
    """Run and show one turn; return the exit code."""
    seen: list[Event] = []
    async with aclosing(_turn(session, question, stopping, seen)) as events:
        await front.show(events)
    # Imported after the prompt is shown, or the request is sent.
    from terp.session.reply import reply_of  # noqa: PLC0415

    reply = reply_of(seen)
    front.finish(seen, collect(reply.files, question.out) if question.out else [])
    return EXIT_CODES[reply.stop_reason] if stopping.code is None else stopping.code


async def _turn(
    session: Session, question: OneShotPrompt, stopping: Stopping, seen: list[Event]
) -> AsyncGenerator[Event, None]:
    asks = not question.first or bool(question.prompt)
    if question.first:
        async with aclosing(_first(session, question.first, last=not asks)) as events:
            async for event in events:
                seen.append(_end_of(stopping, event) if isinstance(event, TurnFinished) else event)
                # Without the variables the prompt would be answered as if they were there.
                asks = asks and not (isinstance(event, TurnFinished) and event.reason == "approval_needed")
                # Only the end of the prompt's turn is shown.
                if not (asks and isinstance(event, TurnFinished)):
                    yield seen[-1]
    if asks and stopping.code is None:
        async with aclosing(ask(session, question.prompt, question.attachments)) as events:
            async for event in events:
                seen.append(_end_of(stopping, event) if isinstance(event, TurnFinished) else event)
                yield seen[-1]


def _first(session: Session, first: First, *, last: bool) -> AsyncGenerator[Event, None]:
    if first == "go_on":
        goal, turn = current_goal(session.resources), session.continue_turn()
        return turn if goal is None or not last else until(session, goal, turn)
    from terp.session.replay.source import session_runs  # noqa: PLC0415  (few sessions are ever run again)

    return session.rerun(session_runs((record.event for record in session.log.since(0)), session.folder))


def _end_of(stopping: Stopping, end: TurnFinished) -> TurnFinished:
    """Return the end of a turn; an interrupt by --timeout has the reason "timeout"."""
    if end.reason == "interrupted" and stopping.timed_out:
        return replace(end, reason="timeout", error=TIME_IS_OVER)
    return end


def collect(files: Sequence[str], folder: Path) -> list[Path]:
    """Copy `files` into `folder`, never over an existing file; return their present paths.

    A file that is in `folder` already stays there. A missing file is left out, and so is a link, which may
    lead to a file that code cannot read. `folder` is its real path from before any code ran.

    Raises:
        TerpError: a file cannot be copied, or the folder has become a link.
    """
    if folder.resolve() != folder:
        raise TerpError(f"{folder} has become a link, so no files are collected there.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        sources = [path for file in files if (path := Path(file)).is_file() and not path.is_symlink()]
        return [p if p.resolve().is_relative_to(folder) else _copied(p, folder) for p in sources]
    except OSError as error:
        raise TerpError(f"The files of the run cannot be collected in {folder}: {error.strerror}.") from error


def _copied(source: Path, folder: Path) -> Path:
    """Copy `source` into `folder` under its name, or a numbered one; return the path.

    A file with the same name and content is not copied again.
    """
    target = folder / source.name
    if target.is_file() and filecmp.cmp(source, target, shallow=False):
        return target
    while True:
        target = unused(target)
        try:
            # "x": another program may have created the file just now.
            with source.open("rb") as read, target.open("xb") as write:
                shutil.copyfileobj(read, write)
        except FileExistsError:
            continue
        return target


def wanted_by(options: Options) -> Emission | None:
    """Return the variable that a call emits, None without `--emit`.

    Raises:
        SettingsError: it is no name or no form, or stdout also carries JSON.
    """
    if not options.emit:
        return None
    if options.output_format != "text":
        raise SettingsError(
            [f"--emit writes to stdout itself: leave out --output-format {options.output_format}."]
        )
    return emission(options.emit)


async def write_variable(session: Session, wanted: Emission, out: TextIO) -> None:
    """Write only the bytes of a variable; to a terminal, text without control sequences.

    Raises:
        TerpError: there is no such variable, it has no such form, or a terminal cannot show it.
    """
    written = await emitted(session.kernels.get("python"), wanted)
    if out.isatty():
        out.write(on_terminal(wanted, written))
        out.flush()
        return
    out.flush()
    # A stream that the caller closed has no buffer.
    if (raw := getattr(out, "buffer", None)) is not None:
        raw.write(written)
        raw.flush()


def on_terminal(wanted: Emission, written: bytes) -> str:
    """Return a variable's text for a terminal.

    Raises:
        TerpError: it is no text.
    """
    try:
        text = written.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise TerpError(
            f"--emit: '{wanted.name}' is no text, and stdout is a terminal.",
            "Write it to a file with '> FILE'.",
        )
    return readable(without_escapes(text))
