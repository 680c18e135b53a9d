"""Arguments for MCP servers: what JSON has, made of what Python has."""

from __future__ import annotations

import datetime
import json
import os
from typing import Any


def plain(value: Any) -> Any:
    """A value as JSON takes it.

    Raises TypeError for what JSON has no word for.
    """
    return json.loads(json.dumps(value, default=like))


def like(value: Any) -> Any:
    """Something nearer to JSON that says the same."""
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (set, frozenset)):
        return list(value)
    # Arrays, scalars and columns of the libraries that people use.
    for name in ("tolist", "to_list", "item"):
        convert = getattr(value, name, None)
        if callable(convert):
            return convert()
    raise TypeError("%s cannot be sent to a server" % type(value).__name__)  # noqa: UP031
