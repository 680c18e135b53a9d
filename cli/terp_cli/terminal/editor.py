"""The person's own editor, on the terminal that they sit at."""

import shlex
import subprocess
import tempfile
from pathlib import Path

_SUFFIXES = {"python": ".py", "shell": ".sh", "bash": ".sh", "javascript": ".js", "r": ".R", "html": ".html"}


def run_editor(editor: str, text: str, language: str, terminal: int | None) -> str | None:
    """`text` as the program `editor` leaves it; None when it fails. `terminal` is a descriptor."""
    with tempfile.TemporaryDirectory(prefix="terp-") as folder:
        path = Path(folder, "code" + _SUFFIXES.get(language, ".txt"))
        try:
            path.write_text(text, encoding="utf-8", newline="")
            ended = subprocess.run(
                [*shlex.split(editor), str(path)], stdin=terminal, stdout=terminal, check=False
            )
            if ended.returncode:
                return None
            with path.open(encoding="utf-8", newline="") as file:
                return file.read()
        except (OSError, ValueError):
            return None
