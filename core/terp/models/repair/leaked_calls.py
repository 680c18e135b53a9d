"""A model whose tool calls may arrive as text: weak models, and servers without the right template.

A printed call counts when it is the whole reply and names the tool:

    {"name": "execute", "arguments": {"code": "…"}}          also "parameters", also in a ```json fence
    <tool_call>{"name": …, "arguments": …}</tool_call>       one or several
    execute⏎```python⏎tool_call(code='…')⏎```                literals only; nothing is evaluated

TextChunk is held back only as long as it may still be such a call; any other text streams at once.
"""

import ast
import json
import re
from collections.abc import AsyncGenerator, Collection, Iterator, Sequence
from contextlib import aclosing
from typing import Any

from terp.events.model import CallDelta, Chunk, Replied, Retrying, TextChunk
from terp.models.repair.control_tokens import TokensAroundFilter, without_tokens_around
from terp.models.tool import plain_name, tool_call, tool_names
from terp.text.dataclasses import dataclass, replace

_MEMBERS = {"type", "id", "name", "function", "arguments", "parameters"}
_TOKENS = re.compile(r"\s*(?:<\|\w+\|>\s*)*")
_TOKEN_BEGUN = re.compile(r"<(?:\|\w*\|?)?")
_NAMED = re.compile(
    r'\{\s*(?:"type"\s*:\s*"function"\s*,\s*)?"name"\s*:\s*"(?P<name>[^"\\]*)"\s*,\s*"(?:arguments|parameters)"'
)
_CONTROL_TO_SPACE = dict.fromkeys(range(32), " ")
# Only the fences in which models print calls: none of another label holds one.
_FENCE_BEGUN = re.compile(r"`{1,3}|```(?:j(?:s(?:o(?:n[ \t]*)?)?)?)?")
_FENCE_OPENING = re.compile(r"```(?:json)?[ \t]*\n")
_AFTER_NAME = re.compile(r"[ \t]*(?:\n\s*(?:`{0,2}|```[^\n`]*(?:\n\s*(?P<call>.*))?))?", re.DOTALL)
_CALL_AS_PYTHON = re.compile(r"(?P<name>[\w.-]+)\s*\n\s*```[^\n`]*\n(?P<call>.*)```\s*", re.DOTALL)
_PYTHON_PREFIX = "tool_call("
_NAME = re.compile(r"[\w.-]*")
_TAG, _END_TAG = "<tool_call>", "</tool_call>"
_CHECK_EACH = 2000


@dataclass(frozen=True, slots=True)
class PrintedCall:
    """A call as it was printed; `written` are its arguments, which may be broken."""

    name: str
    written: str


class PrintedCalls:
    """Tells printed calls of the tool and of `functions`, in any case, from other text."""

    def __init__(self, languages: Sequence[str], functions: Collection[str]) -> None:
        self._names = tool_names(languages)
        self._functions = frozenset(name.casefold() for name in functions)

    def may_become_calls(self, text: str) -> bool:
        """Return True if a reply that begins with `text` may still consist of calls."""
        text = text[_end(_TOKENS, text) :]
        if not text or _TOKEN_BEGUN.fullmatch(text) or _TAG.startswith(text) or _FENCE_BEGUN.fullmatch(text):
            return True
        opened = self._opened(text)
        if opened is None:
            return self._may_become_python(text)
        body, closing = opened
        if (after := _after_object(body)) is None:
            return self._may_become_object(body)
        if self._call(body[: len(body) - len(after)]) is None:
            return False
        after = after.strip()
        if closing == _END_TAG and after.startswith(closing):
            return not (rest := after.removeprefix(closing).strip()) or (
                _TAG.startswith(rest[: len(_TAG)]) and self.may_become_calls(rest)
            )
        return closing.startswith(after)

    def calls(self, text: str) -> list[PrintedCall]:
        """Return the calls that a whole reply consists of; none if it is anything else.

        A call that was cut off or is malformed is also returned: its reader reports the mistake to the model.
        """
        text = text[_end(_TOKENS, text) :]
        opened = self._opened(text)
        if opened is None:
            return self._python_call(text)
        body, closing = opened
        if (after := _after_object(body)) is None:
            named = _NAMED.match(body.lstrip())
            return (
                [PrintedCall(named["name"], body.strip())] if named and self._is_known(named["name"]) else []
            )
        call = self._call(body[: len(body) - len(after)])
        rest = after.strip().removeprefix(closing).strip()
        if call is None or (rest and closing != _END_TAG):
            return []
        others = self.calls(rest) if rest.startswith(_TAG) else []
        return [call, *others] if bool(others) == bool(rest) else []

    def _opened(self, text: str) -> tuple[str, str] | None:
        """Return the text from the first JSON object on, and what closes it."""
        if text.startswith("{"):
            return text, ""
        if text.startswith(_TAG):
            return text.removeprefix(_TAG), _END_TAG
        if opening := _FENCE_OPENING.match(text):
            return text[opening.end() :], "```"
        return None

    def _may_become_object(self, body: str) -> bool:
        import jiter  # noqa: PLC0415  (6 ms, and most replies never come here)

        if (named := _NAMED.match(body.lstrip())) is not None:
            return self._is_known(named["name"])
        plain = body.strip().translate(_CONTROL_TO_SPACE).encode(errors="replace")
        try:
            complete = jiter.from_json(plain or b"{", partial_mode="on")
            begun = jiter.from_json(plain or b"{", partial_mode="trailing-strings")
        except ValueError:
            return False
        if not isinstance(begun, dict) or not begun.keys() <= _MEMBERS:
            return False
        name = complete.get("name", complete.get("function"))
        return not isinstance(name, str) or self._is_known(name)

    def _call(self, body: str) -> PrintedCall | None:
        value = json.loads(body, strict=False)
        if not isinstance(value, dict) or not value.keys() <= _MEMBERS:
            return None
        if isinstance(function := value.get("function"), dict):
            value |= function
        name = value.get("name", function)
        if not isinstance(name, str) or not self._is_known(name):
            return None
        arguments = value.get("arguments", value.get("parameters", {}))
        return PrintedCall(
            name, arguments if isinstance(arguments, str) else json.dumps(arguments, ensure_ascii=False)
        )

    def _may_become_python(self, text: str) -> bool:
        name = text[: _end(_NAME, text)]
        after = text[len(name) :]
        if not after:
            begun = name.casefold()
            return any(known.startswith(begun) for known in (*self._names, *self._functions))
        matched = _AFTER_NAME.fullmatch(after)
        if matched is None or not self._is_known(name):
            return False
        return _PYTHON_PREFIX.startswith((matched["call"] or "")[: len(_PYTHON_PREFIX)])

    def _python_call(self, text: str) -> list[PrintedCall]:
        matched = _CALL_AS_PYTHON.fullmatch(text)
        if matched is None or not self._is_known(matched["name"]):
            return []
        arguments = _literal_keywords(matched["call"].strip())
        if arguments is None:
            return []
        return [PrintedCall(matched["name"], json.dumps(arguments, ensure_ascii=False))]

    def _is_known(self, name: str) -> bool:
        plain = plain_name(name).casefold().replace("-", "_")
        return plain in self._names or plain in self._functions


def _end(pattern: re.Pattern[str], text: str) -> int:
    matched = pattern.match(text)
    return matched.end() if matched else 0


def _after_object(body: str) -> str | None:
    """Return the text behind the first JSON object of `body`, or None while that is incomplete or broken."""
    begin = len(body) - len(body.lstrip())
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(body, begin)
    except (ValueError, RecursionError):
        return None
    return body[end:]


def _literal_keywords(source: str) -> dict[str, Any] | None:
    """Return the keyword arguments of `tool_call(…)` where all are JSON-like literals, else None."""
    try:
        expression = ast.parse(source, mode="eval").body
        if not isinstance(expression, ast.Call) or expression.args:
            return None
        if not isinstance(expression.func, ast.Name) or expression.func.id != "tool_call":
            return None
        arguments = {str(word.arg): ast.literal_eval(word.value) for word in expression.keywords if word.arg}
        json.dumps(arguments)
    except (SyntaxError, ValueError, TypeError, RecursionError, MemoryError):
        return None
    return arguments if len(arguments) == len(expression.keywords) else None


async def lift_leaked_calls(
    chunks: AsyncGenerator[Chunk, None], reader: PrintedCalls, ids: Iterator[str]
) -> AsyncGenerator[Chunk, None]:
    """Yield the chunks of a reply, with a printed call in place of the text that printed it."""
    held = _HeldText(reader)
    async with aclosing(chunks):
        async for chunk in chunks:
            match chunk:
                case TextChunk(text=text):
                    if released := held.add(text):
                        yield chunk if released is text else TextChunk(released)
                    continue
                case Retrying():
                    held = _HeldText(reader)
                case CallDelta():
                    if released := held.release():
                        yield TextChunk(released)
                case Replied():
                    for last in _ending(chunk, reader, held.release(), ids):
                        yield last
                    continue
                case _:
                    pass
            yield chunk


def _ending(replied: Replied, reader: PrintedCalls, held: str, ids: Iterator[str]) -> Iterator[Chunk]:
    leaked = reader.calls(held) if held else []
    if held and not leaked:
        yield TextChunk(held)
    for position, call in enumerate(leaked):
        yield CallDelta(position, call.name, call.written)
    if leaked:
        calls = tuple(tool_call(next(ids), call.name, call.written) for call in leaked)
        replied = replace(replied, message=replace(replied.message, text="", calls=calls))
    yield replied


class _HeldText:
    """The beginning of a reply, held back as long as it may become a call."""

    def __init__(self, reader: PrintedCalls) -> None:
        self._reader = reader
        self._pieces: list[str] = []
        self._length = 0
        self._next_check = 0
        self._holding = True

    def add(self, text: str) -> str:
        """Return what can be passed on now."""
        if not self._holding:
            return text
        self._pieces.append(text)
        self._length += len(text)
        if self._length < self._next_check:
            return ""
        # A long text that may still be a call is one; looking at it ever less often keeps this linear.
        self._next_check = self._length * 5 // 4 if self._length > _CHECK_EACH else 0
        return "" if self._reader.may_become_calls("".join(self._pieces)) else self.release()

    def release(self) -> str:
        """Return all held text; nothing is held any more."""
        text = "".join(self._pieces)
        self._pieces, self._holding = [], False
        return text


async def without_leaked_tokens(chunks: AsyncGenerator[Chunk, None]) -> AsyncGenerator[Chunk, None]:
    """Yield the chunks of a reply, without the control tokens of a template around its text."""
    tokens = TokensAroundFilter()
    async with aclosing(chunks):
        async for chunk in chunks:
            match chunk:
                case TextChunk(text=text):
                    if passed := tokens.feed(text):
                        yield chunk if passed is text else TextChunk(passed)
                    continue
                case Retrying():
                    tokens = TokensAroundFilter()
                case Replied(message=message):
                    if rest := tokens.finish():
                        yield TextChunk(rest)
                    text = without_tokens_around(message.text)
                    chunk = replace(chunk, message=replace(message, text=text))  # noqa: PLW2901
                case _:
                    pass
            yield chunk
