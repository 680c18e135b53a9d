"""Reading the arguments of a tool call: JSON as asked for, or one of the ways models get it wrong."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from terp.text.fences import one_block
from terp.text.languages import language_of

_LANGUAGE_KEYS = ("language", "lang")
_CODE_KEYS = ("code", "script", "source", "source_code", "cmd", "command", "query")
_WRAPPER_KEYS = ("arguments", "parameters", "params", "args", "kwargs", "input", "__arg1")
# A quote begins a JSON string, but three of them a docstring; `[x for …` and `[ -f …` are code.
_JSON_START = re.compile(r'\s*(?:\{|\[\s*[{"]|"(?!""))')
_CONTROL_TO_SPACE = dict.fromkeys(range(32), " ")
_DEEPEST = 8


class UnreadableArguments(Exception):
    """The arguments do not say what to run; the message is for the model."""


def reads_as_json(text: str) -> bool:
    """Return True if arguments are to be JSON; anything else is code as it stands."""
    return _JSON_START.match(text) is not None


def how_to_call(language: str) -> str:
    """Return the sentence that shows a model what a call looks like."""
    return f'Call it with one JSON object: {{"language": "{language}", "code": "…"}}'


class ArgumentsReader:
    """Reads the arguments of one call."""

    def __init__(self, languages: Sequence[str], aliases: Mapping[str, str] | None) -> None:
        self._languages = languages
        self._aliases = aliases
        self._depth = 0

    def read(self, text: str) -> tuple[str, str]:
        """Language and code; the language is "" where the arguments name none.

        Raises:
            UnreadableArguments: they hold no code, or are broken.
        """
        # Some models encode twice or wrap once; the limit keeps a hostile nesting off the stack.
        self._depth += 1
        if self._depth > _DEEPEST:
            raise UnreadableArguments(f"The arguments are nested too deeply. {self._how}")
        if (block := one_block(text)) is not None:
            info, inside = block
            return self.read(inside) if info == "json" else (self._known(info), inside)
        if not reads_as_json(text):
            return "", "" if text.strip() == "null" else text
        return self._from_value(parsed(text, self._how))

    def _from_value(self, value: Any) -> tuple[str, str]:
        match value:
            case str():
                return self.read(value)
            case (dict() as only) | [dict() as only]:
                return self._from_object(only)
            case [*lines] if (code := _joined(lines)) is not None:
                return "", code
        raise UnreadableArguments(f"The arguments hold no code. {self._how}")

    def _from_object(self, value: dict[str, Any]) -> tuple[str, str]:
        self._depth += 1
        language = self._language(value)
        for key in _CODE_KEYS:
            if key in value:
                return language, self._code(key, value[key])
        for key in _WRAPPER_KEYS:
            if key in value and self._depth < _DEEPEST:
                inner, code = self._from_value(value[key])
                return language or inner, code
        if len(value) == 1:
            (word, code), *_ = value.items()
            if implied := self._known(word):
                return implied, self._code(word, code)
        keys = ", ".join(f"`{key[:40]}`" for key in list(value)[:8]) or "none"
        raise UnreadableArguments(f"The arguments have no `code`; their keys: {keys}. {self._how}")

    def _language(self, value: dict[str, Any]) -> str:
        word = next((value[key] for key in _LANGUAGE_KEYS if value.get(key)), "")
        language = self._known(word) if isinstance(word, str) else ""
        if word and not language:
            choice, named = ", ".join(self._languages), str(word)[:40]
            raise UnreadableArguments(f"`{named}` cannot run here; `language` is one of: {choice}.", named)
        return language

    def _code(self, key: str, value: Any) -> str:
        match value:
            case str():
                return block[1] if (block := one_block(value)) is not None else value
            case int() | float() if not isinstance(value, bool):
                return str(value)
            case [*lines] if (code := _joined(lines)) is not None:
                return code
        raise UnreadableArguments(f"`{key[:40]}` must be a string with the code. {self._how}")

    def _known(self, word: str) -> str:
        return language_of(word, self._languages, self._aliases)

    @property
    def _how(self) -> str:
        return how_to_call(self._languages[0])


def parsed(text: str, how: str) -> Any:
    """Return the value of JSON text in which strings may hold raw newlines.

    Raises:
        UnreadableArguments: it is not JSON; the message says what is wrong where, and ends with `how`.
    """
    try:
        return json.loads(text, strict=False, object_pairs_hook=first_wins)
    except json.JSONDecodeError as error:
        raise UnreadableArguments(f"{_what_is_wrong(text, error)} Nothing ran. {how}") from error
    except (ValueError, RecursionError) as error:  # a number of 5000 digits, 1000 brackets
        raise UnreadableArguments(f"The arguments cannot be read: {error}. Nothing ran. {how}") from error


def first_wins(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object of which equal keys keep the first value: it has been shown while the model wrote."""
    kept: dict[str, Any] = {}
    for key, value in pairs:
        kept.setdefault(key, value)
    return kept


def _joined(lines: Sequence[Any]) -> str | None:
    """Code from its lines, or None for a list of other things; notebooks keep the line ends in the list."""
    if not all(isinstance(line, str) for line in lines):
        return None
    ends_kept = len(lines) > 1 and all(line.endswith("\n") for line in lines[:-1])
    return ("" if ends_kept else "\n").join(lines)


def _what_is_wrong(text: str, error: json.JSONDecodeError) -> str:
    left_over = error.msg == "Extra data"
    if not left_over and _is_cut_off(text):
        return f"The arguments are cut off after {len(text)} characters, at `{_excerpt(text, len(text))}`."
    what = "more text after the end" if left_over else error.msg
    where = f"at character {error.pos}, near `{_excerpt(text, error.pos)}`"
    return f"The arguments are not valid JSON: {what} {where}."


def _is_cut_off(text: str) -> bool:
    import jiter  # noqa: PLC0415  (6 ms, and only for a call that has already failed)

    try:
        jiter.from_json(text.translate(_CONTROL_TO_SPACE).encode(errors="replace"), partial_mode="on")
    except ValueError:
        return False
    return True


def _excerpt(text: str, position: int) -> str:
    return text[max(0, position - 24) : position + 24].replace("\n", "⏎")
