"""Programs that run in the process of a check, and the channel by which they report to terp.

The package is copied to a folder of the check and runs in any Python from 3.8, without anything else of terp.
A report is a file that holds a secret word. The word is read, and its file removed, before any code of the
project runs.
"""

from __future__ import annotations

import json
import os
from typing import Any

VARIABLE = "TERP_CHECK"


def left_out() -> frozenset[str]:
    """Return the paths of files in which pytest must not look for tests."""
    try:
        with open(os.path.join(os.environ.get(VARIABLE, ""), "left_out")) as file:  # noqa: PTH118, PTH123
            return frozenset(json.load(file))
    except (OSError, ValueError):
        return frozenset()


def take_channel() -> Any:
    """Return the function that reports facts of this process; None if another process has taken it."""
    folder = os.environ.get(VARIABLE, "")
    place = os.path.join(folder, "word")  # noqa: PTH118
    try:
        with open(place) as file:  # noqa: PTH123
            word = file.read()
        os.unlink(place)  # noqa: PTH108
    except OSError:
        return None

    def report(**facts: Any) -> None:
        begun, whole = os.path.join(folder, "begun"), os.path.join(folder, "report")  # noqa: PTH118
        with open(begun, "w") as file:  # noqa: PTH123
            json.dump({"word": word, **facts}, file)
        os.replace(begun, whole)  # noqa: PTH105

    return report


def shown(value: Any, longest: int) -> str:
    """Return the repr of a value, cut to `longest` characters."""
    text = repr(value)
    return text if len(text) <= longest else text[:longest] + "…"
