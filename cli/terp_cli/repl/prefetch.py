"""Prefetch of slow imports while the user types."""

import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module

# Each has a `preload`, for the libraries that its first request needs.
_ADAPTERS = ("terp.models.adapters.openai_compatible", "terp.models.adapters.litellm_adapter")


async def prefetch_adapters() -> None:
    """Begin to import what the model in use needs; the first message would wait for it, up to seconds."""
    # An adapter's module is imported with the first model that is reached through it, and by nothing else.
    used = [name for name in _ADAPTERS if name in sys.modules]
    # Not through asyncio, which would wait for the thread when the person leaves.
    threading.Thread(target=_preload, args=(used,), name="preload", daemon=True).start()


def _preload(adapters: Sequence[str]) -> None:
    for name in adapters:
        # The first message meets and reports a failure.
        with suppress(Exception):
            import_module(name).preload()
