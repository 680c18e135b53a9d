"""The names that a call may change, and those that it reads besides its arguments."""

import ast
import re
from collections.abc import Iterable, Iterator, Set

from terp.analysis.slicing.known import (
    CALM_MODULES,
    CHANGES_ARGUMENTS,
    DRAWING,
    FRESH,
    KIND_METHODS,
    KIND_MODULES,
    MUTATING,
    NOT_CALM,
    OUT_AFTER,
    PURE_METHODS,
    READING,
    SEARCHED,
    TAKES_FUNCTIONS,
    TAKES_TEXT,
    TYPES,
    WRITING_METHODS,
)
from terp.analysis.slicing.names import PARAMETER, KnownBefore, Names, top_of

_WORD = re.compile(r"[^\W\d]\w*")
_CHANGE_KEYWORDS = ("inplace", "out", "copy", None)
"""Keywords that make a function change its arguments."""
_RANDOM = frozenset({"<random>", "<numpy.random>"})


class Calls:
    """Reads the calls of one statement."""

    def __init__(self, names: Names, known: KnownBefore) -> None:
        self._names = names
        self._known = known

    def changed(self, call: ast.Call) -> set[str]:
        """Return the names that a call may change."""
        arguments = [*call.args, *(keyword.value for keyword in call.keywords)]
        name = _name_of(call.func)
        found = self._by_functions(call, arguments) if name in TAKES_FUNCTIONS else set()
        if name in DRAWING and isinstance(call.func, ast.Attribute):
            # Without a generator of their own they draw from numpy's; `Random.sample` is one.
            found |= {"<numpy.random>"} | self._given(keyword.value for keyword in call.keywords)
            found |= self._names.of(call.func.value) if len(call.args) > 1 else set()
        return found | self._changed(call, arguments)

    def states(self, call: ast.Call) -> set[str]:
        """Return the states of random numbers that a call may read."""
        names, module = self._names.path(call.func)
        if _name_of(call.func) in DRAWING and not module:
            return {"<numpy.random>"}
        if not module or (top_of(module) in CALM_MODULES and not NOT_CALM & {*names}):
            return set()
        return set(_RANDOM)

    def named_in_texts(self, call: ast.Call) -> set[str]:
        """Return the names that texts in another language, such as SQL, may refer to."""
        if _name_of(call.func) not in TAKES_TEXT or not isinstance(call.func, ast.Attribute):
            return set()
        texts = [one.value for part in call.args for one in ast.walk(part) if isinstance(one, ast.Constant)]
        words = {word for text in texts if isinstance(text, str) for word in _WORD.findall(text)}
        reads = call.func.attr != "execute" or "duckdb" in map(top_of, self._known.modules.values())
        if reads and call.args and not isinstance(call.args[0], ast.Constant):
            # It was made elsewhere, and may name anything.
            words |= {*self._known.bound}
        return words & {*self._known.bound}

    def taken_from(self, source: ast.expr) -> set[str]:
        """Return the names that iterating over a value may exhaust: those that may be iterators."""
        match source:
            case ast.Name():
                return self._names.of(source) - self._known.solid - {PARAMETER}
            case ast.Starred(value=value):
                return self.taken_from(value)
        return set()

    def _changed(self, call: ast.Call, arguments: list[ast.expr]) -> set[str]:
        match call.func:
            case ast.Name(id=name) if name in READING and self._names.is_builtin(name, call):
                taken = set() if name in FRESH - {"all", "any"} else set(arguments)
                files = (keyword.value for keyword in call.keywords if keyword.arg == "file")
                return self._taken(taken) | self._given(files)
            case ast.Name(id=name) if name in self._gentle(call):
                return self._taken(arguments)
            case ast.Name(id=name) if name not in self._known.modules:
                return self._given(arguments) | ({name} - self._known.plain - {"next"})
        names, module = self._names.path(call.func)
        if module:
            return self._of_module(call, names, module, arguments)
        if not isinstance(call.func, ast.Attribute):
            return self._names.of(call.func) | self._given(arguments)
        return self._of_method(call, call.func, arguments)

    def _of_method(self, call: ast.Call, func: ast.Attribute, arguments: list[ast.expr]) -> set[str]:
        changing = _asks_to_change(call) or func.attr in self._known.methods
        of_type = isinstance(func.value, ast.Name) and func.value.id in TYPES
        changing = changing or (of_type and func.attr not in PURE_METHODS)
        changing = changing or len(call.args) > OUT_AFTER.get(func.attr, 100) - 1
        pure = func.attr in PURE_METHODS | WRITING_METHODS and not changing
        changed = set() if pure else self._names.of(func.value)
        if func.attr in KIND_METHODS and not changing:
            return changed | self._taken(arguments)
        return changed | self._given(arguments)

    def _of_module(
        self, call: ast.Call, names: list[str], module: str, arguments: list[ast.expr]
    ) -> set[str]:
        top = top_of(module)
        calm = top in CALM_MODULES and not NOT_CALM & {*names}
        changed = set() if calm else {f"<{top}>"}
        if "random" in (top, *names):
            changed = {"<random>" if top == "random" else "<numpy.random>"}
        if "chdir" in names:
            changed.add("<files>")
        if top == "sys" and SEARCHED & {*names}:
            changed.add("<sys.path>")
        last = names[-1] if names else ""
        # `deque.append(x, 1)` changes what it is of.
        changing = _asks_to_change(call) or (len(names) > 1 and last in MUTATING)
        changing = changing or (top == "numpy" and len(call.args) > OUT_AFTER.get(last, 100))
        if top in KIND_MODULES and not CHANGES_ARGUMENTS & {*names} and not changing:
            return changed | self._taken(arguments)
        return changed | self._given(arguments)

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
                known = self._known
                quiet = self._gentle(argument) | known.solid | known.fixed | known.modules.keys()
                return name in quiet or self._names.is_builtin(name, argument)
            case ast.Attribute(attr=attribute):
                return bool(self._names.path(argument)[1]) or attribute in PURE_METHODS
        return True

    def _gentle(self, node: ast.AST) -> Set[str]:
        # What is called later may be another function by then.
        return self._known.gentle if self._names.runs_at_once(node) else frozenset()

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
    match func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


def _asks_to_change(call: ast.Call) -> bool:
    return any(keyword.arg in _CHANGE_KEYWORDS for keyword in call.keywords)
