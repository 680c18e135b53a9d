"""Effects of shell code: each simple command is looked up among the known tools."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

from terp.analysis.effects.known import ToolSpec, shell_tools
from terp.analysis.effects.secret_names import is_secret_name, secret_in
from terp.analysis.effects.shell_programs import (
    PROGRAMS,
    AnalysedCommand,
    network_target,
    operands,
    report_files,
    worded,
)
from terp.analysis.effects.shell_words import ASSIGNMENT, Command, NotRead, Redirection, Script, Word
from terp.events.effects import EffectKind, Effects, Finder, Place

_FOLDERS = ("/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin")
# Variables that decide what programs do or where they are found; the shell's own, and those programs read.
_RULING = re.compile(
    r"(?:PATH|IFS|ENV|SHELLOPTS|BASHOPTS|GLOBIGNORE|CDPATH|PROMPT_COMMAND|PS\d|HOME|SHELL|EDITOR|VISUAL|PAGER|BROWSER|TMPDIR"
    r"|LD_|DYLD_|BASH_|GIT_|PYTHON|PERL|RUBY|NODE_|JAVA|LESS|MAN|SSH_|SUDO_|XDG_|VIRTUAL_ENV|CONDA_|PIP_|NPM_|DOCKER_"
    r"|GCONV|LOCPATH|TERMINFO|DISPLAY|CC$|CXX$|CFLAGS|LDFLAGS|MAKE)|[a-z]+_proxy$|fpath$|path$|module_path$"
)
_USED = re.compile(r"\$\{?(\w+)")
_SETTING = frozenset({"for", "read", "unset", "local", "mapfile", "getopts"})
_SCRATCH = frozenset({"/dev/null", "/dev/stdout", "/dev/stderr", "/dev/tty"})
# The other options of `set` make names of words, run what is in the history, or fill arrays.
_HARMLESS_SETTING = re.compile(r"[-+][euxvfnCo]*")
_HARMLESS_OPTIONS = frozenset(str.split("pipefail errexit nounset xtrace verbose noglob noclobber noexec"))
_READS_VARIABLES = frozenset({"printenv", "env", "export", "declare", "set"})


def shell_effects(code: str) -> Effects:
    """Return the effects of a script."""
    find = Finder()
    report_script(code, find)
    return find.effects()


def report_script(code: str, find: Finder, line: int = 1, depth: int = 0) -> None:
    """Report the effects of a script that begins on `line`."""
    script = Script(code, (line, 0), depth)
    try:
        script.read()
    except NotRead as unread:
        find.doubt(f"{unread.what} is not read", (unread.line, 0))
    for name, at in script.computed:
        find.doubt(f"arithmetic may run what is in `{name}`", at)
    for command in unrolled(script.commands):
        _report(command, find, depth)


def report_command(words: Sequence[Word], find: Finder, at: Place) -> None:
    """Report the effects of one command, given as its words."""
    _report(Command(tuple(words), (), at), find, 0, assigns=False)


def _report(command: Command, find: Finder, depth: int, *, assigns: bool = True) -> None:
    words = list(command.words)
    for word in [*words, *(redirection.target for redirection in command.redirections)]:
        if secret := secret_in(word.text):
            find.add("secrets", secret, command.at)
        for name in _USED.findall(word.text) if not word.plain else ():
            if is_secret_name(name):
                find.add("secrets", f"${name}", command.at)
    for redirection in command.redirections:
        _redirected(redirection, find, command.at)
    assigned = []
    while assigns and words and (found := ASSIGNMENT.match(words[0].text)):
        assigned.append(found[1])
        words.pop(0)
    for name in assigned:
        # Before a command a variable is the command's; alone it stays, for the shell and what it runs.
        if _RULING.match(name) or (words and name.isupper() and not name.startswith(("LC_", "LANG", "TZ"))):
            find.doubt(f"sets `{name}`", command.at)
    if words:
        _run(AnalysedCommand(words, find, command.at, report_command, depth))


def _redirected(redirection: Redirection, find: Finder, at: Place) -> None:
    target, sign = redirection.target.text, redirection.sign
    if target.startswith(("/dev/tcp/", "/dev/udp/")):
        find.add("network", "/".join(target.split("/")[3:4]), at)
    elif not redirection.target.plain and not target.strip("$(…)<>{}"):
        find.add("reads" if sign.startswith("<") else "writes", target, at)
    elif sign == "<":
        find.add("reads", target, at)
    elif sign not in ("<<<", "<&") and target not in _SCRATCH:
        find.add("writes", target, at)


def _run(found: AnalysedCommand) -> None:
    """Report the effects of a command, without its assignments and redirections."""
    first = found.words[0]
    if evaluated := evaluates(found.words):
        found.doubt(evaluated)
    folder, _, name = first.text.rpartition("/")
    if not first.plain or (first.pattern and name != "["):
        found.find.add("subprocess", worded(found.words), found.at)
        found.doubt(f"the command `{first.text}` is computed")
    elif folder and folder not in _FOLDERS:
        _unknown(found, first.text)
    elif name in _SETTING and (ruled := next(filter(_RULING.match, _named(found.words)), "")):
        found.doubt(f"sets `{ruled}`")
    elif name in _READS_VARIABLES and _variables(found, name):
        return
    elif name in shell_tools().transparent:
        _wrapped(found, name, shell_tools().transparent[name])
    elif name in shell_tools().wrappers:
        found.doubt(f"runs through `{name}`")
        _behind(found, name)
    elif program := PROGRAMS.get(name):
        program(found)
    elif name in shell_tools().installers:
        _installs(found, name)
    else:
        _by_table(found, name)


def _named(words: Sequence[Word]) -> list[str]:
    """Return the variables that a command names as its words."""
    named = words[1:2] if words[0].text == "for" else words[1:]
    return [word.text.partition("=")[0] for word in named]


def _by_table(found: AnalysedCommand, name: str) -> None:
    tables: tuple[tuple[EffectKind, Mapping[str, ToolSpec]], ...] = (
        ("reads", shell_tools().reads),
        ("writes", shell_tools().writes),
        ("deletes", shell_tools().deletes),
    )
    for kind, table in tables:
        if name in table:
            report_files(found, kind, table[name])
            return
    if name in shell_tools().network:
        found.find.add("network", network_target(found.words), found.at)
        found.doubt(f"`{name}` may do more")
    else:
        _unknown(found, name)


def _unknown(found: AnalysedCommand, name: str) -> None:
    if [word.text for word in found.words[1:]] in (["--version"], ["-V"], ["--help"]) and "/" not in name:
        return
    found.find.add("subprocess", worded(found.words), found.at)
    found.doubt(f"runs `{name}`")


def _wrapped(found: AnalysedCommand, name: str, operands_before: int) -> None:
    """Report the command that a wrapper such as `time` or `timeout` runs."""
    rest = found.words[1 + operands_before :]
    if not rest or any(word.text.startswith("-") for word in found.words[1 : 2 + operands_before]):
        found.doubt(f"runs through `{name}`")
        rest = [word for word in rest if not word.text.startswith("-")]
    if rest:
        _again(found, rest)


def _behind(found: AnalysedCommand, name: str) -> None:
    """Report the effects of the command that a wrapper such as `xargs` runs, if it is visible."""
    rest = found.words[1:]
    while rest and (rest[0].text.startswith("-") or ASSIGNMENT.match(rest[0].text)):
        is_code = rest[0].text in ("-c", "-lc", "-ec") and name not in ("sudo", "env")
        rest = rest[1:]
        if is_code and rest:
            if rest[0].plain and found.depth < 5:
                report_script(rest[0].text, found.find, found.at[0], found.depth + 5)
            return
    if name == "eval":
        if all(word.plain for word in rest) and found.depth < 5:
            report_script(" ".join(word.text for word in rest), found.find, found.at[0], found.depth + 5)
    elif rest and name not in ("bash", "sh", "zsh", "dash", "ksh", "fish", "source", "."):
        _again(found, rest)
    else:
        found.find.add("subprocess", worded(found.words), found.at)


def _again(found: AnalysedCommand, words: Sequence[Word]) -> None:
    if found.depth > 10:
        found.doubt("commands run each other too often")
        return
    _run(AnalysedCommand(words, found.find, found.at, report_command, found.depth + 1))


def _variables(found: AnalysedCommand, name: str) -> bool:
    """Report a command that shows or sets environment variables; return True if it does nothing else."""
    rest = [word for word in found.words[1:] if not word.text.startswith("-")]
    if name == "set" and (odd := _odd_setting(found.words[1:])):
        found.doubt(f"`set {odd}` is not known")
    if rest and name == "env":
        return False
    if len(found.words) == 1 or (name != "set" and not rest):
        found.find.add("secrets", "all environment variables", found.at)
    for word in rest:
        variable = word.text.partition("=")[0]
        if name == "printenv" and (not word.plain or is_secret_name(variable)):
            found.find.add("secrets", f"${variable}", found.at)
        elif name in ("export", "declare") and (
            variable.isupper() or _RULING.match(variable) or (not word.plain and "=" not in word.text)
        ):
            found.doubt(f"sets `{variable}`")
    return True


def _odd_setting(words: Sequence[Word]) -> str:
    """Return the argument of `set` that may change the meaning of later code, or ""."""
    named = False
    for word in words:
        if named and word.text not in _HARMLESS_OPTIONS:
            return word.text
        if named:
            named = False
        elif word.text == "--" or (word.plain and not word.text.startswith(("-", "+"))):
            return ""
        elif not word.plain or not _HARMLESS_SETTING.fullmatch(word.text):
            return word.text
        else:
            named = word.text.endswith("o")
    return ""


def _installs(found: AnalysedCommand, name: str, first: int = 1) -> None:
    installing, looking = shell_tools().installers[name]
    named, _ = operands(found.words[first:], "r")
    verbs = [word.text for word in found.words[first:]]
    verb = next(
        (word for word in verbs if not word.startswith("-") or name == "pacman"), verbs[0] if verbs else ""
    )
    if verb in installing.split():
        packages = [word.text for word in named if word.text != verb]
        for package in packages or [worded(found.words)]:
            found.find.add("installs", package, found.at)
        found.find.add("network", "the package index", found.at)
    elif (group := f"{name} {verb}") in shell_tools().installers:
        _installs(found, group, first + verbs.index(verb) + 1)
    elif verb not in looking.split():
        _unknown(found, f"{name} {verb}".rstrip())


# For each builtin that sets or looks at variables: its options whose value is any text, and those that
# take a name, or make the shell read the value as well.
_NAMING = {
    "read": ("dinNptu", ""),
    "unset": ("", ""),
    "local": ("", "in"),
    "declare": ("", "in"),
    "typeset": ("", "in"),
    "readonly": ("", ""),
    "export": ("", ""),
    "getopts": ("", ""),
    "mapfile": ("dnOstuCc", "C"),
    "readarray": ("dnOstuCc", "C"),
    "wait": ("", "p"),
    "let": ("", ""),
}
_NAME = re.compile(r"[A-Za-z_]\w*(?:\+?=.*)?", re.DOTALL)
_NUMBERS = frozenset({"$?", "$#", "$$", "$!"})
# zsh reads how long, how much and from where as arithmetic.
_COUNTED = re.compile(r"-\w*?[tnNuk](?P<value>.*)", re.DOTALL)
_COUNT = re.compile(r"[\d.]+")


def evaluates(words: Sequence[Word]) -> str:
    """Return why a command may run code from one of its words, as part of a sentence; "" if it cannot."""
    name = words[0].text if words else ""
    if name in ("test", "["):
        return _by_a_test(words)
    if name not in _NAMING:
        return ""
    if name == "read" and (count := _not_a_number(words)):
        return f"`read` may run what is in `{count}`"
    values, reading = _NAMING[name]
    named, options = operands(words[1:], values)
    if name == "getopts":
        # The letters come first.
        named = named[1:]
    for option in options:
        if not option.startswith("--") and set(option[1:]) & set(reading):
            return f"`{name} {option}` reads its words as code"
    if name == "wait" or (odd := next((one for one in named if not _is_name(one)), None)) is None:
        return ""
    return f"`{name}` may run what is in `{odd.text}`"


def _is_name(word: Word) -> bool:
    """Return True if a word literally names a variable; its value may be anything."""
    return bool(_NAME.fullmatch(word.text)) and (word.plain or "=" in word.text) and not word.pattern


def _not_a_number(words: Sequence[Word]) -> str:
    """Return the word that `read` takes for a number and that is none, or ""."""
    for option, after in pairwise([*words, Word("0")]):
        found = _COUNTED.fullmatch(option.text)
        if found is None or option.text.startswith("--"):
            continue
        value = found["value"] or after.text
        if not _COUNT.fullmatch(value) or not (after.plain or found["value"]):
            return value
    return ""


def _by_a_test(words: Sequence[Word]) -> str:
    name, *given = words
    for at, word in enumerate(given):
        if word.text in ("-v", "-R") and not all(map(_is_name, given[at + 1 : at + 2])):
            return f"`{name.text} {word.text}` may run what is in `{given[at + 1].text}`"
        # One word may become several, of which one asks whether a variable is set.
        if word.splits and word.text not in _NUMBERS:
            return f"`{name.text}` may take `{word.text}` for several words"
    pair = [word for word in given if word.text != "]"]
    if len(pair) == 2 and not pair[0].plain:
        return f"`{name.text}` may take `{pair[0].text}` for `-v`"
    return ""


def unrolled(commands: Sequence[Command]) -> Iterator[Command]:
    """Return the commands with a loop's variable replaced by its words, if only the loop sets it."""
    loops = {name: words for name, words in _loops(commands).items() if words is not None}
    for command in commands:
        if _variable_of(command):
            yield command
        else:
            yield replace(
                command, words=tuple(word for given in command.words for word in _said(given, loops))
            )


def _loops(commands: Sequence[Command]) -> dict[str, tuple[Word, ...] | None]:
    loops: dict[str, tuple[Word, ...] | None] = {}
    for command in commands:
        if name := _variable_of(command):
            loops[name] = None if name in loops else command.words[3:]
    for command in commands:
        if not _variable_of(command):
            for word in command.words:
                # `f=…`, `read f`, `export f`: somebody else sets it as well.
                loops.pop(word.text.partition("=")[0].removesuffix("+"), None)
    return loops


def _variable_of(command: Command) -> str:
    words = command.words
    return words[1].text if len(words) > 2 and words[0].bare and words[0].text == "for" else ""


def _said(word: Word, loops: Mapping[str, Sequence[Word]]) -> Sequence[Word]:
    name = word.text.strip("${}")
    if word.plain or name not in loops or word.text not in (f"${name}", f"${{{name}}}"):
        return [word]
    # It may still be what a pattern finds: it is as little plain as the variable was.
    return [replace(one, plain=False, bare=False) for one in loops[name]]
