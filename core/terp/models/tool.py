"""The one tool of a model, `execute(language, code)`: its schema, and how calls of it are read.

Only this module decides the meaning of a call, from its complete arguments; the code that is shown earlier
(`terp.models.repair.arguments`) is never run.
"""

import json
import keyword
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import count
from typing import Any

from terp.events.messages import Assistant, Message, ToolCall
from terp.models.repair.control_tokens import without_tokens_around
from terp.text.dataclasses import dataclass
from terp.text.fences import one_block
from terp.text.languages import language_of, spellings

NAME = "execute"
MAX_ARGUMENTS = 1_000_000
"""Longest arguments that are read, in characters: several times what a model can write in one reply."""

_GENERIC_NAMES = (
    NAME,
    "exec",
    "run",
    "code",
    "run_code",
    "exec_code",
    "execute_code",
    "code_execution",
    "interpreter",
    "code_interpreter",
)
_NAME_PATTERNS = (
    "{}",
    "run_{}",
    "exec_{}",
    "execute_{}",
    "{}_code",
    "{}_repl",
    "{}_tool",
    "{}_interpreter",
    "run_{}_code",
    "exec_{}_code",
    "execute_{}_code",
    "run_{}_script",
    "execute_{}_script",
    "run_{}_command",
    "execute_{}_command",
)
_SHELL_NAMES = ("terminal", "command", "run_command", "exec_command", "execute_command")
_LANGUAGE_KEYS = ("language", "lang")
_CODE_KEYS = ("code", "script", "source", "source_code", "cmd", "command", "query")
_WRAPPER_KEYS = ("arguments", "parameters", "params", "args", "kwargs", "input", "__arg1")
# A quote begins a JSON string, but three of them a docstring; `[x for …` and `[ -f …` are code.
_JSON_START = re.compile(r'\s*(?:\{|\[\s*[{"]|"(?!""))')
_CONTROL_TO_SPACE = dict.fromkeys(range(32), " ")
_DEEPEST = 8


@dataclass(frozen=True, slots=True)
class Call:
    """Code that the model asks to run. If `held`, the user is asked about its effects while it runs."""

    id: str
    language: str
    code: str
    held: bool = False


@dataclass(frozen=True, slots=True)
class Misunderstood:
    """A call that cannot run; `reason` is for the model: the mistake, and how to call instead.

    `language` is the requested one, if it cannot run here.
    """

    reason: str
    language: str = ""


NOT_OFFERED = Misunderstood("No code is run in this session, and there is no tool. Answer in words.")
"""The answer to a call of a model that was offered no tool."""


def schema(languages: Sequence[str]) -> dict[str, Any]:
    """Return the tool in OpenAI's form. Equal languages give equal bytes: providers cache by prefix."""
    return {
        "type": "function",
        "function": {
            "name": NAME,
            "description": (
                "Run code on the user's machine in a live kernel and read what it puts out. Variables, "
                "imports and the working directory stay from one call to the next."
            ),
            "parameters": {
                "type": "object",
                "properties": {
                    "language": {
                        "type": "string",
                        "enum": list(dict.fromkeys(languages)),
                        "description": "The language of the code.",
                    },
                    "code": {"type": "string", "description": "The code to run, complete."},
                },
                "required": ["language", "code"],
            },
        },
    }


def tool_names(languages: Sequence[str]) -> Mapping[str, str]:
    """Return the names by which models call the tool, in lower case, and their languages ("": none)."""
    return _tool_names(tuple(languages))


# Each request needs them, and they take a millisecond to make.
@lru_cache(16)
def _tool_names(languages: tuple[str, ...]) -> Mapping[str, str]:
    names = dict.fromkeys(_GENERIC_NAMES, "")
    for spelling, language in spellings(languages).items():
        for pattern in _NAME_PATTERNS:
            names.setdefault(pattern.format(spelling), language)
    if shell := language_of("shell", languages):
        names |= dict.fromkeys(_SHELL_NAMES, shell)
    return names


def plain_name(name: str) -> str:
    """Return a tool's name without parts that models add: `functions.execute`, `execute<|channel|>`."""
    return re.split(r"[.:/]", name.partition("<|")[0].strip())[-1]


def implied_language(name: str, languages: Sequence[str]) -> str | None:
    """Return the language that a tool's name implies ("": none), or None if it is not this tool."""
    return tool_names(languages).get(plain_name(name).casefold().replace("-", "_"))


def understand(
    call: ToolCall,
    languages: Sequence[str],
    *,
    functions: Collection[str] | Mapping[str, str] = (),
    call_id: str = "",
) -> Call | Misunderstood:
    """Return the code that a tool call asks to run, or the reason why it cannot be read.

    `languages` are those that can run, the default first.
    `functions` are names in the Python kernel: a call of one becomes the code that calls it. A mapping has
    the names that models may use, and what each is in Python.
    `call_id` replaces the provider's id. Broken arguments are never repaired: that can change what runs.
    """
    try:
        language, code = _read(call, languages, functions)
        code = without_tokens_around(code)
        _check(code, languages[0])
    except UnreadableArguments as problem:
        return Misunderstood(str(problem.args[0]), *problem.args[1:])
    return Call(call_id or call.id, language, code)


def _read(
    call: ToolCall,
    languages: Sequence[str],
    functions: Collection[str] | Mapping[str, str],
) -> tuple[str, str]:
    written = call.raw or call.arguments
    if len(written) > MAX_ARGUMENTS:
        raise UnreadableArguments(
            f"The arguments are {len(written)} characters long; at most {MAX_ARGUMENTS} are read. Nothing "
            "ran. Let code produce large data, or write it to a file in several calls."
        )
    name = plain_name(call.name)
    whole = call.name.partition("<|")[0].strip().removeprefix("functions.")
    if known := next((one for one in (whole, name) if one in functions), ""):
        function = functions[known] if isinstance(functions, Mapping) else known
        return _function_call(function, written, language_of("python", languages))
    implied = implied_language(name, languages)
    if implied is None:
        available = ", ".join([NAME, *sorted(functions)])
        raise UnreadableArguments(
            f"Tool `{name[:80]}` not found. Please use a provided tool. Tools available: {available}."
        )
    said, code = ArgumentsReader(languages).read(written)
    return said or implied or languages[0], code


def _check(code: str, language: str) -> None:
    if not code.strip():
        raise UnreadableArguments(f"The code is empty. {how_to_call(language)}")
    try:
        code.encode()
    except UnicodeEncodeError as error:
        raise UnreadableArguments(
            f"The code holds half of a surrogate pair at character {error.start}."
        ) from error


def _function_call(name: str, text: str, python: str) -> tuple[str, str]:
    """Return the Python code that calls a function of the kernel with the arguments of a tool call."""
    if not python:
        raise UnreadableArguments(f"`{name}` is a Python function, and Python cannot run here.")
    how = f"Call `{name}` with one JSON object that holds its arguments by name."
    value = parsed(text, how) if reads_as_json(text) else text
    if isinstance(value, dict) and list(value) == ["__arg1"]:
        value = value["__arg1"]
    if not value and not isinstance(value, dict):
        value = {}
    if not isinstance(value, dict):
        return python, f"{name}({value!r})"
    plain = [f"{key}={given!r}" for key, given in value.items() if _is_name(key)]
    odd = {key: given for key, given in value.items() if not _is_name(key)}
    return python, f"{name}({', '.join([*plain, f'**{odd!r}'] if odd else plain)})"


def _is_name(key: str) -> bool:
    return key.isidentifier() and not keyword.iskeyword(key)


def fresh_ids(messages: Sequence[Message]) -> Iterator[str]:
    """Yield ids that no call in `messages` has; the same ids for the same conversation.

    Nine letters and digits is the one form that every provider takes (Mistral's API insists).
    """
    used = ids_in(messages)
    for number in count(len(used) + 1):
        if (call_id := f"call{number:05}") not in used:
            yield call_id


def ids_in(messages: Sequence[Message]) -> set[str]:
    """Return the ids of all calls in `messages`."""
    return {call.id for message in messages if isinstance(message, Assistant) for call in message.calls}


def tool_call(call_id: str, name: str, written: str, extras: Mapping[str, Any] | None = None) -> ToolCall:
    """Return the call for the history; arguments that are no JSON object are kept only in `raw`."""
    try:
        usable = isinstance(json.loads(written), dict)
    except (ValueError, RecursionError):
        usable = False
    return ToolCall(call_id, name, written if usable else "{}", "" if usable else written, extras or {})


class UnreadableArguments(Exception):
    """The arguments name no code to run; the message is for the model."""


def reads_as_json(text: str) -> bool:
    """Return True if arguments look like JSON; anything else is plain code."""
    return _JSON_START.match(text) is not None


def how_to_call(language: str) -> str:
    """Return the sentence that shows a model a correct call."""
    return f'Call it with one JSON object: {{"language": "{language}", "code": "…"}}'


class ArgumentsReader:
    """Reads the arguments of one call."""

    def __init__(self, languages: Sequence[str]) -> None:
        self._languages = languages
        self._depth = 0

    def read(self, text: str) -> tuple[str, str]:
        """Return language and code; the language is "" if the arguments name none.

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
        return language_of(word, self._languages)

    @property
    def _how(self) -> str:
        return how_to_call(self._languages[0])


def parsed(text: str, how: str) -> Any:
    """Return the value of JSON text in which strings may hold raw newlines.

    Raises:
        UnreadableArguments: it is not JSON; the message names mistake and place, and ends with `how`.
    """
    try:
        return json.loads(text, strict=False, object_pairs_hook=first_wins)
    except json.JSONDecodeError as error:
        raise UnreadableArguments(f"{_what_is_wrong(text, error)} Nothing ran. {how}") from error
    except (ValueError, RecursionError) as error:  # a number of 5000 digits, 1000 brackets
        raise UnreadableArguments(f"The arguments cannot be read: {error}. Nothing ran. {how}") from error


def first_wins(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object whose equal keys keep the first value: it was shown while the model wrote."""
    kept: dict[str, Any] = {}
    for key, value in pairs:
        kept.setdefault(key, value)
    return kept


def _joined(lines: Sequence[Any]) -> str | None:
    """Return code from its lines, None for a list of other things; notebooks keep the line ends."""
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
