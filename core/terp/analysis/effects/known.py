"""The names that the analysis knows: those of the text files in `known/`, and those of a session's runs.

In a file, a line that is not indented begins a block; the indented lines below it list its names. Lines that
begin with `#` are comments. The first lines of each file say what its blocks mean.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from itertools import takewhile
from pathlib import Path
from typing import cast

from terp.analysis.effects.scopes import Walk, imported_modules, parsed
from terp.events import CodeFinished, CodeProposed, CodeTyped, KernelChanged
from terp.events.effects import EffectKind
from terp.events.log import EventLog
from terp.text.dataclasses import dataclass

RECEIVER = -1
NOTHING = -2
"""No argument says what is touched: `what` does."""

_PLACES = {"receiver": RECEIVER, "-": NOTHING}
# Sets of functions whose modules need no block of their own, and of those that rules of their own analyse.
_OWNED = ("unpicklers", "processes", "openers", "archives")
_FUNCTIONS = (*_OWNED, "environment", "refused", "special")
_GIVEN = {"out": "pandas.DataFrame", "stdin_data": "builtins.str", "stdin_path": "pathlib.PosixPath"}
"""The names that terp binds, with the types that the account takes them for: a path is no address."""

TOOL = "terp.tools"
"""The full name of whatever is a tool of the session: nobody has read what it does."""
SHIPPED = "terp.shipped"
"""Before the name of a tool that terp brings: `known/effects.txt` says what each does."""
UNKNOWN = ""
"""The full name of something that hides a builtin."""
OWN_FUNCTION = "function"
"""The full name of a function of the session that only computes."""
SERVERS = "terp.tools.mcp"
"""The full name of what calls the MCP servers of the session."""

Bound = Mapping[str, tuple[str, str]]
"""Names with the package and the class of their value; of a module with its full name and ""."""
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

    `harmless` and `harmless_methods` only compute. `functions` and `methods` have effects, and call the
    arguments that `calls` has of them. `readers` read a file or the address of one, by the keyword of it.
    `results` are kinds of objects that functions return; `addresses` are arguments that may be addresses.
    `sets` are names for rules of their own, by the head of their block.
    """

    harmless: frozenset[str]
    harmless_methods: frozenset[str]
    modules: frozenset[str]
    functions: Mapping[str, tuple[EffectRow, ...]]
    methods: Mapping[str, tuple[EffectRow, ...]]
    calls: Mapping[str, Slots]
    readers: Mapping[str, str]
    results: Mapping[str, str]
    addresses: Mapping[str, Slots]
    sets: Mapping[str, frozenset[str]]

    def has(self, path: str) -> bool:
        """Return True if something of this full name is known."""
        tables = (self.harmless, self.modules, self.functions, self.readers)
        return any(path in table for table in tables) or any(path in self.sets[name] for name in _FUNCTIONS)

    def may_be_column(self, name: str) -> bool:
        """Return True if an attribute that is read, and is not listed, may count as plain content."""
        return not name.startswith(("_", *self.sets["verbs"])) and name not in self.sets["leads"]


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """The effect of a command line tool: its operands are of `kind`, the last of several of `last`.

    `values` are the letters and names of options that take a value; `skip` operands come before the files,
    such as a pattern. `options`, unless None, are the only other options; a tool without them does no harm
    whatever its words are. Operands name `files`.
    """

    kind: EffectKind = "reads"
    last: EffectKind = "reads"
    values: frozenset[str] = frozenset()
    skip: int = 0
    options: frozenset[str] | None = None
    files: bool = True


@dataclass(frozen=True, slots=True)
class ShellTools:
    """Known command line tools by name.

    `installers` map to the words that install and those that only look something up; `transparent` tools run
    the command after so many operands; `evaluating` ones take names, numbers and options of these letters.
    `sets` are for rules of their own.
    """

    programs: Mapping[str, ToolSpec]
    installers: Mapping[str, tuple[str, str]]
    transparent: Mapping[str, int]
    evaluating: Mapping[str, str]
    sets: Mapping[str, frozenset[str]]

    def rules(self, name: str) -> bool:
        """Return True if a variable of this name decides what the shell or programs do."""
        rulers = self.sets["ruling"]
        return name in rulers or any(f"{name[:end]}*" in rulers for end in range(1, len(name) + 1))


@cache
def python_names() -> PythonNames:
    """Return the known names of Python; the first call reads the files."""
    modules = dict(_blocks("harmless.txt"))
    harmless = frozenset(f"{module}.{name}" for module, names in modules.items() for name in names)
    tables, sets = _tables("effects.txt", "words.txt")
    functions, readers = tables["function"], tables["reader"]
    owned = {*functions, *readers, *(one for name in _OWNED for one in sets[name])}
    owners = {name.rpartition(".")[0] for name in owned} - harmless
    return PythonNames(
        harmless=harmless,
        harmless_methods=frozenset(name for _, names in _blocks("methods.txt") for name in names),
        modules=_with_packages({*modules, *owners} - {"os.environ"}),
        functions={name: _rows(fields) for name, fields in functions.items()},
        methods={name: _rows(fields) for name, fields in tables["method"].items()},
        calls={name: _slots(fields) for name, fields in tables["calls"].items()},
        readers=readers,
        results=tables["result"],
        addresses={name: _slots(fields) for name, fields in tables["address"].items()},
        sets=sets,
    )


@cache
def shell_tools() -> ShellTools:
    """Return the known command line tools; the first call reads the file."""
    tables, sets = _tables("shell.txt")
    installers, wrappers, evaluating = (tables.pop(word) for word in ("installer", "wrapper", "evaluating"))
    return ShellTools(
        {name: _tool(kinds, fields) for kinds, table in tables.items() for name, fields in table.items()},
        {name.replace("+", " "): fields.partition("|")[::2] for name, fields in installers.items()},
        {name: int(count) for name, count in wrappers.items()},
        evaluating,
        sets,
    )


@cache
def slice_names() -> Mapping[str, frozenset[str]]:
    """Return the sets of names by which slices are cut; the first call reads the file."""
    sets: dict[str, frozenset[str]] = {}
    for head, names in _blocks("slices.txt"):
        name, *others = head.split(" + ")
        sets[name] = frozenset(names).union(*(sets[other] for other in others))
    return sets


def listed(kind: str, *names: str) -> bool:
    """Return True if one of these names is in a set by which slices are cut."""
    return not slice_names()[kind].isdisjoint(names)


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


def _tables(*files: str) -> tuple[dict[str, dict[str, str]], dict[str, frozenset[str]]]:
    """Return the fields of names by the word of their block, and the blocks without fields as sets."""
    tables: dict[str, dict[str, str]] = defaultdict(dict)
    sets: dict[str, frozenset[str]] = {}
    for head, names in (block for file in files for block in _blocks(file)):
        word, sign, fields = head.partition(":")
        if sign:
            tables[word].update(dict.fromkeys(names, fields.strip()))
        else:
            sets[word] = frozenset(names)
    return tables, sets


def _rows(fields: str) -> tuple[EffectRow, ...]:
    return tuple(map(_row, filter(None, fields.split(","))))


def _row(text: str) -> EffectRow:
    given, _, what = text.partition(" = ")
    kind, place, *more = given.split()
    keyword = next((word for word in more if word != "optional"), "")
    argument = _PLACES[place] if place in _PLACES else int(place)
    return EffectRow(cast("EffectKind", kind), argument, keyword, what.strip(), "optional" in more)


def _slots(fields: str) -> Slots:
    return tuple(int(slot) if slot.isdecimal() else slot for slot in fields.split())


def _tool(kinds: str, text: str) -> ToolSpec:
    kind, _, last = kinds.partition("+")
    fields = (field.split() for field in text.split(","))
    named = {words[0]: frozenset(words[1:]) for words in fields if words}
    return ToolSpec(
        cast("EffectKind", kind),
        cast("EffectKind", last or kind),
        named.get("values", frozenset()),
        int(*named.get("skip", ["0"])),
        named.get("options"),
        files="no" not in named,
    )


def _with_packages(modules: set[str]) -> frozenset[str]:
    """Return the modules and the packages around them."""
    return frozenset(name.rsplit(".", cut)[0] for name in modules for cut in range(name.count(".") + 1))


class SessionNames:
    """Learns from runs of which every part was known, and forgets everything after any other.

    After code that cannot be analysed, any name may have any value.
    """

    def __init__(self, log: EventLog, language: str) -> None:
        self._log = log
        self._language = language
        self._read = log.last
        self._names = dict(_GIVEN) if language == "python" else {}
        self._lasting: dict[str, str] = {}
        self._proposed: dict[str, CodeProposed] = {}

    def known(self) -> Mapping[str, str]:
        """Names with the full name of the module they are, or of the type they are an instance of.

        A key that is no name stands for a module that something was imported from.
        """
        for record in self._log.since(self._read):
            self._read = record.number
            match record.event:
                case CodeProposed(call_id=call_id, language=self._language):
                    self._proposed[call_id] = record.event
                case KernelChanged(language=self._language, ends_variables=True):
                    self._names.clear()
                    self._lasting.clear()
                case CodeTyped():
                    self._names.clear()
                case CodeFinished(call_id=call_id):
                    self._ran(self._proposed.pop(call_id, None), record.event)
                case _:
                    pass
        return {**self._names, **self._lasting}

    def learn(self, bound: Bound) -> None:
        """Take the names that the kernel has now in place of those known from runs."""
        self.known()
        paths = python_names()
        known = {(path.partition(".")[0], path.rpartition(".")[2]): path for path in paths.sets["types"]}
        now = {name: known.get(row, "" if row[1] else row[0]) for name, row in bound.items()}
        self._names = {name: path for name, path in {**_GIVEN, **now}.items() if path}
        self._lasting |= {name: UNKNOWN for name in bound if paths.has(f"builtins.{name}")}

    def _ran(self, proposed: CodeProposed | None, finished: CodeFinished) -> None:
        if proposed is None:
            # Code of another language, or of the user's own.
            return
        # Whatever code it was: a builtin that is hidden is not known, and what was imported may be in use.
        self._lasting.update(
            {one.name: UNKNOWN for one in finished.changes if python_names().has(f"builtins.{one.name}")}
        )
        tree = parsed(proposed.code)
        nodes = list(ast.walk(tree)) if isinstance(tree, ast.Module) else []
        sources = (node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module)
        self._lasting.update((f"from {module}", module) for module in sources)
        defines_types = any(isinstance(node, ast.ClassDef) for node in nodes)
        if not isinstance(tree, ast.Module) or defines_types or "cannot tell" in proposed.effects.kinds:
            self._names.clear()
            return
        if proposed.effects.kinds - {"reads"}:
            # What it calls by name may be something else now.
            self._names = {name: path for name, path in self._names.items() if path != OWN_FUNCTION}
        if finished.status == "ok":
            self._names.update(imported_modules(tree.body))
            if not proposed.effects.found:
                # The effects of other functions were reported with their cell, and would not be with a call.
                self._names.update(dict.fromkeys(_functions(tree), OWN_FUNCTION))
        elif finished.changes:
            # It failed, but not before it had bound something: it got past the imports at its head.
            self._names.update(
                imported_modules([*takewhile(lambda node: isinstance(node, ast.Import), tree.body)])
            )
        for change in finished.changes:
            if change.type == "function" and self._names.get(change.name) == OWN_FUNCTION:
                continue
            self._names.pop(change.name, None)
            # By the name of a type alone, so only types that no class of one's own could be mistaken for.
            known = (path for path in python_names().sets["types"] if path.endswith(f".{change.type}"))
            self._names.update((change.name, path) for path in known)


def _functions(tree: ast.Module) -> set[str]:
    """The functions that a cell defines at its top, and binds nowhere else."""
    only = {name: one[0].node for name, one in Walk(tree).top.names.items() if len(one) == 1}
    return {
        name for name, made in only.items() if isinstance(made, ast.FunctionDef) and not made.decorator_list
    }
