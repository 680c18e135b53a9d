"""A command line taken apart: every simple command in it, with its words and redirections.

Only the grammar that people and models write is read (POSIX lists, pipes, groups, loops, conditions,
substitutions, here-documents); whatever else is met ends the reading with `NotRead`, which names it.
No library is used: the parsers to be had are under the GPL, or recover from what they do not understand,
and here a part that is not understood must be reported.
"""

import re

from terp.events.effects import Place
from terp.text.dataclasses import dataclass, field

_DEEPEST = 20


@dataclass(frozen=True, slots=True)
class Word:
    """One word without its quotes; not `plain` if the shell would expand it.

    `bare` is what stood there without any quotes: only such a word is a keyword or an assignment. One that
    `splits` has something outside of quotes that may become several words.
    """

    text: str
    plain: bool = True
    bare: bool = False
    pattern: bool = False
    splits: bool = False

    @property
    def is_open(self) -> bool:
        """True if the shell puts something else in its place."""
        return not self.plain or self.pattern


@dataclass(frozen=True, slots=True)
class Redirection:
    """A redirection of a command: `>`, `>>`, `<`, `<<<`, and where to."""

    sign: str
    target: Word


@dataclass(frozen=True, slots=True)
class Command:
    """One simple command; its words begin with the assignments before it."""

    words: tuple[Word, ...]
    redirections: tuple[Redirection, ...]
    at: Place


class NotRead(Exception):
    """A script contains syntax that is not supported."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.what, self.line = what, line


ASSIGNMENT = re.compile(r"([A-Za-z_]\w*)\+?=")
"""The beginning of a word that sets a variable, if no command stands before it."""
_SPACE = re.compile(r"(?:[ \t]|\\\n)*")
_RUN = re.compile(r"[^\s'\"\\$`;&|()<>*?\[\]{},!#=~]+")
_IN_QUOTES = re.compile(r"[^\"\\$`]+")
_BACKTICKS = re.compile(r"`((?:[^`\\]|\\.)*)`", re.DOTALL)
_PARAMETER = re.compile(r"\$(?:\w+|[?#@*$!-])")
# Behind a colon may stand a number; a name there would be read as one.
_BRACED = re.compile(r"\$\{#?\w+(?:\[[@*\d]+\])?(?::[\d\s:-]*|(?::[+=?-]|[#%/^,+=?-])[^`$(){}'\"\\]*)?\}")
_ASSIGNING = re.compile(r"\$\{(\w+):?=")
_ARITHMETIC = re.compile(r"\$\(\([\w\s+*/%<>=!&|^~?:,$-]*(?:\([\w\s+*/%$-]*\)[\w\s+*/%$-]*)*\)\)")
_NAME = re.compile(r"[A-Za-z_]\w*")
_REDIRECTION = re.compile(r"(\d*)(<<<|<<-|<<|<>|<&|<(?!\()|>>|>&|>\||>(?!\())|(&>>|&>)")
_SEPARATOR = re.compile(r"&&|\|\||\|&|;;|[;&|]")
_CONTINUING = frozenset(str.split("! { if then elif else while until do time"))
_ENDING = frozenset(str.split("} fi done"))
_UNREAD = frozenset(str.split("case function select coproc [[ (("))


@dataclass(slots=True)
class _Open:
    """A command that is being read."""

    at: Place
    words: list[Word] = field(default_factory=list)
    redirections: list[Redirection] = field(default_factory=list)


class Script:
    """Parser of a script that stands at a place; `commands` are those found, even if parsing has failed.

    `here_documents` is True if a command reads one; they are no part of its `redirections`. `computed` has a
    name of each arithmetic: the shell reads what such a variable holds as arithmetic again.
    """

    def __init__(self, text: str, at: Place = (1, 0), depth: int = 0) -> None:
        self.commands: list[Command] = []
        self.computed: list[tuple[str, Place]] = []
        self.here_documents = False
        self._piped = False
        self._text = text
        self._at = 0
        self._line, self._before = at
        self._counted = 0
        self._depth = depth
        self._documents: list[tuple[str, bool, bool]] = []

    def read(self) -> None:
        """Read to the end.

        Raises:
            NotRead: the script contains unsupported syntax.
        """
        self._list("")
        if self._documents:
            raise self._unread("a here-document without its end")

    def _unread(self, what: str) -> NotRead:
        return NotRead(what, self._place()[0])

    def _place(self) -> Place:
        self._line += self._text.count("\n", self._counted, self._at)
        self._counted = max(self._at, self._counted)
        return self._line, self._before + self._at

    def _list(self, end: str) -> None:
        """Return the commands up to `end`, and skip `end`."""
        self._depth += 1
        if self._depth > _DEEPEST:
            raise self._unread("nesting this deep")
        command = _Open(self._place())
        while True:
            self._at = _end(_SPACE, self._text, self._at)
            character = self._text[self._at : self._at + 1]
            if character == "" or (character == ")" and end):
                self._close(command)
                if character != end:
                    raise self._unread("a parenthesis without its end")
                self._at += len(end)
                self._depth -= 1
                return
            if separated := self._separated(character):
                self._close(command)
                command = _Open(self._place())
            if not separated:
                self._piece(command, character)

    def _separated(self, character: str) -> bool:
        """Skip the separator after a command."""
        if character == "\n":
            self._at += 1
            self._read_documents()
            return True
        if character == "#":
            self._at = _find(self._text, "\n", self._at)
            return True
        found = _SEPARATOR.match(self._text, self._at)
        if found is None or self._text.startswith("&>", self._at):
            return False
        if found.group() == ";;":
            raise self._unread("`;;`")
        self._at = found.end()
        self._piped = found.group() in ("|", "|&")
        return True

    def _piece(self, command: _Open, character: str) -> None:
        """Read one word, redirection or group of a command."""
        if found := _REDIRECTION.match(self._text, self._at):
            self._redirection(command, found)
            return
        if character == "(":
            if command.words or self._text.startswith("((", self._at):
                raise self._unread("`((`" if not command.words else "`(`")
            self._at += 1
            self._list(")")
            return
        if character == ")":
            raise self._unread("`)`")
        if not command.words:
            command.at = self._place()
        word = self._word()
        if word.bare and not command.words:
            if word.text in _UNREAD:
                raise self._unread(f"`{word.text}`")
            # Behind a pipe, or another one, it is a program: the shell only times a whole pipeline.
            is_program = word.text == "time" and self._piped
            self._piped = self._piped or word.text == "time"
            if not is_program and (word.text in _CONTINUING or word.text in _ENDING):
                return
        command.words.append(word)

    def _close(self, command: _Open) -> None:
        words = command.words
        # The body of a loop is a list of commands like any other.
        is_loop = bool(words) and words[0].bare and words[0].text == "for"
        if is_loop and (len(words) < 3 or words[2].text != "in"):
            raise self._unread("this kind of `for`")
        if words or command.redirections:
            self.commands.append(Command(tuple(words), tuple(command.redirections), command.at))

    def _redirection(self, command: _Open, found: re.Match[str]) -> None:
        sign = found[2] or found[3]
        self._at = _end(_SPACE, self._text, found.end())
        if sign in ("<<", "<<-"):
            start = self._at
            word = self._word()
            is_quoted = any(quote in self._text[start : self._at] for quote in "'\"\\")
            self._documents.append((word.text, is_quoted, sign == "<<-"))
            self.here_documents = True
            return
        word = self._word()
        if sign in (">&", "<&") and re.fullmatch(r"\d+-?|-", word.text):
            return
        command.redirections.append(Redirection(sign, word))

    def _read_documents(self) -> None:
        """Skip the here-documents that begin on this line; only their expansions are read."""
        for end, is_quoted, strips in self._documents:
            lines: list[str] = []
            while True:
                if self._at >= len(self._text):
                    raise self._unread("a here-document without its end")
                stop = _find(self._text, "\n", self._at)
                line = self._text[self._at : stop]
                self._at = min(stop + 1, len(self._text))
                if (line.lstrip("\t") if strips else line) == end:
                    break
                lines.append(line)
            if not is_quoted:
                inner = Script("\n".join(lines), self._place(), self._depth)
                inner._expanded()
                self.commands += inner.commands
                self.computed += inner.computed
        self._documents = []

    def _expanded(self) -> None:
        """Read the substitutions in a text that is otherwise no code."""
        while self._at < len(self._text):
            if self._text[self._at] in "$`":
                self._expansion()
            else:
                self._at += 2 if self._text[self._at] == "\\" else 1

    def _word(self) -> Word:
        pieces: list[str] = []
        plain, bare, pattern, splits = True, True, False, False
        start = self._at
        while self._at < len(self._text):
            if run := _RUN.match(self._text, self._at):
                pieces.append(run.group())
                self._at = run.end()
                continue
            character = self._text[self._at]
            if character in " \t\n;&|)" or (
                character in "<>" and self._text[self._at + 1 : self._at + 2] != "("
            ):
                break
            if character == "(":
                raise self._unread("`(`")
            if character in "'\"\\" or self._text.startswith("$'", self._at):
                bare = False
            if character in "*?[":
                pattern = True
            text, is_plain = self._character(character)
            pieces.append(text)
            plain = plain and is_plain
            splits = splits or (character in "$`{}" and not is_plain)
        if self._at == start:
            raise self._unread(f"`{self._text[start : start + 1] or 'the end'}`")
        text = "".join(pieces)
        # Alone they group, or stand for a file; within a word they make several words of one.
        plain = plain or (text in ("{", "}", "{}") and self._text[start : self._at] == text)
        return Word(text, plain, bare and plain, pattern, splits)

    def _character(self, character: str) -> tuple[str, bool]:
        """Return the text of one character or of what it opens, and True if it is literal."""
        start = self._at
        if character == "'":
            return self._until("'", start + 1), True
        if character == "\\":
            self._at = start + 2
            escaped = self._text[start + 1 : start + 2]
            # With nothing behind it, it is itself to some shells and nothing to others.
            return (escaped.replace("\n", ""), True) if escaped else ("\\", False)
        if character == '"':
            return self._quoted()
        if character in "$`":
            return self._expansion()
        if character in "<>":
            self._at += 2
            self._list(")")
            return f"{character}(…)", False
        self._at += 1
        # Braces make several words of one; they are reported as they stand.
        return character, character not in "{}"

    def _until(self, quote: str, start: int) -> str:
        stop = self._text.find(quote, start)
        if stop < 0:
            raise self._unread(f"a {quote} without its end")
        self._at = stop + 1
        return self._text[start:stop]

    def _quoted(self) -> tuple[str, bool]:
        pieces, plain = [], True
        self._at += 1
        while self._text[self._at : self._at + 1] != '"':
            if self._at >= len(self._text):
                raise self._unread('a " without its end')
            if run := _IN_QUOTES.match(self._text, self._at):
                pieces.append(run.group())
                self._at = run.end()
            elif self._text[self._at] == "\\":
                escaped = self._text[self._at + 1 : self._at + 2]
                pieces.append(escaped if escaped in '"\\$`' else "" if escaped == "\n" else f"\\{escaped}")
                self._at += 2
            else:
                text, is_plain = self._expansion()
                pieces.append(text)
                plain = plain and is_plain
        self._at += 1
        return "".join(pieces), plain

    def _expansion(self) -> tuple[str, bool]:
        """Read an expansion: a parameter, or a command substitution."""
        text, at = self._text, self._at
        if text[at] == "`":
            return self._backticks()
        if arithmetic := _ARITHMETIC.match(text, at):
            self._at = arithmetic.end()
            if name := _NAME.search(arithmetic.group()):
                self.computed.append((name.group(), self._place()))
            return arithmetic.group(), False
        if found := _BRACED.match(text, at) or _PARAMETER.match(text, at):
            self._at = found.end()
            self.commands += [
                Command((Word(f"{name}="),), (), self._place()) for name in _ASSIGNING.findall(found.group())
            ]
            return found.group(), False
        if text.startswith("$((", at):
            raise self._unread("this arithmetic")
        if text.startswith("$(", at):
            self._at = at + 2
            self._list(")")
            return "$(…)", False
        if text.startswith("$'", at):
            literal = self._until("'", at + 2)
            if "\\" in literal:
                raise self._unread("`$'…'` with escapes")
            return literal, True
        if text.startswith(("${", "$["), at):
            raise self._unread(f"`{text[at : at + 12]}`")
        self._at += 1
        return ("$", True) if not text.startswith('$"', at) else ("", True)

    def _backticks(self) -> tuple[str, bool]:
        found = _BACKTICKS.match(self._text, self._at)
        if found is None:
            raise self._unread("a ` without its end")
        inner = Script(re.sub(r"\\([`\\$])", r"\1", found[1]), self._place(), self._depth)
        try:
            inner.read()
        finally:
            self.commands += inner.commands
            self.computed += inner.computed
        self._at = found.end()
        return "$(…)", False


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at)
    return found.end() if found else at


def _find(text: str, what: str, at: int) -> int:
    found = text.find(what, at)
    return len(text) if found < 0 else found
