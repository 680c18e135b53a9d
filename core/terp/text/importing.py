"""Imports that take long."""

import asyncio
import gc
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def import_slow(name: str) -> ModuleType:
    """Return the module, imported with garbage collection put off. Meant for a thread.

    An import creates thousands of objects, none of which is garbage; garbage collection takes a third
    of the time of importing litellm.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        return import_module(name)
    finally:
        if enabled:
            gc.enable()


async def in_daemon(work: Callable[[], T]) -> T:
    """Return the result of `work`, run in a thread that does not keep the process alive.

    `asyncio.to_thread` makes the end of the loop wait, for seconds if an import has just begun.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()

    def settle(result: T | None, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)  # type: ignore[arg-type]

    def run() -> None:
        result, failure = None, None
        try:
            result = work()
        except BaseException as error:  # noqa: BLE001  (it is raised where this is awaited)
            failure = error
        # The loop may be over.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(settle, result, failure)

    threading.Thread(target=run, daemon=True).start()
    return await done
