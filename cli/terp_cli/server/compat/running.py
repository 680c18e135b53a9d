"""`/run`: code that runs at once, unasked, beside the conversation."""

from typing import Any

from terp.events import CodeRejected, Printed
from terp_cli.server.compat.conversation import Conversation
from terp_cli.server.compat.outputs import Piece, pieces_of, printed
from terp_cli.server.compat.wanted import Rejected

_WAITS = "Code of the answer waits for its go; say go, or stop, first."


async def run(conversation: Conversation, language: str, code: str) -> list[dict[str, Any]]:
    """What the code puts out, in the kernel of the conversation; it waits for an answer that goes on.

    Raises:
        Rejected: code waits for its `go`, or this was stopped before it ran.
        Refused, TerpError: nothing runs the language, or too much waits.
    """
    listening = await conversation.shared.opened()
    served = listening.served
    person = conversation.shared.person
    if person is not None and person.proposed is not None:
        raise Rejected(409, _WAITS)
    served.session.kernels.get(language)
    turn = served.ask(lambda session: session.run(language, code))
    began, ended = await turn.began, await turn.ended
    if began < 0 or ended < 0:
        raise Rejected(409, "It was stopped before it ran.")
    pieces: list[Piece] = []
    for record in served.session.log.since(began):
        match record.event:
            case Printed(output=output) if record.number <= ended:
                pieces += pieces_of(output)
            case CodeRejected(reason=reason) if record.number <= ended:
                pieces.append(printed(reason))
    return [_told(piece, served.scrubber.redacted) for piece in _joined(pieces)]


def _joined(pieces: list[Piece]) -> list[Piece]:
    """The pieces, with those of the console that follow one another as one."""
    joined: list[Piece] = []
    for piece in pieces:
        if joined and piece.type == "console" and joined[-1].type == "console":
            joined[-1] = printed(joined[-1].content + piece.content)
        else:
            joined.append(piece)
    return joined


def _told(piece: Piece, redacted: Any) -> dict[str, Any]:
    content = piece.content if piece.type == "image" else redacted(piece.content)
    return {"type": piece.type, "format": piece.format, "content": content}
