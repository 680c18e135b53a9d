"""What one statement of a cell does with the names of the kernel: binds, uses, changes, leaves for later."""

import ast
from collections.abc import Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field

from terp.effects.scopes import Scope, Walk
from terp.slicing.known import (
    CALM_MODULES,
    CANNOT_BE_TOLD,
    CHANGES_ARGUMENTS,
    FRESH,
    KIND_METHODS,
    KIND_MODULES,
    NO_ITERATOR,
    NOT_CALM,
    PURE_METHODS,
    READING,
)


@dataclass(frozen=True, slots=True)
class Known:
    """What the statements before have told.

    `modules` are the full names of imports; `plain` functions have nothing of their own to be changed;
    what is `solid` is no iterator. `bound` are all names that have a value by now.
    """

    modules: Mapping[str, str] = field(default_factory=dict)
    plain: Set[str] = frozenset()
    solid: Set[str] = frozenset()
    bound: Set[str] = frozenset()


@dataclass(slots=True)
class Account:
    """What one statement does.

    `binds` are names that surely have a new value after it, `may_bind` those that may; `uses` are read now,
    `later` when a function made here is called, `later_changes` changed then. `changes` may have been changed
    in place; `shared` are names with which the value that is bound, or what was changed, may share a part.
    A module stands for its state, as `<numpy>`. `opaque` says why nothing can be told, "" where it can.
    """

    binds: set[str] = field(default_factory=set)
    may_bind: set[str] = field(default_factory=set)
    uses: set[str] = field(default_factory=set)
    changes: set[str] = field(default_factory=set)
    later: set[str] = field(default_factory=set)
    later_changes: set[str] = field(default_factory=set)
    shared: set[str] = field(default_factory=set)
    modules: dict[str, str] = field(default_factory=dict)
    plain: set[str] = field(default_factory=set)
    solid: set[str] = field(default_factory=set)
    opaque: str = ""


def account(statement: ast.stmt, known: Known) -> Account:
    """The account of one statement at the top of a cell.

    Raises:
        TooDeep: it is nested too deep to read.
    """
    return _Reader(statement, known).read()


class _Reader:
    def __init__(self, statement: ast.stmt, known: Known) -> None:
        self._statement = statement
        self._known = known
        self._walk = Walk(ast.Module([statement], []))
        self._scopes = dict(self._walk.order)
        self._account = Account()

    def read(self) -> Account:
        for node, scope in self._walk.order:
            self._node(node, scope)
        told = self._account
        told.binds, told.modules = _surely_bound(self._statement), _modules(self._statement)
        told.may_bind = set(self._walk.top.names) - told.binds
        if getattr(self._statement, "decorator_list", True):
            # A lambda may be called where it stands, and what is decorated as well.
            told.uses |= told.later
            told.changes |= told.later_changes
        self._values()
        if told.changes:
            told.shared |= {name for name in told.uses if not name.startswith("<")}
        return told

    def _values(self) -> None:
        """What the statement binds, and with what that may share a part."""
        told = self._account
        match self._statement:
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                told.shared |= self._shared(value)
                told.solid = told.binds if self._is_solid(value) else set()
                if isinstance(self._statement, ast.Assign) and any(
                    isinstance(target, ast.Tuple | ast.List) for target in self._statement.targets
                ):
                    told.solid = set()
                    told.changes |= self._taken_from(value)
            case ast.FunctionDef(name=name, args=args, decorator_list=[]) if _constant_defaults(args):
                told.plain = {name}
            case ast.Import() | ast.ImportFrom():
                pass
            case _:
                told.shared |= told.uses | told.later
        told.shared = {name for name in told.shared if not name.startswith("<")}

    def _node(self, node: ast.AST, scope: Scope) -> None:
        told = self._account
        uses, changes = (told.uses, told.changes) if scope.runs_at_once else (told.later, told.later_changes)
        match node:
            case ast.Name(id=name) if self._is_global(name, scope):
                self._name(node, scope, uses, changes)
            case ast.Call():
                changes |= self._called(node)
                uses |= self._states(node)
            case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                changes |= self._names(node.value)
            case ast.AugAssign(target=target):
                changes |= self._names(target)
                uses |= self._names(target)
            case ast.withitem(context_expr=context):
                changes |= self._names(context)
            case ast.ImportFrom(names=[ast.alias(name="*")]):
                told.opaque = "it imports *"
            case ast.GeneratorExp(generators=parts):
                # It runs when it is gone through.
                told.later |= self._names(node)
                told.later_changes |= {name for part in parts for name in self._taken_from(part.iter)}
            case _:
                changes |= {name for source in _gone_through(node) for name in self._taken_from(source)}

    def _name(self, node: ast.Name, scope: Scope, uses: set[str], changes: set[str]) -> None:
        if isinstance(node.ctx, ast.Load | ast.Del):
            if node.id in CANNOT_BE_TOLD and scope.find(node.id) is None:
                self._account.opaque = f"it calls {node.id}"
            uses.add(node.id)
            uses |= {f"<{state}>" for state in self._state(node.id)}
        elif not scope.runs_at_once:
            # A function that binds a global name does so when it is called.
            changes.add(node.id)

    def _is_global(self, name: str, scope: Scope) -> bool:
        found = scope.find(name)
        return found is None or found[0] is self._walk.top

    def _names(self, *nodes: ast.AST) -> set[str]:
        """The global names in expressions; of a module, its state."""
        found: set[str] = set()
        for node in (part for one in nodes for part in ast.walk(one)):
            if isinstance(node, ast.Name) and self._is_global(node.id, self._scope_of(node)):
                module = self._known.modules.get(node.id)
                found.add(f"<{_top(module)}>" if module else node.id)
        return found

    def _scope_of(self, node: ast.AST) -> Scope:
        return self._scopes.get(node, self._walk.top)

    def _state(self, name: str) -> Iterator[str]:
        if module := self._known.modules.get(name):
            yield _top(module)

    def _states(self, call: ast.Call) -> set[str]:
        """States of modules that a call may read besides that of the one it is of: of random numbers."""
        names, module = self._path(call.func)
        if not module or (_top(module) in CALM_MODULES and not NOT_CALM & {*names}):
            return set()
        return {"<random>", "<numpy.random>"}

    def _called(self, call: ast.Call) -> set[str]:
        """What a call may change."""
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        match call.func:
            case ast.Name(id=name) if name in READING and self._is_builtin(name, call):
                taken = set() if name in FRESH - {"all", "any"} else set(arguments)
                return {one for argument in taken for one in self._taken_from(argument)}
            case ast.Name(id=name) if name not in self._known.modules:
                return self._given(arguments) | ({name} - self._known.plain - {"next"})
        names, module = self._path(call.func)
        if module:
            return self._of_module(names, module, arguments)
        if not isinstance(call.func, ast.Attribute):
            return self._names(call.func) | self._given(arguments)
        told = any(keyword.arg in ("inplace", "out", "copy", None) for keyword in call.keywords)
        attribute, owner = call.func.attr, call.func.value
        changed = set() if attribute in PURE_METHODS and not told else self._names(owner)
        if attribute in KIND_METHODS and not told:
            return changed | {one for argument in arguments for one in self._taken_from(argument)}
        return changed | self._given(arguments)

    def _of_module(self, names: list[str], module: str, arguments: list[ast.expr]) -> set[str]:
        top = _top(module)
        calm = top in CALM_MODULES and not NOT_CALM & {*names}
        changed = set() if calm else {f"<{top}>"}
        if "random" in (top, *names):
            changed = {"<random>" if top == "random" else "<numpy.random>"}
        if top in KIND_MODULES and not CHANGES_ARGUMENTS & {*names}:
            return changed | {one for argument in arguments for one in self._taken_from(argument)}
        return changed | self._given(arguments)

    def _given(self, arguments: Iterable[ast.expr]) -> set[str]:
        """What a function can change of what it is given; not what was made for it alone."""
        return {name for argument in arguments for name in self._shared(argument)}

    def _path(self, func: ast.expr) -> tuple[list[str], str]:
        """The attributes behind the module that a function is of, and the module; "" for another function."""
        names: list[str] = []
        while isinstance(func, ast.Attribute):
            names.insert(0, func.attr)
            func = func.value
        if isinstance(func, ast.Name) and self._is_global(func.id, self._scope_of(func)):
            module = self._known.modules.get(func.id, "")
            return [*module.split(".")[1:], *names], module
        return names, ""

    def _is_builtin(self, name: str, node: ast.AST) -> bool:
        return self._scope_of(node).find(name) is None and name not in self._known.bound

    def _taken_from(self, source: ast.expr) -> set[str]:
        """The names that going through a value may use up: those that may be iterators."""
        if isinstance(source, ast.Name):
            return self._names(source) - self._known.solid
        if isinstance(source, ast.Tuple | ast.List):
            return set()
        if isinstance(source, ast.Starred):
            return self._taken_from(source.value)
        return set()

    def _is_solid(self, value: ast.expr) -> bool:
        """Whether a value can be gone through more than once."""
        match value:
            case ast.Name(id=name):
                return name in self._known.solid
            case ast.Call(func=ast.Name(id=name)):
                return name in NO_ITERATOR and self._is_builtin(name, value)
            case ast.Call(func=ast.Attribute(attr=attribute) as func):
                module = self._path(func)[1]
                return _top(module) in ("numpy", "pandas") if module else attribute in PURE_METHODS
        solid = (ast.Constant, ast.JoinedStr, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Compare, ast.BinOp)
        return isinstance(value, (*solid, ast.ListComp, ast.SetComp, ast.DictComp, ast.UnaryOp))

    def _shared(self, value: ast.expr) -> set[str]:
        """The names with which a value may share a part."""
        match value:
            case ast.Constant() | ast.JoinedStr() | ast.Compare() | ast.Lambda() | ast.UnaryOp(op=ast.Not()):
                return set()
            case ast.Call(func=ast.Name(id=name)) if name in FRESH and self._is_builtin(name, value):
                return set()
            case ast.Call(func=ast.Name(id=name), args=arguments, keywords=keywords):
                given = self._names(*arguments, *(keyword.value for keyword in keywords))
                return given if name in self._known.plain else given | {name}
        return self._names(value)


def _gone_through(node: ast.AST) -> Iterator[ast.expr]:
    """The values that a node goes through: what an iterator has is used up by it."""
    match node:
        case ast.For(iter=source) | ast.AsyncFor(iter=source) | ast.YieldFrom(value=source):
            yield source
        case ast.ListComp(generators=parts) | ast.SetComp(generators=parts) | ast.DictComp(generators=parts):
            yield from (part.iter for part in parts)
        case ast.Starred(value=source, ctx=ast.Load()) | ast.Await(value=source):
            yield source
        case ast.Compare(ops=ops, comparators=sources):
            tested = zip(ops, sources, strict=True)
            yield from (source for op, source in tested if isinstance(op, ast.In | ast.NotIn))


def _top(module: str) -> str:
    return "numpy.random" if module.startswith("numpy.random") else module.partition(".")[0]


def _surely_bound(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            return {name for target in targets for name in _targets(target)}
        case ast.AnnAssign(target=target, value=ast.expr()) | ast.AugAssign(target=target):
            return set(_targets(target))
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {alias.asname or alias.name.partition(".")[0] for alias in names} - {"*"}
    return set()


def _targets(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _targets(part)
        case ast.Starred(value=value):
            yield from _targets(value)


def _modules(statement: ast.stmt) -> dict[str, str]:
    """The full names of what a statement imports, by the names that it gets."""
    match statement:
        case ast.Import(names=names):
            return {
                alias.asname or alias.name.partition(".")[0]: alias.name
                if alias.asname
                else alias.name.partition(".")[0]
                for alias in names
            }
        case ast.ImportFrom(module=str(module), names=names, level=0):
            return {alias.asname or alias.name: f"{module}.{alias.name}" for alias in names}
    return {}


def _constant_defaults(arguments: ast.arguments) -> bool:
    defaults = [*arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)]
    return all(isinstance(one, ast.Constant) for one in defaults)
