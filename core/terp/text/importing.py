"""Imports that take long."""

import asyncio
import gc
import threading
from collections.abc import Callable
from concurrent.futures import Future
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
    done: Future[T] = Future()
    # From here on cancelling ends the wait, and not the thread.
    done.set_running_or_notify_cancel()

    def run() -> None:
        try:
            done.set_result(work())
        except BaseException as error:  # noqa: BLE001  (it is raised where this is awaited)
            done.set_exception(error)

    threading.Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(done)
