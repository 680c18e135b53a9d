"""Values of expressions: their types, which decide the effects of methods, and their possible texts."""

import ast
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from terp.analysis.effects.scopes import Binding, Scope, Walk

Kind = Literal[
    "content",  # numbers, containers, tables, pictures: only what harmless functions make
    "text",
    "path",
    "paths",  # something to iterate over that has paths
    "column",  # what an attribute gives that is not listed
    "file",
    "database",
    "archive",
    "instance",  # of a class of the cell
    "function",  # made by a harmless function of known functions
    "environment",
    "several",  # one of several that differ: nothing is known of its methods
    "unknown",  # reported already where it was made
]


@dataclass(frozen=True, slots=True)
class Ref:
    """A module, or a name in one, by its full name."""

    path: str


@dataclass(frozen=True, slots=True)
class Local:
    """A function or class of the cell: its effects are reported where it is defined."""

    node: ast.AST


@dataclass(frozen=True, slots=True)
class Thing:
    """An object: an instance of a known type."""

    kind: Kind


Value = Ref | Local | Thing

CONTENT = Thing("content")
TEXT = Thing("text")
PATH = Thing("path")
PATHS = Thing("paths")
COLUMN = Thing("column")
SEVERAL = Thing("several")
UNKNOWN = Thing("unknown")
FUNCTION = Thing("function")


def joined(one: Value | None, other: Value | None) -> Value | None:
    """Return the common knowledge of two values, of which an expression has one; None if none yet."""
    if one is None or other is None or one == other:
        return other if one is None else one
    both = (one, other)
    if UNKNOWN in both:
        return UNKNOWN
    if all(value == FUNCTION or isinstance(value, Local) for value in both):
        return FUNCTION
    return CONTENT if SEVERAL not in both and all(isinstance(value, Thing) for value in both) else SEVERAL


def element_of(value: Value | None) -> Value | None:
    """Return the value of an element of something."""
    match value:
        case None | Thing(kind="unknown" | "text"):
            return value
        case Thing(kind="paths"):
            return PATH
    return CONTENT


RESULTS: dict[str, Value] = {
    **dict.fromkeys(
        ("pathlib.Path", "pathlib.PosixPath", "pathlib.PurePath", "pathlib.Path.cwd", "pathlib.Path.home"),
        PATH,
    ),
    **dict.fromkeys(
        (
            "builtins.str",
            "builtins.input",
            "builtins.repr",
            "builtins.format",
            "json.dumps",
            "os.getcwd",
            "os.path.join",
            "os.path.basename",
            "os.path.dirname",
            "os.path.abspath",
            "os.path.expanduser",
            "textwrap.dedent",
            "re.sub",
        ),
        TEXT,
    ),
    **dict.fromkeys(("io.StringIO", "io.BytesIO", "pandas.ExcelWriter"), Thing("file")),
    **dict.fromkeys(
        (
            "functools.partial",
            "numpy.vectorize",
            "numpy.poly1d",
            "operator.itemgetter",
            "scipy.interpolate.interp1d",
            "scipy.interpolate.CubicSpline",
            "scipy.stats.gaussian_kde",
            "numpy.frompyfunc",
        ),
        FUNCTION,
    ),
}
KEEPS_ELEMENTS = frozenset(
    {"builtins.sorted", "builtins.list", "builtins.tuple", "builtins.set", "builtins.reversed"}
)

_PATH_TO_PATH = frozenset(
    str.split("""
        parent with_name with_suffix with_stem joinpath absolute resolve expanduser relative_to rename
        replace
    """)
)
_PATH_TO_PATHS = frozenset(str.split("iterdir glob rglob parents"))
_TO_TEXT = frozenset(
    str.split("""
        upper lower strip lstrip rstrip title capitalize casefold swapcase format format_map join zfill
        ljust rjust center removeprefix removesuffix expandtabs translate read_text strftime isoformat
        getvalue to_string to_html to_json to_latex to_markdown as_posix hexdigest get_text decode readline
    """)
)


def of_method(receiver: Value, name: str) -> Value:
    """Return the value of a method or attribute of this name."""
    if receiver == PATH:
        if name in _PATH_TO_PATH:
            return PATH
        if name in _PATH_TO_PATHS:
            return PATHS
        if name in ("name", "stem", "suffix"):
            return TEXT
    if receiver == TEXT and name == "replace":
        return TEXT
    return TEXT if name in _TO_TEXT else CONTENT


# The depth to which names are followed, and the most texts of one expression.
_DEEPEST, _MOST = 8, 20
_LONGEST_SOURCE = 40
_DECODING = frozenset(
    str.split("""
        b16decode b32decode b64decode urlsafe_b64decode b85decode a85decode a2b_base64 a2b_hex unhexlify
        fromhex decode decompress translate chr
    """)
)
# A scheme has none of these, so what follows cannot make an address of it.
_LOCAL_START = re.compile(r"[A-Za-z0-9+.-]*[^A-Za-z0-9+.:{-]")
_JOINING = frozenset(
    str.split("""
        os.path.join pathlib.Path pathlib.PurePath builtins.str os.fspath os.path.expanduser os.path.abspath
        os.path.realpath os.path.normpath glob.glob glob.iglob
    """)
)
_HERE = {"pathlib.Path.cwd": ".", "pathlib.Path": ".", "os.getcwd": ".", "pathlib.Path.home": "~"}
_BETWEEN = {"joinpath": "/", "glob": "/", "rglob": "/**/"}
_SAME = frozenset(str.split("resolve absolute expanduser strip as_posix"))
_ITERATED = frozenset(str.split("sorted list tuple set reversed tqdm"))


@dataclass(frozen=True, slots=True)
class ResolvedText:
    """A text of the code; computed parts stand in braces, and then it is not `exact`."""

    text: str
    exact: bool = True
    is_pattern: bool = False

    @property
    def is_address(self) -> bool:
        """True if it is an address on the network."""
        return "://" in self.text and not self.text.startswith("file:")

    @property
    def may_be_address(self) -> bool:
        """True if its computed part could make it an address."""
        return not (self.exact or self.is_pattern or _LOCAL_START.match(self.text))


class Texts:
    """Looks up texts in a cell."""

    def __init__(self, walk: Walk, lines: Sequence[str], value: Callable[[ast.AST], Value | None]) -> None:
        """`value` returns the value of an expression."""
        self._walk = walk
        self._value = value
        self._lines = lines
        self._decoded: dict[ast.expr, bool] = {}

    def of(self, node: ast.expr, depth: int = 0) -> list[ResolvedText]:
        """Return all texts that `node` may stand for; at least one."""
        match node:
            case ast.Name(id=name) if depth < _DEEPEST:
                return self._of_name(name, node, depth) or [self._computed(node)]
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts) if parts:
                return [one for part in parts[:_MOST] for one in self.of(part, depth + 1)][:_MOST]
            case ast.IfExp(body=one, orelse=other):
                return [*self.of(one, depth + 1), *self.of(other, depth + 1)][:_MOST]
            case ast.Starred() | ast.Lambda():
                return [self._computed(node)]
        return [self.one(node, depth)]

    def one(self, node: ast.expr, depth: int = 0) -> ResolvedText:
        """Return the text of an expression, in one piece."""
        resolved = None
        match node:
            case _ if depth > _DEEPEST:
                resolved = None
            case ast.Constant(value=str(text)):
                resolved = ResolvedText(text)
            case ast.Constant(value=bytes(raw)):
                resolved = ResolvedText(raw.decode("utf-8", "replace"))
            case ast.JoinedStr(values=parts):
                resolved = _together("", [self.one(part, depth + 1) for part in parts])
            case ast.FormattedValue(value=value):
                inner = self.one(value, depth + 1)
                resolved = inner if inner.exact else self._computed(value)
            case ast.BinOp(left=left, op=ast.Add() | ast.Div() as sign, right=right):
                between = "/" if isinstance(sign, ast.Div) else ""
                resolved = _together(between, [self.one(left, depth + 1), self.one(right, depth + 1)])
            case ast.Name():
                found = self.of(node, depth)
                resolved = found[0] if len(found) == 1 else None
            case ast.Call():
                resolved = self._of_call(node, depth)
        return resolved or self._computed(node)

    def source(self, node: ast.AST) -> str:
        """Return the code of an expression, on one line, shortened."""
        match node:
            case ast.Name(id=name):
                return name
            case ast.Attribute(value=value, attr=attr) if isinstance(value, ast.Name | ast.Attribute):
                return self._cut(f"{self.source(value)}.{attr}")
            case ast.Call(func=func):
                return self._cut(f"{self.source(func)}(…)")
        if not isinstance(node, ast.expr) or node.end_lineno is None:
            return "…"
        line = self._lines[node.lineno - 1] if node.lineno <= len(self._lines) else ""
        end = node.end_col_offset if node.end_lineno == node.lineno else None
        return self._cut(line.encode()[node.col_offset : end].decode("utf-8", "replace").strip() or "…")

    @staticmethod
    def _cut(source: str) -> str:
        return source if len(source) <= _LONGEST_SOURCE else f"{source[: _LONGEST_SOURCE - 1]}…"

    def _computed(self, node: ast.expr) -> ResolvedText:
        return ResolvedText(f"{{{self.source(node)}}}", exact=False)

    def _of_name(self, name: str, node: ast.Name, depth: int) -> list[ResolvedText]:
        found = self._walk.scope_of[node].find(name)
        if found is None or len(found[1]) != 1:
            return []
        scope, (binding,) = found
        match binding:
            case Binding(how="value", node=ast.expr() as value):
                return self.of(value, depth + 1)
            case Binding(how="element", node=ast.expr() as iterated):
                return self._elements(iterated, depth + 1)
            case Binding(how="part"):
                return self._of_parameter(name, scope, depth + 1)
        return []

    def _elements(self, node: ast.expr, depth: int) -> list[ResolvedText]:
        if depth > _DEEPEST:
            return []
        match node:
            case ast.List(elts=parts) | ast.Tuple(elts=parts) | ast.Set(elts=parts):
                return self.of(node, depth) if parts else []
            case ast.Call(func=ast.Name(id=name), args=[first, *_]) if name in _ITERATED:
                return self._elements(first, depth + 1)
            case ast.Call(
                func=ast.Name(id="glob" | "iglob") | ast.Attribute(attr="glob" | "iglob" | "rglob")
            ):
                resolved = self.one(node, depth)
                return [ResolvedText(resolved.text, resolved.exact, is_pattern=True)]
            case ast.Name(id=name):
                found = self._walk.scope_of[node].find(name)
                if found and len(found[1]) == 1 and isinstance(value := found[1][0].node, ast.expr):
                    return self._elements(value, depth + 1)
        return []

    def _of_call(self, node: ast.Call, depth: int) -> ResolvedText | None:
        arguments = node.args
        if has_more(node) or node.keywords:
            return None
        value = self._value(node.func)
        if isinstance(value, Ref):
            return self._of_function(value.path, arguments, depth)
        if not isinstance(node.func, ast.Attribute) or value not in (PATH, TEXT):
            return None
        owner, name = self.one(node.func.value, depth + 1), node.func.attr
        if name in _SAME and not arguments:
            return owner
        if value == PATH and name in _BETWEEN:
            return _together(_BETWEEN[name], [owner, *(self.one(part, depth + 1) for part in arguments)])
        return None

    def _of_function(self, path: str, arguments: list[ast.expr], depth: int) -> ResolvedText | None:
        if path in _HERE and not arguments:
            return ResolvedText(_HERE[path])
        if path in _JOINING and arguments:
            return _together("/", [self.one(part, depth + 1) for part in arguments])
        return None

    def _of_parameter(self, name: str, scope: Scope, depth: int) -> list[ResolvedText]:
        """Return the texts that calls in the cell pass for a parameter of a function used by name only."""
        function = scope.owner
        if not isinstance(function, ast.FunctionDef) or depth > _DEEPEST or scope.parent is None:
            return []
        calls = self._calls.get(function.name) or []
        names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
        if len(scope.parent.names.get(function.name, ())) != 1 or name not in names or len(calls) > _MOST:
            return []
        at = names.index(name)
        defaults = function.args.defaults
        default = defaults[at - len(names)] if len(names) - at <= len(defaults) else None
        resolved: list[ResolvedText] = []
        for call in calls:
            passed = argument_of(call, at, name)
            if passed is None and (default is None or has_more(call)):
                return []
            given = passed if passed is not None else default
            resolved += self.of(given, depth + 1) if given is not None else []
        return list(dict.fromkeys(resolved))[:_MOST]

    def is_decoded(self, node: ast.expr, depth: int = 0) -> bool:
        """Return True if a text is decoded from numbers or reversed: nobody could read it in the code."""
        if depth > _DEEPEST:
            return False
        if node not in self._decoded:
            # A name may be bound to what it is part of; and each expression is walked only once.
            self._decoded[node] = False
            self._decoded[node] = any(self._decodes(part, depth) for part in ast.walk(node))
        return self._decoded[node]

    def _decodes(self, part: ast.AST, depth: int) -> bool:
        match part:
            case ast.Call(func=ast.Attribute(attr=name) | ast.Name(id=name)):
                return name in _DECODING
            case ast.Slice(step=ast.UnaryOp(op=ast.USub())):
                return True
            case ast.Name(id=name, ctx=ast.Load()):
                found = self._walk.scope_of[part].find(name)
                bound = found[1] if found else []
                return any(
                    one.how == "value"
                    and isinstance(one.node, ast.expr)
                    and self.is_decoded(one.node, depth + 1)
                    for one in bound[:_MOST]
                )
        return False

    @cached_property
    def _calls(self) -> dict[str, list[ast.Call] | None]:
        """Return the calls of each name; None if it is also used in another way."""
        found: dict[str, list[ast.Call] | None] = {}
        for node, _ in self._walk.order:
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                calls = found.setdefault(node.func.id, [])
                if calls is not None:
                    calls.append(node)
            elif (
                isinstance(node, ast.Name)
                and node not in self._walk.called
                and isinstance(node.ctx, ast.Load)
            ):
                found[node.id] = None
        return found

    @cached_property
    def uses(self) -> Counter[str]:
        """The number of reads of each name."""
        return Counter(
            node.id
            for node in self._walk.scope_of
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
        )


def argument_of(call: ast.Call, at: int, keyword: str = "") -> ast.expr | None:
    """Return the argument at a position or of a name; None if it is not visible."""
    for given in call.keywords:
        if keyword and given.arg == keyword:
            return given.value
    before = call.args[: at + 1] if at >= 0 else []
    if at < 0 or len(call.args) <= at or any(isinstance(one, ast.Starred) for one in before):
        return None
    return call.args[at]


def has_more(call: ast.Call) -> bool:
    """Return True if a call unpacks arguments that are not visible."""
    return any(isinstance(one, ast.Starred) for one in call.args) or any(
        one.arg is None for one in call.keywords
    )


def _together(between: str, parts: list[ResolvedText]) -> ResolvedText:
    text = parts[0].text if parts else ""
    for part in parts[1:]:
        if between and part.text.startswith("/"):
            text = part.text
        else:
            text = f"{text.removesuffix('/')}{between}{part.text}" if between else text + part.text
    if between:
        text = text.removeprefix("./") if text != "./" else text
    return ResolvedText(text, all(part.exact for part in parts))
