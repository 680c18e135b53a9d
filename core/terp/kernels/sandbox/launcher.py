"""The command line that gives up rights inside, and then becomes another one."""

import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import terp
from terp.kernels.sandbox.policy import Policy

CONFIG = "confine.json"

# The package itself would import what only terp needs.
_START = (
    "import sys; terp = type(sys)('terp'); terp.__path__ = [sys.argv.pop(1)]; sys.modules['terp'] = terp; "
    "from terp.kernels.sandbox.entering.__main__ import main; main()"
)


def entering(
    argv: Sequence[str], directory: Path, policy: Policy, rules: Mapping[str, Any], *, network: bool
) -> tuple[str, ...]:
    """`argv`, run by a process that first gives up what `rules` of Landlock and `policy` do not leave it.

    With `network` the system calls for it stay: they are open, or closed by other means.
    """
    limits = {name: getattr(policy.limits, name) for name in ("memory_mb", "processes", "file_mb")}
    wanted = {"confine": True, "network": network, "limits": limits, "landlock": dict(rules)}
    return _launched(argv, directory, wanted)


def limited(argv: Sequence[str], directory: Path, policy: Policy) -> tuple[str, ...]:
    """`argv` with the limits of a policy and nothing else; the same where there are none."""
    limits = {name: getattr(policy.limits, name) for name in ("memory_mb", "processes", "file_mb")}
    return _launched(argv, directory, {"limits": limits}) if any(limits.values()) else tuple(argv)


def _launched(argv: Sequence[str], directory: Path, wanted: Mapping[str, Any]) -> tuple[str, ...]:
    config = directory / CONFIG
    config.write_text(json.dumps(wanted), encoding="utf-8")
    return (sys.executable, "-I", "-S", "-c", _START, str(Path(terp.__file__).parent), str(config), *argv)


def needed_by_launcher() -> tuple[str, ...]:
    """The folders that the launcher and terp's own kernels are read from."""
    return (str(Path(terp.__file__).parent), sys.prefix, sys.base_prefix)
