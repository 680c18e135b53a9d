"""How a check's process tells terp what it found: a file that holds a word which nothing else knows.

The word is taken, and its file removed, before any code of the project runs.
"""

from __future__ import annotations

import json
import os
from typing import Any

VARIABLE = "TERP_CHECK"


def left_out() -> frozenset[str]:
    """The files in which no tests are looked for."""
    try:
        with open(os.path.join(os.environ.get(VARIABLE, ""), "left_out")) as file:  # noqa: PTH118, PTH123
            return frozenset(json.load(file))
    except (OSError, ValueError):
        return frozenset()


def take() -> Any:
    """What tells terp the facts of this process; None where another one has that right already."""
    folder = os.environ.get(VARIABLE, "")
    place = os.path.join(folder, "word")  # noqa: PTH118
    try:
        with open(place) as file:  # noqa: PTH123
            word = file.read()
        os.unlink(place)  # noqa: PTH108
    except OSError:
        return None

    def tell(**facts: Any) -> None:
        begun, whole = os.path.join(folder, "begun"), os.path.join(folder, "report")  # noqa: PTH118
        with open(begun, "w") as file:  # noqa: PTH123
            json.dump({"word": word, **facts}, file)
        os.replace(begun, whole)  # noqa: PTH105

    return tell
