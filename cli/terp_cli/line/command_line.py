"""The parser of the command line.

argparse was tried on Python 3.11: a tenth fewer lines and 6 ms a call, where this takes 0.5. It reads the
prompt "-i don't know" as flags and `-y=off` as `-y -o ff`, reads `-nh` as `-nhl` in spite of
`allow_abbrev=False`, and refuses `-f -x.csv` and `--auto-run=off`; to guard it from all these words needs
a walk that knows every flag and its value, as this module does.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from terp.errors import SettingsError
from terp.settings.setting import Setting
from terp.settings.sources import Given
from terp.text.dataclasses import dataclass, field
from terp.text.wording import did_you_mean
from terp_cli.line.flags import GONE, THEIRS, Flag, Options, all_flags
from terp_cli.line.subcommands import attached_by, called_by, helped_by, mistaken, mistaken_topic


@dataclass(frozen=True, slots=True)
class CommandLine:
    """A parsed command line.

    `command` is a subcommand, followed by `argument` and `arguments`; if it is "", `words` are the prompt.
    `given` holds the settings that flags set, `notices` the lines about flags that do nothing. `help` is the
    command of which help is asked for, "all", or "" for the overview; None if none is.
    """

    command: str = ""
    argument: str = ""
    words: tuple[str, ...] = ()
    given: Mapping[str, Given] = field(default_factory=dict)
    options: Options = field(default_factory=Options)
    notices: tuple[str, ...] = ()
    arguments: tuple[str, ...] = ()
    help: str | None = None


_KEY_IN_ARGUMENTS = (
    "other users of this machine can read --api-key; set the provider's variable, "
    "or name one with --api-key-env."
)


def read_command_line(arguments: Sequence[str]) -> CommandLine:
    """Parse the arguments, without the program's name.

    Raises:
        SettingsError: one line for the first mistake.
    """
    reader = _Reader(list(arguments))
    reader.read()
    asks = bool(reader.options.get("help"))
    topic = None if reader.after_dashes and not asks else helped_by(reader.words, asks=asks)
    if topic is not None:
        if not topic and asks and reader.words and (problem := mistaken_topic(reader.words[0])):
            raise SettingsError([problem])
        return CommandLine(options=Options(**reader.options), help=topic)
    if reader.options.get("api_key"):
        reader.notices.append(_KEY_IN_ARGUMENTS)
    command, argument = "", ""
    if not reader.after_dashes and (kernel := attached_by(reader.words)):
        # `attach` is an ordinary conversation with this setting.
        reader.given["attach"] = Given(kernel, "terp attach")
        reader.words = reader.words[2:]
    elif not reader.after_dashes:
        in_language = "language" in reader.options
        command, argument = called_by(reader.words, in_language=in_language)
        asks_version = reader.options.get("version")
        if not (command or asks_version) and (problem := mistaken(reader.words, in_language=in_language)):
            raise SettingsError([problem])
        if not asks_version:
            _check_flags(reader.options, command)
    if reader.options.get("server") and command != "serve":
        if reader.words:
            raise SettingsError(["--server takes no prompt and no command: clients send the prompts."])
        command = "serve"
    return CommandLine(
        command,
        argument,
        () if command else tuple(reader.words),
        reader.given,
        Options(**reader.options),
        tuple(reader.notices),
        tuple(reader.words[2:]) if command else (),
    )


_TRIED = {"--yes": "-y", "--format": "--output-format", "--output": "--out", "--prompt": "terp PROMPT"}
"""Flags of other programs, and the flags of terp that correspond to them."""


def _check_flags(options: Mapping[str, Any], command: str) -> None:
    """Raise SettingsError if a short flag makes sense only with its meaning in Open Interpreter."""
    files = () if "cwd" in options else options.get("file", ())
    if file := next(filter(_is_no_file, files), ""):
        raise SettingsError([f"there is no file '{file}' to attach. {THEIRS['-f']}"])
    if "language" in options and command not in ("run", "rules"):
        raise SettingsError([f"-l names the language for terp run and terp rules. {THEIRS['-l']}"])


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
            name = _name(word)
            if word == "--":
                # `terp -- demo` is a prompt, `terp demo --` is not.
                self.after_dashes = not self.words
                self.words += self._left
                return
            if not _looks_like_flags(word):
                self.words.append(word)
            elif name in GONE:
                self._gone(word, name)
            elif name in self._flags:
                _, equals, text = word.partition("=")
                self._set(name, self._flags[name], text if equals else None)
            elif word.startswith("--"):
                raise self._unknown(word)
            else:
                self._group(word)

    def _group(self, word: str) -> None:
        """Read several short flags in one word (`-yi`); the last may carry its value (`-ymgpt-5`)."""
        letters = word[1:]
        if word == "-vi":
            self.notices.append(f"-vi is -v -i here. {THEIRS[word]}")
        while letters:
            name, letters = "-" + letters[0], letters[1:]
            flag = self._flags.get(name)
            if flag is None:
                raise self._unknown(word)
            if letters and (letters[0] == "=" or _takes(flag, letters)):
                self._set(name, flag, letters.removeprefix("="))
                return
            self._set(name, flag, None)

    def _set(self, name: str, flag: Flag, text: str | None) -> None:
        row, value = flag.row, flag.value
        if flag.takes_value:
            value = self._value(name, row, text)
        elif text is not None:
            if value is not True:
                raise SettingsError([f"{name} takes no value."])
            value = _parsed(name, row, text)
        if row.kind in ("names", "rules"):
            # A repeated flag adds names, as a comma in its value does.
            before = self.options.get(row.name, ()) if flag.of_call else self._before(row)
            value = (*before, *value)
        elif row.kind == "mapping":
            value = {**self._before(row), **value}
        if flag.of_call:
            # `-q -q` is `-qq`, which is quiet as well.
            silent = row.name == "silent" or (row.name == "quiet" and "quiet" in self.options)
            self.options |= {row.name: value, **({"quiet": True, "silent": True} if silent else {})}
        else:
            self.given[row.name] = Given(value, name)

    def _before(self, row: Setting) -> Any:
        """Return the value that the same flag has set before."""
        given = self.given.get(row.name)
        return given.value if given else type(row.default)()

    def _value(self, name: str, row: Setting, text: str | None) -> Any:
        if text is None and row.optional:
            return self._left.pop(0) if self._left and re.fullmatch(row.optional, self._left[0]) else ""
        if text is None:
            if not self._left or self._left[0] == "--" or _name(self._left[0]) in self._flags:
                named = (row.kind in ("text", "mapping") or row.name == "file") and row.metavar
                wanted = row.metavar if named else row.rule
                raise SettingsError([f"{name} needs a value: {wanted}. {THEIRS.get(name, '')}".rstrip()])
            text = self._left.pop(0)
        if name == "-o" and any(map(str.isspace, text)) and not Path(text).exists():
            raise SettingsError([f"-o names a folder, and there is no '{text}'. {THEIRS[name]}"])
        # A file name may hold a comma, so attachments are one each.
        return (text,) if row.name == "file" else _parsed(name, row, text)

    def _gone(self, word: str, name: str) -> None:
        line = f"{word}: {GONE[name].why}."
        if not GONE[name].goes_on:
            raise SettingsError([line])
        self.notices.append(line)

    def _unknown(self, word: str) -> SettingsError:
        if meant := _TRIED.get(_name(word)):
            return SettingsError([f"unknown flag {_name(word)}. Did you mean {meant}?"])
        # The dashes would make short names look alike.
        dashes, cutoff = ("--", 0.7) if word.startswith("--") else ("-", 0.5)
        names = [flag.removeprefix(dashes) for flag in self._flags if flag.startswith(dashes)]
        bare, shown = _name(word).removeprefix(dashes), f"{dashes}{{}}"
        hint = did_you_mean(bare, names, "terp --help lists them.", shown=shown, cutoff=cutoff)
        return SettingsError([f"unknown flag {word.partition('=')[0]}. {hint}"])


def _name(word: str) -> str:
    """Return the flag in a word, as the table spells it."""
    name = word.partition("=")[0]
    return name.replace("_", "-") if name.startswith("--") else name


def _is_no_file(text: str) -> bool:
    """Return True if no such file exists, and nothing in the name suggests a path."""
    return not (set(text) & set("./~") or Path(text).exists())


def _takes(flag: Flag, text: str) -> bool:
    """Return True if `text`, which follows the flag directly, is its value."""
    return flag.takes_value and (not flag.row.optional or bool(re.fullmatch(flag.row.optional, text)))


def _looks_like_flags(word: str) -> bool:
    """Return True for flags; "-", "-5", "- a list" and "-- or not?" are words of a prompt."""
    if word.startswith("--"):
        return not any(map(str.isspace, _name(word)))
    return len(word) > 1 and word[0] == "-" and word[1].isalpha() and not any(map(str.isspace, word))


def _parsed(name: str, row: Setting, text: str) -> Any:
    try:
        return row.parse(text)
    except ValueError:
        raise SettingsError([f'{name} is "{text}", must be {row.rule}.']) from None
