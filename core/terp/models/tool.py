"""The one tool of a model, `execute(language, code)`: its schema, and how calls of it are read.

Only this module decides the meaning of a call, from its complete arguments; the code that is shown earlier
(`terp.models.repair.arguments`) is never run.
"""

import json
import keyword
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from terp.events.messages import Assistant, Message, ToolCall
from terp.models.repair.control_tokens import without_tokens_around
from terp.models.repair.tool_arguments import (
    ArgumentsReader,
    UnreadableArguments,
    how_to_call,
    parsed,
    reads_as_json,
)
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


@dataclass(frozen=True, slots=True)
class Call:
    """The model's wish to run code."""

    id: str
    language: str
    code: str


@dataclass(frozen=True, slots=True)
class Misunderstood:
    """A call that cannot run; `reason` is for the model: the mistake, and how to call instead.

    `language` is the one that was asked for, where that is what is missing.
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


def tool_names(languages: Sequence[str], aliases: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the names by which models call the tool, in lower case, and their languages ("": none)."""
    names = dict.fromkeys(_GENERIC_NAMES, "")
    for spelling, language in spellings(languages, aliases).items():
        for pattern in _NAME_PATTERNS:
            names.setdefault(pattern.format(spelling), language)
    if shell := language_of("shell", languages, aliases):
        names |= dict.fromkeys(_SHELL_NAMES, shell)
    return names


def plain_name(name: str) -> str:
    """A tool's name without what models put around it: `functions.execute`, `execute<|channel|>`."""
    return re.split(r"[.:/]", name.partition("<|")[0].strip())[-1]


def implied_language(
    name: str, languages: Sequence[str], aliases: Mapping[str, str] | None = None
) -> str | None:
    """Return the language that a tool's name implies ("": none), or None when it does not mean this tool."""
    return tool_names(languages, aliases).get(plain_name(name).casefold().replace("-", "_"))


def understand(
    call: ToolCall,
    languages: Sequence[str],
    *,
    aliases: Mapping[str, str] | None = None,
    functions: Collection[str] | Mapping[str, str] = (),
    call_id: str = "",
) -> Call | Misunderstood:
    """Return the code that a tool call asks to run, or the reason why it cannot be read.

    `languages` are those that can run, the default first; `aliases` further spellings of them.
    `functions` are names in the Python kernel: a call of one becomes the code that calls it. A mapping has
    the names that models may use, and what each is in Python.
    `call_id` replaces the provider's id. Broken arguments are never repaired: that can change what runs.
    """
    try:
        language, code = _read(call, languages, aliases, functions)
        code = without_tokens_around(code)
        _check(code, languages[0])
    except UnreadableArguments as problem:
        return Misunderstood(str(problem.args[0]), *problem.args[1:])
    return Call(call_id or call.id, language, code)


def _read(
    call: ToolCall,
    languages: Sequence[str],
    aliases: Mapping[str, str] | None,
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
        return _function_call(function, written, language_of("python", languages, aliases))
    implied = implied_language(name, languages, aliases)
    if implied is None:
        available = ", ".join([NAME, *sorted(functions)])
        raise UnreadableArguments(
            f"Tool `{name[:80]}` not found. Please use a provided tool. Tools available: {available}."
        )
    said, code = ArgumentsReader(languages, aliases).read(written)
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
    """Ids that no call in `messages` has: the same ones every time for the same conversation.

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
