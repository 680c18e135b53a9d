"""The conversation as the model sees it."""

from collections.abc import Mapping
from typing import Any

from terp.text.dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Image:
    """A picture for a model with vision: base64 `data` of the MIME type `mime`."""

    mime: str
    data: str


@dataclass(frozen=True, slots=True)
class System:
    """The system prompt. First, and once.

    `note_word` is the word that marks terp's notes in results and messages (`terp.text.note_mark`); "" for
    none. It is part of the text.
    """

    text: str
    note_word: str = ""


@dataclass(frozen=True, slots=True)
class User:
    """A message of the user, with any pictures they attached.

    A summary of a compaction is one too: it stands for the prompts that were `said` before, word for word.
    """

    text: str
    images: tuple[Image, ...] = ()
    said: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Attachment:
    """An attachment of a prompt: its name for events, and the note and the picture that the model reads.

    `source` is the file of this machine that is sent to a kernel which cannot read it: on another machine,
    or in a sandbox. It is "" if the kernel reads it anyway. `notice` is the line that the user sees.
    """

    name: str
    note: str
    image: Image | None = None
    source: str = ""
    notice: str = ""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A tool call as the model wrote it.

    `arguments` is always text that `json.loads` accepts: providers refuse a history that holds
    anything else, before any network (litellm with anthropic, gemini, ollama_chat). `raw` keeps the
    text as it came when that differs. `extras` are fields a provider wants back unchanged.
    """

    id: str
    name: str
    arguments: str
    raw: str = ""
    extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Assistant:
    """One reply of the model.

    `extras` are top-level fields a provider wants back unchanged: `thinking_blocks`,
    `reasoning_content`, `reasoning_details`.
    """

    text: str
    calls: tuple[ToolCall, ...] = ()
    reasoning: str = ""
    extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to one tool call. Every call has exactly one; the text is never empty."""

    call_id: str
    text: str
    images: tuple[Image, ...] = ()


Message = System | User | Assistant | Result


def without_extras(message: Message) -> Message:
    """Return the message without the fields that only its provider understands."""
    if not isinstance(message, Assistant):
        return message
    return replace(message, calls=tuple(replace(call, extras={}) for call in message.calls), extras={})
