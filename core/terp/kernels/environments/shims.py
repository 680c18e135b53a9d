"""A `pip` program for the code: it installs into the folder that the code imports from.

In a sandbox it cannot install: it succeeds for packages that terp installed before the code ran.
"""

import hashlib
import shlex
from collections.abc import Mapping
from pathlib import Path

from terp.settings.interpreter import Interpreter, site_packages
from terp.settings.places import make_private

NAMES = ("pip", "pip3")
_SCRIPT = """\
#!/bin/sh
[ "$1" = install ] || exec {command} "$@"
if ( : > {probe} && rm {probe} ) 2>/dev/null; then
    export PIP_TARGET={packages}
    exec {command} "$@"{into}
fi
PIP_FIND_LINKS= PYTHONPATH={packages} {command} "$@"{into} {offline} 2>/dev/null && exit
echo "pip: code cannot install packages in the sandbox. terp installs, before the code runs, what the code" \
    "imports or names to pip, as far as the user allows it." >&2
exit 1
"""


def pip_shims(interpreter: Interpreter, environ: Mapping[str, str], folder: Path) -> str:
    """Return a folder below `folder` with `pip` and `pip3` for this Python; "" if there is no installer.

    Raises:
        OSError: the folder cannot be written.
    """
    command = _command(interpreter, environ)
    if not command:
        return ""
    is_uv, packages = command[1] != "-m", shlex.quote(interpreter.packages)
    into = f" --python {shlex.quote(interpreter.path)}" if is_uv else ""
    if is_uv and interpreter.packages:
        into += f" --target {packages}"
    script = _SCRIPT.format(
        command=shlex.join(command),
        # In a sandbox root cannot write there either.
        probe=shlex.quote(f"{interpreter.packages or site_packages(interpreter.path)[0]}/.terp-probe"),
        packages=packages,
        into=into,
        offline="--offline" if is_uv else "--no-index",
    )
    place = make_private(folder / hashlib.sha256(script.encode()).hexdigest()[:12])
    for name in NAMES:
        if not (place / name).exists():
            (place / name).write_text(script, encoding="utf-8")
            (place / name).chmod(0o700)
    return str(place)


def _command(interpreter: Interpreter, environ: Mapping[str, str]) -> list[str]:
    from terp.kernels.environments.installing import InstallFailed, installing_program  # noqa: PLC0415  (after the start)

    try:
        # uv supports only some of pip's options.
        return installing_program(interpreter.path, environ, rather_pip=True)
    except InstallFailed:
        return []
