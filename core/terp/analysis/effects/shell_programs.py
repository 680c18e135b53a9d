"""Effects of programs by the words they are given: rows of a table, and the few whose words are code."""

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from urllib.parse import urlsplit

from terp.analysis.effects.known import ToolSpec, shell_tools
from terp.analysis.effects.shell_words import Word
from terp.events.effects import EffectKind, Finder, Place

Option = tuple[str, Word | None]
"""A letter or a long name, and the value given with it."""


@dataclass(frozen=True, slots=True)
class AnalysedCommand:
    """A command and the account that takes its effects; `depth` counts the commands that run it."""

    words: Sequence[Word]
    find: Finder
    at: Place
    report_command: Callable[[Sequence[Word], Finder, Place], None]
    """Reports another command, which this one runs."""
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
    hosts = dict.fromkeys(host for word in words[1:] if (host := _host(word.text)))
    return " ".join(hosts) or worded(words[:6])


def _host(text: str) -> str:
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
            found.report_command(words[at + 1 :], found.find, found.at)


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
    given = {name: value for name, value in options if name in ("o", "output", "O", "P", "remote-name")}
    written = [value.text for value in given.values() if value]
    for target in written or (["."] if given or found.name == "wget" else []):
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
