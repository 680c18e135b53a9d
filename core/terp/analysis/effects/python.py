"""Analysis of Python code: the value of every name, and so the effect of every call.

No code is run: each expression is analysed once, in order, after its
parts. A name may be bound several times; its value is what all bindings have in common. The
cell is read again until the values of names no longer change.

The effects of the cell's own functions and classes are reported where they are defined, called or not. So
calls of them add nothing, and neither do the methods behind operators, loops and `with`.
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from terp.analysis.effects import calls, methods
from terp.analysis.effects.known import SERVERS, SHIPPED, TOOL, python_names
from terp.analysis.effects.scopes import Binding, Scope, Walk, bound_name, place_of
from terp.analysis.effects.secret_names import is_secret_name, secret_in
from terp.analysis.effects.values import (
    CONTENT,
    FUNCTION,
    PATH,
    PATHS,
    TEXT,
    UNKNOWN,
    Local,
    Ref,
    Texts,
    Thing,
    Value,
    element_of,
    joined,
)
from terp.events.effects import Finder

_MOST_READINGS = 6
_ENTERED = {"file", "database", "archive", "instance", "content"}


class Reader:
    """Reads one cell. `value` and the tables of names are for `calls`, `methods` and `statements`."""

    def __init__(self, walk: Walk, lines: list[str], known: Mapping[str, str], cwd: str) -> None:
        self.walk = walk
        self.texts = Texts(walk, lines, self.value)
        self.find = Finder()
        self._known = known
        self._cwd = cwd
        self._values: dict[ast.AST, Value | None] = {}
        self._names: dict[tuple[Scope, str], Value | None] | None = None
        self._given: dict[tuple[Scope, str], Value | None] = {}
        self._shadowed: dict[str, bool] = {}
        self._read: list[tuple[tuple[Scope, str], Value | None]] = []
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
                    look_at(self, node, scope)
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
        """Report an unknown part of the code; values derived from it are not reported again."""
        self.find.doubt(what, place_of(node))
        return UNKNOWN

    def secret(self, text: str, node: ast.AST) -> None:
        """Report if a text names a file of secrets."""
        if found := secret_in(text):
            self.find.add("secrets", found, place_of(node))

    def _bound_by(self, binding: Binding) -> Value | None:
        node = binding.node
        value = self.value(node) if node is not None else None
        match binding.how:
            case "import":
                known = python_names().has(binding.path) and not self.shadowed(binding.path)
                value = Ref(binding.path) if known else UNKNOWN
            case "def" if node is not None:
                value = Local(node)
            case "self" | "part":
                value = CONTENT if binding.how == "part" else Thing("instance")
            case "element":
                value = element_of(value)
            case "entered":
                is_same = value is None or (isinstance(value, Thing) and value.kind in _ENTERED)
                value = value if is_same else CONTENT
        return value

    def shadowed(self, path: str) -> bool:
        """Return True if a file in the working directory would be imported in place of a known module."""
        top = path.partition(".")[0]
        if top not in self._shadowed:
            folder = Path(self._cwd) if self._cwd else None
            self._shadowed[top] = folder is not None and _has_module(folder, top)
        return self._shadowed[top]

    def variable(self, name: str, *, exact: bool, node: ast.AST) -> None:
        """Report if an environment variable of this name is a secret; a computed name may be any."""
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
        if self._known.get(node.id) == TOOL:
            return self.doubt(node, f"{'calls' if node in self.walk.called else 'passes on'} tool {node.id}")
        if self._known.get(node.id) == SERVERS:
            return self.doubt(node, f"has an MCP server do what `{node.id}` names")
        if node.id in self._known:
            return self.mentioned(node, _from_kernel(self._known[node.id]))
        if python_names().has(f"builtins.{node.id}"):
            return self.mentioned(node, Ref(f"builtins.{node.id}"))
        return self.doubt(node, f"`{node.id}` is not known")

    def mentioned(self, node: ast.expr, value: Value | None) -> Value | None:
        """Report the effects of a known function that is passed on instead of called."""
        if not isinstance(value, Ref) or node in self.walk.based:
            return value
        path = value.path
        if path in python_names().environments:
            if node not in self.walk.itemised:
                self.find.add("secrets", "all environment variables", place_of(node))
            return Thing("environment")
        if node in self.walk.called or path in python_names().harmless:
            return value
        short = path.removeprefix("builtins.")
        for row in python_names().functions.get(path, ()):
            self.find.add(row.kind, f"what `{short}` is given", place_of(node))
        if path not in python_names().functions:
            self.doubt(node, f"passes on `{short}`")
        return value

    @property
    def has_paths(self) -> bool:
        """True if objects of the cell can be paths: their module was imported."""
        return "pathlib" in self.imported

    def callable(self, value: Value | None) -> bool:
        """Return True if calling this runs only code that is reported anyway."""
        return value == FUNCTION or isinstance(value, Local | Ref)


def _of_parts(bindings: Sequence[Binding]) -> Value | None:
    """Return the value of parameters, and of names that no statement binds."""
    value: Value | None = None
    for binding in bindings:
        if binding.how in ("part", "self"):
            value = joined(value, CONTENT if binding.how == "part" else Thing("instance"))
    return value


def _from_kernel(path: str) -> Value:
    """Return the value of a kernel's name that is this module or function, or an instance of this type."""
    if path == FUNCTION.kind:
        return FUNCTION
    if path in python_names().functions and path.startswith(SHIPPED):
        return Ref(path)
    if path in python_names().modules or (path.startswith("builtins.") and path in python_names().harmless):
        return Ref(path)
    if path in ("pathlib.Path", "pathlib.PosixPath"):
        return PATH
    return CONTENT if path in python_names().harmless else UNKNOWN


def _has_module(folder: Path, name: str) -> bool:
    try:
        files = [folder / f"{name}{suffix}" for suffix in (".py", ".pyc", ".so", ".abi3.so")]
        return any(file.is_file() for file in [*files, folder / name / "__init__.py"])
    except (OSError, ValueError):
        return False


_DECORATORS = frozenset(
    str.split("""
        builtins.property builtins.staticmethod builtins.classmethod functools.lru_cache functools.cache
        functools.wraps functools.cached_property functools.total_ordering dataclasses.dataclass
        contextlib.contextmanager contextlib.asynccontextmanager abc.abstractmethod numpy.vectorize
        typing.overload enum.unique
    """)
)
_BASES = frozenset(
    str.split("""
        builtins.object builtins.dict builtins.list builtins.str builtins.int builtins.float builtins.set
        builtins.tuple abc.ABC collections.UserDict collections.UserList collections.OrderedDict
        json.JSONEncoder threading.Thread sklearn.base.BaseEstimator sklearn.base.TransformerMixin
        sklearn.base.ClassifierMixin sklearn.base.RegressorMixin argparse.Namespace
    """)
)
# The others decide what a name, a class or an object is: whoever defines them can make anything of it.
_SPECIAL_METHODS = frozenset(
    str.split("""
        __init__ __post_init__ __repr__ __str__ __eq__ __ne__ __lt__ __le__ __gt__ __ge__ __len__ __iter__
        __next__ __hash__ __contains__ __enter__ __exit__ __aenter__ __aexit__ __bool__ __add__ __radd__
        __iadd__ __sub__ __rsub__ __mul__ __rmul__ __matmul__ __truediv__ __floordiv__ __mod__ __pow__
        __neg__ __abs__ __getitem__ __setitem__ __delitem__ __call__ __int__ __float__ __round__ __format__
        __slots__ __doc__ __all__ __version__ __author__ __match_args__ __reversed__ __and__ __or__ __xor__
        __invert__ __index__
    """)
)
_STATEMENTS = frozenset(
    str.split("""
        Module Assign AnnAssign Expr Return If For AsyncFor While With AsyncWith Try TryStar Raise Assert
        Pass Break Continue Delete Global Nonlocal Match match_case withitem ExceptHandler keyword
        MatchValue MatchSingleton MatchSequence MatchMapping MatchClass MatchStar MatchAs MatchOr TypeAlias
        TypeVar TypeVarTuple ParamSpec alias
    """)
)


# Options of matplotlib that name modules to import or programs to run.
_RULING_OPTIONS = ("backend", "usetex", "animation", "preamble")


def look_at(reader: "Reader", node: ast.AST, scope: Scope) -> None:
    """Report the effects of a statement; those of its expressions are reported separately."""
    if type(node).__name__ in _STATEMENTS:
        if not isinstance(node, ast.alias) and (name := bound_name(node)):
            _binds(reader, node, name, scope)
        return
    match node:
        case ast.Import(names=names):
            _in_class(reader, node, scope)
            for alias in names:
                _import(reader, node, alias.name)
                _binds(reader, node, alias.asname or alias.name.partition(".")[0], scope)
        case ast.ImportFrom():
            _import_from(reader, node, scope)
        case (
            ast.FunctionDef(name=name, decorator_list=decorators)
            | ast.AsyncFunctionDef(name=name, decorator_list=decorators)
        ):
            _decorated(reader, decorators)
            _binds(reader, node, name, scope)
        case ast.ClassDef():
            _class(reader, node, scope)
        case ast.AugAssign(target=target):
            if target in reader.walk.early and isinstance(target, ast.Name):
                reader.doubt(target, f"`{target.id}` is not known")
        case _:
            reader.doubt(node, f"`{type(node).__name__}` is not read")


def stored_name(reader: "Reader", node: ast.Name, scope: Scope) -> Value:
    """Report an assignment to a name, or its deletion, if that can change the meaning of other code."""
    _binds(reader, node, node.id, scope)
    return CONTENT


def stored(reader: "Reader", node: ast.Attribute | ast.Subscript) -> Value:
    """Report an assignment to an attribute or item, or its deletion, if that can change other code."""
    value = reader.value(node.value)
    if isinstance(node, ast.Attribute):
        if isinstance(value, Ref):
            return reader.doubt(node, f"changes `{value.path}.{node.attr}`")
        if node.attr in ("backend", "memory") or (node.attr.startswith("__") and node.attr.endswith("__")):
            return reader.doubt(node, f"changes `.{node.attr}`")
        if value == CONTENT and python_names().is_harmless_method(node.attr) and _is_function(reader, node):
            # Of a class it would be another method for each of its objects, also those of later cells.
            return reader.doubt(node, f"gives `.{node.attr}` another meaning")
    elif value == Thing("environment"):
        return reader.doubt(node, "changes an environment variable")
    elif isinstance(value, Ref):
        key = reader.texts.one(node.slice)
        rules = not key.exact or any(word in key.text for word in _RULING_OPTIONS)
        if value.path in python_names().modules or rules:
            return reader.doubt(node, f"changes `{value.path}`")
    return CONTENT


def _is_function(reader: "Reader", target: ast.Attribute) -> bool:
    given = reader.walk.assigned.get(target)
    return given is not None and reader.callable(reader.value(given))


def _binds(reader: "Reader", node: ast.AST, name: str, scope: Scope) -> None:
    if name.startswith("__") and name.endswith("__") and name not in _SPECIAL_METHODS:
        reader.doubt(node, f"defines `{name}`")
    found = scope.find(name)
    # Later cells would find it in place of the one they mean.
    if found and found[0].kind == "module" and python_names().has(f"builtins.{name}"):
        reader.doubt(node, f"gives `{name}` another meaning")


def _in_class(reader: "Reader", node: ast.AST, scope: Scope) -> None:
    # The attributes of a class are taken for plain content.
    if scope.kind == "class":
        reader.doubt(node, "imports within a class")


def _import(reader: "Reader", node: ast.AST, path: str) -> None:
    if path not in python_names().modules:
        reader.doubt(node, f"imports `{path}`, which is not known")
    elif reader.shadowed(path):
        reader.doubt(node, f"imports `{path.partition('.')[0]}` of the working directory")


def _import_from(reader: "Reader", node: ast.ImportFrom, scope: Scope) -> None:
    module = f"{'.' * node.level}{node.module or ''}"
    _in_class(reader, node, scope)
    _import(reader, node, module)
    for alias in node.names:
        if f"{module}.{alias.name}" not in python_names().harmless:
            _binds(reader, node, alias.asname or alias.name, scope)
        if alias.name == "*":
            reader.doubt(node, f"imports every name of `{module}`")
        elif module in python_names().modules and not python_names().has(f"{module}.{alias.name}"):
            reader.doubt(node, f"`{module}.{alias.name}` is not known")


def _decorated(reader: "Reader", decorators: list[ast.expr]) -> None:
    for decorator in decorators:
        maker = decorator.func if isinstance(decorator, ast.Call) else decorator
        value = reader.value(maker)
        is_accessor = isinstance(maker, ast.Attribute) and maker.attr in ("setter", "getter", "deleter")
        if not (is_accessor or (isinstance(value, Ref) and value.path in _DECORATORS)):
            reader.doubt(decorator, f"decorates with `{reader.texts.source(maker)}`")


def _class(reader: "Reader", node: ast.ClassDef, scope: Scope) -> None:
    _decorated(reader, node.decorator_list)
    _binds(reader, node, node.name, scope)
    for base in node.bases:
        value = reader.value(base.value if isinstance(base, ast.Subscript) else base)
        known = isinstance(value, Local) or value == UNKNOWN
        if isinstance(value, Ref):
            module, _, name = value.path.rpartition(".")
            known = value.path in _BASES or module in ("enum", "typing")
            known = known or (module == "builtins" and name.endswith(("Error", "Exception", "Warning")))
        if not known:
            reader.doubt(base, f"derives from `{reader.texts.source(base)}`")
    for keyword in node.keywords:
        if keyword.arg not in ("total", "frozen"):
            reader.doubt(keyword.value, f"makes a class with `{keyword.arg or '**'}`")


_BACKENDS = frozenset(str.split("matplotlib agg Agg inline threading loky multiprocessing pdf svg"))
_HARMLESS_DUNDERS = frozenset(str.split("__name__ __doc__ __version__ __len__ __init__ __post_init__"))
_SAID = frozenset(str.split("__name__ __doc__ __version__"))
_CHANGES = frozenset(str.split("setdefault update pop popitem clear"))
_RUNNING_OPTIONS = frozenset(str.split("usetex text.usetex text.latex.preamble"))
_DRAWS_TABLES = frozenset(str.split("plot hist boxplot"))
_PATH_MARKS = frozenset("./~")
_PLAIN = frozenset(
    str.split("Compare DictComp FormattedValue Set Slice TemplateStr Interpolation UnaryOp Yield YieldFrom")
)


def value_of(reader: "Reader", node: ast.expr) -> Value | None:
    """Return the value of an expression and report its effects. Its parts were read before."""
    evaluate = _BY_TYPE.get(type(node))
    if evaluate is None:
        if type(node).__name__ not in _PLAIN:
            return reader.doubt(node, f"`{type(node).__name__}` is not read")
        return CONTENT
    return evaluate(reader, node)


def _name(reader: "Reader", node: ast.Name) -> Value | None:
    scope = reader.walk.scope_of[node]
    return reader.name(node, scope) if isinstance(node.ctx, ast.Load) else stored_name(reader, node, scope)


def _attribute(reader: "Reader", node: ast.Attribute) -> Value | None:
    if not isinstance(node.ctx, ast.Load):
        return stored(reader, node)
    owner = reader.value(node.value)
    if node.attr.startswith("__") and node.attr not in _HARMLESS_DUNDERS:
        return reader.doubt(node, f"uses `.{node.attr}`")
    if isinstance(owner, Ref):
        path = f"{owner.path}.{node.attr}"
        if python_names().has(path):
            return reader.mentioned(node, Ref(path))
        if owner.path in python_names().modules:
            return reader.doubt(node, f"`{path}` is not known")
        if owner.path in python_names().environments:
            reader.find.add("secrets", "all environment variables", place_of(node))
            if node.attr in _CHANGES:
                reader.doubt(node, "changes the environment variables")
    if node in reader.walk.called:
        # The call looks at it.
        return owner
    is_said = node.attr in _SAID and owner not in (None, UNKNOWN)
    return TEXT if is_said else methods.mentioned(reader, node, owner)


def _call(reader: "Reader", node: ast.Call) -> Value | None:
    for keyword in node.keywords:
        named = keyword.arg
        if named is not None:
            _ruling_option(reader, named, keyword.value)
            if named == "memory" and not _is_off(keyword.value):
                reader.doubt(node, "keeps results in files")
        elif _calls_pipeline(reader, node):
            reader.doubt(node, "may keep results in files")
        elif _draws_a_table(reader, node) and not isinstance(keyword.value, ast.Dict):
            reader.doubt(node, "may name a backend to import")
    return calls.called(reader, node)


def _ruling_option(reader: "Reader", name: str, value: ast.expr) -> None:
    """Doubt an option that names a module to import, or makes matplotlib run programs."""
    if name == "backend" and reader.texts.one(value).text not in _BACKENDS:
        reader.doubt(value, "names a backend to import")
    elif name in _RUNNING_OPTIONS and not _is_off(value):
        reader.doubt(value, f"`{name}` runs LaTeX")


def _is_off(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and not value.value


def _calls_pipeline(reader: "Reader", node: ast.Call) -> bool:
    value = reader.value(node.func)
    return isinstance(value, Ref) and value.path.startswith("sklearn.pipeline.")


def _draws_a_table(reader: "Reader", node: ast.Call) -> bool:
    """Return True if it may be `df.plot(…)`, `df.plot.bar(…)` or `df.hist(…)`, which import a backend."""
    func = node.func
    if not isinstance(func, ast.Attribute) or "pandas" not in reader.imported:
        return False
    by_kind = isinstance(func.value, ast.Attribute) and func.value.attr == "plot"
    return by_kind or (func.attr in _DRAWS_TABLES and not isinstance(reader.value(func.value), Ref))


def _dict(reader: "Reader", node: ast.Dict) -> Value:
    for key, value in zip(node.keys, node.values, strict=True):
        if isinstance(key, ast.Constant) and isinstance(key.value, str):
            _ruling_option(reader, key.value, value)
    return CONTENT


def _constant(reader: "Reader", node: ast.Constant) -> Value:
    value = node.value
    if isinstance(value, bytes):
        reader.secret(value.decode("utf-8", "replace"), node)
    if not isinstance(value, str):
        return CONTENT
    reader.secret(value, node)
    if value.startswith("module://"):
        reader.doubt(node, f"`{value}` names a module to import")
    return TEXT


def _f_string(reader: "Reader", node: ast.JoinedStr) -> Value:
    if any(isinstance(part, ast.Constant) and _PATH_MARKS & set(str(part.value)) for part in node.values):
        reader.secret(reader.texts.one(node).text, node)
    return TEXT


def _operation(reader: "Reader", node: ast.BinOp) -> Value:
    sides = (reader.value(node.left), reader.value(node.right))
    if isinstance(node.op, ast.Div | ast.Add) and (TEXT in sides or PATH in sides):
        reader.secret(reader.texts.one(node).text, node)
    if isinstance(node.op, ast.Div) and PATH in sides:
        return PATH
    return TEXT if isinstance(node.op, ast.Add | ast.Mod | ast.Mult) and sides[0] == TEXT else CONTENT


def _item(reader: "Reader", node: ast.Subscript) -> Value | None:
    if not isinstance(node.ctx, ast.Load):
        return stored(reader, node)
    owner = reader.value(node.value)
    if owner == Thing("environment"):
        name = reader.texts.one(node.slice)
        reader.variable(name.text, exact=name.exact, node=node)
        return TEXT
    if isinstance(owner, Ref | Local):
        # `Stack[int]` is a class; whatever else is subscripted gives content.
        return owner if isinstance(owner, Local) else CONTENT
    return element_of(owner)


def _lambda(reader: "Reader", node: ast.Lambda) -> Value:  # noqa: ARG001  (one of a table)
    return Local(node)


def _choice(reader: "Reader", node: ast.IfExp) -> Value | None:
    return joined(reader.value(node.body), reader.value(node.orelse))


def _any_of(reader: "Reader", node: ast.BoolOp) -> Value | None:
    value: Value | None = None
    for part in node.values:
        value = joined(value, reader.value(part))
    return value


def _same(reader: "Reader", node: ast.NamedExpr | ast.Await | ast.Starred) -> Value | None:
    return reader.value(node.value)


def _sequence(reader: "Reader", node: ast.List | ast.Tuple | ast.Set) -> Value:
    parts = node.elts
    return PATHS if parts and all(reader.value(part) == PATH for part in parts) else CONTENT


def _comprehension(reader: "Reader", node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
    return PATHS if reader.value(node.elt) == PATH else CONTENT


_BY_TYPE: dict[type[ast.expr], Callable[["Reader", Any], Value | None]] = {
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Call: _call,
    ast.Constant: _constant,
    ast.Dict: _dict,
    ast.JoinedStr: _f_string,
    ast.BinOp: _operation,
    ast.Subscript: _item,
    ast.Lambda: _lambda,
    ast.IfExp: _choice,
    ast.BoolOp: _any_of,
    ast.NamedExpr: _same,
    ast.Await: _same,
    ast.Starred: _same,
    ast.List: _sequence,
    ast.Tuple: _sequence,
    ast.Set: _sequence,
    ast.ListComp: _comprehension,
    ast.SetComp: _comprehension,
    ast.GeneratorExp: _comprehension,
}
