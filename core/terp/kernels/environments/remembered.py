"""What was decided about the Pythons of projects, kept in the person's own folder."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from terp.settings.places import make_private

How = Literal["used", "installed", "overlay", "own"]


@dataclass(frozen=True, slots=True)
class Decision:
    """What was answered about `python`, which then was the file `real`.

    "used" as it is, with ipykernel "installed" into it or as an "overlay", or terp's "own" in its place.
    """

    python: str
    real: str
    how: How


def remembered_in(state: Path) -> Path:
    """The file of decisions in the folder of what terp keeps."""
    return state / "pythons.json"


class Remembered:
    """The decisions in `file`, by the folders they are about. A file that is not readable holds none."""

    def __init__(self, file: Path) -> None:
        self._file = file

    def about(self, folder: str, python: str) -> Decision | None:
        """What was decided in `folder` about `python`, if it is still the same file."""
        entry = self._all().get(folder)
        if not isinstance(entry, dict) or entry.keys() != {"python", "real", "how"}:
            return None
        decision = Decision(**entry)
        same = (decision.python, decision.real) == (python, os.path.realpath(python))
        return decision if same else None

    def keep(self, folder: str, python: str, how: How) -> None:
        """Remember a decision. What cannot be written is asked again the next time."""
        known = self._all() | {folder: asdict(Decision(python, os.path.realpath(python), how))}
        try:
            make_private(self._file.parent)
            beside = self._file.with_name(f"{self._file.name}.{os.getpid()}")
            beside.write_text(json.dumps(known, indent=1, sort_keys=True) + "\n", encoding="utf-8")
            beside.chmod(0o600)
            beside.replace(self._file)
        except OSError:
            return

    def _all(self) -> dict[str, Any]:
        try:
            known = json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}
        return known if isinstance(known, dict) else {}
