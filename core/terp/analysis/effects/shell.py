"""What shell code would do: each of its simple commands looked up in the tables of known tools."""

import re
from collections.abc import Sequence

from terp.analysis.effects.secret_names import is_secret_name, secret_in
from terp.analysis.effects.shell_evaluating import evaluates
from terp.analysis.effects.shell_loops import unrolled
from terp.analysis.effects.shell_programs import PROGRAMS
from terp.analysis.effects.shell_telling import Found, network_target, operands, tell_files, worded
from terp.analysis.effects.shell_tools import (
    DELETERS,
    INSTALLERS,
    NETWORK,
    READERS,
    TRANSPARENT,
    WRAPPERS,
    WRITERS,
    Tool,
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
    """The account of a script."""
    find = Finder()
    tell_script(code, find)
    return find.effects()


def tell_script(code: str, find: Finder, line: int = 1, depth: int = 0) -> None:
    """Add what a script does that begins on `line`."""
    script = Script(code, (line, 0), depth)
    try:
        script.read()
    except NotRead as unread:
        find.doubt(f"{unread.what} is not read", (unread.line, 0))
    for name, at in script.computed:
        find.doubt(f"arithmetic may run what is in `{name}`", at)
    for command in unrolled(script.commands):
        _tell(command, find, depth)


def tell_command(words: list[Word], find: Finder, at: Place) -> None:
    """Add what one command does, given as its words."""
    _tell(Command(tuple(words), (), at), find, 0, assigns=False)


def _tell(command: Command, find: Finder, depth: int, *, assigns: bool = True) -> None:
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
        _run(Found(words, find, command.at, depth))


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


def _run(found: Found) -> None:
    """One command without its assignments and redirections."""
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
    elif name in TRANSPARENT:
        _wrapped(found, name, TRANSPARENT[name])
    elif name in WRAPPERS:
        found.doubt(f"runs through `{name}`")
        _behind(found, name)
    elif program := PROGRAMS.get(name):
        program(found)
    elif name in INSTALLERS:
        _installs(found, name)
    else:
        _by_table(found, name)


def _named(words: Sequence[Word]) -> list[str]:
    """The variables that a command names as its words."""
    named = words[1:2] if words[0].text == "for" else words[1:]
    return [word.text.partition("=")[0] for word in named]


def _by_table(found: Found, name: str) -> None:
    tables: tuple[tuple[EffectKind, dict[str, Tool]], ...] = (
        ("reads", READERS),
        ("writes", WRITERS),
        ("deletes", DELETERS),
    )
    for kind, table in tables:
        if name in table:
            tell_files(found, kind, table[name])
            return
    if name in NETWORK:
        found.find.add("network", network_target(found.words), found.at)
        found.doubt(f"`{name}` may do more")
    else:
        _unknown(found, name)


def _unknown(found: Found, name: str) -> None:
    if [word.text for word in found.words[1:]] in (["--version"], ["-V"], ["--help"]) and "/" not in name:
        return
    found.find.add("subprocess", worded(found.words), found.at)
    found.doubt(f"runs `{name}`")


def _wrapped(found: Found, name: str, operands_before: int) -> None:
    """A command that another one only times or bounds."""
    rest = found.words[1 + operands_before :]
    if not rest or any(word.text.startswith("-") for word in found.words[1 : 2 + operands_before]):
        found.doubt(f"runs through `{name}`")
        rest = [word for word in rest if not word.text.startswith("-")]
    if rest:
        _again(found, rest)


def _behind(found: Found, name: str) -> None:
    """What a command runs that runs others, as far as it can be seen."""
    rest = found.words[1:]
    while rest and (rest[0].text.startswith("-") or ASSIGNMENT.match(rest[0].text)):
        is_code = rest[0].text in ("-c", "-lc", "-ec") and name not in ("sudo", "env")
        rest = rest[1:]
        if is_code and rest:
            if rest[0].plain and found.depth < 5:
                tell_script(rest[0].text, found.find, found.at[0], found.depth + 5)
            return
    if name == "eval":
        if all(word.plain for word in rest) and found.depth < 5:
            tell_script(" ".join(word.text for word in rest), found.find, found.at[0], found.depth + 5)
    elif rest and name not in ("bash", "sh", "zsh", "dash", "ksh", "fish", "source", "."):
        _again(found, rest)
    else:
        found.find.add("subprocess", worded(found.words), found.at)


def _again(found: Found, words: Sequence[Word]) -> None:
    if found.depth > 10:
        found.doubt("commands run each other too often")
        return
    _run(Found(words, found.find, found.at, found.depth + 1))


def _variables(found: Found, name: str) -> bool:
    """Commands that show or set variables of the environment; whether that is all this one does."""
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
    """What `set` is given that may change what later code means; "" for nothing."""
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


def _installs(found: Found, name: str, first: int = 1) -> None:
    installing, looking = INSTALLERS[name]
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
    elif (group := f"{name} {verb}") in INSTALLERS:
        _installs(found, group, first + verbs.index(verb) + 1)
    elif verb not in looking.split():
        _unknown(found, f"{name} {verb}".rstrip())
