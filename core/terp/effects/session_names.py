"""Which names of a kernel are known for what they are, from the runs of a session so far."""

import ast
from collections.abc import Mapping

from terp.effects.found import Effects
from terp.events import CodeFinished, CodeProposed, CodeTyped, KernelChanged
from terp.log import EventLog

# By the name of a type alone, so only types that nothing but a class of one's own could be mistaken for.
_BUILT_IN = ("int", "float", "complex", "bool", "str", "bytes", "list", "dict", "tuple", "set", "range")
_TYPES = {
    **{name: f"builtins.{name}" for name in _BUILT_IN},
    "DataFrame": "pandas.DataFrame",
    "Series": "pandas.Series",
    "ndarray": "numpy.ndarray",
}


class SessionNames:
    """Learns from runs of which every part was known, and forgets everything after any other.

    After code that is not understood a name may be anything, also one that was not in it.
    """

    def __init__(self, log: EventLog, language: str) -> None:
        self._log = log
        self._language = language
        self._read = log.last
        self._names: dict[str, str] = {}
        self._proposed: dict[str, CodeProposed] = {}

    def known(self) -> Mapping[str, str]:
        """Names with the full name of the module they are, or of the type they are an instance of."""
        for record in self._log.since(self._read):
            self._read = record.number
            match record.event:
                case CodeProposed(call_id=call_id, language=self._language):
                    self._proposed[call_id] = record.event
                case CodeTyped() | KernelChanged(language=self._language, state="died" | "restarted"):
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
        # One that failed may not have come to its imports.
        self._names.update(imported if finished.status == "ok" else {})
        for change in finished.changes:
            self._names.pop(change.name, None)
            if change.type in _TYPES:
                self._names[change.name] = _TYPES[change.type]


def _is_understood(effects: Effects) -> bool:
    return "cannot tell" not in effects.kinds


def _imported(code: str) -> dict[str, str] | None:
    """The modules that a cell imports under names of its own; None for one that makes types."""
    try:
        tree = ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    if any(isinstance(node, ast.ClassDef) for node in ast.walk(tree)):
        return None
    aliases = (alias for node in tree.body if isinstance(node, ast.Import) for alias in node.names)
    named = ((alias.asname, alias.name, alias.name.partition(".")[0]) for alias in aliases)
    return {own or package: name if own else package for own, name, package in named}
