"""Reading the command line.

argparse is not used: flags and the words of a prompt come in any order here, `-` and `_` are alike,
two-letter flags such as `-ci` stand beside grouped ones, and its import is a third of a quick start.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from terp.errors import SettingsError
from terp.settings import Given, Setting
from terp_cli.flags import GONE, Flag, Options, all_flags

_CODE_SUFFIXES = frozenset({".py", ".sh", ".js", ".ts", ".r", ".jl", ".rb"})


@dataclass(frozen=True)
class CommandLine:
    """A command line as it was meant.

    `command` is "" or a subcommand with `argument`; otherwise `words` are the prompt. `given` holds
    the settings that flags set, `notices` the lines about flags that do nothing.
    """

    command: str = ""
    argument: str = ""
    words: tuple[str, ...] = ()
    given: Mapping[str, Given] = field(default_factory=dict)
    options: Options = field(default_factory=Options)
    notices: tuple[str, ...] = ()


def read_command_line(arguments: Sequence[str]) -> CommandLine:
    """What the arguments mean, without the program's name.

    Raises:
        SettingsError: one line for the first thing that is wrong.
    """
    reader = _Reader(list(arguments))
    reader.read()
    command, argument = ("", "") if reader.after_dashes else _command(reader.words, reader.options)
    return CommandLine(
        command,
        argument,
        () if command else tuple(reader.words),
        reader.given,
        Options(**reader.options),
        tuple(reader.notices),
    )


class _Reader:
    """Walks over the arguments once."""

    def __init__(self, arguments: list[str]) -> None:
        self.words: list[str] = []
        self.given: dict[str, Given] = {}
        self.options: dict[str, Any] = {}
        self.notices: list[str] = []
        self.after_dashes = False
        self._left = arguments
        self._flags = all_flags()

    def read(self) -> None:
        while self._left:
            word = self._left.pop(0)
            if word == "--":
                # `terp -- demo` is a prompt, `terp demo --` is not.
                self.after_dashes = not self.words
                self.words += self._left
                return
            if word.startswith("--"):
                self._long(word)
            elif _looks_like_a_flag(word):
                self._short(word)
            else:
                self.words.append(word)

    def _long(self, word: str) -> None:
        name, equals, value = word.partition("=")
        name = name.replace("_", "-")
        if name in GONE:
            self._gone(word, name)
        elif name in self._flags:
            self._set(name, self._flags[name], value if equals else None)
        else:
            raise SettingsError([self._unknown(word, name)])

    def _short(self, word: str) -> None:
        """A short flag, several in one (`-yi`), or one with its value (`-mgpt-5`)."""
        if word in GONE:
            self._gone(word, word)
            return
        if word in self._flags:
            self._set(word, self._flags[word], None)
            return
        letters = word[1:]
        while letters:
            name = "-" + letters[0]
            flag = self._flags.get(name)
            if flag is None:
                raise SettingsError([self._unknown(word, word)])
            letters = letters[1:]
            if flag.takes == "value" and letters:
                self._set(name, flag, letters.removeprefix("="))
                return
            self._set(name, flag, None)

    def _set(self, name: str, flag: Flag, text: str | None) -> None:
        row = flag.row
        if flag.takes == "nothing":
            value = flag.value if text is None else self._parsed(name, row, text)
        else:
            value = self._value(name, row, text)
        if not flag.of_call:
            self.given[row.name] = Given(value, name)
        elif row.kind == "names":
            self.options[row.name] = (*self.options.get(row.name, ()), *value)
        else:
            self.options[row.name] = value

    def _value(self, name: str, row: Setting, text: str | None) -> Any:
        if text is None:
            if not self._left or self._left[0] == "--" or self._left[0] in self._flags:
                raise SettingsError([f"{name} needs a value: {row.rule}."])
            text = self._left.pop(0)
        # A file name may hold a comma, so attachments are one each.
        return (text,) if row.name == "file" else self._parsed(name, row, text)

    def _parsed(self, name: str, row: Setting, text: str) -> Any:
        try:
            return row.parse(text)
        except ValueError:
            raise SettingsError([f'{name} is "{text}", must be {row.rule}.']) from None

    def _gone(self, word: str, name: str) -> None:
        line = f"{word}: {GONE[name].why}."
        if not GONE[name].goes_on:
            raise SettingsError([line])
        self.notices.append(line)

    def _unknown(self, word: str, name: str) -> str:
        from difflib import get_close_matches  # noqa: PLC0415  (for a mistake only)

        near = get_close_matches(name, self._flags, n=1)
        hint = f"Did you mean {near[0]}?" if near else "terp --help lists them."
        return f"unknown flag {word.partition('=')[0]}. {hint}"


def _looks_like_a_flag(word: str) -> bool:
    """Whether a word is meant as flags: "-", "-5" and "- a list" are words of a prompt."""
    return len(word) > 1 and word[0] == "-" and word[1].isalpha() and not any(map(str.isspace, word))


def _command(words: Sequence[str], options: Mapping[str, Any]) -> tuple[str, str]:
    """The subcommand that the words call, if what follows the first fits it."""
    match words:
        case ["demo" | "doctor" | "profiles" as command]:
            return command, ""
        case ["run", argument] if "language" in options or _names_code(argument):
            return "run", argument
    return "", ""


def _names_code(argument: str) -> bool:
    path = Path(argument)
    return (
        argument == "-" or path.is_file() or (path.suffix.lower() in _CODE_SUFFIXES and " " not in argument)
    )
