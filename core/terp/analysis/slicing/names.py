"""The names of the kernel that the expressions of a statement refer to, directly or through functions."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Set

from terp.analysis.effects.known import listed
from terp.analysis.effects.scopes import Binding, Scope, Walk
from terp.text.dataclasses import dataclass, field

PARAMETER = "()"
"""Stands for the value of a parameter, which belongs to the caller."""


@dataclass(frozen=True, slots=True)
class KnownBefore:
    """Facts from earlier statements.

    `modules` are the full names of imports; `plain` functions have no state that could change, and `gentle`
    ones change no arguments; `solid` values are no iterators, `fixed` ones can never change, and `lazy` ones
    create an item when one is looked up. `bound` are all names that have a value by now,
    `later` those that functions use when they are called. `methods` are what classes of the session call
    theirs, `files` the modules that it may have written.
    """

    modules: Mapping[str, str] = field(default_factory=dict)
    plain: Set[str] = frozenset()
    gentle: Set[str] = frozenset()
    solid: Set[str] = frozenset()
    fixed: Set[str] = frozenset()
    lazy: Set[str] = frozenset()
    bound: Set[str] = frozenset()
    later: Mapping[str, Set[str]] = field(default_factory=dict)
    methods: Set[str] = frozenset()
    files: Set[str] = frozenset()


class Names:
    """Reads the names in parts of one statement, of which `walk` knows the scopes."""

    def __init__(self, walk: Walk, known: KnownBefore) -> None:
        self._top = walk.top
        self._scopes = dict(walk.order)
        self._known = known

    def of(self, *nodes: ast.AST) -> set[str]:
        """Return the global names in expressions; for a module, its state."""
        return set(self._in(nodes, set()))

    def shared(self, value: ast.AST) -> set[str]:
        """Return the names whose values may share a part with a value."""
        return set(self._shared(value, set()))

    def is_global(self, name: str, scope: Scope) -> bool:
        """Return True if a name is global, as seen from a scope."""
        found = scope.find(name)
        return found is None or found[0] is self._top

    def is_builtin(self, name: str, node: ast.AST) -> bool:
        """Return True if a name is still the builtin."""
        return self._scope_of(node).find(name) is None and name not in self._known.bound

    def runs_at_once(self, node: ast.AST) -> bool:
        """Return True if a node runs in place, not when a function is called."""
        return self._scope_of(node).runs_at_once

    def state(self, name: str) -> Iterator[str]:
        """Return the module whose state a global name stands for."""
        if module := self._known.modules.get(name):
            yield top_of(module)

    def path(self, func: ast.expr) -> tuple[list[str], str]:
        """Return a function's path of attributes in its module, and the module; "" for any other function."""
        names: list[str] = []
        while isinstance(func, ast.Attribute):
            names.insert(0, func.attr)
            func = func.value
        if isinstance(func, ast.Name) and self.is_global(func.id, self._scope_of(func)):
            module = self._known.modules.get(func.id, "")
            return [*module.split(".")[1:], *names], module
        return names, ""

    def _scope_of(self, node: ast.AST) -> Scope:
        return self._scopes.get(node, self._top)

    def _in(self, nodes: Iterable[ast.AST], seen: set[object]) -> Iterator[str]:
        for node in (part for one in nodes for part in ast.walk(one)):
            match node:
                case ast.Name(id=name):
                    yield from self._name(name, self._scope_of(node), seen)
                case ast.Call(func=ast.Name(id=name)) if self.is_global(name, self._scope_of(node)):
                    # What a function gives may be what it uses.
                    yield from reached(self._known.later.get(name, ()), self._known.later)
                case ast.Attribute() if listed("searched", *self.path(node)[0]):
                    yield from ["<sys.path>"] if self.path(node)[1].startswith("sys") else []

    def _name(self, name: str, scope: Scope, seen: set[object]) -> Iterator[str]:
        found = scope.find(name)
        if found is None or found[0] is self._top:
            module = self._known.modules.get(name)
            yield f"<{top_of(module)}>" if module else name
        elif (found[0], name) not in seen:
            seen.add((found[0], name))
            for binding in found[1]:
                yield from self._bound(name, binding, found[0], seen)

    def _bound(self, name: str, binding: Binding, scope: Scope, seen: set[object]) -> Iterator[str]:
        """Yield the global names that a local name of a function, class or comprehension refers to."""
        if binding.how == "self" or (binding.node is None and name in _parameters(scope.owner)):
            yield PARAMETER
        elif binding.how == "value" and binding.node is not None:
            yield from self._shared(binding.node, seen)
        elif node := binding.node or scope.owner:
            yield from self._in([node], seen) if node not in seen else ()
            seen.add(node)

    def _shared(self, value: ast.AST, seen: set[object]) -> Iterator[str]:
        known = self._known
        found: Iterable[str]
        match value:
            case ast.Constant() | ast.JoinedStr() | ast.Compare() | ast.UnaryOp(op=ast.Not()):
                return
            case ast.Lambda(args=arguments):
                # What it uses is used when it is called; what its parameters are by default belongs to it.
                defaults = [*arguments.defaults, *filter(None, arguments.kw_defaults)]
                found = self._in(defaults, seen)
            case ast.Call(func=ast.Name(id=name)) if listed("fresh", name) and self.is_builtin(name, value):
                return
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords) if name in known.plain:
                given = self._in([*arguments, *(keyword.value for keyword in keywords)], seen)
                found = {*given, *reached(known.later.get(name, ()), known.later)} - known.plain
            case _:
                found = self._in([value], seen)
        yield from (name for name in found if name not in known.fixed)


def reached(names: Iterable[str], later: Mapping[str, Set[str]]) -> set[str]:
    """Return names, and those that functions among them use when called."""
    found, left = set(names), list(names)
    while left:
        more = later.get(left.pop(), frozenset()) - found
        found |= more
        left += more
    return found


def top_of(module: str) -> str:
    """Return the module that holds the state of one of its parts."""
    return "numpy.random" if module.startswith("numpy.random") else module.partition(".")[0]


def _parameters(owner: ast.AST | None) -> set[str]:
    if not isinstance(owner, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        return set()
    return {one.arg for one in ast.walk(owner.args) if isinstance(one, ast.arg)}
