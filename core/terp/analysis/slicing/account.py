"""The account of one statement: the names of the kernel that it binds, uses and changes, now or later."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass, field

from terp.analysis.effects.scopes import Scope, Walk
from terp.analysis.slicing.calls import Calls, gone_through
from terp.analysis.slicing.known import FRAMES, MUTATING, NO_ITERATOR, PURE_METHODS, REACHES_ANY_NAME
from terp.analysis.slicing.names import PARAMETER, KnownBefore, Names, top_of


@dataclass(slots=True)
class StatementAccount:
    """The effect of one statement on names.

    `binds` are names that surely have a new value after it, `may_bind` those that may; `uses` are read now,
    `later` when a function made here is called, `later_changes` changed then. `changes` may have been changed
    in place; `shared` are names with which the value that is bound, or what was changed, may share a part.
    A module stands for its state, as `<numpy>`. What is bound `together` may be one thing. `opaque` says why
    any name may be affected, or "".
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
    gentle: set[str] = field(default_factory=set)
    solid: set[str] = field(default_factory=set)
    fixed: set[str] = field(default_factory=set)
    lazy: set[str] = field(default_factory=set)
    together: bool = False
    opaque: str = ""


def account(statement: ast.stmt, known: KnownBefore) -> StatementAccount:
    """Return the account of one statement at the top of a cell.

    Raises:
        TooDeep: it is nested too deep to read.
    """
    return _Reader(statement, known).read()


class _Reader:
    def __init__(self, statement: ast.stmt, known: KnownBefore) -> None:
        self._statement = statement
        self._known = known
        self._walk = Walk(ast.Module([statement], []))
        self._names = Names(self._walk, known)
        self._calls = Calls(self._names, known)
        self._account = StatementAccount()

    def read(self) -> StatementAccount:
        for node, scope in self._walk.order:
            self._node(node, scope)
        result = self._account
        result.binds, result.modules = _surely_bound(self._statement), _modules(self._statement)
        result.may_bind = set(self._walk.top.names) - result.binds
        if getattr(self._statement, "decorator_list", True):
            # A lambda may be called where it stands, and what is decorated as well.
            result.uses |= result.later
            result.changes |= result.later_changes
        self._values()
        if result.changes:
            result.shared |= {name for name in result.uses if not name.startswith("<")}
        for names in (result.uses, result.changes, result.later, result.later_changes, result.shared):
            names.discard(PARAMETER)
        return result

    def _values(self) -> None:
        """Note the values that the statement binds, and the names that may share a part of them."""
        result = self._account
        if any(self._is_lazy(node) for node, _ in self._walk.order):
            result.lazy = result.binds | result.may_bind
        match self._statement:
            case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
                result.shared |= self._names.shared(value)
                result.solid = result.binds if self._is_solid(value) else set()
                result.fixed = result.binds if _is_fixed(value) else set()
                if isinstance(self._statement, ast.Assign):
                    self._unpacked(self._statement)
            case ast.FunctionDef(name=name, args=args, decorator_list=[]) if _constant_defaults(args):
                result.plain = {name}
                result.gentle = set() if result.later_changes else {name}
            case ast.ClassDef(name=name) if self._changes_when_read(self._statement):
                result.later_changes.add(name)
                result.shared |= result.uses | result.later
            case ast.Import() | ast.ImportFrom():
                pass
            case _:
                result.shared |= result.uses | result.later
        result.shared = {name for name in result.shared if not name.startswith("<")}

    def _unpacked(self, statement: ast.Assign) -> None:
        result = self._account
        takes = any(isinstance(target, ast.Tuple | ast.List) for target in statement.targets)
        result.together = (takes or len(statement.targets) > 1) and not result.fixed
        if takes:
            result.solid = set()
            result.changes |= self._calls.taken_from(statement.value)

    def _node(self, node: ast.AST, scope: Scope) -> None:
        result = self._account
        uses, changes = (
            (result.uses, result.changes) if scope.runs_at_once else (result.later, result.later_changes)
        )
        match node:
            case ast.Name(id=name) if self._names.is_global(name, scope):
                self._name(node, scope, uses, changes)
            case ast.Global(names=names) if not scope.runs_at_once:
                # A function that binds a global name does so when it is called.
                changes |= {*names}
            case ast.Call():
                self._call(node, uses, changes)
            case ast.Attribute(ctx=ast.Store() | ast.Del()) | ast.Subscript(ctx=ast.Store() | ast.Del()):
                changes |= self._names.of(node.value)
            case ast.Attribute():
                self._attribute(node, uses, changes)
            case ast.Subscript(value=ast.Name(id=name) as value) if name in self._known.lazy:
                changes |= self._names.of(value)
            case ast.AugAssign(target=changed) | ast.withitem(context_expr=changed):
                changes |= self._names.of(changed)
                uses |= self._names.of(changed)
            case ast.Import() | ast.ImportFrom():
                self._import(node, uses, changes)
            case ast.GeneratorExp(generators=parts):
                # It runs when it is gone through.
                result.later |= self._names.of(node)
                result.later_changes |= {name for part in parts for name in self._calls.taken_from(part.iter)}
            case _:
                changes |= {name for source in gone_through(node) for name in self._calls.taken_from(source)}

    def _name(self, node: ast.Name, scope: Scope, uses: set[str], changes: set[str]) -> None:
        if not isinstance(node.ctx, ast.Load | ast.Del):
            return
        if isinstance(node.ctx, ast.Del) and not isinstance(self._statement, ast.Delete):
            changes.add(node.id)
        if node.id in REACHES_ANY_NAME and scope.find(node.id) is None:
            self._account.opaque = f"it calls {node.id}"
        uses.add(node.id)
        uses |= {f"<{state}>" for state in self._names.state(node.id)}

    def _call(self, call: ast.Call, uses: set[str], changes: set[str]) -> None:
        changes |= self._calls.changed(call)
        uses |= self._calls.states(call) | self._calls.named_in_texts(call)
        if isinstance(call.func, ast.Name) and call.func.id == "dir" and not call.args:
            uses |= {*self._known.bound}
        if {"cwd", "absolute", "resolve"} & {*self._names.path(call.func)[0]}:
            uses.add("<files>")

    def _attribute(self, node: ast.Attribute, uses: set[str], changes: set[str]) -> None:
        module = self._names.path(node)[1]
        of_all = {"sys": {"modules"}, "builtins": REACHES_ANY_NAME}.get(module, FRAMES)
        if node.attr in of_all | FRAMES:
            self._account.opaque = f"it uses {node.attr}"
        if node.attr in MUTATING and not module and node not in self._walk.called:
            # It is handed on, to be called elsewhere.
            changes |= self._names.of(node.value)

    def _import(self, node: ast.Import | ast.ImportFrom, uses: set[str], changes: set[str]) -> None:
        """Note the names that an import depends on, and the modules that it binds."""
        paths = [alias.name for alias in node.names] if isinstance(node, ast.Import) else [node.module or ""]
        if isinstance(node, ast.ImportFrom) and node.names[0].name == "*":
            self._account.opaque = "it imports *"
        if "__main__" in paths:
            self._account.opaque = "it imports __main__"
        uses.add("<sys.path>")
        if self._known.files & {path.partition(".")[0] for path in paths}:
            uses.add("<files>")
        if isinstance(node, ast.Import):
            changes |= {f"<{top_of(one.name)}>" for one in node.names if "." in one.name and not one.asname}

    def _changes_when_read(self, statement: ast.stmt) -> bool:
        """Return True if reading an instance of a class, as by `len` or a property, may change it."""
        read = (
            method
            for method in ast.walk(statement)
            if isinstance(method, ast.FunctionDef)
            and (method.decorator_list or (method.name.startswith("__") and method.name not in _NOT_READING))
        )
        return any(PARAMETER in self._changed_in(node) for method in read for node in ast.walk(method))

    def _changed_in(self, node: ast.AST) -> set[str]:
        match node:
            case ast.Call():
                return self._calls.changed(node)
            case ast.Attribute(value=value, ctx=ast.Store()) | ast.Subscript(value=value, ctx=ast.Store()):
                return self._names.of(value)
        return set()

    def _is_solid(self, value: ast.expr) -> bool:
        """Return True if a value can be iterated more than once."""
        match value:
            case ast.Name(id=name):
                return name in self._known.solid
            case ast.Call(func=ast.Name(id=name)):
                return name in NO_ITERATOR and self._names.is_builtin(name, value)
            case ast.Call(func=ast.Attribute(attr=attribute) as func):
                module = self._names.path(func)[1]
                return top_of(module) in ("numpy", "pandas") if module else attribute in PURE_METHODS
            case ast.BinOp(left=left, right=right):
                return self._is_solid(left) or self._is_solid(right)
        solid = (ast.Constant, ast.JoinedStr, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Compare)
        return isinstance(value, (*solid, ast.ListComp, ast.SetComp, ast.DictComp, ast.UnaryOp))

    def _is_lazy(self, value: ast.AST) -> bool:
        """Return True if a value may create an item when one is looked up."""
        match value:
            case ast.Name(id=name, ctx=ast.Load()):
                return name in self._known.lazy
            case ast.Call(func=func):
                return self._names.path(func)[0][-1:] == ["defaultdict"]
        return False


_NOT_READING = frozenset(
    str.split("""
        __init__ __new__ __post_init__ __init_subclass__ __set_name__ __setattr__ __setitem__ __delattr__
        __delitem__ __set__ __delete__ __call__ __enter__ __exit__ __aenter__ __aexit__ __iadd__ __isub__
        __imul__ __iand__ __ior__ __ixor__ __setstate__ __del__ __next__
    """)
)
"""Special methods that only statements that change or create an object call."""


def _is_fixed(value: ast.expr) -> bool:
    """Return True if a value cannot be changed in place."""
    fixed = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.unaryop, ast.expr_context, ast.JoinedStr)
    return isinstance(value, ast.JoinedStr) or all(isinstance(node, fixed) for node in ast.walk(value))


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
