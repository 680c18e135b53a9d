"""Values of expressions, as far as they decide what methods do, and the texts that they may be."""

import ast
import re
from collections.abc import Callable
from enum import Enum

from terp.analysis.effects.known import python_names
from terp.analysis.effects.scopes import Walk
from terp.text.dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Ref:
    """A module, or something in one, by its full name."""

    path: str


@dataclass(frozen=True, slots=True)
class Local:
    """A function or class of the cell: its effects are reported where it is defined."""

    node: ast.AST


class Thing(Enum):
    """An object of a kind that is known."""

    CONTENT = "content"
    """Numbers, containers, tables, pictures: only what harmless functions make."""
    TEXT = "text"
    PATH = "path"
    PATHS = "paths"
    """Something to iterate over that has paths."""
    EXPRESSION = "expression"
    """Of a library that builds expressions: made by its functions, and never called back."""
    COLUMN = "column"
    """The value of an attribute that is not listed."""
    FILE = "file"
    DATABASE = "database"
    ARCHIVE = "archive"
    INSTANCE = "instance"
    """Of a class of the cell."""
    FUNCTION = "function"
    """Made by a harmless function of known functions."""
    SEVERAL = "several"
    """One of several that differ: nothing is known of its methods."""
    UNKNOWN = "unknown"
    """Reported already where it was made."""


Value = Ref | Local | Thing


def joined(one: Value | None, other: Value | None) -> Value | None:
    """Return what is known of a value that is one of two; None if nothing is known yet."""
    if one is None or other is None or one == other:
        return other if one is None else one
    both = (one, other)
    if Thing.UNKNOWN in both:
        return Thing.UNKNOWN
    if all(value == Thing.FUNCTION or isinstance(value, Local) for value in both):
        return Thing.FUNCTION
    are_content = Thing.SEVERAL not in both and all(isinstance(value, Thing) for value in both)
    return Thing.CONTENT if are_content else Thing.SEVERAL


def element_of(value: Value | None) -> Value | None:
    """Return the value of an element of something."""
    if value is None or value in (Thing.UNKNOWN, Thing.TEXT, Thing.EXPRESSION):
        return value
    return Thing.PATH if value == Thing.PATHS else Thing.CONTENT


def of_function(path: str) -> Value:
    """Return the value of a call of a known function."""
    made = "expression" if builds_expressions(path) else "content"
    return Thing(python_names().results.get(path, made))


def builds_expressions(path: str) -> bool:
    """Return True if something belongs to a library that builds expressions."""
    return path.partition(".")[0] in python_names().sets["expressions"]


def of_method(receiver: Value, name: str) -> Value:
    """Return the value of a method or attribute of this name."""
    sets = python_names().sets
    if receiver == Thing.PATH and name in sets["path to path"]:
        return Thing.PATH
    if receiver == Thing.PATH and name in sets["path to paths"]:
        return Thing.PATHS
    if receiver == Thing.EXPRESSION:
        return Thing.EXPRESSION
    is_text = name in sets["to text"] or (receiver == Thing.TEXT and name == "replace")
    is_text = is_text or (receiver == Thing.PATH and name in ("name", "stem", "suffix"))
    return Thing.TEXT if is_text else Thing.CONTENT


# The depth to which names are followed, and the most texts of one expression.
_DEEPEST, _MOST = 8, 20
_LONGEST_SOURCE = 40
# A scheme has none of these, so what follows cannot make an address of it.
_LOCAL_START = re.compile(r"[A-Za-z0-9+.-]*[^A-Za-z0-9+.:{-]")
_BETWEEN = {"joinpath": "/", "glob": "/", "rglob": "/**/"}


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

    def __init__(self, walk: Walk, value: Callable[[ast.AST], Value | None]) -> None:
        """`value` says what an expression is."""
        self._walk = walk
        self._value = value

    def of(self, node: ast.expr | None, depth: int = 0) -> list[ResolvedText]:
        """All texts that `node` may stand for; at least one, also of an argument that cannot be seen."""
        parts: list[ast.expr] = []
        match node:
            case None:
                return [ResolvedText("{…}", exact=False)]
            case ast.Name() if bound := self.bound(node):
                parts = [bound]
            case ast.List(elts=elements) | ast.Tuple(elts=elements) | ast.Set(elts=elements):
                parts = elements
            case ast.IfExp(body=one, orelse=other):
                parts = [one, other]
        if not parts or depth > _DEEPEST:
            return [self.one(node, depth)]
        return [text for part in parts[:_MOST] for text in self.of(part, depth + 1)][:_MOST]

    def bound(self, name: ast.Name) -> ast.expr | None:
        """Return what a name is bound to, or an element of, if one line does that."""
        found = self._walk.scope_of[name].find(name.id)
        if found is None or len(found[1]) != 1 or not isinstance(node := found[1][0].node, ast.expr):
            return None
        how = found[1][0].how
        return node if how == "value" else self._iterated(node) if how == "element" else None

    def _iterated(self, node: ast.expr | None, depth: int = 0) -> ast.expr | None:
        """Return the list or the pattern that a loop is over, if that can be seen."""
        match node:
            case ast.List() | ast.Tuple() | ast.Set():
                return node
            case ast.Name() if depth < _DEEPEST:
                return self._iterated(self.bound(node), depth + 1)
            case ast.Call(func=ast.Name(id="sorted" | "list" | "tqdm"), args=[first, *_]):
                return self._iterated(first, depth + 1)
            case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)) if "glob" in name:
                return node
        return None

    def one(self, node: ast.expr, depth: int = 0) -> ResolvedText:
        """The text of an expression, in one piece."""
        found: ResolvedText | None = None
        match node:
            case _ if depth > _DEEPEST:
                pass
            case ast.Constant(value=str(text)):
                found = ResolvedText(text)
            case ast.Constant(value=bytes(raw)):
                found = ResolvedText(raw.decode("utf-8", "replace"))
            case ast.JoinedStr(values=parts):
                found = _together("", [self.one(part, depth + 1) for part in parts])
            case ast.FormattedValue(value=value):
                inner = self.one(value, depth + 1)
                found = inner if inner.exact else self._computed(value)
            case ast.BinOp(left=left, op=ast.Add() | ast.Div() as sign, right=right):
                between = "/" if isinstance(sign, ast.Div) else ""
                found = _together(between, [self.one(left, depth + 1), self.one(right, depth + 1)])
            case ast.Name() if bound := self.bound(node):
                texts = self.of(bound, depth + 1)
                found = texts[0] if len(texts) == 1 else None
            case ast.Call(args=arguments, keywords=[]) if not has_more(node):
                found = self._of_call(node.func, arguments, depth + 1)
        return found or self._computed(node)

    def source(self, node: ast.AST) -> str:
        """The code of an expression, not too long; of a call without its arguments."""
        match node:
            case ast.Attribute(value=value, attr=attr):
                return self._cut(f"{self.source(value)}.{attr}")
            case ast.Call(func=func):
                return self._cut(f"{self.source(func)}(…)")
        return self._cut(ast.unparse(node))

    @staticmethod
    def _cut(source: str) -> str:
        return source if len(source) <= _LONGEST_SOURCE else f"{source[: _LONGEST_SOURCE - 1]}…"

    def _computed(self, node: ast.expr) -> ResolvedText:
        return ResolvedText(f"{{{self.source(node)}}}", exact=False)

    def _of_call(self, func: ast.expr, arguments: list[ast.expr], depth: int) -> ResolvedText | None:
        value, sets = self._value(func), python_names().sets
        parts = [self.one(part, depth) for part in arguments]
        if isinstance(value, Ref):
            if parts and value.path in sets["joining"]:
                return _together("/", parts, is_pattern=value.path.startswith("glob."))
            here = "~" if value.path.endswith(".home") else "."
            return ResolvedText(here) if not parts and value.path in sets["here"] else None
        if not isinstance(func, ast.Attribute) or value not in (Thing.PATH, Thing.TEXT):
            return None
        owner = self.one(func.value, depth)
        if value == Thing.PATH and (between := _BETWEEN.get(func.attr)):
            return _together(between, [owner, *parts], is_pattern="glob" in func.attr)
        return owner if func.attr in sets["same text"] and not parts else None


def argument_of(call: ast.Call, at: int, keyword: str = "") -> ast.expr | None:
    """The argument at a position or of a name; None when it is not there to be seen."""
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


def _together(between: str, parts: list[ResolvedText], *, is_pattern: bool = False) -> ResolvedText:
    text = parts[0].text if parts else ""
    for part in parts[1:]:
        if between and part.text.startswith("/"):
            text = part.text
        else:
            text = f"{text.removesuffix('/')}{between}{part.text}" if between else text + part.text
    if between:
        text = text.removeprefix("./") if text != "./" else text
    return ResolvedText(text, all(part.exact for part in parts), is_pattern)
