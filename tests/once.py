"""What is dear to make is made once for all workers of a run, by the first that needs it."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock


def once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], Any]) -> Any:
    """What `make` returns for an empty folder of that name, as JSON gives it back.

    The folder stays as long as the run. Workers that ask meanwhile wait until it is made; when it fails,
    the next one tries again.
    """
    base = factory.getbasetemp()
    # A worker's folder is one of those that the whole run has.
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    made = shared / f"{name}.json"
    with FileLock(shared / f"{name}.lock"):
        if not made.exists():
            written = json.dumps(make(factory.mktemp(name)))
            made.write_text(written, encoding="utf-8")
    return json.loads(made.read_text(encoding="utf-8"))
