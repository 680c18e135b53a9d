"""The folders of sessions: their names, copies, and the daily check of their size."""

import json
import os
import re
import shutil
import time
from datetime import datetime
from pathlib import Path

from terp.errors import SessionError
from terp.kernels.remote.claims import NAME as KERNELS
from terp.store.journal import LOCK_NAME, NAME
from terp.text.files import make_private

SESSION_ID = re.compile(r"\d{4}-\d\d-\d\d-[0-9a-f]{8}")
"""The names of folders that `new_folder` returns."""
_DAY_S = 24 * 3600.0
_LOOKED = ".pruned"
_EARLIER_NS = 1_000_000


def new_folder(sessions: Path) -> Path:
    """Return the folder of a new session below `sessions`, named by date; it is not created yet."""
    today = datetime.now().astimezone().date().isoformat()
    return sessions / f"{today}-{os.urandom(4).hex()}"


def is_due(sessions: Path) -> bool:
    """Return True if the size of the sessions was last checked a day ago; marks it as checked now."""
    mark = sessions / _LOOKED
    try:
        if mark.exists() and mark.stat().st_mtime > time.time() - _DAY_S:
            return False
        mark.touch(mode=0o600)
    except OSError:
        return False
    return True


def fork(folder: Path) -> str:
    """Copy the session in `folder` as it is now, and return the id of the copy. Files are hard links.

    Kernels at a gateway are not copied.

    Raises:
        SessionError: it cannot be copied.
    """
    target = new_folder(folder.parent)
    try:
        make_private(target)
        _copy_log(folder, target)
        _link_files(folder, target)
    except OSError as error:
        shutil.rmtree(target, ignore_errors=True)
        raise SessionError(f"The session cannot be copied: {error.strerror or error} ({target}).") from error
    return target.name


def _copy_log(folder: Path, target: Path) -> None:
    """Copy the complete lines of the log, with the paths of copied files."""
    log = (folder / NAME).read_bytes()
    first, _, rest = log[: log.rfind(b"\n") + 1].partition(b"\n")
    header = {**json.loads(first), "id": target.name, "forked_from": folder.name}
    rest = rest.replace(_in_json(folder) + b"/", _in_json(target) + b"/")
    descriptor = os.open(target / NAME, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(descriptor, "wb") as file:
        file.write(json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode() + b"\n" + rest)
        file.flush()
        os.fsync(descriptor)
        # The session itself continues: it counts as used last, also within one tick of the clock.
        used = (folder / NAME).stat().st_mtime_ns - _EARLIER_NS
        os.utime(descriptor, ns=(used, used))


def _link_files(folder: Path, target: Path) -> None:
    for path in folder.rglob("*"):
        copy = target / path.relative_to(folder)
        if path.is_dir():
            make_private(copy)
        elif path.name not in (NAME, LOCK_NAME, KERNELS) and path.is_file():
            try:
                copy.hardlink_to(path)
            except OSError:
                shutil.copyfile(path, copy)


def _in_json(path: Path) -> bytes:
    return json.dumps(str(path), ensure_ascii=False)[1:-1].encode("utf-8", "surrogateescape")
