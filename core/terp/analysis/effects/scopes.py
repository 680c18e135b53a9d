"""Scopes and bindings of Python code, and its nodes in order of evaluation."""

import ast
import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Literal

from terp.events.effects import Place
from terp.text.dataclasses import dataclass, field

How = Literal["value", "element", "entered", "import", "def", "self", "part"]
Function = ast.FunctionDef | ast.AsyncFunctionDef
Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp

MOST_LEVELS = 120
"""Code that is nested deeper is not read."""


class TooDeep(Exception):
    """Code is nested deeper than a person would write it."""


def parsed(code: str) -> ast.Module | int:
    """The tree of `code`; the line where it is no Python when there is none."""
    try:
        with warnings.catch_warnings():
            # A doubtful escape in a text of the model's is no business of the user's terminal.
            warnings.simplefilter("ignore")
            return ast.parse(code)
    except SyntaxError as error:
        return error.lineno or 1
    except (ValueError, RecursionError, MemoryError):
        return 1


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """One of the things that give a name its value.

    `node` is the expression whose value, element or entered context it is, or the definition; `path` is
    the full name of what an import binds. A "part" is a parameter, or something out of the `node` unpacked.
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
    runs_at_once: bool = field(init=False)
    """True for a module or class body, which runs in the order of the lines; False inside a function."""

    def __post_init__(self) -> None:
        self.runs_at_once = self.kind != "function" and (self.parent is None or self.parent.runs_at_once)

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


class Walk:
    """A tree of Python, read once.

    `order` has every node after its parts, with its scope; `called` are the nodes that a call calls, `based`
    those that an attribute or item belongs to, or that something is compared with; `early` are the names read
    before the cell has bound them; `stored` and `methods` the names of attributes it makes, and `assigned`
    what each of those targets is set to; `imported` the modules it imports; `gives` the names that have a
    value of theirs once a node is done.
    """

    def __init__(self, tree: ast.Module) -> None:
        self.order: list[tuple[ast.AST, Scope]] = []
        self.scope_of: dict[ast.AST, Scope] = {}
        self.gives: dict[ast.AST, list[tuple[str, Binding]]] = {}
        self.imported: set[str] = set()
        self.called: set[ast.AST] = set()
        self.based: set[ast.AST] = set()
        self.early: set[ast.AST] = set()
        self.stored: set[str] = set()
        self.methods: set[str] = set()
        self.assigned: dict[ast.AST, ast.AST] = {}
        self.top = Scope()
        self._bound: set[str] = set()
        self._read(tree)

    def _read(self, tree: ast.Module) -> None:
        stack: list[tuple[ast.AST, Scope, int]] = [(tree, self.top, 0)]
        done, gives = self.order.append, self.gives
        while stack:
            node, scope, depth = stack.pop()
            if isinstance(node, ast.Name):
                done((node, scope))
                self._name(node, scope)
            elif depth < 0:
                done((node, scope))
                if node in gives:
                    self._has_given(node, scope)
            elif isinstance(node, ast.Constant):
                done((node, scope))
            elif depth > MOST_LEVELS:
                raise TooDeep
            else:
                stack.append((node, scope, -1))
                self._open(node, scope, depth + 1, stack)

    def _open(self, node: ast.AST, scope: Scope, depth: int, stack: list[tuple[ast.AST, Scope, int]]) -> None:
        """Put the parts of a node on the stack, the first one last."""
        kind = type(node)
        # The most frequent first: matching costs more than all else here.
        if isinstance(node, ast.Attribute):
            self.based.add(node.value)
            stack.append((node.value, scope, depth))
        elif isinstance(node, ast.Call):
            self.called.add(node.func)
            stack += [(keyword.value, scope, depth) for keyword in reversed(node.keywords)]
            stack += [(part, scope, depth) for part in reversed(node.args)]
            stack.append((node.func, scope, depth))
        elif parts := _SCOPED.get(kind):
            stack += [(part, where, depth) for part, where in reversed(list(parts(self, node, scope)))]
        else:
            if kind.__name__ in _BINDING:
                self._bind(node, scope)
            elif isinstance(node, ast.Subscript):
                self.based.add(node.value)
            elif isinstance(node, ast.Compare):
                self.based.update(node.comparators)
            stack += [(part, scope, depth) for part in reversed(_children(node))]

    def _name(self, node: ast.Name, scope: Scope) -> None:
        self.scope_of[node] = scope
        if node in self.gives:
            self._has_given(node, scope)
        elif isinstance(node.ctx, ast.Load) and node.id not in self._bound and scope.runs_at_once:
            self.early.add(node)

    def _has_given(self, node: ast.AST, scope: Scope) -> None:
        # What a function or comprehension binds is not there for the lines that follow.
        is_here = scope.kind in ("module", "class")
        self._bound.update(name for name, _ in self.gives[node] if is_here or name in scope.elsewhere)

    def _give(self, node: ast.AST, name: str, binding: Binding, scope: Scope) -> None:
        scope.bind(name, binding)
        self.gives.setdefault(node, []).append((name, binding))

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
                self._declare(node, scope)

    def _declare(self, node: ast.AST, scope: Scope) -> None:
        """Bind what imports, handlers and patterns bind, and take down where declared names belong."""
        match node:
            case ast.Import(names=names):
                self.imported.update(alias.name.partition(".")[0] for alias in names)
                for alias in names:
                    path = alias.name if alias.asname else alias.name.partition(".")[0]
                    self._give(node, alias.asname or path, Binding("import", node, path), scope)
            case ast.ImportFrom(module=module, names=names, level=level):
                self.imported.add((module or "").partition(".")[0])
                for alias in names:
                    path = f"{'.' * level}{module or ''}.{alias.name}"
                    self._give(node, alias.asname or alias.name, Binding("import", node, path), scope)
            case ast.Global(names=declared):
                scope.elsewhere.update(dict.fromkeys(declared, self.top))
            case ast.Nonlocal(names=declared):
                outer = scope.parent.around if scope.parent else scope
                scope.elsewhere.update(dict.fromkeys(declared, outer))
            case _:
                if name := bound_name(node):
                    self._give(node, name, Binding("part"), scope)
                    # A handler has its name before its body, of which it consists.
                    self._bound.add(name)

    def _augment(self, target: ast.expr, scope: Scope) -> None:
        self._target(target, Binding("part"), scope)
        if scope.runs_at_once and isinstance(target, ast.Name) and target.id not in self._bound:
            self.early.add(target)

    def _target(self, target: ast.expr, binding: Binding, scope: Scope) -> None:
        match target, binding.node:
            case ast.Name(id=name), _:
                self._give(target, name, binding, scope)
            case ast.Attribute(attr=attr), _:
                self.stored.add(attr)
                if binding.how == "value" and binding.node is not None:
                    self.assigned[target] = binding.node
            case (
                ast.Tuple(elts=targets) | ast.List(elts=targets),
                ast.Tuple(elts=values) | ast.List(elts=values),
            ) if binding.how == "value" and len(targets) == len(values) and not _starred([*targets, *values]):
                for one, value in zip(targets, values, strict=True):
                    self._target(one, Binding("value", value), scope)
            case ((ast.Tuple(elts=targets) | ast.List(elts=targets)), _):
                for one in targets:
                    self._target(one, Binding("part", binding.node), scope)
            case ast.Starred(value=starred), _:
                self._target(starred, Binding("part", binding.node), scope)

    def _function(self, node: Function | ast.Lambda, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        inner = Scope(scope, "function", node)
        outside: list[ast.AST | None] = [*node.args.defaults, *node.args.kw_defaults]
        body: list[ast.AST] = []
        if isinstance(node, ast.Lambda):
            body = [node.body]
        else:
            self._give(node, node.name, Binding("def", node), scope)
            outside = [*node.decorator_list, *outside, node.returns, *getattr(node, "type_params", [])]
            body = [*node.body]
            if scope.kind == "class":
                self.methods.add(node.name)
        self._parameters(node, scope, inner)
        outside += [argument.annotation for argument in _arguments(node.args)]
        yield from ((part, scope) for part in outside if part is not None)
        yield from ((part, inner) for part in body)

    def _parameters(self, node: Function | ast.Lambda, scope: Scope, inner: Scope) -> None:
        takes_self = scope.kind == "class" and not (isinstance(node, ast.Lambda) or node.decorator_list)
        for at, argument in enumerate(_arguments(node.args)):
            is_self = takes_self and at == 0
            inner.bind(argument.arg, Binding("self", scope.owner) if is_self else Binding("part"))

    def _class(self, node: ast.ClassDef, scope: Scope) -> Iterator[tuple[ast.AST, Scope]]:
        inner = Scope(scope, "class", node)
        self._give(node, node.name, Binding("def", node), scope)
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


def _children(node: ast.AST) -> list[ast.AST]:
    """The parts of a node in the order in which they are evaluated."""
    children: list[ast.AST] = []
    for name in _EVALUATED.get(type(node), node._fields):
        if name in _SIGNS:
            continue
        part = getattr(node, name, None)
        if isinstance(part, list):
            children += [one for one in part if isinstance(one, ast.AST)]
        elif isinstance(part, ast.AST):
            children.append(part)
    return children


# Where what is bound stands before what it is bound to.
_EVALUATED: dict[type[ast.AST], tuple[str, ...]] = {
    ast.Assign: ("value", "targets"),
    ast.AugAssign: ("value", "target"),
    ast.NamedExpr: ("value", "target"),
    ast.AnnAssign: ("annotation", "value", "target"),
    ast.For: ("iter", "target", "body", "orelse"),
    ast.AsyncFor: ("iter", "target", "body", "orelse"),
}
# What these name are signs and contexts, which have no parts and do nothing.
_SIGNS = frozenset({"ctx", "op", "ops"})
_SCOPED: dict[type[ast.AST], Callable[[Walk, Any, Scope], Iterator[tuple[ast.AST, Scope]]]] = {
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda), Walk._function),
    ast.ClassDef: Walk._class,
    **dict.fromkeys((ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp), Walk._comprehension),
}
"""The parts of nodes that have a scope of their own, with the scope of each part."""


def imported_modules(body: Iterable[ast.stmt]) -> dict[str, str]:
    """The modules that statements import, under the names that they get."""
    aliases = (alias for node in body if isinstance(node, ast.Import) for alias in node.names)
    named = ((alias.asname, alias.name, alias.name.partition(".")[0]) for alias in aliases)
    return {own or package: name if own else package for own, name, package in named}


def place_of(node: ast.AST) -> Place:
    """Return the line and the column of a node."""
    return getattr(node, "lineno", 1), getattr(node, "col_offset", 0)


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    more = [argument for argument in (arguments.vararg, arguments.kwarg) if argument]
    return [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, *more]


def _starred(nodes: list[ast.expr]) -> bool:
    return any(isinstance(node, ast.Starred) for node in nodes)


def bound_name(node: ast.AST) -> str:
    """The name that a handler, a pattern or a type parameter binds; "" for none."""
    name = node.rest if isinstance(node, ast.MatchMapping) else getattr(node, "name", None)
    return name if isinstance(name, str) else ""


# By their names, as type parameters came with Python 3.12.
_BINDING = frozenset(
    str.split("""
        Assign AnnAssign AugAssign NamedExpr For AsyncFor withitem Import ImportFrom Global Nonlocal
        ExceptHandler MatchAs MatchStar MatchMapping TypeVar TypeVarTuple ParamSpec
    """)
)
