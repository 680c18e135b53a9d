"""Effects of shell code: each simple command is looked up among the known tools; a few have rules."""

import re
import shlex
from collections.abc import Callable, Sequence
from itertools import pairwise
from urllib.parse import urlsplit

from terp.analysis.effects.known import ToolSpec, shell_tools
from terp.analysis.effects.secret_names import is_secret_name, secret_in
from terp.analysis.effects.shell_words import ASSIGNMENT, Command, NotRead, Redirection, Script, Word
from terp.events.effects import EffectKind, Finder, Place
from terp.text.dataclasses import dataclass, replace

_FOLDERS = ("", "/bin", "/usr/bin", "/usr/local/bin", "/sbin", "/usr/sbin")
_DEEPEST = 10
_USED = re.compile(r"\$\{?(\w+)")


Option = tuple[str, Word | None]
"""A letter or a long name, and the value given with it."""


@dataclass(frozen=True, slots=True)
class AnalysedCommand:
    """A command and the account that takes its effects; `depth` counts the commands that run it."""

    words: Sequence[Word]
    find: Finder
    at: Place
    depth: int = 0

    @property
    def name(self) -> str:
        """The program, without its folder."""
        return self.words[0].text.rpartition("/")[2]

    def add(self, kind: EffectKind, target: str) -> None:
        """Report an effect of the command."""
        self.find.add(kind, target, self.at)

    def doubt(self, what: str) -> None:
        """Report something about the command that is not known."""
        self.find.doubt(what, self.at)

    def doubt_computed(self) -> None:
        """Doubt words that the shell replaces: they may become options, or several words."""
        odd = next((word.text for word in self.words[1:] if word.is_open and word.text != "<(…)"), None)
        if odd is not None:
            self.doubt(f"`{self.name}` may take `{odd}` for an option")


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


def _report(command: Command, find: Finder, depth: int) -> None:
    words = list(command.words)
    for word in [*words, *(redirection.target for redirection in command.redirections)]:
        if secret := secret_in(word.text):
            find.add("secrets", secret, command.at)
        for name in _USED.findall(word.text) if not word.plain else ():
            if is_secret_name(name):
                find.add("secrets", f"${name}", command.at)
    for redirection in command.redirections:
        _redirected(redirection, find, command.at)
    while words and (found := ASSIGNMENT.match(words[0].text)):
        name = found[1]
        words.pop(0)
        # Before a command a variable is the command's; alone it stays, for the shell and what it runs.
        of_program = bool(words) and name.isupper() and not name.startswith(("LC_", "LANG", "TZ"))
        if of_program or shell_tools().rules(name):
            find.doubt(f"sets `{name}`", command.at)
    if words:
        _run(AnalysedCommand(words, find, command.at, depth))


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
    elif name in tools.transparent or name in tools.sets["wrappers"]:
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
        _run(AnalysedCommand(words, found.find, found.at, found.depth + 1))


def _variables(found: AnalysedCommand) -> None:
    """Report a builtin that shows or sets variables; `for` names one."""
    name, words, tools = found.name, found.words[1:], shell_tools()
    named = [word for word in words if not word.text.startswith("-")][: 1 if name == "for" else None]
    if name == "set" and not all(word.plain and word.text in tools.sets["set"] for word in words):
        # The other options make names of words, run what is in the history, or fill arrays.
        found.doubt(f"`{worded(found.words)}` is not known")
    elif name in tools.sets["shows variables"] and not (words if name == "set" else named):
        found.add("secrets", "all environment variables")
    for variable in [word.text.partition("=")[0].removesuffix("+") for word in named if name != "set"]:
        if name == "printenv":
            found.add("secrets", f"${variable}")
        elif tools.rules(variable) or (name == "export" and variable.isupper()):
            found.doubt(f"sets `{variable}`")


def _installs(found: AnalysedCommand, name: str, first: int = 1) -> None:
    installing, looking = shell_tools().installers[name]
    verbs = [word.text for word in found.words[first:]]
    verb = next((word for word in verbs if not word.startswith("-")), "")
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


def worded(words: Sequence[Word]) -> str:
    """A command as one would type it."""
    return " ".join(
        shlex.quote(word.text) if word.plain and not word.pattern else word.text for word in words
    )


def parsed(words: Sequence[Word], spec: ToolSpec) -> tuple[list[Word], list[Option]]:
    """Return the operands and the options of a command, as getopt finds them."""
    named: list[Word] = []
    options: list[Option] = []
    left = list(words)
    while left:
        word = left.pop(0)
        text = word.text
        if text == "--":
            return [*named, *left], options
        if text.startswith("--"):
            name, sign, value = text[2:].partition("=")
            after = left.pop(0) if not sign and name in spec.values and left else None
            options.append((name, replace(word, text=value) if sign else after))
        elif text.startswith("-") and text != "-":
            for at, letter in enumerate(text[1:], 2):
                if letter in spec.values:
                    value = text[at:]
                    after = replace(word, text=value) if value else left.pop(0) if left else None
                    options.append((letter, after))
                    break
                options.append((letter, None))
        else:
            named.append(word)
    return named, options


def checked(found: AnalysedCommand, spec: ToolSpec) -> tuple[list[Word], list[Option]]:
    """Return operands and options; doubt words that are not known, unless the tool cannot do harm."""
    named, options = parsed(found.words[1:], spec)
    if spec.options is not None:
        odd = next((name for name, _ in options if name not in spec.options | spec.values), None)
        if odd is not None:
            found.doubt(f"`{found.name} {'-' if len(odd) == 1 else '--'}{odd}` is not known")
        found.doubt_computed()
    return named, options


def report_files(found: AnalysedCommand, spec: ToolSpec) -> None:
    """Report the effects of a tool on its operands."""
    named, options = checked(found, spec)
    if not spec.files:
        return
    # A pattern may be given by an option instead.
    by_option = any(name in ("e", "f", "regexp", "file") for name, _ in options)
    files = named if by_option else named[spec.skip :]
    for at, word in enumerate(files, 1):
        found.add(spec.last if len(files) > 1 and at == len(files) else spec.kind, word.text)
    if spec.kind != "reads" and not files:
        found.add(spec.kind, "")


def network_target(words: Sequence[Word]) -> str:
    """Return the hosts that a command names; the command itself if it names none."""
    hosts = dict.fromkeys(host for word in words[1:] if (host := host_of(word.text)))
    return " ".join(hosts) or worded(words[:6])


def host_of(text: str) -> str:
    """Return the host of the address in a text; "" if there is none."""
    if "://" not in text:
        return ""
    try:
        return urlsplit(text[text.rfind("=", 0, text.index("://")) + 1 :]).netloc.rpartition("@")[2]
    except ValueError:
        return text


_SED = re.compile(
    r"(?:(?:\d+|\$|/[^/]*/)?(?:,\s*(?:\d+|\$|\+\d+|/[^/]*/))?!?\s*"
    r"(?:[pdq=GhHxN]|s(?P<by>[/|#,:@])(?:(?!(?P=by))[^\\]|\\.)*(?P=by)(?:(?!(?P=by))[^\\]|\\.)*(?P=by)[gpiI\d]*)\s*;?\s*)*"
)
_LONGEST_SCRIPT = 500
_WRITTEN = ("o", "output", "O", "P", "remote-name")


def _sed(found: AnalysedCommand, spec: ToolSpec) -> None:
    named, options = checked(found, spec)
    scripts = [value for name, value in options if name in ("e", "expression") and value]
    scripts, files = (scripts, named) if scripts else (named[:1], named[1:])
    for word in scripts:
        if not word.plain or len(word.text) > _LONGEST_SCRIPT or not _SED.fullmatch(word.text):
            found.doubt(f"the script `{word.text}` of `sed` is not read")
    in_place = any(name in ("i", "in-place") for name, _ in options)
    for word in files:
        found.add("reads", word.text)
        if in_place:
            found.add("writes", word.text)


def _find(found: AnalysedCommand, _: ToolSpec) -> None:
    words = found.words[1:]
    tests = next((at for at, word in enumerate(words) if word.text.startswith(("-", "(", "!"))), len(words))
    named = {word.text[1:] for word in words[tests:] if word.text.startswith("-")}
    patterns = [after.text for word, after in pairwise(words) if word.text in ("-name", "-iname")]
    for place in [word.text for word in words[:tests]] or ["."]:
        for target in [f"{place.rstrip('/')}/**/{pattern}" for pattern in patterns] or [place]:
            found.add("deletes" if "delete" in named else "reads", target)
    for odd in sorted(named - shell_tools().sets["find tests"]):
        found.doubt(f"`find -{odd}` is not known")
    found.doubt_computed()
    for at, word in enumerate(words):
        if word.text in ("-exec", "-execdir", "-ok", "-okdir") and words[at + 1 :]:
            _again(found, words[at + 1 :])


def _git(found: AnalysedCommand, _: ToolSpec) -> None:
    """Whatever git does, the settings of the repository may name programs that it runs."""
    given, line = {word.text for word in found.words[1:]}, worded(found.words)
    every: tuple[EffectKind, ...] = ("reads", "writes", "network", "deletes")
    kinds = [kind for kind in every if given & shell_tools().sets[f"git {kind}"]]
    for kind in kinds or ["subprocess"]:
        found.add(kind, "the repository" if kind == "reads" else line)
    found.doubt("`git` runs what the settings of the repository name")


def _download(found: AnalysedCommand, spec: ToolSpec) -> None:
    _, options = checked(found, spec)
    found.add("network", network_target(found.words))
    given = [value.text if value else "." for name, value in options if name in _WRITTEN]
    for target in given or (["."] if found.name == "wget" else []):
        if target not in ("-", "/dev/null"):
            found.add("writes", target)


def _date(found: AnalysedCommand, spec: ToolSpec) -> None:
    named, _ = checked(found, spec)
    if any(not word.text.startswith("+") for word in named):
        found.doubt("`date` may set the clock")


PROGRAMS: dict[str, Callable[[AnalysedCommand, ToolSpec], None]] = {
    **dict.fromkeys(("curl", "wget"), _download),
    "date": _date,
    "find": _find,
    "git": _git,
    "sed": _sed,
}


_NAME = re.compile(r"[A-Za-z_]\w*(?:\+?=.*)?", re.DOTALL)
_NUMBER = re.compile(r"[+-]?[\d.]+|\$[?#$!]|%[\d+-]*")
_COMPARING = frozenset(str.split("-eq -ne -lt -le -gt -ge"))


def evaluates(words: Sequence[Word]) -> str:
    """Return why a command may run the content of one of its words, as part of a sentence; "" if it cannot.

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
