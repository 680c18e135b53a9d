"""The lines of a session's log: the header, events, and changes of the messages.

The first key of the object is its kind: `log`, `event` or `history`. Every line begins with it, so that
a reader can pass over what it does not need without parsing it.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from terp.events import wire
from terp.events.log import Record
from terp.events.messages import Assistant, Attachment, Image, Message, Result, System, ToolCall, User
from terp.session.context.history import Appended, Change, NoteAdded, PastTurn, Replaced, Truncated
from terp.text.dataclasses import asdict, dataclass

VERSION = 1
_LOG = "terp session"
_TITLE_CHARS = 120


@dataclass(frozen=True, slots=True)
class Header:
    """The first line of a log. `started` is in seconds since the epoch.

    `note_word` marks terp's notes to the model (`terp.text.note_mark`); older logs have none.
    """

    id: str
    cwd: str
    started: float
    terp: str
    model: str = ""
    title: str = ""
    forked_from: str = ""
    note_word: str = ""
    version: int = VERSION


def title_of(prompt: str) -> str:
    """Return the title of a session that begins with this prompt."""
    return prompt.strip().partition("\n")[0][:_TITLE_CHARS]


def header_to_json(header: Header) -> dict[str, Any]:
    """Return the header as an object."""
    return {"log": _LOG, **asdict(header)}


def header_from_json(line: Mapping[str, Any]) -> Header:
    """Return the header that `header_to_json` wrote, also if a newer version has more fields.

    Raises:
        ValueError: the object is no header.
    """
    if line.get("log") != _LOG:
        raise ValueError("the line is no session header")
    try:
        return Header(**{name: line[name] for name in Header.__dataclass_fields__ if name in line})
    except TypeError as error:
        raise ValueError(f"the line is no session header: {error}") from error


def event_to_json(record: Record) -> dict[str, Any]:
    """Return the record of an event as an object, its name first."""
    written = wire.record_to_json(record)
    return {"event": written["event"], **written}


def change_to_json(change: Change) -> dict[str, Any]:
    """Return a change of the messages as an object."""
    match change:
        case Appended(message=message, turn=turn, call_ids=call_ids):
            line = {"history": _role(message), **_fields(message)}
            if turn is not None:
                line["turn"] = _turn(turn, message)
            if call_ids:
                line["call_ids"] = list(call_ids)
            return line
        case Truncated(left=left):
            return {"history": "cut", "left": left}
        case NoteAdded(text=text):
            return {"history": "note", "text": text}
        case Replaced(messages=messages, turns=turns, compacted=compacted):
            line = {
                "history": "all",
                "messages": [message_to_json(message) for message in messages],
                "turns": [_turn(turn, messages[turn.at]) for turn in turns],
            }
            return {**line, "shortened": True} if compacted else line


def message_to_json(message: Message) -> dict[str, Any]:
    """Return a message as an object: its role and its fields."""
    return {"role": _role(message), **_fields(message)}


def change_from_json(line: Mapping[str, Any]) -> Change:
    """Return the change that `change_to_json` wrote.

    Raises:
        LookupError, TypeError, ValueError: it is no change of this version.
    """
    match line["history"]:
        case "cut":
            return Truncated(line["left"])
        case "note":
            return NoteAdded(line["text"])
        case "all":
            messages = tuple(_message(one["role"], one) for one in line["messages"])
            turns = tuple(_past_turn(turn, messages[turn["at"]]) for turn in line["turns"])
            return Replaced(messages, turns, bool(line.get("shortened")))
        case role:
            message = _message(role, line)
            turn = line.get("turn")
            past = _past_turn(turn, message) if turn else None
            return Appended(message, past, tuple(line.get("call_ids", ())))


def _role(message: Message) -> str:
    return type(message).__name__.lower()


def _fields(message: Message) -> dict[str, Any]:
    """Return the fields of a message that are not empty."""
    match message:
        case System(text=text):
            return {"text": text}
        case User(text=text, images=images, said=said):
            return {"text": text, **_images(images), **({"said": list(said)} if said else {})}
        case Result(call_id=call_id, text=text, images=images):
            return {"call_id": call_id, "text": text, **_images(images)}
        case Assistant(text=text, calls=calls, reasoning=reasoning, extras=extras):
            more = {"calls": [_call(call) for call in calls], "reasoning": reasoning, "extras": dict(extras)}
            return {"text": text, **{name: value for name, value in more.items() if value}}


def _images(images: Sequence[Image]) -> dict[str, Any]:
    return {"images": [{"mime": image.mime, "data": image.data} for image in images]} if images else {}


def _call(call: ToolCall) -> dict[str, Any]:
    more = {"raw": call.raw, "extras": dict(call.extras)}
    given = {name: value for name, value in more.items() if value}
    return {"id": call.id, "name": call.name, "arguments": call.arguments, **given}


def _turn(turn: PastTurn, message: Message) -> dict[str, Any]:
    """Return a turn as an object, without the facts that its first message has."""
    assert isinstance(message, User), "a turn begins with a message of the user"
    line: dict[str, Any] = {"number": turn.number, "at": turn.at}
    if turn.prompt != message.text:
        line["prompt"] = turn.prompt
    if turn.attachments:
        images = list(message.images)
        line["attachments"] = [
            {
                "name": attachment.name,
                "note": attachment.note,
                "image": images.index(attachment.image) if attachment.image else None,
            }
            for attachment in turn.attachments
        ]
    return line


def _message(role: str, line: Mapping[str, Any]) -> Message:
    images = tuple(Image(image["mime"], image["data"]) for image in line.get("images", ()))
    match role:
        case "user":
            return User(line["text"], images, tuple(line.get("said", ())))
        case "assistant":
            calls = tuple(
                ToolCall(
                    call["id"], call["name"], call["arguments"], call.get("raw", ""), call.get("extras", {})
                )
                for call in line.get("calls", ())
            )
            return Assistant(line["text"], calls, line.get("reasoning", ""), line.get("extras", {}))
        case "result":
            return Result(line["call_id"], line["text"], images)
        case "system":
            return System(line["text"])
    raise ValueError(f"unknown role {role!r}")


def _past_turn(line: Mapping[str, Any], message: Message) -> PastTurn:
    images = getattr(message, "images", ())
    attachments = tuple(
        Attachment(one["name"], one["note"], None if one["image"] is None else images[one["image"]])
        for one in line.get("attachments", ())
    )
    return PastTurn(line["number"], line.get("prompt", message.text), attachments, line["at"])
