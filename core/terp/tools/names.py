"""The names that tools can have."""

import builtins
import keyword

_OURS = ("execute", "out", "get_ipython", "mcp")


def wrong_name(name: object) -> str:
    """Why a tool cannot have this name, to follow the name; "" when it can."""
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name):
        return "is no name of a Python function"
    if hasattr(builtins, name):
        return "is a name of Python's own; choose another"
    if name in _OURS:
        return "is a name of terp's own; choose another"
    return ""
