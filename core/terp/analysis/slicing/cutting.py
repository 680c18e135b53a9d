"""The cells that have made a value: the slice back from a name, over all cells that ran."""

import ast
import re
from collections.abc import Iterable, Sequence, Set
from contextlib import suppress

from terp.analysis.effects.cells import effects_of, python_in, shell_in
from terp.analysis.effects.known import slice_names
from terp.analysis.effects.scopes import TooDeep, Walk, parsed
from terp.analysis.slicing.account import StatementAccount, account
from terp.analysis.slicing.names import KnownBefore, reached
from terp.text.dataclasses import dataclass

WORLD = "<files>"
"""Everything outside the kernel, as one name: cells that change it precede cells that read it."""

_OUTSIDE = frozenset({"writes", "deletes", "network", "subprocess", "installs"})
_READING = _OUTSIDE | {"reads"}


@dataclass(frozen=True, slots=True)
class Source:
    """Code that ran; `ended` is False if it raised: then only a part of it may have run."""

    code: str
    language: str = "python"
    ended: bool = True


@dataclass(frozen=True, slots=True)
class KeptCell:
    """A cell of a slice, by its index: the `names` it is kept for, or `why` it cannot be analysed."""

    index: int
    names: tuple[str, ...] = ()
    why: str = ""


def slice_of(cells: Sequence[Source], wanted: Iterable[str], also: Set[int] = frozenset()) -> list[KeptCell]:
    """Return the cells that the present values of names depend on, and those at `also`, in order.

    Cells that cannot be analysed are kept, and all before them that they could depend on. What may change is
    taken to be changed. An iterator that has no name, as one in a list, is not seen to be used up, nor is
    what `__del__` does.
    """
    reading = _Reading(*_session(cells))
    accounts = [reading.cell(cell) for cell in cells]
    live, everything = set(wanted), False
    kept: list[KeptCell] = []
    for index in range(len(cells) - 1, -1, -1):
        one = accounts[index]
        touched = one.binds | one.may_bind | one.changes
        names = (touched & live) if not everything else touched
        needed = index in also or one.opaque or (everything and cells[index].code.strip())
        if not (names or needed):
            continue
        kept.append(KeptCell(index, tuple(sorted(name for name in names if name[0] != "<")), one.opaque))
        everything = everything or one.needs_all
        live = (live - one.binds) | one.uses
    return kept[::-1]


_KINDS = ("plain", "gentle", "solid", "fixed", "lazy")
_FILE = re.compile(r"\b(\w+)\.py\b")


def _session(cells: Sequence[Source]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the methods that classes of the session define, and the modules it may have written."""
    trees = (python_in(_body(cell.code)) for cell in cells if cell.language == "python")
    methods: set[str] = set()
    for tree in filter(None, trees):
        with suppress(TooDeep):
            walk = Walk(tree)
            # What is stored in an attribute may be a function.
            methods |= walk.methods | walk.stored
    return frozenset(methods), frozenset(name for cell in cells for name in _FILE.findall(cell.code))


class _Reading:
    """Reads the cells in order; tracks the names whose values may share a part."""

    def __init__(self, methods: Set[str], files: Set[str]) -> None:
        self._methods = methods
        self._files = files
        self._modules: dict[str, str] = {}
        # What is known of the present value of a name, by what it is called in an account.
        self._kinds: dict[str, set[str]] = {kind: set() for kind in _KINDS}
        self._later: dict[str, set[str]] = {}
        self._later_changes: dict[str, set[str]] = {}
        self._node: dict[str, int] = {}
        self._parents: list[int] = []

    def cell(self, cell: Source) -> StatementAccount:
        """Return the account of the next cell."""
        result = StatementAccount()
        tree = python_in(_body(cell.code)) if cell.language == "python" else None
        self._outside(cell, tree, result)
        if cell.language != "python":
            result.opaque = f"it is {cell.language}" if WORLD in result.changes else ""
            return result
        if tree is None:
            return self._all_of(result, "it is not Python alone")
        if not isinstance(parsed(_body(cell.code)), ast.Module) or cell.code.lstrip().startswith("%%"):
            result.opaque = "it has commands of IPython"
            result.uses |= {name for name in self._node if name in cell.code}
        for statement in tree.body:
            try:
                one = account(statement, self._known())
            except TooDeep:
                return self._all_of(result, "it is nested too deep to read")
            self._statement(one, result, ended=cell.ended)
            if one.opaque:
                return self._all_of(result, one.opaque)
        if WORLD in result.changes | result.uses:
            for name in result.binds | result.may_bind:
                self._later.setdefault(name, set()).update(result.uses & {WORLD})
                self._later_changes.setdefault(name, set()).update(result.changes & {WORLD})
        return result

    def _outside(self, cell: Source, tree: ast.Module | None, result: StatementAccount) -> None:
        kinds = effects_of(cell.language, cell.code).kinds
        # Python that can be parsed is judged by its names, not by "cannot tell".
        unread = "cannot tell" in kinds and (cell.language != "python" or tree is None or shell_in(cell.code))
        if kinds & _OUTSIDE or unread:
            result.changes.add(WORLD)
        if kinds & _READING or unread:
            result.uses.add(WORLD)

    def _all_of(self, result: StatementAccount, why: str) -> StatementAccount:
        """Return the account of a cell after which any name may have any value."""
        result.opaque, result.needs_all = why, True
        result.uses |= set(self._node) | {WORLD}
        result.changes |= set(self._node) | {WORLD}
        self._join(self._node)
        for names in self._kinds.values():
            names.clear()
        everything = set(self._node)
        self._later = dict.fromkeys(everything, everything)
        self._later_changes = dict.fromkeys(everything, everything)
        return result

    def _known(self) -> KnownBefore:
        return KnownBefore(
            modules=self._modules,
            bound=self._node.keys(),
            later=self._later,
            methods=self._methods,
            files=self._files,
            **self._kinds,
        )

    def _statement(self, one: StatementAccount, result: StatementAccount, *, ended: bool) -> None:
        if not ended:
            one.may_bind, one.binds = one.may_bind | one.binds, set()
        uses = reached(one.uses, self._later)
        changes = one.changes | (reached(one.uses, self._later_changes) - one.uses)
        changes |= {name for used in one.uses for name in self._later_changes.get(used, ())}
        alike = self._alike(changes)
        # How a value of these modules looks depends on their options at that time.
        carried = {f"<{module}>" for module in slice_names()["calm modules"]}
        later, later_changes = one.later | (one.uses & carried), set(one.later_changes)
        for name in one.uses | one.later:
            later |= self._later.get(name, set())
            later_changes |= self._later_changes.get(name, set())
        self._bind(one, reached(one.shared, self._later), later, later_changes)
        # What a loop binds, and then changes, is a part of what it goes through.
        alike |= self._alike(changes & (one.binds | one.may_bind)) - one.binds
        result.uses |= (uses | alike) - result.binds
        result.changes |= changes | alike
        self._join(changes | one.shared if changes else ())
        result.binds |= one.binds
        result.may_bind |= one.may_bind

    def _bind(
        self, one: StatementAccount, shared: Set[str], later: set[str], later_changes: set[str]
    ) -> None:
        for name in one.binds | one.may_bind:
            old = self._node.get(name)
            known = {*shared} & self._node.keys()
            node = len(self._parents)
            self._parents.append(node)
            for other in known:
                self._unite(node, self._node[other])
            unsure = name in one.may_bind and old is not None
            if unsure and old is not None:
                self._unite(node, old)
                later = later | self._later.get(name, set())
                later_changes = later_changes | self._later_changes.get(name, set())
            self._node[name] = node
            self._later[name], self._later_changes[name] = set(later), set(later_changes)
            module = one.modules.get(name, "")
            if self._modules.get(name) != module:
                self._modules.pop(name, None)
                self._modules.update({name: module} if module and not unsure else {})
            for kind, names in self._kinds.items():
                # All but one of these say what a value surely is.
                may = unsure and kind == "lazy"
                names.difference_update(() if may else {name})
                names.update(getattr(one, kind) & {name} if may or not unsure else ())
        # What is bound together, in one statement, may be one thing.
        self._join(one.binds | one.may_bind if one.shared or one.together else ())

    def _alike(self, names: Set[str]) -> set[str]:
        """Return the names whose values may share a part with those of `names`."""
        roots = {self._root(self._node[name]) for name in names if name in self._node}
        return {name for name, node in self._node.items() if self._root(node) in roots}

    def _join(self, names: Iterable[str]) -> None:
        nodes = [self._node[name] for name in names if name in self._node and name not in self._modules]
        for node in nodes[1:]:
            self._unite(nodes[0], node)

    def _unite(self, one: int, other: int) -> None:
        self._parents[self._root(one)] = self._root(other)

    def _root(self, node: int) -> int:
        while self._parents[node] != node:
            self._parents[node] = node = self._parents[self._parents[node]]
        return node


def _body(code: str) -> str:
    """Return a cell without a first line such as `%%time`, which runs Python in the kernel itself."""
    first, _, rest = code.lstrip("\n").partition("\n")
    words = first.removeprefix("%%").split()
    return rest if first.startswith("%%") and words[:1] in (["time"], ["timeit"], ["capture"]) else code
