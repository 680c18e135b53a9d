"""A cell of the Python kernel: Python, and the commands that IPython adds to it."""

import ast
import re
from collections.abc import Mapping

from terp.analysis.effects.python import Reader
from terp.analysis.effects.scopes import TooDeep, Walk, parsed
from terp.analysis.effects.shell import report_script
from terp.events.effects import Effects, Finder, cannot_tell
from terp.text.dataclasses import dataclass
from terp.text.languages import language_of

MOST_CHARACTERS = 200_000
"""Longer code is not analysed: no user would read it either."""


def effects_of(language: str, code: str, known: Mapping[str, str] | None = None, cwd: str = "") -> Effects:
    """Return the effects of `code`, with "cannot tell" for each part that is not known. Raises nothing.

    `known` are names that the kernel has already, each with the full name of the module, function or
    class it is or is an instance of (`{"pd": "pandas", "df": "pandas.DataFrame"}`), `TOOL` for a tool of the
    session, `SERVERS` for its MCP servers, and `UNKNOWN` for what hides a builtin; all others are unknown. A
    key that is no name stands for a module of which the kernel may have objects.
    A module in the directory `cwd` takes the place of one of the same name that would be known.
    """
    if len(code) > MOST_CHARACTERS:
        return cannot_tell(f"{len(code):,} characters are too many to read")
    find = Finder()
    try:
        match language_of(language, ["python", "shell"]):
            case "python":
                _report_cell(code, find, known or {}, cwd)
            case "shell":
                report_script(code, find)
            case _:
                return cannot_tell(f"{language or 'this language'} is not read")
    except (RecursionError, MemoryError):
        return cannot_tell("it is nested too deep to read")
    return find.effects()


_COMMAND = re.compile(
    r"(?P<indent>[ \t]*)(?:(?P<name>[A-Za-z_]\w*)[ \t]*=[ \t]*)?(?P<sign>!!?|%)(?P<rest>(?!=).*)"
)
# IPython takes prompts away from all lines once it has found one, also within a text.
_PROMPT = re.compile(r"\A\s*\[?\d*\]?:|^\s*(?:>>>|\.{3}|In ?\[)", re.MULTILINE)
# IPython puts the value of an expression there.
_EXPANDED = re.compile(r"[{$]")
_HARMLESS_MAGIC = re.compile(
    r"matplotlib(?:\s+\w+)?|config\s+InlineBackend\.figure_formats?\s*=\s*['\"]\w+['\"]|pwd|whos?"
    r"|precision\s+\d+|pprint|xmode\s+\w+"
)
_INSTALLING = re.compile(r"(?:pip|conda|mamba|uv)\b.*")
_TIMING = re.compile(r"(?:time|timeit(?:\s+-[nrpt]\s*\d+|\s+-[qo])*)(?:\s+(?P<code>.*)|$)")
_SHELL_CELL = re.compile(r"%%(?:!|(?:bash|sh|zsh|script|sx|system)\b)")
_SHELL_MAGIC = re.compile(r"\s*(?:sx|system)\s+")
# Other words are code that is run before the cell.
_OPTIONS = re.compile(r"(?:\s+-[nrpt]\s*\d+|\s+-[qo]|\s+--no-(?:stdout|stderr|display))*\s*")


@dataclass(frozen=True, slots=True)
class _Line:
    """A command of IPython from line `at` until line `stop`, and the Python that stands in its place."""

    at: int
    stop: int
    indent: str
    sign: str
    rest: str
    python: str


def _report_cell(code: str, find: Finder, known: Mapping[str, str], cwd: str) -> None:
    first = code.lstrip("\n")
    if first.startswith("%%"):
        blank = code[: len(code) - len(first)].count("\n")
        _cell_magic(first, blank, find, known, cwd)
    elif first[:1] in (" ", "\t"):
        # IPython would take the indentation away from all lines.
        find.doubt("it does not begin like a cell", (1, 0))
    else:
        _report_python(code, find, known, cwd)


def _report_python(code: str, find: Finder, known: Mapping[str, str], cwd: str) -> None:
    if prompt := _PROMPT.search(code):
        find.doubt("it has the prompt of a shell", (code.count("\n", 0, prompt.end()) + 1, 0))
    tree, lines = parsed(code), code.split("\n")
    own = _own_lines(lines) if not isinstance(tree, ast.Module) else []
    if own:
        for line in own:
            _report_line(line, find)
        tree = parsed(_without(lines, own))
        if not _stand_alone(tree, own):
            find.doubt("a command of IPython stands within other code", (own[0].at + 1, 0))
    if not isinstance(tree, ast.Module):
        find.doubt("it is not Python", (tree, 0))
        return
    try:
        find.merge(Reader(Walk(tree), known, cwd).read())
    except TooDeep:
        find.doubt("it is nested too deep to read", (1, 0))


def python_in(code: str) -> ast.Module | None:
    """The tree of a cell without what only IPython understands; None when the rest is no Python."""
    tree = parsed(code)
    if not isinstance(tree, ast.Module):
        lines = code.split("\n")
        tree = parsed(_without(lines, _own_lines(lines)))
    return tree if isinstance(tree, ast.Module) else None


def passing_names(code: str) -> set[str]:
    """Names that a cell only imports or loops with: they say nothing of what it has made."""
    nodes = list(ast.walk(python_in(code) or ast.Module([], [])))
    passing = {node.asname or node.name for node in nodes if isinstance(node, ast.alias)}
    targets = [node.target for node in nodes if isinstance(node, ast.For | ast.AsyncFor)]
    looped = [name for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]
    made = {
        node.id
        for node in nodes
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) and node not in looped
    }
    return (passing | {name.id for name in looped}) - made


def shell_in(code: str) -> list[str]:
    """The scripts in a cell that IPython would give to a shell, also where they may be part of a string."""
    first = code.lstrip("\n")
    head, _, body = first.partition("\n")
    if _SHELL_CELL.match(head):
        return [body]
    own = _own_lines(code.split("\n"))
    magics = [_SHELL_MAGIC.match(line.rest) if line.sign == "%" else None for line in own]
    return [
        line.rest[magic.end() if magic else 0 :]
        for line, magic in zip(own, magics, strict=True)
        if magic or line.sign != "%"
    ]


def commands_in(code: str) -> list[str]:
    """As `shell_in`, with the installers that have a command of IPython's, such as `%pip`."""
    magic = (line.rest for line in _own_lines(code.split("\n")) if line.sign == "%")
    return [*shell_in(code), *filter(_INSTALLING.fullmatch, magic)]


def _own_lines(lines: list[str]) -> list[_Line]:
    """The commands that only IPython understands."""
    found: list[_Line] = []
    at = 0
    while at < len(lines):
        command, start = _COMMAND.fullmatch(lines[at]), at
        at += 1
        if command is None:
            continue
        rest = command["rest"]
        while rest.endswith("\\") and at < len(lines):
            rest = f"{rest[:-1]} {lines[at].strip()}"
            at += 1
        python = f"{command['name']} = None" if command["name"] else "pass"
        timing = _TIMING.fullmatch(rest) if command["sign"] == "%" else None
        if timing and timing["code"]:
            python = f"{command['name']} = ({timing['code']})" if command["name"] else timing["code"]
        found.append(_Line(start, at, command["indent"], command["sign"], rest, python))
    return found


def _without(lines: list[str], own: list[_Line]) -> str:
    """Return a cell with Python in the place of the commands of IPython."""
    replaced = list(lines)
    for line in own:
        replaced[line.at : line.stop] = [f"{line.indent}{line.python}", *[""] * (line.stop - line.at - 1)]
    return "\n".join(replaced)


def _stand_alone(tree: ast.Module | int, own: list[_Line]) -> bool:
    """Return True if a statement at the top begins at each line of IPython, in the Python in its place.

    Only then is it certain that none of them lies within a string, where it would be no command.
    """
    begins = {node.lineno for node in tree.body} if isinstance(tree, ast.Module) else set()
    return all(line.at + 1 in begins and not line.indent for line in own)


def _report_line(line: _Line, find: Finder) -> None:
    if line.sign != "%":
        if _EXPANDED.search(line.rest):
            find.doubt("IPython puts values into a command", (line.at + 1, 0))
        report_script(line.rest, find, line.at + 1)
    elif _INSTALLING.fullmatch(line.rest):
        report_script(line.rest, find, line.at + 1)
    elif not (_HARMLESS_MAGIC.fullmatch(line.rest.strip()) or _TIMING.fullmatch(line.rest)):
        find.doubt(f"`%{line.rest.split()[0] if line.rest.split() else ''}` is not known", (line.at + 1, 0))


def _cell_magic(code: str, blank: int, find: Finder, known: Mapping[str, str], cwd: str) -> None:
    head, _, body = code.partition("\n")
    words = head[2:].split()
    name, arguments = (words[0] if words else ""), words[1:]
    line = blank + 1
    if name in ("bash", "sh", "!") and not arguments:
        report_script(body, find, line + 1)
    elif name in ("writefile", "file") and arguments:
        find.add("writes", arguments[-1], (line, 0))
        if _EXPANDED.search(head):
            find.doubt("IPython puts values into a command", (line, 0))
    elif name in ("time", "timeit", "capture") and _OPTIONS.fullmatch(head[2 + len(name) :]):
        _report_python("\n" * line + body, find, known, cwd)
    elif name not in ("html", "markdown", "latex") or arguments:
        find.doubt(f"`%%{name}` is not known", (line, 0))
