"""What each kind of expression is, given what its parts are."""

import ast
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from terp.analysis.effects import calls, methods, statements
from terp.analysis.effects.known_effects import ENVIRONMENTS
from terp.analysis.effects.known_names import is_known, modules
from terp.analysis.effects.scopes import place_of
from terp.analysis.effects.values import (
    CONTENT,
    PATH,
    PATHS,
    TEXT,
    UNKNOWN,
    Local,
    Ref,
    Thing,
    Value,
    element_of,
    joined,
)

if TYPE_CHECKING:
    from terp.analysis.effects.python import Reader

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
    """What an expression is; tells what it does. Its parts have been looked at before."""
    evaluate = _BY_TYPE.get(type(node))
    if evaluate is None:
        if type(node).__name__ not in _PLAIN:
            return reader.doubt(node, f"`{type(node).__name__}` is not read")
        return CONTENT
    return evaluate(reader, node)


def _name(reader: "Reader", node: ast.Name) -> Value | None:
    scope = reader.walk.scope_of[node]
    return (
        reader.name(node, scope)
        if isinstance(node.ctx, ast.Load)
        else statements.stored_name(reader, node, scope)
    )


def _attribute(reader: "Reader", node: ast.Attribute) -> Value | None:
    if not isinstance(node.ctx, ast.Load):
        return statements.stored(reader, node)
    owner = reader.value(node.value)
    if node.attr.startswith("__") and node.attr not in _HARMLESS_DUNDERS:
        return reader.doubt(node, f"uses `.{node.attr}`")
    if isinstance(owner, Ref):
        path = f"{owner.path}.{node.attr}"
        if is_known(path):
            return reader.mentioned(node, Ref(path))
        if owner.path in modules():
            return reader.doubt(node, f"`{path}` is not known")
        if owner.path in ENVIRONMENTS:
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
    """Whether it may be `df.plot(…)`, `df.plot.bar(…)` or `df.hist(…)`: they import their backend."""
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
        return statements.stored(reader, node)
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
