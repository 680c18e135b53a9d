"""The number of tokens of a request, before it is sent."""

import hashlib
import importlib.util
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from terp.events.messages import Message, Result, System, User
from terp.models.adapters.chat_format import chat_messages

Counter = Callable[[str], int]
# What a message costs beside its words, and what begins the reply (OpenAI's cookbook on counting tokens).
_PER_MESSAGE, _PRIMING = 4, 3
_ADDRESS = "https://openaipublic.blob.core.windows.net/encodings/{}.tiktoken"
_USUAL = "o200k_base"


@dataclass(frozen=True, slots=True)
class RequestTokens:
    """The parts of a request in tokens. `pictures` are counted as pictures: what one costs is the provider's.

    `counter` names what counted them; `own` is True if it is this model's tokenizer: without
    it the number is an estimate.
    """

    system: int
    tools: int
    conversation: int
    pictures: int
    counter: str
    own: bool

    @property
    def total(self) -> int:
        """All of it."""
        return self.system + self.tools + self.conversation


def count_request(
    messages: Sequence[Message], tools: Sequence[Mapping[str, Any]], model: str
) -> RequestTokens:
    """Return the tokens of a request to `model`, which is named as a person would.

    Never asks the network. The first count takes half a second: on an event loop it belongs into a thread.
    """
    counter, name, own = counter_for(model)
    system = [message for message in messages if isinstance(message, System)]
    rest = [message for message in messages if not isinstance(message, System)]
    pictures = sum(len(message.images) for message in rest if isinstance(message, User | Result))
    return RequestTokens(
        system=_count(system, counter),
        tools=counter(json.dumps(list(tools), ensure_ascii=False)) if tools else 0,
        conversation=_count(rest, counter) + _PRIMING,
        pictures=pictures,
        counter=name,
        own=own,
    )


def counter_for(model: str, folder: Path | None = None) -> tuple[Counter, str, bool]:
    """Return a counter of tokens, its name, and True if it is the model's own.

    `folder` holds the files of encodings; as a default the one that litellm brings along.
    """
    folder = folder or _shipped()
    provider, _, name = model.rpartition("/")
    encoding, own = _encoding_of(name) if provider in ("openai", "") else (_USUAL, False)
    for known, is_own in ((encoding, own), (_USUAL, False)):
        if count := _tiktoken(known, folder):
            return count, known, is_own
    return _by_length, "the length of the text", False


def _encoding_of(name: str) -> tuple[str, bool]:
    import tiktoken  # noqa: PLC0415  (only who counts pays for it)

    try:
        return tiktoken.encoding_name_for_model(name), True
    except KeyError:
        return _USUAL, False


def _tiktoken(encoding: str, folder: Path | None) -> Counter | None:
    """Return the counter of an encoding whose file is in `folder`; None if it is not there."""
    # The name by which tiktoken looks for it.
    file = hashlib.sha1(_ADDRESS.format(encoding).encode(), usedforsecurity=False).hexdigest()
    if folder is None or not (folder / file).is_file():
        return None
    import tiktoken  # noqa: PLC0415  (see above)

    # litellm does the same as soon as it is imported.
    os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(folder))
    encode = tiktoken.get_encoding(encoding).encode_ordinary
    return lambda text: len(encode(text))


def _shipped() -> Path | None:
    """Return the folder of litellm's encodings, without importing it."""
    if own := os.environ.get("TIKTOKEN_CACHE_DIR"):
        return Path(own)
    spec = importlib.util.find_spec("litellm")
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "litellm_core_utils" / "tokenizers"


def _by_length(text: str) -> int:
    # English has four letters a token, and other scripts take more bytes as they take more tokens.
    return -(-len(text.encode("utf-8", "replace")) // 4)


def _count(messages: Sequence[Message], counter: Counter) -> int:
    return sum(_PER_MESSAGE + counter(text) for text in _texts(messages))


def _texts(messages: Sequence[Message]) -> Iterator[str]:
    for message in chat_messages(messages, vision=False):
        said = message.get("content") or ""
        calls = [call["function"] for call in message.get("tool_calls", ())]
        yield "\n".join([said, *(f"{call['name']} {call['arguments']}" for call in calls)])
