"""What is done before it is asked for, while the person types."""

import sys
import threading


async def import_litellm() -> None:
    """Begin to import litellm, if a model needs it: the first message would wait for it for seconds."""
    # The adapter's module is imported with the first model that is reached through it, and by nothing else.
    if "terp.models.litellm_adapter" in sys.modules:
        # Not through asyncio, which would wait for the thread when the person leaves.
        threading.Thread(target=_import, name="litellm", daemon=True).start()


def _import() -> None:
    from terp.models.litellm_adapter import preload  # noqa: PLC0415  (see above)

    try:
        preload()
    except Exception:  # noqa: BLE001  # the first message meets the same failure, and tells it
        return
