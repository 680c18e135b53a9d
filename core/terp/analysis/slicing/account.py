"""The account of one statement: the names of the kernel that it binds, uses and changes, now or later."""

import ast
import re
from collections.abc import Iterable, Iterator, Set

from terp.analysis.effects.known import listed
from terp.analysis.effects.scopes import Scope, Walk, imported_modules
from terp.analysis.slicing.names import PARAMETER, KnownBefore, Names, top_of
from terp.text.dataclasses import dataclass, field

_WORD = re.compile(r"[^\W\d]\w*")
_CHANGE_KEYWORDS = ("inplace", "out", "copy", None)
"""Keywords that make a function change its arguments."""
_MANY = 100
_RANDOM = frozenset({"<random>", "<numpy.random>"})


@dataclass(slots=True)
class StatementAccount:
    """The effect of one statement, or of a whole cell, on names.

    `binds` are names that surely have a new value after it, `may_bind` those that may; `uses` are read now,
    `later` when a function made here is called, `later_changes` changed then. `changes` may have been changed
    in place; `shared` are names with which the value that is bound, or what was changed, may share a part.
    A module stands for its state, as `<numpy>`. What is bound `together` may be one thing. `opaque` says why
    any name may be affected, or "". A cell `needs_all` if it may depend on all cells before it.
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
    needs_all: bool = False


def account(statement: ast.stmt, before: KnownBefore) -> StatementAccount:
    """Return the account of one statement at the top of a cell.

    Raises:
        TooDeep: it is nested too deep to read.
    """
    return _Reader(statement, before).read()


class _Reader:
    def __init__(self, statement: ast.stmt, before: KnownBefore) -> None:
        self._statement = statement
        self._before = before
        self._walk = Walk(ast.Module([statement], []))
        self._names = Names(self._walk, before)
        self._calls = Calls(self._names, before)
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
            case ast.ClassDef(name=name, body=body) if _may_change_when_read(body):
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
            case ast.Subscript(value=ast.Name(id=name) as value) if name in self._before.lazy:
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
        if listed("reaches any name", node.id) and scope.find(node.id) is None:
            self._account.opaque = f"it calls {node.id}"
        uses.add(node.id)
        uses |= {f"<{state}>" for state in self._names.state(node.id)}

    def _call(self, call: ast.Call, uses: set[str], changes: set[str]) -> None:
        changes |= self._calls.changed(call)
        uses |= self._calls.states(call) | self._calls.named_in_texts(call)
        if isinstance(call.func, ast.Name) and call.func.id == "dir" and not call.args:
            uses |= {*self._before.bound}
        if {"cwd", "absolute", "resolve"} & {*self._names.path(call.func)[0]}:
            uses.add("<files>")

    def _attribute(self, node: ast.Attribute, uses: set[str], changes: set[str]) -> None:
        module = self._names.path(node)[1]
        of_builtins = module == "builtins" and listed("reaches any name", node.attr)
        if of_builtins or listed("frames", node.attr) or (module, node.attr) == ("sys", "modules"):
            self._account.opaque = f"it uses {node.attr}"
        if listed("mutating", node.attr) and not module and node not in self._walk.called:
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
        if self._before.files & {path.partition(".")[0] for path in paths}:
            uses.add("<files>")
        if isinstance(node, ast.Import):
            changes |= {f"<{top_of(one.name)}>" for one in node.names if "." in one.name and not one.asname}

    def _is_solid(self, value: ast.expr) -> bool:
        """Return True if a value can be iterated more than once."""
        match value:
            case ast.Name(id=name):
                return name in self._before.solid
            case ast.Call(func=ast.Name(id=name)):
                return listed("no iterator", name) and self._names.is_builtin(name, value)
            case ast.Call(func=ast.Attribute(attr=attribute) as func):
                module = self._names.path(func)[1]
                is_pure = listed("pure methods", attribute)
                return top_of(module) in ("numpy", "pandas") if module else is_pure
            case ast.BinOp(left=left, right=right):
                return self._is_solid(left) or self._is_solid(right)
        solid = (ast.Constant, ast.JoinedStr, ast.List, ast.Tuple, ast.Set, ast.Dict, ast.Compare)
        return isinstance(value, (*solid, ast.ListComp, ast.SetComp, ast.DictComp, ast.UnaryOp))

    def _is_lazy(self, value: ast.AST) -> bool:
        """Return True if a value may create an item when one is looked up."""
        match value:
            case ast.Name(id=name, ctx=ast.Load()):
                return name in self._before.lazy
            case ast.Call(func=func):
                return self._names.path(func)[0][-1:] == ["defaultdict"]
        return False


def _may_change_when_read(body: Iterable[ast.stmt]) -> bool:
    """Return True if reading an instance of a class runs its code, as `len` or a property does."""
    methods = [one for part in body for one in ast.walk(part) if isinstance(one, ast.FunctionDef)]
    special = (one.name for one in methods if one.name.startswith("__"))
    return any(one.decorator_list for one in methods) or not all(
        listed("not reading", one) for one in special
    )


def _is_fixed(value: ast.expr) -> bool:
    """Return True if a value cannot be changed in place."""
    fixed = (ast.Constant, ast.Tuple, ast.UnaryOp, ast.unaryop, ast.expr_context, ast.JoinedStr)
    return isinstance(value, ast.JoinedStr) or all(isinstance(node, fixed) for node in ast.walk(value))


def _surely_bound(statement: ast.stmt) -> set[str]:
    match statement:
        case ast.Assign(targets=targets) | ast.Delete(targets=targets):
            return _names_in(targets)
        case ast.AnnAssign(target=target, value=ast.expr()) | ast.AugAssign(target=target):
            return _names_in([target])
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return {name}
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return {alias.asname or alias.name.partition(".")[0] for alias in names} - {"*"}
    return set()


def _names_in(targets: Iterable[ast.expr]) -> set[str]:
    """Return the names that targets bind or delete, also those in tuples."""
    named = (node for target in targets for node in ast.walk(target) if isinstance(node, ast.Name))
    return {node.id for node in named if not isinstance(node.ctx, ast.Load)}


def _modules(statement: ast.stmt) -> dict[str, str]:
    """Return the full names of a statement's imports, by the names that they get."""
    if isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
        return {one.asname or one.name: f"{statement.module}.{one.name}" for one in statement.names}
    return imported_modules([statement])


def _constant_defaults(arguments: ast.arguments) -> bool:
    defaults = [*arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)]
    return all(isinstance(one, ast.Constant) for one in defaults)


class Calls:
    """Reads the calls of one statement."""

    def __init__(self, names: Names, before: KnownBefore) -> None:
        self._names = names
        self._before = before

    def changed(self, call: ast.Call) -> set[str]:
        """Return the names that a call may change."""
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        name = _name_of(call.func)
        found = self._by_functions(call, arguments) if listed("takes functions", name) else set()
        if listed("drawing", name) and isinstance(call.func, ast.Attribute):
            # Without a generator of their own they draw from numpy's; `Random.sample` is one.
            found |= {"<numpy.random>"} | self._given(keyword.value for keyword in call.keywords)
            found |= self._names.of(call.func.value) if len(call.args) > 1 else set()
        return found | self._changed(call, arguments)

    def states(self, call: ast.Call) -> set[str]:
        """Return the states of random numbers that a call may read."""
        names, module = self._names.path(call.func)
        if listed("drawing", _name_of(call.func)) and not module:
            return {"<numpy.random>"}
        return set() if not module or _is_calm(module, names) else set(_RANDOM)

    def named_in_texts(self, call: ast.Call) -> set[str]:
        """Return the names that texts in another language, such as SQL, may refer to."""
        if not listed("takes text", _name_of(call.func)) or not isinstance(call.func, ast.Attribute):
            return set()
        texts = [one.value for part in call.args for one in ast.walk(part) if isinstance(one, ast.Constant)]
        words = {word for text in texts if isinstance(text, str) for word in _WORD.findall(text)}
        reads = call.func.attr != "execute" or "duckdb" in map(top_of, self._before.modules.values())
        if reads and call.args and not isinstance(call.args[0], ast.Constant):
            # It was made elsewhere, and may name anything.
            words |= {*self._before.bound}
        return words & {*self._before.bound}

    def taken_from(self, source: ast.expr) -> set[str]:
        """Return the names that iterating over a value may exhaust: those that may be iterators."""
        match source:
            case ast.Name():
                return self._names.of(source) - self._before.solid - {PARAMETER}
            case ast.Starred(value=value):
                return self.taken_from(value)
        return set()

    def _changed(self, call: ast.Call, arguments: list[ast.expr]) -> set[str]:
        match call.func:
            case ast.Name(id=name) if listed("reading", name) and self._names.is_builtin(name, call):
                taken = set() if listed("fresh", name) and name not in ("all", "any") else set(arguments)
                files = (keyword.value for keyword in call.keywords if keyword.arg == "file")
                return self._taken(taken) | self._given(files)
            case ast.Name(id=name) if name in self._gentle(call):
                return self._taken(arguments)
            case ast.Name(id=name) if name not in self._before.modules:
                return self._given(arguments) | ({name} - self._before.plain - {"next"})
        names, module = self._names.path(call.func)
        if module:
            return self._of_module(call, names, module, arguments)
        if not isinstance(call.func, ast.Attribute):
            return self._names.of(call.func) | self._given(arguments)
        return self._of_method(call, call.func, arguments)

    def _of_method(self, call: ast.Call, func: ast.Attribute, arguments: list[ast.expr]) -> set[str]:
        changing = _asks_to_change(call) or func.attr in self._before.methods
        of_type = isinstance(func.value, ast.Name) and listed("types", func.value.id)
        changing = changing or (of_type and not listed("pure methods", func.attr))
        changing = changing or len(call.args) >= _out_after(func.attr)
        pure = listed("writing methods", func.attr) and not changing
        changed = set() if pure else self._names.of(func.value)
        kind = listed("kind methods", func.attr) and not changing
        return changed | (self._taken(arguments) if kind else self._given(arguments))

    def _of_module(
        self, call: ast.Call, names: list[str], module: str, arguments: list[ast.expr]
    ) -> set[str]:
        top = top_of(module)
        changed = set() if _is_calm(module, names) else {f"<{top}>"}
        if "random" in (top, *names):
            changed = {"<random>" if top == "random" else "<numpy.random>"}
        if "chdir" in names:
            changed.add("<files>")
        if top == "sys" and listed("searched", *names):
            changed.add("<sys.path>")
        last = names[-1] if names else ""
        # `deque.append(x, 1)` changes what it is of.
        changing = _asks_to_change(call) or (len(names) > 1 and listed("mutating", last))
        changing = changing or (top == "numpy" and len(call.args) > _out_after(last))
        kind = listed("kind modules", top) and not (changing or listed("changes arguments", *names))
        return changed | (self._taken(arguments) if kind else self._given(arguments))

    def _by_functions(self, call: ast.Call, arguments: list[ast.expr]) -> set[str]:
        """Return the names that functions passed to a call may change."""
        if all(self._is_gentle(argument) for argument in arguments):
            return set()
        return self._given(arguments) | self._names.of(call.func)

    def _is_gentle(self, argument: ast.expr) -> bool:
        """Return True if something is no function, or one that does not change its arguments."""
        match argument:
            case ast.Lambda(body=body):
                calls = (node for node in ast.walk(body) if isinstance(node, ast.Call))
                return all(PARAMETER not in self.changed(one) for one in calls)
            case ast.Name(id=name):
                before = self._before
                quiet = self._gentle(argument) | before.solid | before.fixed | before.modules.keys()
                return name in quiet or self._names.is_builtin(name, argument)
            case ast.Attribute(attr=attribute):
                return bool(self._names.path(argument)[1]) or listed("pure methods", attribute)
        return True

    def _gentle(self, node: ast.AST) -> Set[str]:
        # What is called later may be another function by then.
        return self._before.gentle if self._names.runs_at_once(node) else frozenset()

    def _taken(self, arguments: Iterable[ast.expr]) -> set[str]:
        return {name for argument in arguments for name in self.taken_from(argument)}

    def _given(self, arguments: Iterable[ast.expr]) -> set[str]:
        """Return the names whose values a function can change through its arguments."""
        return {name for argument in arguments for name in self._names.shared(argument)}


def gone_through(node: ast.AST) -> Iterator[ast.expr]:
    """Yield the values that a node iterates over: it exhausts iterators."""
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


def _name_of(func: ast.expr) -> str:
    return str(getattr(func, "id", getattr(func, "attr", "")))


def _asks_to_change(call: ast.Call) -> bool:
    return any(keyword.arg in _CHANGE_KEYWORDS for keyword in call.keywords)


def _is_calm(module: str, names: Iterable[str]) -> bool:
    """Return True if a function changes no state of its module."""
    return listed("calm modules", top_of(module)) and not listed("not calm", *names)


def _out_after(name: str) -> int:
    """Return how many positional arguments a function of numpy has before the array that it writes to."""
    return next((many for many in (1, 2, 3) if listed(f"out after {many}", name)), _MANY)
