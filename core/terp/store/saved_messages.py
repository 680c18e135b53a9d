"""A conversation as the JSON of Open Interpreter's `%save_message`, and back.

The file is a list of small messages: text, code, output, pictures, each with a
`role`, a `type` and mostly a `format`. Data without a place in that form (ids, reasoning, fields for the
provider) is stored under names that Open Interpreter ignores, so that a conversation of terp
is restored completely, and an edited one as edited.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

from terp.errors import TerpError
from terp.events import CodeFinished, CodeProposed, CodeStarted, Printed, TextDelta, TurnFinished, TurnStarted
from terp.events.log import EventLog
from terp.events.messages import Assistant, Attachment, Image, Message, Result, ToolCall, User
from terp.events.outputs import Display, Output, RunStatus, Text
from terp.models import tool
from terp.models.tool import ArgumentsReader, UnreadableArguments
from terp.secrets.redactor import Redactor
from terp.session.artifacts import OUTPUTS, Artifacts
from terp.session.context.history import History
from terp.session.proposals import digest_of
from terp.store.keeping import Keeper

Entry = dict[str, Any]
_LANGUAGES = ("python", "shell", "javascript", "r", "ruby", "perl", "html", "applescript", "powershell")
_FORMATS = {f"base64.{name}": f"image/{name}" for name in ("png", "jpeg", "gif", "webp")}
_WITHOUT_PROMPT = "(earlier messages are not in the file)"
_NOTE = "It ran elsewhere, before this conversation was imported."
_FAILED = "Traceback (most recent call last)"


class MessagesUnreadable(TerpError):
    """A file is no conversation; the message names the first wrong entry."""


def to_json(messages: Iterable[Message], redactor: Redactor | None = None) -> str:
    """Return the text of the file, without the secrets that `redactor` knows."""
    entries = [entry for number, one in enumerate(messages) for entry in _entries(one, number)]
    if redactor is not None:
        # The bytes of a picture are no text.
        entries = [one if one["type"] == "image" else redactor.redacted_value(one) for one in entries]
    return json.dumps(entries, ensure_ascii=False, indent=2) + "\n"


def read_messages(path: Path, name: str) -> list[Message]:
    """Return the messages in a file, which errors call by this name.

    Raises:
        MessagesUnreadable: it cannot be read, or is no such file.
    """
    try:
        return from_json(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise MessagesUnreadable(f"{name} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise MessagesUnreadable(f"{name} is not text.") from error
    except MessagesUnreadable as error:
        raise MessagesUnreadable(f"{name}: {error.message}") from error


def from_json(text: str) -> list[Message]:
    """Return the messages in the text of such a file; every call has its result.

    Raises:
        MessagesUnreadable: it is no such file.
    """
    try:
        entries = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise MessagesUnreadable(f"This is not JSON: {error}.") from error
    if isinstance(entries, dict):
        entries = entries.get("messages")
    if not isinstance(entries, list):
        raise MessagesUnreadable("This is no list of messages.")
    reader = _Reader()
    for number, entry in enumerate(entries, 1):
        # Which line ran when, and that it was asked about, is no part of the conversation.
        if isinstance(entry, dict) and "confirmation" in (entry.get("type"), entry.get("format")):
            continue
        if isinstance(entry, dict) and entry.get("format") == "active_line":
            continue
        if not isinstance(entry, dict) or not isinstance(entry.get("content", ""), str):
            raise MessagesUnreadable(f"Message {number} is not one with a role, a type and text.")
        for one in _first_form(entry) if "content" not in entry else (entry,):
            reader.take(one, number)
    return reader.messages()


def _first_form(entry: Entry) -> Iterator[Entry]:
    """Yield the entries of a file from before version 0.2, in which one entry had text, code and output."""
    role = entry.get("role")
    if text := entry.get("message"):
        yield {"role": role, "type": "message", "content": str(text)}
    if code := entry.get("code"):
        yield {"role": "assistant", "type": "code", "format": entry.get("language"), "content": str(code)}
    if output := entry.get("output"):
        yield {"role": "computer", "type": "console", "format": "output", "content": str(output)}


def _entries(message: Message, number: int) -> Iterator[Entry]:
    match message:
        case User(text=text, images=images):
            yield {"role": "user", "type": "message", "content": text}
            yield from (_picture("user", image) for image in images)
        case Assistant():
            yield from _reply(message, number)
        case Result(call_id=call_id, text=text, images=images):
            said = {"role": "computer", "type": "console", "format": "output", "content": text}
            yield {**said, "call_id": call_id}
            yield from ({**_picture("computer", image), "call_id": call_id} for image in images)


def _picture(role: str, image: Image) -> Entry:
    named = f"base64.{image.mime.rpartition('/')[2]}"
    return {"role": role, "type": "image", "format": named, "content": image.data}


def _reply(message: Assistant, number: int) -> Iterator[Entry]:
    entries: list[Entry] = []
    if message.text or not message.calls:
        entries.append({"role": "assistant", "type": "message", "content": message.text})
    for call in message.calls:
        language, code = code_of(call)
        entry = {"role": "assistant", "type": "code", "format": language, "content": code}
        entries.append({**entry, "call": _facts(call)})
    for name, value in (("reasoning", message.reasoning), ("extras", dict(message.extras))):
        if value:
            entries[0][name] = value
    yield from ({**entry, "reply": number} for entry in entries)


def code_of(call: ToolCall) -> tuple[str, str]:
    """Return the language and the code of a call; language "" and its raw arguments if it cannot be read."""
    try:
        language, code = ArgumentsReader(_LANGUAGES).read(call.raw or call.arguments)
    except UnreadableArguments:
        return "", call.raw or call.arguments
    return language or tool.implied_language(call.name, _LANGUAGES) or _LANGUAGES[0], code


def _facts(call: ToolCall) -> Entry:
    facts = {"id": call.id, "name": call.name, "arguments": call.arguments, "raw": call.raw}
    return {name: value for name, value in {**facts, "extras": dict(call.extras)}.items() if value}


class _Reader:
    """Joins entries to messages."""

    def __init__(self) -> None:
        self._messages: list[Message] = []
        self._reply: Any = None
        self._open: list[str] = []
        self._ids = count(1)

    def messages(self) -> list[Message]:
        """Return all messages, with a result for every call."""
        self._settle()
        return self._messages

    def take(self, entry: Mapping[str, Any], number: int) -> None:
        """Read one entry, the `number`th of the file."""
        role, kind, content = entry.get("role"), entry.get("type", "message"), entry.get("content", "")
        match role, kind:
            case ("user", "image") if entry.get("format") in _FORMATS:
                self._user_picture(_image(entry))
            case ("user", _):
                self._settle()
                self._messages.append(User(content))
            case ("assistant", "message"):
                self._assistant(entry, content)
            case ("assistant", "code"):
                self._call(entry, content)
            case ("computer", "image") if entry.get("format") in _FORMATS:
                self._result(entry, "", (_image(entry),))
            case ("computer", _):
                self._result(entry, content, ())
            case (("system" | "server"), _):
                return
            case _:
                raise MessagesUnreadable(f"Message {number} has the role {role!r} and the type {kind!r}.")

    def _user_picture(self, image: Image) -> None:
        last = self._messages[-1] if self._messages else None
        if isinstance(last, User):
            self._messages[-1] = replace(last, images=(*last.images, image))
        else:
            self._settle()
            self._messages.append(User("", (image,)))

    def _assistant(self, entry: Mapping[str, Any], text: str) -> None:
        self._settle()
        self._reply = entry.get("reply")
        self._messages.append(
            Assistant(text, (), str(entry.get("reasoning", "")), _mapping(entry.get("extras")))
        )

    def _call(self, entry: Mapping[str, Any], code: str) -> None:
        call = _call_of(entry, code, self._ids)
        last = self._messages[-1] if self._messages else None
        same = entry.get("reply") == self._reply and (self._reply is not None or not self._calls_of(last))
        if not (isinstance(last, Assistant) and same):
            self._assistant(entry, "")
            last = self._messages[-1]
        assert isinstance(last, Assistant), "a call belongs to a reply"
        self._messages[-1] = replace(last, calls=(*last.calls, call))
        self._open.append(call.id)

    @staticmethod
    def _calls_of(message: Message | None) -> tuple[ToolCall, ...]:
        return message.calls if isinstance(message, Assistant) else ()

    def _result(self, entry: Mapping[str, Any], text: str, images: tuple[Image, ...]) -> None:
        last = self._messages[-1] if self._messages else None
        call_id = entry.get("call_id")
        if isinstance(last, Result) and call_id in (None, last.call_id):
            joined = last.text + text if text else last.text
            self._messages[-1] = replace(last, text=joined, images=(*last.images, *images))
            return
        answered = call_id if call_id in self._open else next(iter(self._open), None)
        if answered is None:
            # Output without a call: the model reads it as text.
            self._messages.append(User(text, images))
            return
        self._open.remove(answered)
        self._messages.append(Result(answered, text or "(no output)", images))

    def _settle(self) -> None:
        self._messages += [Result(call_id, "(no output)") for call_id in self._open]
        self._open.clear()
        self._reply = None


def _call_of(entry: Mapping[str, Any], code: str, ids: Iterator[int]) -> ToolCall:
    facts = _mapping(entry.get("call"))
    language = str(entry.get("format") or "python")
    written = ToolCall(
        str(facts.get("id") or f"loaded_{next(ids)}"),
        str(facts.get("name") or tool.NAME),
        str(facts.get("arguments") or ""),
        str(facts.get("raw") or ""),
        _mapping(facts.get("extras")),
    )
    if written.arguments and code_of(written) in ((entry.get("format"), code), ("", code)):
        return written
    # Written by Open Interpreter, or changed by hand since.
    arguments = json.dumps({"language": language, "code": code}, ensure_ascii=False)
    return ToolCall(written.id, tool.NAME, arguments)


def _image(entry: Mapping[str, Any]) -> Image:
    return Image(_FORMATS[str(entry["format"])], str(entry.get("content", "")))


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def import_messages(messages: Sequence[Message], keeper: Keeper, cwd: str) -> None:
    """Store `messages` with `keeper`, which is closed afterwards; each message of the user begins a turn."""
    imported = _Imported(keeper, cwd)
    try:
        for message in messages:
            imported.take(message)
        imported.end_turn()
    finally:
        keeper.close()


class _Imported:
    """Logs a conversation as a session would, without a model or a kernel."""

    def __init__(self, keeper: Keeper, cwd: str) -> None:
        self._log = EventLog(keep=keeper.event)
        self._history = History()
        self._history.watchers.append(keeper.change)
        self._artifacts = Artifacts(keeper.folder / OUTPUTS, keeper.folder)
        self._cwd = cwd
        self._runs, self._calls = count(1), count(1)
        self._open: dict[str, tuple[str, ToolCall]] = {}
        self._in_turn = False
        self._answer = ""
        keeper.begin(self._log.append, "")

    def take(self, message: Message) -> None:
        """Log one message."""
        if isinstance(message, User):
            self.end_turn()
            self._begin(message.text, message.images)
            return
        if not self._in_turn:
            self._begin(_WITHOUT_PROMPT, ())
        match message:
            case Assistant():
                self._reply(message)
            case Result():
                self._result(message)

    def end_turn(self) -> None:
        """End the turn, if there is one."""
        if self._in_turn:
            self._log.append(TurnFinished("done", self._answer))
        self._in_turn, self._answer = False, ""

    def _begin(self, prompt: str, images: Sequence[Image]) -> None:
        attached = [Attachment(f"picture {number}", "", image) for number, image in enumerate(images, 1)]
        self._log.append(TurnStarted(prompt, tuple(one.name for one in attached)))
        self._history.begin(prompt, attached)
        self._in_turn = True

    def _reply(self, message: Assistant) -> None:
        if message.text:
            self._log.append(TextDelta(message.text))
        ids = [f"c{next(self._calls)}" for _ in message.calls]
        self._history.append(message, ids)
        self._answer = message.text
        self._open |= {call.id: (call_id, call) for call_id, call in zip(ids, message.calls, strict=True)}

    def _result(self, message: Result) -> None:
        call_id, call = self._open.pop(message.call_id)
        language, code = code_of(call)
        run = next(self._runs)
        self._log.append(CodeProposed(call_id, language, code, digest_of(code), self._cwd, 0, "none"))
        self._log.append(CodeStarted(call_id, run))
        for output in self._outputs(run, message):
            self._log.append(Printed(call_id, output))
        status: RunStatus = "error" if _FAILED in message.text else "ok"
        self._log.append(CodeFinished(call_id, status, 0.0, note=_NOTE))
        self._history.append(message)
        # Text before a run is not the answer to its output.
        self._answer = ""

    def _outputs(self, run: int, message: Result) -> Iterator[Output]:
        yield Text("stdout", message.text)
        for image in message.images:
            yield self._artifacts.save(str(run), Display({image.mime: image.data}))
