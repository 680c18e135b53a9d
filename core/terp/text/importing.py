"""Imports and other work that take long."""

import asyncio
import gc
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import TypeVar

T = TypeVar("T")


def import_slow(name: str) -> ModuleType:
    """Return the module, imported with garbage collection put off. Meant for a thread."""
    with collection_put_off():
        return import_module(name)


@contextmanager
def collection_put_off() -> Iterator[None]:
    """Put garbage collection off during the block, which creates thousands of objects, none of them garbage.

    It takes a third of the time of importing litellm, and a quarter of that of reading a long session.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
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
