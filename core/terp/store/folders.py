"""The folders of sessions: what they are called, and when it is time to look at their size."""

import secrets
import time
from datetime import datetime
from pathlib import Path

_DAY_S = 24 * 3600.0
_LOOKED = ".pruned"


def new_folder(sessions: Path) -> Path:
    """Where a new session keeps its files, below `sessions`: named by date, not made yet."""
    today = datetime.now().astimezone().date().isoformat()
    return sessions / f"{today}-{secrets.token_hex(4)}"


def is_due(sessions: Path) -> bool:
    """Whether nobody has looked for a day at how much room the sessions take; from now on, somebody has."""
    mark = sessions / _LOOKED
    try:
        if mark.exists() and mark.stat().st_mtime > time.time() - _DAY_S:
            return False
        mark.touch(mode=0o600)
    except OSError:
        return False
    return True
