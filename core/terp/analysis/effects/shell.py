"""Effects of shell code: each simple command is looked up among the known tools."""

import re
from collections.abc import Sequence

from terp.analysis.effects.known import ToolSpec, shell_tools
from terp.analysis.effects.secret_names import is_secret_name, secret_in
from terp.analysis.effects.shell_programs import (
    PROGRAMS,
    AnalysedCommand,
    network_target,
    parsed,
    report_files,
    worded,
)
from terp.analysis.effects.shell_words import ASSIGNMENT, Command, NotRead, Redirection, Script, Word
from terp.events.effects import Effects, Finder, Place

_FOLDERS = ("", "/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin")
_DEEPEST = 10
_USED = re.compile(r"\$\{?(\w+)")
# The other options of `set` make names of words, run what is in the history, or fill arrays.
_HARMLESS_SETTING = re.compile(
    r"(?:[-+][euxvfnC]*(?:o (?:pipefail|errexit|nounset|xtrace|verbose|noglob|noexec))?(?: |$))*"
    r"(?:(?:--|[^-+]).*)?",
    re.DOTALL,
)


def shell_effects(code: str) -> Effects:
    """The account of a script."""
    find = Finder()
    report_script(code, find)
    return find.effects()


def report_script(code: str, find: Finder, line: int = 1, depth: int = 0) -> None:
    """Add what a script does that begins on `line`."""
    script = Script(code, (line, 0), depth)
    try:
        script.read()
    except NotRead as unread:
        find.doubt(f"{unread.what} is not read", (unread.line, 0))
    for name, at in script.computed:
        find.doubt(f"arithmetic may run what is in `{name}`", at)
    for command in script.commands:
        _report(command, find, depth)


def report_command(words: Sequence[Word], find: Finder, at: Place) -> None:
    """Add what one command does, given as its words."""
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
    while assigns and words and (found := ASSIGNMENT.match(words[0].text)):
        name = found[1]
        words.pop(0)
        # Before a command a variable is the command's; alone it stays, for the shell and what it runs.
        of_program = bool(words) and name.isupper() and not name.startswith(("LC_", "LANG", "TZ"))
        if of_program or shell_tools().rules(name):
            find.doubt(f"sets `{name}`", command.at)
    if words:
        _run(AnalysedCommand(words, find, command.at, report_command, depth))


def _redirected(redirection: Redirection, find: Finder, at: Place) -> None:
    target, sign = redirection.target.text, redirection.sign
    if sign in ("<<<", "<&") or target in shell_tools().sets["scratch"]:
        return
    if target.startswith(("/dev/tcp/", "/dev/udp/")):
        find.add("network", "/".join(target.split("/")[3:4]), at)
        return
    find.add("reads" if sign == "<" else "writes", target, at)
    if redirection.target.is_open and target not in ("<(…)", ">(…)"):
        # bash takes a part of /dev for the network, whatever it was made of.
        find.doubt(f"where `{sign} {target}` leads is computed", at)


def _run(found: AnalysedCommand) -> None:
    """Report one command without its assignments and redirections."""
    first, name, tools = found.words[0], found.name, shell_tools()
    if evaluated := evaluates(found.words):
        found.doubt(evaluated)
    if not first.plain or (first.pattern and name != "["):
        found.add("subprocess", worded(found.words))
        found.doubt(f"the command `{first.text}` is computed")
    elif first.text.rpartition("/")[0] not in _FOLDERS:
        _unknown(found, first.text)
    elif name in tools.sets["setting"] or (name == "env" and len(found.words) == 1):
        _variables(found)
    elif name in tools.transparent or name in tools.wrappers:
        _wrapped(found)
    elif [word.text for word in found.words[1:]] in (["--version"], ["-V"], ["--help"]):
        return
    elif [word.text for word in found.words[:3]] in (["python", "-m", "pip"], ["python3", "-m", "pip"]):
        _again(found, found.words[2:])
    elif name in tools.installers:
        _installs(found, name)
    else:
        _by_table(found, name)


def _by_table(found: AnalysedCommand, name: str) -> None:
    if tool := shell_tools().programs.get(name):
        PROGRAMS.get(name, report_files)(found, tool)
    elif name in shell_tools().sets["network"]:
        found.add("network", network_target(found.words))
        found.doubt(f"`{name}` may do more")
    else:
        _unknown(found, name)


def _unknown(found: AnalysedCommand, name: str) -> None:
    found.add("subprocess", worded(found.words))
    found.doubt(f"runs `{name}`")


def _wrapped(found: AnalysedCommand) -> None:
    """A command that runs another, which is reported if it is visible."""
    before = shell_tools().transparent.get(found.name)
    rest = list(found.words[1 + (before or 0) :])
    if before is None or any(word.is_open or word.text[:1] == "-" for word in found.words[1 : 2 + before]):
        found.doubt(f"runs through `{found.name}`")
    while rest and (rest[0].text.startswith("-") or ASSIGNMENT.match(rest[0].text)):
        rest.pop(0)
    if found.name not in shell_tools().sets["shells"]:
        _again(found, rest)
    elif found.depth <= _DEEPEST:
        code = " ".join(word.text for word in rest if word.plain)
        report_script(code, found.find, found.at[0], found.depth + 5)


def _again(found: AnalysedCommand, words: Sequence[Word]) -> None:
    if found.depth > _DEEPEST:
        found.doubt("commands run each other too often")
    elif words:
        _run(AnalysedCommand(words, found.find, found.at, report_command, found.depth + 1))


def _variables(found: AnalysedCommand) -> None:
    """Report a builtin that shows or sets variables; `for` names one."""
    name, words, tools = found.name, found.words[1:], shell_tools()
    given = " ".join(word.text if word.plain else "-?" for word in words)
    named = [word for word in words if not word.text.startswith("-")][: 1 if name == "for" else None]
    if name == "set" and not _HARMLESS_SETTING.fullmatch(given):
        found.doubt(f"`set {given}` is not known")
    elif name in tools.sets["shows variables"] and not (given if name == "set" else named):
        found.add("secrets", "all environment variables")
    for word in named if name != "set" else ():
        variable = word.text.partition("=")[0].removesuffix("+")
        if name == "printenv":
            if not word.plain or is_secret_name(variable):
                found.add("secrets", f"${variable}")
        elif tools.rules(variable) or (name == "export" and variable.isupper()):
            found.doubt(f"sets `{variable}`")


def _installs(found: AnalysedCommand, name: str, first: int = 1) -> None:
    installing, looking = shell_tools().installers[name]
    verbs = [word.text for word in found.words[first:]]
    verb = next(
        (word for word in verbs if not word.startswith("-") or name == "pacman"), verbs[0] if verbs else ""
    )
    if verb in installing.split():
        named, _ = parsed(found.words[first:], ToolSpec(values=frozenset("r")))
        packages = [word.text for word in named if word.text != verb]
        for package in packages or [worded(found.words)]:
            found.add("installs", package)
        found.add("network", "the package index")
    elif (group := f"{name} {verb}") in shell_tools().installers:
        _installs(found, group, first + verbs.index(verb) + 1)
    elif verb not in looking.split():
        _unknown(found, f"{name} {verb}".rstrip())


_NAME = re.compile(r"[A-Za-z_]\w*(?:\+?=.*)?", re.DOTALL)
_NUMBER = re.compile(r"[+-]?[\d.]+|\$[?#$!]|%[\d+-]*")
_COMPARING = frozenset(str.split("-eq -ne -lt -le -gt -ge"))


def evaluates(words: Sequence[Word]) -> str:
    """Why a command may run what one of its words holds, as part of a sentence; "" when none can.

    Where the shell takes the name of a variable or a number, it takes arithmetic, which may run commands.
    """
    name, tools = words[0].text if words else "", shell_tools()
    if name in ("test", "["):
        odd = _odd_in_test([word for word in words[1:] if word.text != "]"])
    elif name in tools.sets["numbers"]:
        odd = next((word for word in words[1:] if not _NUMBER.fullmatch(word.text)), None)
    elif name in tools.evaluating:
        # `getopts` has the letters first.
        given = words[2 if name == "getopts" else 1 :]
        odd = next((word for word in given if not _is_name(word, tools.evaluating[name])), None)
    else:
        return ""
    return f"`{name}` may run what is in `{odd.text}`" if odd else ""


def _is_name(word: Word, options: str) -> bool:
    """Return True if a word is a number, names a variable, whatever its value, or is a known option."""
    is_option = word.plain and re.fullmatch(f"[-+][{options}]*|--|", word.text)
    is_name = _NAME.fullmatch(word.text) and (word.plain or "=" in word.text) and not word.pattern
    return bool(is_option or is_name or _NUMBER.fullmatch(word.text))


def _odd_in_test(given: Sequence[Word]) -> Word | None:
    for before, word, after in zip([Word(""), *given], given, [*given[1:], Word("")], strict=False):
        is_evaluated = {before.text, after.text} & _COMPARING or before.text in ("-v", "-R")
        is_open = word.splits or (word.pattern and word.text != "[")
        if (is_evaluated or is_open) and not _NUMBER.fullmatch(word.text):
            return word
    # The first of two may turn out to be `-v`.
    return given[0] if len(given) == 2 and not given[0].plain else None
