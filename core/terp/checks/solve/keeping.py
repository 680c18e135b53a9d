"""The state of a problem in the folder of its session: written whole after each step, and read again."""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from terp.checks.solve.state import State, from_json, to_json
from terp.errors import SessionError
from terp.secrets.redacting import redacted
from terp.settings.places import make_private

if TYPE_CHECKING:
    from terp.secrets.scrubbing import Scrubber

NAME = "solve.json"


def is_problem(folder: Path) -> bool:
    """Whether a session's folder holds a problem that is not over."""
    try:
        return read(folder).step != "over"
    except SessionError:
        return False


def write(folder: Path, state: State, scrubber: "Callable[[], Scrubber]") -> None:
    """Keep the state, in place of that before: whoever reads finds one of the two, whole.

    Raises:
        OSError: it cannot be written.
    """
    make_private(folder)
    text = json.dumps(redacted(to_json(state), scrubber()), ensure_ascii=True, indent=1)
    begun = folder / f"{NAME}.new"
    with begun.open("w", encoding="utf-8") as file:
        file.write(f"{text}\n")
        file.flush()
        os.fsync(file.fileno())
    begun.replace(folder / NAME)


def read(folder: Path) -> State:
    """The state that is kept in a folder.

    Raises:
        SessionError: there is none, or it cannot be read.
    """
    try:
        return from_json(json.loads((folder / NAME).read_text(encoding="utf-8")))
    except (OSError, LookupError, TypeError, ValueError, AttributeError) as error:
        raise SessionError(
            f"The session {folder.name} has no problem that can be gone on with ({error})."
        ) from error
