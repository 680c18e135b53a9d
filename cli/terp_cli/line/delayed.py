"""Modules whose import is delayed until one of their names is used, as Python 3.15 does for `lazy import`.

asyncio imports TLS, urllib.parse addresses, and shutil compressions, which most starts never use.
"""

import sys
import threading
from importlib import import_module
from types import ModuleType
from typing import Any

# After `ssl` alone, asyncio's own module for it would ask for names of it.
RARELY_USED = (
    "asyncio.sslproto", "bz2", "curses", "hashlib", "ipaddress", "jiter", "lzma", "secrets", "zipfile",
)  # fmt: skip


def delay_rarely_used() -> None:
    """Delay the modules that terp or its libraries import and rarely use."""
    sys.modules.setdefault("ssl", _TLS("ssl"))
    delay(*RARELY_USED)


def delay(*names: str) -> None:
    """Have the next imports of these modules load nothing, unless they are loaded."""
    for name in names:
        parent, _, own = name.rpartition(".")
        if name not in sys.modules:
            sys.modules[name] = DelayedModule(name)
            if parent in sys.modules:
                setattr(sys.modules[parent], own, sys.modules[name])


class DelayedModule(ModuleType):
    """Stands for a module until one of its names is used; what imported this keeps it.

    Until then it has no names with two underscores and no modules of its own, and nobody can see whether this
    Python has the module.
    """

    _replacing = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            # The import system looks for these.
            raise AttributeError(name)
        with self._replacing:
            if self.is_waiting():
                del sys.modules[self.__name__]
        value = getattr(import_module(self.__name__), name)
        # Some are used for each piece of a reply.
        setattr(self, name, value)
        return value

    def is_waiting(self) -> bool:
        """Return True if the module is not loaded."""
        return sys.modules.get(self.__name__) is self


class _TLS(DelayedModule):
    @property
    def SSLSocket(self) -> Any:  # noqa: N802
        """The class of TLS sockets; nothing while there can be none: asyncio asks before each connection."""
        return () if self.is_waiting() else import_module(self.__name__).SSLSocket
