"""terp: an engine that lets a language model run code in a live kernel, with a person in charge.

`terp.open(...)` opens a session in one call; the constructor of `Session` takes its parts. The names here
are imported at their first use, so `import terp` is fast.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from terp.opening.session import open  # noqa: A004
    from terp.person import AutoRun, Consent, Decline, Nobody, Person, Run
    from terp.session.reply import Reply, TurnFailed
    from terp.session.session import Session

__version__ = "0.1.0"
__all__ = [
    "AutoRun",
    "Consent",
    "Decline",
    "Nobody",
    "Person",
    "Reply",
    "Run",
    "Session",
    "TurnFailed",
    "open",
]

_HOMES = {
    "open": "terp.opening.session",
    "Reply": "terp.session.reply",
    "Session": "terp.session.session",
    "TurnFailed": "terp.session.reply",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'terp' has no attribute {name!r}")
    return getattr(import_module(_HOMES.get(name, "terp.person")), name)
