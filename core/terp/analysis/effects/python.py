"""Python, read in a closed world: what every name is, and so what every call does.

Nothing is run and nothing is followed: each expression is looked at once, in order, knowing what its
parts are. A name may be bound several times, so it is what all of its bindings have in common; the cell is
read again until every name was, where it was read, what it is in the end.

The effects of the cell's own functions and classes are reported where they are defined, called or not. So
calls of them add nothing, and neither do the methods behind operators, loops and `with`.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from terp.analysis.effects import calls
from terp.analysis.effects.known import OWN_FUNCTION, SERVERS, SHIPPED, TOOL, python_names
from terp.analysis.effects.scopes import Binding, Scope, Walk, bound_name, place_of
from terp.analysis.effects.secret_names import is_secret_name, secret_in
from terp.analysis.effects.values import (
    Local,
    Ref,
    Texts,
    Thing,
    Value,
    builds_expressions,
    element_of,
    joined,
)
from terp.events.effects import Finder

_MOST_READINGS = 6
_ENTERED = (Thing.FILE, Thing.DATABASE, Thing.ARCHIVE, Thing.INSTANCE, Thing.CONTENT, Thing.EXPRESSION)


class Reader:
    """Reads one cell. `value` and the tables of names are for `calls`."""

    def __init__(self, walk: Walk, known: Mapping[str, str], cwd: str) -> None:
        self.walk = walk
        self.texts = Texts(walk, self.value)
        self.find = Finder()
        self._known = known
        self._cwd = cwd
        self._values: dict[ast.AST, Value | None] = {}
        self._names: dict[tuple[Scope, str], Value | None] | None = None
        self._given: dict[tuple[Scope, str], Value | None] = {}
        self._shadowed: dict[str, bool] = {}
        self._read: list[tuple[tuple[Scope, str], Value | None]] = []
        # A name that is put together from numbers, or backwards, is one that nobody could read in the code.
        self.decodes = any(_decodes(node) for node, _ in walk.order)
        self.imported = walk.imported | {path.partition(".")[0] for path in known.values()}

    def read(self) -> Finder:
        """Return the account of the whole cell."""
        gives = self.walk.gives
        for _ in range(_MOST_READINGS):
            self.find = Finder()
            self._read.clear()
            self._given = {}
            for node, scope in self.walk.order:
                if isinstance(node, ast.expr):
                    self._values[node] = value_of(self, node)
                else:
                    _look_at(self, node, scope)
                if node in gives:
                    self._give(gives[node], scope)
            if all(self._given.get(name, value) == value for name, value in self._read):
                return self.find
            self._names = self._given
        self.find.doubt("the names are too entangled to follow", (1, 0))
        return self.find

    def _give(self, names: list[tuple[str, Binding]], scope: Scope) -> None:
        for name, binding in names:
            # Names that a declaration puts elsewhere are found there.
            owner = scope.elsewhere.get(name, scope)
            owner = owner if name in owner.names else owner.around
            key = (owner, name)
            if key not in self._given:
                self._given[key] = _of_parts(owner.names.get(name, ()))
            self._given[key] = joined(self._given[key], self._bound_by(binding))

    def value(self, node: ast.AST) -> Value | None:
        """Return the value of an expression; None if nothing is known of it yet."""
        return self._values.get(node)

    def doubt(self, node: ast.AST, what: str) -> Thing:
        """Report something that is not known; what is derived from it is not reported again."""
        self.find.doubt(what, place_of(node))
        return Thing.UNKNOWN

    def secret(self, text: str, node: ast.AST) -> None:
        """Report if a text names a file of secrets."""
        if found := secret_in(text):
            self.find.add("secrets", found, place_of(node))

    def _bound_by(self, binding: Binding) -> Value | None:
        value = self.value(binding.node) if binding.node is not None else None
        match binding.how:
            case "import":
                known = python_names().has(binding.path) and not self.shadowed(binding.path)
                value = Ref(binding.path) if known else Thing.UNKNOWN
            case "def" if binding.node is not None:
                value = Local(binding.node)
            case "self":
                value = Thing.INSTANCE
            case "part":
                value = value if value == Thing.EXPRESSION else Thing.CONTENT
            case "element":
                value = element_of(value)
            case "entered":
                enters_itself = value is None or value in _ENTERED
                value = value if enters_itself else Thing.CONTENT
        return value

    def shadowed(self, path: str) -> bool:
        """Return True if something in the working directory would be imported in place of a known module."""
        top = path.partition(".")[0]
        if top not in self._shadowed:
            self._shadowed[top] = bool(self._cwd) and _lies_in(self._cwd, top)
        return self._shadowed[top]

    def variable(self, name: str, *, exact: bool, node: ast.AST) -> None:
        """Report if an environment variable of this name is a secret; one that is computed may be any."""
        if not exact or is_secret_name(name):
            self.find.add("secrets", f"${name}", place_of(node))

    def name(self, node: ast.Name, scope: Scope) -> Value | None:
        """Return the value of a name that is read."""
        found = scope.find(node.id)
        if found and not (node in self.walk.early and found[0].kind in ("module", "class")):
            owner, bindings = found
            key = (owner, node.id)
            # In the first reading a name is what it was made until here; later, what it was in the end.
            names = self._names if self._names is not None else self._given
            given = names[key] if key in names else _of_parts(bindings)
            self._read.append((key, given))
            return self.mentioned(node, given)
        path = self._known.get(node.id)
        if path == TOOL:
            return self.doubt(node, f"{'calls' if node in self.walk.called else 'passes on'} tool {node.id}")
        if path == SERVERS:
            return self.doubt(node, f"has an MCP server do what `{node.id}` names")
        if path:
            return self.mentioned(node, _from_kernel(path))
        if path is None and python_names().has(f"builtins.{node.id}"):
            return self.mentioned(node, Ref(f"builtins.{node.id}"))
        return self.doubt(node, f"`{node.id}` is not known")

    def mentioned(self, node: ast.expr, value: Value | None) -> Value | None:
        """Report what a known function would do that is passed on instead of called."""
        if not isinstance(value, Ref) or node in self.walk.based:
            return value
        names, path = python_names(), value.path
        if path in names.sets["environments"]:
            self.find.add("secrets", "all environment variables", place_of(node))
            return value
        if node in self.walk.called or (path in names.harmless and path not in names.addresses):
            return value
        short = path.removeprefix("builtins.")
        for row in names.functions.get(path, ()):
            self.find.add(row.kind, f"what `{short}` is given", place_of(node))
        if path not in names.functions:
            self.doubt(node, f"passes on `{short}`")
        return value

    def callable(self, value: Value | None) -> bool:
        """Return True if calling this runs only code that is reported anyway."""
        # A library that builds expressions may evaluate the texts that it is given.
        evaluates = isinstance(value, Ref) and builds_expressions(value.path)
        return value in (Thing.FUNCTION, Thing.EXPRESSION) or (
            isinstance(value, Local | Ref) and not evaluates
        )


def _of_parts(bindings: Sequence[Binding]) -> Value | None:
    """Return the value of parameters, and of names that no statement binds."""
    value: Value | None = None
    for binding in bindings:
        if binding.how == "self" or (binding.how == "part" and binding.node is None):
            value = joined(value, Thing.CONTENT if binding.how == "part" else Thing.INSTANCE)
    return value


def _decodes(node: ast.AST) -> bool:
    if isinstance(node, ast.Slice):
        return isinstance(node.step, ast.UnaryOp)
    return getattr(node, "attr", getattr(node, "id", "")) in python_names().sets["decoding"]


def _from_kernel(path: str) -> Value:
    """Return the value of a kernel's name that is this module or function, or an instance of this type."""
    names = python_names()
    if path == OWN_FUNCTION:
        return Thing.FUNCTION
    is_shipped = path in names.functions and path.startswith(SHIPPED)
    if is_shipped or path in names.modules or (path.startswith("builtins.") and path in names.harmless):
        return Ref(path)
    if path in ("pathlib.Path", "pathlib.PosixPath"):
        return Thing.PATH
    return Thing.CONTENT if path in names.harmless else Thing.UNKNOWN


def _lies_in(folder: str, name: str) -> bool:
    """Return True if a folder holds a module, package or extension, with whatever ending."""
    try:
        beside = [*Path(folder).glob(f"{name}.*"), *Path(folder, name).glob("*")]
        return any(one.suffix in (".py", ".pyc", ".pyd", ".so") and one.is_file() for one in beside)
    except (OSError, ValueError):
        return False


def _look_at(reader: Reader, node: ast.AST, scope: Scope) -> None:
    """Report what a statement does; its expressions speak for themselves."""
    if look_at := _STATEMENTS.get(type(node)):
        look_at(reader, node, scope)
    elif type(node).__name__ not in python_names().sets["statements"]:
        reader.doubt(node, f"`{type(node).__name__}` is not read")
    elif not isinstance(node, ast.alias) and (name := bound_name(node)):
        _binds(reader, node, name, scope)


def _stored(reader: Reader, node: ast.Attribute | ast.Subscript) -> Value:
    """Report if what is assigned to, or deleted, belongs to something that others rely on."""
    value = reader.value(node.value)
    if isinstance(node, ast.Attribute):
        # Of a class it would be another method for each of its objects, also those of later cells.
        is_method = value == Thing.CONTENT and node.attr in python_names().harmless_methods
        given = reader.walk.assigned.get(node)
        is_function = given is not None and reader.callable(reader.value(given))
        is_special = node.attr in ("backend", "memory") or (node.attr[:2] == "__" and node.attr[-2:] == "__")
        if isinstance(value, Ref) or is_special or (is_method and is_function):
            return reader.doubt(node, f"changes `{reader.texts.source(node)}`")
    elif isinstance(value, Ref):
        key, names = reader.texts.one(node.slice), python_names()
        rules = not key.exact or any(word in key.text for word in names.sets["ruling words"])
        if value.path in names.modules or value.path in names.sets["environments"] or rules:
            return reader.doubt(node, f"changes `{value.path}`")
    return Thing.CONTENT


def _binds(reader: Reader, node: ast.AST, name: str, scope: Scope) -> None:
    # The others decide what a name, a class or an object is: whoever defines them can make anything of it.
    if name[:2] == "__" and name[-2:] == "__" and name not in python_names().sets["special methods"]:
        reader.doubt(node, f"defines `{name}`")
    found = scope.find(name)
    # Later cells would find it in place of the one they mean.
    if found and found[0].kind == "module" and python_names().has(f"builtins.{name}"):
        reader.doubt(node, f"gives `{name}` another meaning")


def _imported(reader: Reader, node: ast.Import | ast.ImportFrom, scope: Scope) -> None:
    names, module = python_names(), ""
    if isinstance(node, ast.ImportFrom):
        module = f"{'.' * node.level}{node.module or ''}"
    # The attributes of a class are taken for plain content.
    if scope.kind == "class":
        reader.doubt(node, "imports within a class")
    for path in [module] if module else [alias.name for alias in node.names]:
        if path not in names.modules:
            reader.doubt(node, f"imports `{path}`, which is not known")
        elif reader.shadowed(path):
            reader.doubt(node, f"imports `{path.partition('.')[0]}` of the working directory")
    for alias in node.names:
        path = f"{module}.{alias.name}" if module else alias.name
        if path not in names.harmless:
            _binds(reader, node, alias.asname or alias.name.partition(".")[0], scope)
        if module in names.modules and not names.has(path):
            reader.doubt(node, f"`{path}` is not known")


def _defined(reader: Reader, node: ast.FunctionDef | ast.AsyncFunctionDef, scope: Scope) -> None:
    _decorated(reader, node.decorator_list)
    _binds(reader, node, node.name, scope)


def _decorated(reader: Reader, decorators: list[ast.expr]) -> None:
    for decorator in decorators:
        maker = decorator.func if isinstance(decorator, ast.Call) else decorator
        value = reader.value(maker)
        is_accessor = isinstance(maker, ast.Attribute) and maker.attr in ("setter", "getter", "deleter")
        is_known = isinstance(value, Ref) and value.path in python_names().sets["decorators"]
        if not (is_accessor or is_known):
            reader.doubt(decorator, f"decorates with `{reader.texts.source(maker)}`")


def _class(reader: Reader, node: ast.ClassDef, scope: Scope) -> None:
    _decorated(reader, node.decorator_list)
    _binds(reader, node, node.name, scope)
    for base in node.bases:
        value = reader.value(base.value if isinstance(base, ast.Subscript) else base)
        is_known = isinstance(value, Ref) and value.path in python_names().sets["bases"]
        if not (is_known or isinstance(value, Local) or value == Thing.UNKNOWN):
            reader.doubt(base, f"derives from `{reader.texts.source(base)}`")
    for keyword in node.keywords:
        if keyword.arg not in ("total", "frozen"):
            reader.doubt(keyword.value, f"makes a class with `{keyword.arg or '**'}`")


_STATEMENTS: dict[type[ast.AST], Callable[[Reader, Any, Scope], None]] = {
    **dict.fromkeys((ast.Import, ast.ImportFrom), _imported),
    **dict.fromkeys((ast.FunctionDef, ast.AsyncFunctionDef), _defined),
    ast.ClassDef: _class,
}


def value_of(reader: Reader, node: ast.expr) -> Value | None:
    """Return the value of an expression and report its effects. Its parts were read before."""
    evaluate = _BY_TYPE.get(type(node))
    if evaluate is None:
        if type(node).__name__ not in python_names().sets["plain expressions"]:
            return reader.doubt(node, f"`{type(node).__name__}` is not read")
        return Thing.CONTENT
    return evaluate(reader, node)


def _name(reader: Reader, node: ast.Name) -> Value | None:
    scope = reader.walk.scope_of[node]
    if isinstance(node.ctx, ast.Load):
        return reader.name(node, scope)
    if node in reader.walk.early:
        reader.doubt(node, f"`{node.id}` is not known")
    _binds(reader, node, node.id, scope)
    return Thing.CONTENT


def _attribute(reader: Reader, node: ast.Attribute) -> Value | None:
    if not isinstance(node.ctx, ast.Load):
        return _stored(reader, node)
    names, owner = python_names(), reader.value(node.value)
    if node.attr.startswith("__") and node.attr not in names.sets["harmless dunders"]:
        return reader.doubt(node, f"uses `.{node.attr}`")
    if isinstance(owner, Ref):
        path = f"{owner.path}.{node.attr}"
        if names.has(path):
            return reader.mentioned(node, Ref(path))
        if owner.path in names.modules:
            return reader.doubt(node, f"`{path}` is not known")
        if owner.path in names.sets["environments"]:
            reader.find.add("secrets", "all environment variables", place_of(node))
            if node.attr in names.sets["changes"]:
                reader.doubt(node, "changes the environment variables")
    if node in reader.walk.called:
        # The call looks at it.
        return owner
    is_said = node.attr in ("__name__", "__doc__", "__version__") and owner not in (None, Thing.UNKNOWN)
    return Thing.TEXT if is_said else calls.passed_on(reader, node, owner)


def _constant(reader: Reader, node: ast.Constant) -> Value:
    value = node.value
    if isinstance(value, bytes):
        reader.secret(value.decode("utf-8", "replace"), node)
    if not isinstance(value, str):
        return Thing.CONTENT
    reader.secret(value, node)
    if value in python_names().sets["ruling options"] or value.startswith("module://"):
        reader.doubt(node, f"`{value}` may have modules imported or programs run")
    return Thing.TEXT


def _f_string(reader: Reader, node: ast.JoinedStr) -> Value:
    reader.secret(reader.texts.one(node).text, node)
    return Thing.TEXT


def _operation(reader: Reader, node: ast.BinOp) -> Value:
    sides = (reader.value(node.left), reader.value(node.right))
    if isinstance(node.op, ast.Div | ast.Add) and (Thing.TEXT in sides or Thing.PATH in sides):
        reader.secret(reader.texts.one(node).text, node)
    if Thing.EXPRESSION in sides:
        return Thing.EXPRESSION
    if isinstance(node.op, ast.Div) and Thing.PATH in sides:
        return Thing.PATH
    is_text = isinstance(node.op, ast.Add | ast.Mod | ast.Mult) and sides[0] == Thing.TEXT
    return Thing.TEXT if is_text else Thing.CONTENT


def _item(reader: Reader, node: ast.Subscript) -> Value | None:
    if not isinstance(node.ctx, ast.Load):
        return _stored(reader, node)
    owner = reader.value(node.value)
    if isinstance(owner, Ref) and owner.path in python_names().sets["environments"]:
        name = reader.texts.one(node.slice)
        reader.variable(name.text, exact=name.exact, node=node)
        return Thing.TEXT
    if isinstance(owner, Ref | Local):
        # `Stack[int]` is a class; whatever else is subscripted gives content.
        return owner if isinstance(owner, Local) else Thing.CONTENT
    return element_of(owner)


def _compared(reader: Reader, node: ast.Compare | ast.UnaryOp) -> Value:
    sides = [node.operand] if isinstance(node, ast.UnaryOp) else [node.left, *node.comparators]
    builds = any(reader.value(side) == Thing.EXPRESSION for side in sides)
    return Thing.EXPRESSION if builds else Thing.CONTENT


def _any_of(reader: Reader, node: ast.BoolOp | ast.IfExp) -> Value | None:
    value: Value | None = None
    for part in node.values if isinstance(node, ast.BoolOp) else (node.body, node.orelse):
        value = joined(value, reader.value(part))
    return value


def _several(reader: Reader, node: ast.expr) -> Value:
    parts = [node.elt] if isinstance(node, _COMPREHENSIONS) else getattr(node, "elts", [])
    return Thing.PATHS if parts and all(reader.value(part) == Thing.PATH for part in parts) else Thing.CONTENT


_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.GeneratorExp)
_BY_TYPE: dict[type[ast.expr], Callable[[Reader, Any], Value | None]] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: calls.called,
    ast.Constant: _constant,
    ast.JoinedStr: _f_string,
    ast.BinOp: _operation,
    ast.Subscript: _item,
    ast.Lambda: lambda _, node: Local(node),
    **dict.fromkeys((ast.IfExp, ast.BoolOp), _any_of),
    **dict.fromkeys((ast.NamedExpr, ast.Await, ast.Starred), lambda reader, node: reader.value(node.value)),
    **dict.fromkeys((ast.Compare, ast.UnaryOp), _compared),
    **dict.fromkeys((ast.List, ast.Tuple, ast.Set, *_COMPREHENSIONS), _several),
}
