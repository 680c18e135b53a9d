"""SHA-256 of short texts."""

from collections.abc import Callable
from contextlib import suppress
from functools import cache
from importlib import import_module
from typing import Any


def sha256(content: bytes) -> str:
    """Return the SHA-256 of `content`, hexadecimal.

    `hashlib` is several times as fast, but loads OpenSSL: 4 MB of memory, and as long as this takes for 1 MB.
    """
    digest: str = _function()(content).hexdigest()
    return digest


@cache
def _function() -> Callable[[bytes], Any]:
    # As Python's own `random`. Some builds lack the first two: Python 3.12 and later have `_sha2`.
    for name in ("_sha2", "_sha256"):
        with suppress(ImportError):
            function: Callable[[bytes], Any] = import_module(name).sha256
            return function
    return import_module("hashlib").sha256  # type: ignore[no-any-return]
