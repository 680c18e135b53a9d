"""The names that the analysis knows: those of the text files in `known/`, and those of a session's runs.

In a file, a line that is not indented begins a block; the indented lines below it list its names. Lines that
begin with `#` are comments. The first lines of each file say what its blocks mean.
"""

import ast
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import cast

from terp.analysis.effects.values import FUNCTION
from terp.events import CodeFinished, CodeProposed, CodeTyped, KernelChanged
from terp.events.effects import EffectKind, Effects
from terp.events.log import EventLog

RECEIVER = -1
NOTHING = -2
"""No argument says what is touched: `what` does."""

_OWNED_SETS = ("unpicklers", "processes", "openers", "archives")
_PLACES = {"receiver": RECEIVER, "-": NOTHING}
# An attribute that is not listed counts as a column of a table, unless its name suggests an effect or leads
# to running code: modules, frames.
_VERBS = tuple(
    str.split("""
        to_ read write save load dump exec run open eval query remove delete unlink rm call system spawn
        popen connect import upload download fetch backend tb_ f_globals f_locals f_builtins f_back f_code
        gi_ cr_ ag_ co_ func_
    """)
)
_LEADS = frozenset(
    str.split("""
        os sys posix nt io builtins subprocess shutil importlib ctypes pickle socket pty runpy tempfile
        glob pathlib parser modules canvas manager posixpath ntpath genericpath codecs
    """)
)
# By the name of a type alone, so only types that nothing but a class of one's own could be mistaken for.
_BUILT_IN = ("int", "float", "complex", "bool", "str", "bytes", "list", "dict", "tuple", "set", "range")
_TYPES = {
    **{name: f"builtins.{name}" for name in _BUILT_IN},
    "DataFrame": "pandas.DataFrame",
    "Series": "pandas.Series",
    "ndarray": "numpy.ndarray",
    "Axes": "matplotlib.axes.Axes",
    "Figure": "matplotlib.figure.Figure",
    "PosixPath": "pathlib.PosixPath",
    "float64": "numpy.float64",
    "int64": "numpy.int64",
}
_GIVEN = {
    "out": "pandas.DataFrame",
    "stdin_data": "builtins.str",
    "stdin_path": "pathlib.PosixPath",
}
"""What terp binds, as what the account takes it for: content, text, and a path that is no address."""

TOOL = "terp.tools"
"""The full name of whatever is a tool of the session: nobody has read what it does."""
SHIPPED = "terp.shipped"
"""Before the name of a tool that terp brings: `known/effects.txt` says what each does."""
SERVERS = "terp.tools.mcp"
"""The full name of what calls the MCP servers of the session."""

Slots = tuple[int | str, ...]
"""Arguments of a call, by position or keyword."""


@dataclass(frozen=True, slots=True)
class EffectRow:
    """One effect of a call: its kind, and the argument that is touched by position and keyword."""

    kind: EffectKind
    argument: int = 0
    keyword: str = ""
    what: str = ""
    optional: bool = False
    """Without the argument, or with None, the call returns the text instead of writing it."""


@dataclass(frozen=True, slots=True)
class PythonNames:
    """Known names of Python: full names such as `os.remove`, or names of methods such as `to_csv`.

    `harmless` and `harmless_methods` only compute. `functions` and `methods` have effects. `calls` and
    `method_calls` call their arguments. `readers` read a file or the address of one, by the keyword of it.
    The sets below name functions that are analysed by rules of their own.
    """

    harmless: frozenset[str]
    harmless_methods: frozenset[str]
    modules: frozenset[str]
    functions: Mapping[str, tuple[EffectRow, ...]]
    methods: Mapping[str, tuple[EffectRow, ...]]
    calls: Mapping[str, Slots]
    method_calls: Mapping[str, Slots]
    readers: Mapping[str, str]
    unpicklers: frozenset[str]
    processes: frozenset[str]
    openers: frozenset[str]
    archives: frozenset[str]
    environments: frozenset[str]
    environment: frozenset[str]
    refused: frozenset[str]
    special: frozenset[str]
    path_only: frozenset[str]
    archive_only: frozenset[str]

    def has(self, path: str) -> bool:
        """Return True if something of this full name is known."""
        return (
            path in self.harmless or path in self.modules or path in self.functions or self._is_special(path)
        )

    def is_harmless_method(self, name: str) -> bool:
        """Return True if calling this method only computes, for receivers of every known type."""
        return name in self.harmless_methods or name in self.archive_only

    def may_be_column(self, name: str) -> bool:
        """Return True if an attribute that is read, and is not listed, may count as plain content."""
        return not name.startswith(("_", *_VERBS)) and name not in _LEADS

    def _is_special(self, path: str) -> bool:
        return (
            path in self.readers
            or path in self.unpicklers
            or path in self.processes
            or path in self.openers
            or path in self.archives
            or path in self.environment
            or path in self.refused
            or path in self.special
        )


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """Rules for the arguments of a command line tool.

    `values` are the letters of options that take the next word; `skip` operands come before the files, such
    as a pattern. `options`, unless None, are the only options known to be harmless, as letters and long
    names. Operands name `files`.
    """

    values: str = ""
    skip: int = 0
    options: str | None = None
    files: bool = True


@dataclass(frozen=True, slots=True)
class ShellTools:
    """Known command line tools by name.

    `installers` map to the words that install and those that only look something up; `transparent` tools run
    the command after so many operands. The sets below are analysed by rules of their own.
    """

    reads: Mapping[str, ToolSpec]
    writes: Mapping[str, ToolSpec]
    deletes: Mapping[str, ToolSpec]
    installers: Mapping[str, tuple[str, str]]
    transparent: Mapping[str, int]
    network: frozenset[str]
    wrappers: frozenset[str]
    git_reads: frozenset[str]
    git_network: frozenset[str]
    git_writes: frozenset[str]
    git_hooks: frozenset[str]
    git_lists: frozenset[str]


@cache
def python_names() -> PythonNames:
    """Return the known names of Python; the first call reads the files."""
    modules = dict(_blocks("harmless.txt"))
    harmless = frozenset(f"{module}.{name}" for module, names in modules.items() for name in names)
    functions: dict[str, tuple[EffectRow, ...]] = {}
    methods: dict[str, tuple[EffectRow, ...]] = {}
    calls: dict[str, Slots] = {}
    method_calls: dict[str, Slots] = {}
    readers: dict[str, str] = {}
    sets: dict[str, frozenset[str]] = {}
    for head, names in _blocks("effects.txt"):
        word, _, fields = head.partition(":")
        match word:
            case "function" | "method":
                rows = tuple(map(_row, filter(None, fields.split(","))))
                (functions if word == "function" else methods).update(dict.fromkeys(names, rows))
            case "calls" | "method calls":
                slots = tuple(int(slot) if slot.isdecimal() else slot for slot in fields.split())
                (calls if word == "calls" else method_calls).update(dict.fromkeys(names, slots))
            case "reader":
                readers.update(dict.fromkeys(names, fields.strip()))
            case _:
                sets[_field(word)] = frozenset(names)
    owned = {
        *functions,
        *readers,
        *sets["unpicklers"],
        *sets["processes"],
        *sets["openers"],
        *sets["archives"],
    }
    owners = {name.rpartition(".")[0] for name in owned} - harmless
    return PythonNames(
        harmless=harmless,
        harmless_methods=frozenset(name for _, names in _blocks("methods.txt") for name in names),
        modules=_with_packages({*modules, *owners} - {"os.environ"}),
        functions=functions,
        methods=methods,
        calls=calls,
        method_calls=method_calls,
        readers=readers,
        **sets,
    )


@cache
def shell_tools() -> ShellTools:
    """Return the known command line tools; the first call reads the file."""
    tools: dict[str, dict[str, ToolSpec]] = {"reads": {}, "writes": {}, "deletes": {}}
    installers: dict[str, tuple[str, str]] = {}
    transparent: dict[str, int] = {}
    sets: dict[str, frozenset[str]] = {}
    for head, names in _blocks("shell.txt"):
        word, _, fields = head.partition(":")
        match word:
            case "reads" | "writes" | "deletes":
                tools[word].update(dict.fromkeys(names, _tool(fields)))
            case "installer":
                installing, _, looking = fields.partition("|")
                words = installing.strip(), looking.strip()
                installers.update((name.replace("+", " "), words) for name in names)
            case "wrapper":
                transparent.update(dict.fromkeys(names, int(fields)))
            case _:
                sets[_field(word)] = frozenset(names)
    return ShellTools(
        reads=tools["reads"],
        writes=tools["writes"],
        deletes=tools["deletes"],
        installers=installers,
        transparent=transparent,
        **sets,
    )


def _blocks(file: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the head and the names of each block of a file."""
    head, names = "", list[str]()
    for line in Path(__file__).with_name("known").joinpath(file).read_text(encoding="utf-8").splitlines():
        if line[:1] == " ":
            names += line.split()
        elif line and line[0] != "#":
            if head:
                yield head, names
            head, names = line, []
    yield head, names


def _field(word: str) -> str:
    return word.replace(" ", "_")


def _row(text: str) -> EffectRow:
    given, _, what = text.partition(" = ")
    kind, place, *more = given.split()
    keyword = next((word for word in more if word != "optional"), "")
    argument = _PLACES[place] if place in _PLACES else int(place)
    return EffectRow(cast("EffectKind", kind), argument, keyword, what.strip(), "optional" in more)


def _tool(text: str) -> ToolSpec:
    fields = [field.split() for field in text.split(",") if field.strip()]
    named = {words[0]: " ".join(words[1:]) for words in fields}
    return ToolSpec(
        named.get("values", ""), int(named.get("skip", 0)), named.get("options"), files="no" not in named
    )


def _with_packages(modules: set[str]) -> frozenset[str]:
    """Return the modules and the packages around them."""
    found = set(modules)
    for name in modules:
        package = name
        while package := package.rpartition(".")[0]:
            found.add(package)
    return frozenset(found)


class SessionNames:
    """Learns from runs of which every part was known, and forgets everything after any other.

    After code that cannot be analysed, any name may have any value.
    """

    def __init__(self, log: EventLog, language: str) -> None:
        self._log = log
        self._language = language
        self._read = log.last
        self._names = dict(_GIVEN) if language == "python" else {}
        self._proposed: dict[str, CodeProposed] = {}

    def known(self) -> Mapping[str, str]:
        """Names with the full name of the module they are, or of the type they are an instance of."""
        for record in self._log.since(self._read):
            self._read = record.number
            match record.event:
                case CodeProposed(call_id=call_id, language=self._language):
                    self._proposed[call_id] = record.event
                case CodeTyped() | KernelChanged(language=self._language, ends_variables=True):
                    self._names.clear()
                case CodeFinished(call_id=call_id):
                    self._ran(self._proposed.pop(call_id, None), record.event)
                case _:
                    pass
        return self._names

    def _ran(self, proposed: CodeProposed | None, finished: CodeFinished) -> None:
        if proposed is None:
            # Code of another language, or of the person's own.
            return
        imported = _imported(proposed.code) if _is_understood(proposed.effects) else None
        if imported is None:
            self._names.clear()
            return
        if proposed.effects.kinds - {"reads"}:
            # What it calls by name may be something else now.
            self._names = {name: path for name, path in self._names.items() if path != FUNCTION.kind}
        first, later = imported
        if finished.status == "ok":
            self._names.update({**first, **later})
            if not proposed.effects.found:
                # The effects of other functions were reported with their cell, and would not be with a call.
                self._names.update(dict.fromkeys(_functions(proposed.code), FUNCTION.kind))
        elif finished.changes:
            # It failed, but not before it had bound something: it got past the imports at its head.
            self._names.update(first)
        for change in finished.changes:
            if change.type == "function" and self._names.get(change.name) == FUNCTION.kind:
                continue
            self._names.pop(change.name, None)
            if change.type in _TYPES:
                self._names[change.name] = _TYPES[change.type]


def _is_understood(effects: Effects) -> bool:
    return "cannot tell" not in effects.kinds


def _imported(code: str) -> tuple[dict[str, str], dict[str, str]] | None:
    """Return the imports at the head of a cell, and those after it; None if the cell defines types."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if any(isinstance(node, ast.ClassDef) for node in ast.walk(tree)):
        return None
    head = list(takewhile(lambda node: isinstance(node, ast.Import), tree.body))
    return _modules(head), _modules(tree.body[len(head) :])


def _functions(code: str) -> set[str]:
    """The functions that a cell defines at its top, and binds nowhere else."""
    tree = ast.parse(code)
    defined = {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef) and not node.decorator_list
    }
    bound = Counter(
        name
        for node in ast.walk(tree)
        for name in (getattr(node, "id", ""), getattr(node, "name", ""), getattr(node, "asname", ""))
        if name in defined and not isinstance(getattr(node, "ctx", None), ast.Load)
    )
    return {name for name in defined if bound[name] == 1}


def _modules(body: Sequence[ast.stmt]) -> dict[str, str]:
    """The modules that statements import, under the names that they get."""
    aliases = (alias for node in body if isinstance(node, ast.Import) for alias in node.names)
    named = ((alias.asname, alias.name, alias.name.partition(".")[0]) for alias in aliases)
    return {own or package: name if own else package for own, name, package in named}
