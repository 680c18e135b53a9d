"""Who binds which name in a piece of Python: scopes, bindings, and the nodes in order of evaluation."""

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Literal

from terp.effects.found import Place

How = Literal["value", "element", "entered", "import", "def", "self", "part"]
Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

MOST_LEVELS = 120
"""Code that is nested deeper is not read."""


class TooDeep(Exception):
    """Code is nested deeper than a person would write it."""


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One of the things that give a name its value.

    `node` is the expression whose value, element or entered context it is, or the definition; `path` is
    the full name of what an import binds. A "part" is a parameter, or something out of an unpacking.
    """

    how: How
    node: ast.AST | None = None
    path: str = ""


@dataclass(slots=True, eq=False)
class Scope:
    """The names that a module, class, function or comprehension binds."""

    parent: "Scope | None" = None
    kind: Literal["module", "class", "function", "comprehension"] = "module"
    owner: ast.AST | None = None
    names: dict[str, list[Binding]] = field(default_factory=dict)
    elsewhere: dict[str, "Scope"] = field(default_factory=dict)

    def bind(self, name: str, binding: Binding) -> None:
        """Add a binding here, or where `global` or `nonlocal` say."""
        self.elsewhere.get(name, self).names.setdefault(name, []).append(binding)

    def find(self, name: str) -> "tuple[Scope, list[Binding]] | None":
        """The scope that binds `name` as seen from here; None when only the kernel can have it."""
        scope: Scope | None = self.elsewhere.get(name, self)
        start = scope
        while scope is not None:
            if name in scope.names and (scope is start or scope.kind != "class"):
                return scope, scope.names[name]
            scope = scope.parent
        return None

    @property
    def around(self) -> "Scope":
        """The nearest scope that an assignment expression in a comprehension binds in."""
        scope = self
        while scope.kind == "comprehension" and scope.parent is not None:
            scope = scope.parent
        return scope

    @property
    def runs_at_once(self) -> bool:
        """Whether the code of this scope runs where it stands, in the order of the cell."""
        scope: Scope | None = self
        while scope is not None and scope.kind != "function":
            scope = scope.parent
        return scope is None

    def module(self) -> "Scope":
        """The outermost scope."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope


class Walk:
    """A tree of Python, read once.

    `order` has every node after its parts, with its scope; `called`, `based` and `itemised` are the nodes
    that a call calls, that an attribute belongs to, and of which an item is taken or looked for; `early` are
    the names read before the cell has bound them; `stored` and `methods` the names of attributes it makes.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.order: list[tuple[ast.AST, Scope]] = []
        self.scope_of: dict[ast.AST, Scope] = {}
        self.called: set[ast.AST] = set()
        self.based: set[ast.AST] = set()
        self.itemised: set[ast.AST] = set()
        self.early: set[ast.AST] = set()
        self.stored: set[str] = set()
        self.methods: set[str] = set()
        self.top = Scope()
        self._bound: set[str] = set()
        self._read(tree)

    def _read(self, tree: ast.Module) -> None:
        stack: list[tuple[ast.AST, Scope, int]] = [(tree, self.top, 0)]
        while stack:
            node, scope, depth = stack.pop()
            if depth < 0:
                self._leave(node, scope)
                continue
            if depth > MOST_LEVELS:
                raise TooDeep
            stack.append((node, scope, -1))
            stack += reversed([(child, where, depth + 1) for child, where in self._parts(node, scope)])

    def _leave(self, node: ast.AST, scope: Scope) -> None:
        self.order.append((node, scope))
        self.scope_of[node] = scope
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if node.id not in self._bound and scope.runs_at_once:
                self.early.add(node)
            return
        for name in names_given(node):
            # What a function or comprehension binds is not there for the lines that follow.
            if scope.kind in ("module", "class") or name in scope.elsewhere:
                self._bound.add(name)

    def _parts(self, node: ast.AST, scope: Scope) -> Iterable[tuple[ast.AST, Scope]]:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.Lambda():
                return self._function(node, scope)
            case ast.ClassDef():
                return self._class(node, scope)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                return self._comprehension(node, scope)
            case ast.Name() | ast.Constant():
                return ()
            case ast.Call(func=func):
                self.called.add(func)
            case ast.Attribute(value=value):
                self.based.add(value)
            case ast.Subscript(value=value):
                self.itemised.add(value)
            case ast.Compare(ops=[ast.In() | ast.NotIn()], comparators=[where]):
                self.itemised.add(where)
            case _:
                self._bind(node, scope)
        return [(child, scope) for child in _children(node)]

    def _bind(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    self._target(target, Binding("value", value), scope)
            case ast.AnnAssign(target=target, value=ast.expr() as value):
                self._target(target, Binding("value", value), scope)
            case ast.AugAssign(target=target):
                self._augment(target, scope)
            case ast.For(target=target, iter=iterated) | ast.AsyncFor(target=target, iter=iterated):
                self._target(target, Binding("element", iterated), scope)
            case ast.withitem(context_expr=context, optional_vars=ast.expr() as target):
                self._target(target, Binding("entered", context), scope)
            case ast.NamedExpr(target=ast.Name() as target, value=value):
                self._target(target, Binding("value", value), scope.around)
                self._bound.update([target.id] if scope.runs_at_once else [])
            case _:
                _bind_names(node, scope)
                self._bound.update([node.name] if isinstance(node, ast.ExceptHandler) and node.name else [])

    def _augment(self, target: ast.expr, scope: Scope) -> None:
        self._target(target, Binding("part"), scope)
        if scope.runs_at_once and isinstance(target, ast.Name) and target.id not in self._bound:
            self.early.add(target)

    def _target(self, target: ast.expr, binding: Binding, scope: Scope) -> None:
        match target, binding.node:
            case ast.Name(id=name), _:
                scope.bind(name, binding)
            case ast.Attribute(attr=attr), _:
                self.stored.add(attr)
            case (
                ast.Tuple(elts=targets) | ast.List(elts=targets),
                ast.Tuple(elts=values) | ast.List(elts=values),
            ) if binding.how == "value" and len(targets) == len(values) and not _starred([*targets, *values]):
                for one, value in zip(targets, values, strict=True):
                    self._target(one, Binding("value", value), scope)
            case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), _):
                for one in targets:
                    self._target(one, Binding("part"), scope)
            case ast.Starred(value=starred), _:
                self._target(starred, Binding("part"), scope)

    def _function(self, node: Function | ast.Lambda, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        inner = Scope(scope, "function", node)
        outside: list[ast.AST | None] = [*node.args.defaults, *node.args.kw_defaults]
        body: list[ast.AST] = []
        if isinstance(node, ast.Lambda):
            body = [node.body]
        else:
            scope.bind(node.name, Binding("def", node))
            outside = [*node.decorator_list, *outside, node.returns, *getattr(node, "type_params", [])]
            body = [*node.body]
            if scope.kind == "class":
                self.methods.add(node.name)
        self._parameters(node, scope, inner)
        outside += [argument.annotation for argument in _arguments(node.args)]
        yield from ((part, scope) for part in outside if part is not None)
        yield from ((part, inner) for part in body)

    def _parameters(self, node: Function | ast.Lambda, scope: Scope, inner: Scope) -> None:
        for at, argument in enumerate(_arguments(node.args)):
            is_self = (
                at == 0
                and scope.kind == "class"
                and not isinstance(node, ast.Lambda)
                and not node.decorator_list
            )
            inner.bind(argument.arg, Binding("self", scope.owner) if is_self else Binding("part"))

    def _class(self, node: ast.ClassDef, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        inner = Scope(scope, "class", node)
        scope.bind(node.name, Binding("def", node))
        outside = [*node.decorator_list, *node.bases, *node.keywords, *getattr(node, "type_params", [])]
        yield from ((part, scope) for part in outside)
        yield from ((part, inner) for part in node.body)

    def _comprehension(self, node: Comprehension, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        inner = Scope(scope, "comprehension", node)
        for at, part in enumerate(node.generators):
            self._target(part.target, Binding("element", part.iter), inner)
            yield part.iter, inner if at else scope
            yield part.target, inner
            yield from ((condition, inner) for condition in part.ifs)
        results = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        yield from ((result, inner) for result in results)


def _bind_names(node: ast.AST, scope: Scope) -> None:
    """Bind what imports, handlers and patterns bind, and take down where declared names belong."""
    match node:
        case ast.Import(names=names):
            for alias in names:
                path = alias.name if alias.asname else alias.name.partition(".")[0]
                scope.bind(alias.asname or path, Binding("import", node, path))
        case ast.ImportFrom(names=names):
            for alias in names:
                path = f"{'.' * node.level}{node.module or ''}.{alias.name}"
                scope.bind(alias.asname or alias.name, Binding("import", node, path))
        case ast.Global(names=declared):
            scope.elsewhere.update(dict.fromkeys(declared, scope.module()))
        case ast.Nonlocal(names=declared):
            outer = scope.parent.around if scope.parent else scope
            scope.elsewhere.update(dict.fromkeys(declared, outer))
        case _:
            if name := _bound_name(node):
                scope.bind(name, Binding("part"))


def _children(node: ast.AST) -> list[ast.AST]:
    """The parts of a node in the order in which they are evaluated."""
    match node:
        case ast.Assign(targets=targets, value=value):
            return [value, *targets]
        case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
            return [value, target]
        case ast.AnnAssign(target=target, annotation=annotation, value=given):
            return [annotation, *([given] if given else []), target]
        case ast.For(target=target, iter=iterated) | ast.AsyncFor(target=target, iter=iterated):
            return [iterated, target, *node.body, *node.orelse]
    return [
        child for child in ast.iter_child_nodes(node) if child._attributes or not isinstance(child, _SIGNS)
    ]


_SIGNS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop, ast.cmpop)


def place_of(node: ast.AST) -> Place:
    """Where a node stands."""
    return getattr(node, "lineno", 1), getattr(node, "col_offset", 0)


def names_given(node: ast.AST) -> list[str]:
    """The names that have their value once this node is done."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()):
            return [name]
        case ast.Import(names=names) | ast.ImportFrom(names=names):
            return [alias.asname or alias.name.partition(".")[0] for alias in names]
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return [name]
    return [name] if (name := _bound_name(node)) else []


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    more = [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *more]


def _starred(nodes: list[ast.expr]) -> bool:
    return any(isinstance(node, ast.Starred) for node in nodes)


def _bound_name(node: ast.AST) -> str:
    """The name that a handler, a pattern or a type parameter binds; "" for none."""
    # Type parameters came with Python 3.12.
    binds = isinstance(node, _BINDERS) or type(node).__name__ in ("TypeVar", "TypeVarTuple", "ParamSpec")
    name = node.rest if isinstance(node, ast.MatchMapping) else getattr(node, "name", None) if binds else None
    return name if isinstance(name, str) else ""


_BINDERS = (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)
