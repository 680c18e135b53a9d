"""What the folders of sessions are called."""

import secrets
from datetime import datetime
from pathlib import Path


def new_folder(sessions: Path) -> Path:
    """Where a new session keeps its files, below `sessions`: named by date, not made yet."""
    today = datetime.now().astimezone().date().isoformat()
    return sessions / f"{today}-{secrets.token_hex(4)}"
