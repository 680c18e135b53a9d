"""Names of a kernel whose modules and types are known from the runs of the session."""

import ast
from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import takewhile

from terp.analysis.effects.values import FUNCTION
from terp.events import CodeFinished, CodeProposed, CodeTyped, KernelChanged
from terp.events.effects import Effects
from terp.events.log import EventLog

# By the name of a type alone, so only types that nothing but a class of one's own could be mistaken for.
_BUILT_IN = ("int", "float", "complex", "bool", "str", "bytes", "list", "dict", "tuple", "set", "range")
_TYPES = {
    **{name: f"builtins.{name}" for name in _BUILT_IN},
    "DataFrame": "pandas.DataFrame",
    "Series": "pandas.Series",
    "ndarray": "numpy.ndarray",
    "Axes": "matplotlib.axes.Axes",
    "Figure": "matplotlib.figure.Figure",
    "PosixPath": "pathlib.PosixPath",
    "float64": "numpy.float64",
    "int64": "numpy.int64",
}
_GIVEN = {
    "out": "pandas.DataFrame",
    "stdin_data": "builtins.str",
    "stdin_path": "pathlib.PosixPath",
}
"""What terp binds, as what the account takes it for: content, text, and a path that is no address."""


class SessionNames:
    """Learns from runs of which every part was known, and forgets everything after any other.

    After code that is not understood a name may be anything, also one that was not in it.
    """

    def __init__(self, log: EventLog, language: str) -> None:
        self._log = log
        self._language = language
        self._read = log.last
        self._names = dict(_GIVEN) if language == "python" else {}
        self._proposed: dict[str, CodeProposed] = {}

    def known(self) -> Mapping[str, str]:
        """Names with the full name of the module they are, or of the type they are an instance of."""
        for record in self._log.since(self._read):
            self._read = record.number
            match record.event:
                case CodeProposed(call_id=call_id, language=self._language):
                    self._proposed[call_id] = record.event
                case CodeTyped() | KernelChanged(language=self._language, ends_variables=True):
                    self._names.clear()
                case CodeFinished(call_id=call_id):
                    self._ran(self._proposed.pop(call_id, None), record.event)
                case _:
                    pass
        return self._names

    def _ran(self, proposed: CodeProposed | None, finished: CodeFinished) -> None:
        if proposed is None:
            # Code of another language, or of the person's own.
            return
        imported = _imported(proposed.code) if _is_understood(proposed.effects) else None
        if imported is None:
            self._names.clear()
            return
        if proposed.effects.kinds - {"reads"}:
            # What it calls by name may be something else now.
            self._names = {name: path for name, path in self._names.items() if path != FUNCTION.kind}
        first, later = imported
        if finished.status == "ok":
            self._names.update({**first, **later})
            if not proposed.effects.found:
                # The effects of other functions were reported with their cell, and would not be with a call.
                self._names.update(dict.fromkeys(_functions(proposed.code), FUNCTION.kind))
        elif finished.changes:
            # It failed, but not before it had bound something: it got past the imports at its head.
            self._names.update(first)
        for change in finished.changes:
            if change.type == "function" and self._names.get(change.name) == FUNCTION.kind:
                continue
            self._names.pop(change.name, None)
            if change.type in _TYPES:
                self._names[change.name] = _TYPES[change.type]


def _is_understood(effects: Effects) -> bool:
    return "cannot tell" not in effects.kinds


def _imported(code: str) -> tuple[dict[str, str], dict[str, str]] | None:
    """Return the imports at the head of a cell, and those after it; None if the cell defines types."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if any(isinstance(node, ast.ClassDef) for node in ast.walk(tree)):
        return None
    head = list(takewhile(lambda node: isinstance(node, ast.Import), tree.body))
    return _modules(head), _modules(tree.body[len(head) :])


def _functions(code: str) -> set[str]:
    """The functions that a cell defines at its top, and binds nowhere else."""
    tree = ast.parse(code)
    defined = {
        node.name for node in tree.body if isinstance(node, ast.FunctionDef) and not node.decorator_list
    }
    bound = Counter(
        name
        for node in ast.walk(tree)
        for name in (getattr(node, "id", ""), getattr(node, "name", ""), getattr(node, "asname", ""))
        if name in defined and not isinstance(getattr(node, "ctx", None), ast.Load)
    )
    return {name for name in defined if bound[name] == 1}


def _modules(body: Sequence[ast.stmt]) -> dict[str, str]:
    """The modules that statements import, under the names that they get."""
    aliases = (alias for node in body if isinstance(node, ast.Import) for alias in node.names)
    named = ((alias.asname, alias.name, alias.name.partition(".")[0]) for alias in aliases)
    return {own or package: name if own else package for own, name, package in named}
