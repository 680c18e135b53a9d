"""Opens repositories in one process that writes down what it does: `opening.py WORK`, which is JSON.

A process of its own, since nobody can take back a hook that audits.
"""

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

_SEEN: dict[str, Callable[[tuple[Any, ...]], Any]] = {
    "subprocess.Popen": lambda args: [str(args[0]), *map(str, args[1])],
    "os.exec": lambda args: [str(args[0])],
    "os.posix_spawn": lambda args: [str(args[0])],
    "os.system": lambda args: [str(args[0])],
    "os.spawn": lambda args: [str(args[1])],
    "socket.connect": lambda args: str(args[1]),
    "socket.getaddrinfo": lambda args: f"{args[0]}:{args[1]}",
    "open": lambda args: os.path.abspath(os.fsdecode(args[0])) if isinstance(args[0], str | bytes) else "",  # noqa: PTH100
    "import": lambda args: str(args[1] or ""),
}


def main(work: str) -> None:
    """Open each repository and write what happened beside it."""
    seen: list[tuple[str, Any]] = []

    def note(event: str, args: tuple[Any, ...]) -> None:
        if event in _SEEN:
            seen.append((event, _SEEN[event](args)))

    sys.addaudithook(note)
    from terp_cli.main import main as terp

    before = dict(os.environ)
    for one in json.loads(Path(work).read_text(encoding="utf-8")):
        os.environ.clear()
        os.environ.update(before | one["environ"])
        os.chdir(one["cwd"])
        seen.clear()
        with _streams(one["out"], one["notes"]):
            code = terp(one["arguments"])
        Path(one["told"]).write_text(json.dumps({"code": code, "seen": seen}), encoding="utf-8")


@contextmanager
def _streams(*files: str) -> Iterator[None]:
    """stdout and stderr in files."""
    kept = [os.dup(number) for number in (1, 2)]
    for number, name in enumerate(files, 1):
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
        os.dup2(descriptor, number)
        os.close(descriptor)
    try:
        yield
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        for number, descriptor in enumerate(kept, 1):
            os.dup2(descriptor, number)
            os.close(descriptor)


if __name__ == "__main__":
    main(sys.argv[1])
