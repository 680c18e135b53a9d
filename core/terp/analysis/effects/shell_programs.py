"""The tools whose effects depend on their options."""

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from urllib.parse import urlsplit

from terp.analysis.effects.known import ToolSpec, shell_tools
from terp.analysis.effects.shell_words import Word
from terp.events.effects import EffectKind, Finder, Place


@dataclass(frozen=True, slots=True)
class AnalysedCommand:
    """A command and the account that takes its effects; `depth` counts the commands that run it."""

    words: Sequence[Word]
    find: Finder
    at: Place
    report_command: Callable[[Sequence[Word], Finder, Place], None]
    """Reports another command, which this one runs."""
    depth: int = 0

    def doubt(self, what: str) -> None:
        """Report an unknown fact about the command."""
        self.find.doubt(what, self.at)


def worded(words: Sequence[Word]) -> str:
    """Return a command as text."""
    return " ".join(
        shlex.quote(word.text) if word.plain and not word.pattern else word.text for word in words
    )


def operands(words: Sequence[Word], values: str = "") -> tuple[list[Word], list[str]]:
    """Return operands and options; `values` are the letters of options with a value."""
    named: list[Word] = []
    options: list[str] = []
    waiting = False
    for at, word in enumerate(words):
        text = word.text
        if waiting:
            waiting = False
        elif text == "--" and word.plain:
            return [*named, *words[at + 1 :]], options
        elif text.startswith("-") and text != "-":
            options.append(text)
            waiting = not text.startswith("--") and text[-1] in values and not set(text[1:-1]) & set(values)
        else:
            named.append(word)
    return named, options


def report_files(found: AnalysedCommand, kind: EffectKind, tool: ToolSpec) -> None:
    """Report that a tool reads, writes or deletes its operands."""
    named, options = operands(found.words[1:], tool.values)
    if tool.options is not None:
        only_known_options(found, options, tool.options)
    if not tool.files:
        return
    # A pattern may be given by an option instead.
    skip = (
        0 if any(option.startswith(("-e", "-f", "--regexp", "--file")) for option in options) else tool.skip
    )
    for word in named[skip:]:
        found.find.add(kind, word.text, found.at)
    if kind != "reads" and not named[skip:]:
        found.find.add(kind, "", found.at)


def only_known_options(found: AnalysedCommand, options: Sequence[str], known: str) -> None:
    """Doubt an option that is not known, and words that the shell may make one of."""
    letters, *names = known.split()
    name = found.words[0].text
    for option in options:
        long = option.startswith("--")
        known_letters = option[1:].rstrip("0123456789,.")
        if (option[2:].partition("=")[0] not in names) if long else not _all_known(known_letters, letters):
            found.doubt(f"`{name} {option}` is not known")
            return
    for word in found.words[1:]:
        if word.text[:1] in "$*?[{`" and (not word.plain or word.pattern) and word.text[:1]:
            found.doubt(f"`{name}` may take `{word.text}` for an option")
            return


def _all_known(given: str, letters: str) -> bool:
    # What follows a letter with a value belongs to it: `-k2n`, `-t,`.
    return (
        bool(given)
        and given[0] in letters
        and all(letter in letters or not letter.isalpha() for letter in given)
    )


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
_AWK_DEED = re.compile(r"\bENVIRON\b|\bsystem\b|\bgetline\b|\||>|@|\bclose\b|\bfflush\b|-f\b")
_FIND_TESTS = frozenset(
    str.split("""
        name iname path ipath type size mtime mmin newer empty maxdepth mindepth regex perm user not a o and
        or print print0 prune ls readable writable executable follow depth mount xdev true false printf
        links atime ctime L H P
    """)
)
_CURL = frozenset("sSfLiIvkGXHdAeumbJ")
_CURL_LONG = frozenset(
    str.split("""
        silent show-error fail location include head verbose insecure get request header data data-raw
        data-urlencode user-agent max-time connect-timeout compressed retry json form url
    """)
)


def _find(found: AnalysedCommand) -> None:
    words = found.words[1:]
    tests = next((at for at, word in enumerate(words) if word.text.startswith(("-", "(", "!"))), len(words))
    places = [word.text for word in words[:tests]] or ["."]
    options = [word.text.lstrip("-") for word in words[tests:] if word.text.startswith("-")]
    patterns = [after.text for word, after in pairwise(words) if word.text in ("-name", "-iname")]
    targets = [
        f"{place.rstrip('/') or '/'}/**/{pattern}" for place in places for pattern in patterns
    ] or places
    kind: EffectKind = "deletes" if "delete" in options else "reads"
    for target in targets:
        found.find.add(kind, target, found.at)
    if any(not word.plain and word.text[:1] in "$`{" for word in words):
        found.doubt("`find` may take a computed word for an option")
    for option in options:
        if option in ("exec", "execdir", "ok", "okdir"):
            found.doubt(f"runs through `find -{option}`")
        elif option not in _FIND_TESTS and option != "delete" and not option.isdigit():
            found.doubt(f"`find -{option}` is not known")
    _find_runs(found)


def _find_runs(found: AnalysedCommand) -> None:
    given = list(found.words[1:])
    for at, word in enumerate(given):
        if word.text in ("-exec", "-execdir", "-ok", "-okdir"):
            run = given[at + 1 :]
            stop = next((end for end, one in enumerate(run) if one.text in (";", "+")), len(run))
            if run[:stop]:
                found.report_command(run[:stop], found.find, found.at)


def _sed(found: AnalysedCommand) -> None:
    words = found.words[1:]
    in_place = any(word.text.startswith(("-i", "--in-place")) for word in words)
    named, options = operands(words, "e")
    scripts = [after for word, after in pairwise(words) if word.text in ("-e", "--expression")]
    files = named
    if not scripts:
        scripts, files = named[:1], named[1:]
    unread = [
        word.text
        for word in scripts
        if not word.plain or len(word.text) > 500 or not _SED.fullmatch(word.text)
    ]
    if unread:
        found.doubt(f"the script `{unread[0]}` of `sed` is not read")
    plain = [option for option in options if not option.startswith(("-i", "--in-place"))]
    only_known_options(found, plain, "nErsuze expression quiet silent regexp-extended")
    for word in files:
        found.find.add("reads", word.text, found.at)
        if in_place:
            found.find.add("writes", word.text, found.at)


def _awk(found: AnalysedCommand) -> None:
    named, options = operands(found.words[1:], "Fv")
    program = named[0] if named else None
    if (
        program is None
        or not program.plain
        or _AWK_DEED.search(program.text)
        or any(not option.startswith(("-F", "-v")) for option in options)
    ):
        found.doubt("the program of `awk` is not read")
    for word in named[1:]:
        if not re.fullmatch(r"\w+=.*", word.text):
            found.find.add("reads", word.text, found.at)


def _copy(found: AnalysedCommand) -> None:
    name = found.words[0].text.rpartition("/")[2]
    named, options = operands(found.words[1:], "tS")
    *sources, target = [word.text for word in named] or [""]
    for source in sources:
        found.find.add("deletes" if name == "mv" else "reads", source, found.at)
    found.find.add("writes", target, found.at)
    if any(option.startswith(("-t", "--target")) for option in options):
        found.doubt(f"`{name} -t` is not read")


def _git(found: AnalysedCommand) -> None:
    words = list(found.words[1:])
    while words and words[0].text in ("--no-pager", "-C", "-P"):
        words = words[2:] if words[0].text == "-C" else words[1:]
    verb = words[0].text if words and words[0].plain else ""
    named, options = operands(words[1:], "nmbGS")
    line = worded([found.words[0], *words])
    if verb in shell_tools().git_reads or (
        verb in shell_tools().git_lists and not named and all(_only_lists(option) for option in options)
    ):
        _git_reads(found, verb, options)
        return
    _git_runs(found, verb)
    if verb in ("clean", "rm"):
        for target in [word.text for word in named] or [line]:
            found.find.add("deletes", target, found.at)
    elif verb in shell_tools().git_network:
        found.find.add("network", line, found.at)
        if verb in ("pull", "clone", "fetch", "submodule", "lfs"):
            found.find.add("writes", line, found.at)
    elif verb in shell_tools().git_writes:
        found.find.add("writes", line, found.at)
    else:
        found.find.add("subprocess", line, found.at)
        found.doubt(f"runs `git {verb}`" if verb else "runs `git`")


def _git_runs(found: AnalysedCommand, verb: str) -> None:
    """Doubt what git runs on its own."""
    if verb in shell_tools().git_hooks:
        found.doubt(f"`git {verb}` runs the hooks of the repository")
    elif verb == "config":
        found.doubt("`git config` decides what git runs")
    elif (
        verb
        in shell_tools().git_reads
        | shell_tools().git_lists
        | shell_tools().git_network
        | shell_tools().git_writes
        | {"clean", "rm"}
    ):
        # A monitor of files, filters, text converters, signature checkers, how to reach a server: whoever
        # wrote `.git/config` has named them.
        found.doubt(f"`git {verb}` may run programs that the repository's configuration names")


def _git_reads(found: AnalysedCommand, verb: str, options: list[str]) -> None:
    if verb in ("version", "--version"):
        return
    found.find.add("reads", "the repository", found.at)
    _git_runs(found, verb)
    deeds = ("--output", "--ext-diff", "--textconv", "-O", "--open-files-in-pager", "--exec", "--upload-pack")
    if any(option.startswith(deeds) for option in options):
        found.doubt(f"an option of `git {verb}` is not known")
    if any(not word.plain and word.text[:1] in "$`{" for word in found.words[1:]):
        found.doubt(f"`git {verb}` may take a computed word for an option")


def _only_lists(option: str) -> bool:
    return option in ("-a", "-v", "-vv", "-r", "-l", "--list", "--all", "--show-current", "--verbose")


def _curl(found: AnalysedCommand) -> None:
    words = list(found.words[1:])
    found.find.add("network", network_target(found.words), found.at)
    at = 0
    while at < len(words):
        text = words[at].text
        at += 1
        if text in ("-o", "--output"):
            found.find.add("writes", words[at].text if at < len(words) else "", found.at)
            at += 1
        elif text in ("-O", "--remote-name", "-OJ", "-LO", "-sO", "-sSO", "-OL", "-sLO", "-fsSLO"):
            found.find.add("writes", ".", found.at)
        elif text.startswith("--"):
            if text[2:].partition("=")[0] not in _CURL_LONG:
                found.doubt(f"`curl {text}` is not known")
        elif text.startswith("-") and len(text) > 1:
            at += _curl_letters(found, text, words[at : at + 1])
        elif not words[at - 1].plain and text[:1] in "$`{":
            found.doubt("`curl` may take a computed word for an option")


def _curl_letters(found: AnalysedCommand, text: str, after: list[Word]) -> int:
    """Read options in one word; return the number of words after it that are their values."""
    if text[-1] == "o" and set(text[1:-1]) <= _CURL:
        found.find.add("writes", after[0].text if after else "", found.at)
        return 1
    if not set(text[1:]) <= _CURL and text[1] not in "XHdAeum":
        found.doubt(f"`curl {text}` is not known")
    if "d" in text and after and after[0].text.startswith("@"):
        found.find.add("reads", after[0].text[1:], found.at)
    return int(text[-1] in "XHdAeumb" and len(text) == 2)


def _wget(found: AnalysedCommand) -> None:
    found.find.add("network", network_target(found.words), found.at)
    _, options = operands(found.words[1:], "OP")
    written = [after.text for word, after in pairwise(found.words) if re.fullmatch(r"-q?[OP]", word.text)]
    for target in written or ["."]:
        if target not in ("-", "/dev/null"):
            found.find.add("writes", target, found.at)
    if any(
        not re.fullmatch(r"-q?[OPnvqc]|-nv|-q|--quiet|--no-verbose|--show-progress", option)
        for option in options
    ):
        found.doubt("an option of `wget` is not known")


def _tar(found: AnalysedCommand) -> None:
    words = found.words[1:]
    letters = words[0].text.lstrip("-") if words else ""
    if not re.fullmatch(r"[ctxzjJvfpak]+", letters) or any(_is_odd(word) for word in words[1:]):
        found.doubt("the options of `tar` are not read")
        found.find.add("writes", "", found.at)
        return
    named, _ = operands(words[1:], "C")
    archive = named[0].text if "f" in letters and named else ""
    if "t" in letters:
        found.find.add("reads", archive, found.at)
    elif "x" in letters:
        folders = [after.text for word, after in pairwise(words) if word.text == "-C"]
        found.find.add("reads", archive, found.at)
        found.find.add("writes", folders[0] if folders else ".", found.at)
    else:
        for word in named[1:]:
            found.find.add("reads", word.text, found.at)
        found.find.add("writes", archive, found.at)


def _is_odd(word: Word) -> bool:
    return word.text.startswith("-") and word.text != "-C"


def _unzip(found: AnalysedCommand) -> None:
    named, options = operands(found.words[1:], "dx")
    archive = named[0].text if named else ""
    found.find.add("reads", archive, found.at)
    if not any(re.fullmatch(r"-[lvtZ]+", option) for option in options):
        folders = [after.text for word, after in pairwise(found.words) if word.text == "-d"]
        found.find.add("writes", folders[0] if folders else ".", found.at)


def _link(found: AnalysedCommand) -> None:
    named, _ = operands(found.words[1:])
    found.find.add("writes", named[-1].text if named else "", found.at)


def _dd(found: AnalysedCommand) -> None:
    for word in found.words[1:]:
        if word.text.startswith("if="):
            found.find.add("reads", word.text[3:], found.at)
        elif word.text.startswith("of="):
            found.find.add("writes", word.text[3:], found.at)


def _python(found: AnalysedCommand) -> None:
    """Report `python -m pip install` as `pip install`; other code is not analysed."""
    words = [word.text for word in found.words[1:]]
    if words[:2] == ["-m", "pip"]:
        found.report_command(found.words[2:], found.find, found.at)
    elif words not in (["--version"], ["-V"]):
        found.find.add("subprocess", worded(found.words), found.at)
        found.doubt(f"runs `{found.words[0].text}`")


def _remote(found: AnalysedCommand) -> None:
    named, _ = operands(found.words[1:], "pilFo")
    found.find.add("network", named[0].text if named else worded(found.words), found.at)
    found.doubt(f"`{found.words[0].text}` runs commands elsewhere")


def _remote_copy(found: AnalysedCommand) -> None:
    named, _ = operands(found.words[1:], "Pie")
    for word in named:
        if ":" in word.text:
            found.find.add("network", word.text.partition(":")[0], found.at)
    if named and ":" not in named[-1].text:
        found.find.add("writes", named[-1].text, found.at)
    found.doubt(f"the options of `{found.words[0].text}` are not read")


def _printf(found: AnalysedCommand) -> None:
    if len(found.words) > 1 and found.words[1].text.startswith("-"):
        found.doubt("an option of `printf` is not known")


def _filter(found: AnalysedCommand) -> None:
    """Report `uniq` and `xxd`: the second operand is written."""
    name = found.words[0].text.rpartition("/")[2]
    tool = ToolSpec("fsw" if name == "uniq" else "lscg")
    named, options = operands(found.words[1:], tool.values)
    only_known_options(found, options, "cduizfsw count repeated unique ignore-case lgpb")
    for at, word in enumerate(named):
        found.find.add("writes" if at == 1 else "reads", word.text, found.at)


def _jq(found: AnalysedCommand) -> None:
    report_files(
        found, "reads", ToolSpec("", 1, "rcenMCsSj raw-output compact-output slurp null-input tab sort-keys")
    )
    if any(re.search(r"\benv\b|\$ENV\b", word.text) for word in found.words[1:]):
        found.find.add("secrets", "all environment variables", found.at)


def _date(found: AnalysedCommand) -> None:
    _, options = operands(found.words[1:], "d")
    if any(option.startswith(("-s", "--set")) for option in options):
        found.doubt("`date` sets the clock")
    report_files(found, "reads", ToolSpec("d", files=False))


PROGRAMS: dict[str, Callable[[AnalysedCommand], None]] = {
    "find": _find,
    "sed": _sed,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
    "cp": _copy,
    "mv": _copy,
    "git": _git,
    "curl": _curl,
    "wget": _wget,
    "tar": _tar,
    "unzip": _unzip,
    "ln": _link,
    "dd": _dd,
    "python": _python,
    "python3": _python,
    "ssh": _remote,
    "scp": _remote_copy,
    "rsync": _remote_copy,
    "sftp": _remote_copy,
    "printf": _printf,
    "date": _date,
    "uniq": _filter,
    "xxd": _filter,
    "jq": _jq,
}
