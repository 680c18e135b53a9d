"""What statements do by themselves: importing, defining, and changing what others rely on."""

import ast
from typing import TYPE_CHECKING

from terp.analysis.effects.known_names import harmless, is_harmless_method, is_known, modules
from terp.analysis.effects.scopes import Scope, bound_name
from terp.analysis.effects.values import CONTENT, UNKNOWN, Local, Ref, Thing, Value

if TYPE_CHECKING:
    from terp.analysis.effects.python import Reader

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
    """Tell what a statement does; its expressions speak for themselves."""
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
    """Tell if a name that is assigned to, or deleted, is one that others rely on."""
    _binds(reader, node, node.id, scope)
    return CONTENT


def stored(reader: "Reader", node: ast.Attribute | ast.Subscript) -> Value:
    """Tell if what is assigned to, or deleted, belongs to something that others rely on."""
    value = reader.value(node.value)
    if isinstance(node, ast.Attribute):
        if isinstance(value, Ref):
            return reader.doubt(node, f"changes `{value.path}.{node.attr}`")
        if node.attr in ("backend", "memory") or (node.attr.startswith("__") and node.attr.endswith("__")):
            return reader.doubt(node, f"changes `.{node.attr}`")
        if value == CONTENT and is_harmless_method(node.attr) and _is_function(reader, node):
            # Of a class it would be another method for each of its objects, also those of later cells.
            return reader.doubt(node, f"gives `.{node.attr}` another meaning")
    elif value == Thing("environment"):
        return reader.doubt(node, "changes an environment variable")
    elif isinstance(value, Ref):
        key = reader.texts.one(node.slice)
        rules = not key.exact or any(word in key.text for word in _RULING_OPTIONS)
        if value.path in modules() or rules:
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
    if found and found[0].kind == "module" and is_known(f"builtins.{name}"):
        reader.doubt(node, f"gives `{name}` another meaning")


def _in_class(reader: "Reader", node: ast.AST, scope: Scope) -> None:
    # The attributes of a class are taken for plain content.
    if scope.kind == "class":
        reader.doubt(node, "imports within a class")


def _import(reader: "Reader", node: ast.AST, path: str) -> None:
    if path not in modules():
        reader.doubt(node, f"imports `{path}`, which is not known")
    elif reader.shadowed(path):
        reader.doubt(node, f"imports `{path.partition('.')[0]}` of the working directory")


def _import_from(reader: "Reader", node: ast.ImportFrom, scope: Scope) -> None:
    module = f"{'.' * node.level}{node.module or ''}"
    _in_class(reader, node, scope)
    _import(reader, node, module)
    for alias in node.names:
        if f"{module}.{alias.name}" not in harmless():
            _binds(reader, node, alias.asname or alias.name, scope)
        if alias.name == "*":
            reader.doubt(node, f"imports every name of `{module}`")
        elif module in modules() and not is_known(f"{module}.{alias.name}"):
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
