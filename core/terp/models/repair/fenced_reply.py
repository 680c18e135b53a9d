"""A reply with fenced blocks, as one with calls."""

import json
from collections.abc import Iterator, Mapping, Sequence

from terp.events.messages import Assistant, ToolCall
from terp.events.model import CallDelta, Chunk, Replied, Retrying, Text
from terp.models.repair.control_tokens import ControlTokenFilter
from terp.models.repair.fence_scanner import Closed, Code, FenceScanner, Opened, Piece, Prose
from terp.models.repair.tool_calls import tool_call
from terp.models.tool import NAME
from terp.text.languages import language_of

_CUT_OFF = ("length", "max_tokens")


class FencedReply:
    """Translates the chunks of one reply."""

    def __init__(
        self, languages: Sequence[str], aliases: Mapping[str, str] | None, ids: Iterator[str]
    ) -> None:
        self._languages = languages
        self._aliases = aliases
        self._ids = ids
        self._begin()

    def _begin(self) -> None:
        self._tokens = ControlTokenFilter()
        self._scanner = FenceScanner(lambda word: language_of(word, self._languages, self._aliases))
        self._text: list[str] = []
        self._calls: list[_Call] = []
        self._theirs: dict[int, _Call] = {}

    def take(self, chunk: Chunk) -> Iterator[Chunk]:
        """What a chunk of the model behind becomes."""
        match chunk:
            case Text(text=text):
                yield from self._translated(self._scanner.feed(self._tokens.feed(text)))
            case CallDelta():
                yield self._their_call(chunk)
            case Replied():
                yield from self._translated(self._scanner.feed(self._tokens.finish()))
                yield from self._translated(self._scanner.finish())
                yield from self._ended(chunk)
            case Retrying():
                self._begin()
                yield chunk
            case _:
                yield chunk

    def _translated(self, pieces: Sequence[Piece]) -> Iterator[Chunk]:
        for piece in pieces:
            match piece:
                case Prose(text=text):
                    self._text.append(text)
                    yield Text(text)
                case Opened(language=language):
                    self._calls.append(_Call(len(self._calls), NAME))
                    yield self._calls[-1].add(f'{{"language": {_quoted(language)}, "code": "')
                case Code(text=code):
                    yield self._calls[-1].add(_quoted(code)[1:-1])
                case Closed():
                    yield self._calls[-1].add('"}')

    def _their_call(self, delta: CallDelta) -> Chunk:
        if delta.position not in self._theirs:
            self._theirs[delta.position] = _Call(len(self._calls), delta.name)
            self._calls.append(self._theirs[delta.position])
        return self._theirs[delta.position].add(delta.arguments)

    def _ended(self, replied: Replied) -> Iterator[Chunk]:
        # A reply that simply stops has forgotten the fence; one that was cut off has not said it all.
        if self._scanner.in_code and replied.finish_reason not in _CUT_OFF:
            yield from self._translated([Closed()])
        message = replied.message
        for position, call in self._theirs.items():
            call.complete = message.calls[position]
        calls = tuple(call.complete or call.built(next(self._ids)) for call in self._calls)
        ended = Assistant("".join(self._text), calls, message.reasoning, message.extras)
        yield Replied(ended, replied.finish_reason)


class _Call:
    """One call of the reply while it is put together."""

    def __init__(self, position: int, name: str) -> None:
        self._position = position
        self._name = name
        self._arguments: list[str] = []
        self.complete: ToolCall | None = None

    def add(self, arguments: str) -> CallDelta:
        """The chunk for the next piece of the arguments."""
        self._arguments.append(arguments)
        return CallDelta(self._position, self._name if len(self._arguments) == 1 else "", arguments)

    def built(self, call_id: str) -> ToolCall:
        """The call for the history; one that was cut off keeps what came, and is told so when it is read."""
        return tool_call(call_id, self._name, "".join(self._arguments))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
