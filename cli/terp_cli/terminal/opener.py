"""A page or a picture in the program that this machine has for it: a browser, a viewer."""

import shutil
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from terp.errors import TerpError

_PAGES = (".html", ".htm", ".svg", ".xhtml")
# A program that fails does so at once; one that shows something may stay as long as it is looked at.
_SOON_S = 1.0


def program_for(path: Path, environ: Mapping[str, str], system: str = sys.platform) -> Sequence[str]:
    """The command line that shows a file: `$BROWSER` for a page, else what the desktop has for it.

    Raises:
        TerpError: nothing can show it here; the message says why.
    """
    search = environ.get("PATH", "")
    # Where a display is far away, such as behind an editor's remote session, this is what reaches it.
    if path.suffix.lower() in _PAGES and (browser := environ.get("BROWSER", "").split(":")[0].split()):
        address = path.as_uri()
        with_address = [part.replace("%s", address) for part in browser]
        return with_address if with_address != browser else [*browser, address]
    if system == "darwin":
        return ["open", str(path)]
    if viewer := shutil.which("wslview", path=search):
        return [viewer, str(path)]
    if not (environ.get("DISPLAY") or environ.get("WAYLAND_DISPLAY")):
        raise TerpError("This terminal has no display: DISPLAY and WAYLAND_DISPLAY are not set.")
    if opener := shutil.which("xdg-open", path=search):
        return [opener, str(path)]
    raise TerpError("There is no xdg-open here, and BROWSER is not set.")


def open_file(path: Path, environ: Mapping[str, str]) -> None:
    """Have a file shown, for which it takes a moment; the program goes on by itself.

    Raises:
        TerpError: nothing can show it here, or it failed at once.
    """
    command = program_for(path, environ)
    nowhere = subprocess.DEVNULL
    try:
        process = subprocess.Popen(
            command, env=dict(environ), stdin=nowhere, stdout=nowhere, stderr=nowhere, start_new_session=True
        )
    except OSError as error:
        raise TerpError(f"{command[0]} cannot be started: {error.strerror}.") from error
    try:
        status = process.wait(_SOON_S)
    except subprocess.TimeoutExpired:
        # Somebody has to hear of its end, and terp may be gone by then.
        threading.Thread(target=process.wait, daemon=True).start()
        return
    if status:
        raise TerpError(f"{command[0]} ended with exit status {status}.")
