"""Apply the restrictions in a JSON file, then become the command: `CONFIG COMMAND ARGUMENT…`."""

import json
import os
import sys

from terp.kernels.sandbox.entering.restrictions import (
    become_unprivileged,
    filter_calls,
    limit,
    restrict,
    without_core_dumps,
)


def main() -> None:
    """Become the command, or exit with 126 and the reason on standard error."""
    try:
        with open(sys.argv[1], encoding="utf-8") as file:  # noqa: PTH123  (pathlib takes 5 ms to import)
            wanted = json.load(file)
        enter(wanted)
        if hold := wanted.get("hold"):
            from terp.kernels.sandbox.entering.holder import become_held  # noqa: PLC0415  (only where effects are held)

            become_held(sys.argv[2:], hold)
        os.execvpe(sys.argv[2], sys.argv[2:], os.environ)  # noqa: S606  (this is what it is for)
    except OSError as error:
        os.write(2, f"terp: the code cannot be confined, so it does not run: {error}\n".encode())
        os._exit(126)


def enter(wanted: dict) -> None:  # type: ignore[type-arg]
    """Apply the restrictions in `wanted`; they cannot be undone.

    Raises:
        OSError: one of them failed.
    """
    limit(wanted.get("limits", {}))
    if not wanted.get("confine"):
        return
    without_core_dumps()
    become_unprivileged()
    if (rules := wanted.get("landlock")) is not None:
        restrict(rules)
    filter_calls(network=wanted["network"], namespaces=wanted["namespaces"], holder="hold" in wanted)


if __name__ == "__main__":
    main()
