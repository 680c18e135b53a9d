"""What a client asks, as turns of a session."""

import os
from collections.abc import AsyncGenerator, Sequence

import anyio.to_thread

from terp.checks.until import loop as until
from terp.events import Event
from terp.events.messages import Attachment
from terp.session.attachments import attach, with_attachments
from terp.session.session import Session
from terp_cli.server.failures import Refused
from terp_cli.server.served import Served
from terp_cli.server.turns import Asking, Turn


async def ask(served: Served, prompt: str, files: Sequence[str]) -> Turn:
    """Have a prompt answered, with files of the session.

    Raises:
        Refused: there is nothing to ask, a file is not there, or too many turns wait.
        AttachmentError: a file cannot be attached.
    """
    if not (prompt.strip() or files):
        raise Refused(409, "The prompt is empty.", code="nothing_asked")
    attachments = await anyio.to_thread.run_sync(_attached, served, files) if files else ()
    return served.ask(_asking(with_attachments(prompt, attachments), attachments))


def go_on(served: Served) -> Turn:
    """Have the turn go on that broke off when the session ended.

    Raises:
        Refused: none did, or its code was answered since.
    """
    if not served.session.pending:
        raise Refused(409, "No code of this session waits for an answer.", code="not_waiting")
    return served.ask(Session.go_on)


def _asking(prompt: str, attachments: Sequence[Attachment]) -> Asking:
    def asking(session: Session) -> AsyncGenerator[Event, None]:
        return until.ask(session, prompt, attachments)

    return asking


def _attached(served: Served, files: Sequence[str]) -> tuple[Attachment, ...]:
    for path in files:
        # Reached without a link, so that no file of another place is described to the model.
        os.close(served.files.read(path))
    return attach([str(served.cwd / path) for path in files], served.cwd)
