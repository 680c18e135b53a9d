"""Tells a tool call that was printed as text from any other text.

It counts as a call when it is the whole reply and names the tool:

    {"name": "execute", "arguments": {"code": "…"}}          also "parameters", also in a ```json fence
    <tool_call>{"name": …, "arguments": …}</tool_call>       one or several
    execute⏎```python⏎tool_call(code='…')⏎```                literals only; nothing is evaluated
"""

import ast
import json
import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from terp.models.tool import plain_name

_MEMBERS = {"type", "id", "name", "function", "arguments", "parameters"}
_TOKENS = re.compile(r"\s*(?:<\|\w+\|>\s*)*")
_TOKEN_BEGUN = re.compile(r"<(?:\|\w*\|?)?")
_NAMED = re.compile(
    r'\{\s*(?:"type"\s*:\s*"function"\s*,\s*)?"name"\s*:\s*"(?P<name>[^"\\]*)"\s*,\s*"(?:arguments|parameters)"'
)
_CONTROL_TO_SPACE = dict.fromkeys(range(32), " ")
_FENCE_BEGUN = re.compile(r"`{1,3}|```(?:j(?:s(?:o(?:n[ \t]*)?)?)?)?")
_FENCE_OPENING = re.compile(r"```(?:json)?[ \t]*\n")
_AFTER_NAME = re.compile(r"[ \t]*(?:\n\s*(?:`{0,2}|```[^\n`]*(?:\n\s*(?P<call>.*))?))?", re.DOTALL)
_CALL_AS_PYTHON = re.compile(r"(?P<name>[\w.-]+)\s*\n\s*```[^\n`]*\n(?P<call>.*)```\s*", re.DOTALL)
_PYTHON_PREFIX = "tool_call("
_NAME = re.compile(r"[\w.-]*")
_TAG, _END_TAG = "<tool_call>", "</tool_call>"


@dataclass(frozen=True, slots=True)
class PrintedCall:
    """A call as it was printed; `written` are its arguments, which may be broken."""

    name: str
    written: str


class PrintedCalls:
    """Tells a printed call from other text. `names` are in lower case, as of `tool_names`."""

    def __init__(self, names: Collection[str]) -> None:
        self._names = names

    def may_become_calls(self, text: str) -> bool:
        """Whether a reply that begins with `text` may still be nothing but calls."""
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
        """The calls that a whole reply consists of; none when it is anything else.

        A call that was cut off, or is broken, is one all the same: its reader tells the model so.
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
        """The text from the first JSON object on, and what closes it."""
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
            return any(known.startswith(name.casefold()) for known in self._names)
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
        return plain_name(name).casefold().replace("-", "_") in self._names


def _end(pattern: re.Pattern[str], text: str) -> int:
    matched = pattern.match(text)
    return matched.end() if matched else 0


def _after_object(body: str) -> str | None:
    """What follows the first JSON object of `body`, or None while it is incomplete or broken."""
    begin = len(body) - len(body.lstrip())
    try:
        _, end = json.JSONDecoder(strict=False).raw_decode(body, begin)
    except (ValueError, RecursionError):
        return None
    return body[end:]


def _literal_keywords(source: str) -> dict[str, Any] | None:
    """The keyword arguments of `tool_call(…)` where all are JSON-like literals, else None."""
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
