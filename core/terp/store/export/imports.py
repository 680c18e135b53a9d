"""Which distributions a piece of code needs, by what it imports."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from terp.kernels.environments.distributions import imported, known_distribution, normal
from terp.secrets.environment import kernel_environment

_ASK = "import importlib.metadata as m, json; print(json.dumps(m.packages_distributions()))"
_ASK_S = 20.0

Distributions = Mapping[str, Sequence[str]]


def distributions_of(python: str, environ: Mapping[str, str] = os.environ) -> Distributions:
    """Which distributions of the environment of `python` hold which module; {} when it does not say.

    Of `environ` it gets what a kernel gets: packages can run code of their own at every start of a Python.
    """
    try:
        # -I: a module that lies in the working directory must not run because of a question.
        asked = subprocess.run(
            [python, "-I", "-c", _ASK],
            env=kernel_environment(environ),
            capture_output=True,
            timeout=_ASK_S,
            check=True,
        )
        told = json.loads(asked.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
    return told if isinstance(told, dict) else {}


@dataclass(frozen=True, slots=True)
class Needs:
    """What code imports: `distributions` to install, and `unknown` modules, which may be files of its own."""

    distributions: tuple[str, ...]
    unknown: tuple[str, ...] = ()


def needs(trees: Iterable[ast.AST], distributions: Distributions) -> Needs:
    """What the code needs besides Python.

    A module that no known distribution holds is not guessed at: a name that happens to be on PyPI would
    be installed and run.
    """
    modules = {name for tree in trees for name in imported(tree)} - set(sys.stdlib_module_names)
    found = {name: _distribution(name, distributions) for name in sorted(modules - {"__main__"})}
    return Needs(
        tuple(sorted({name for name in found.values() if name})),
        tuple(module for module, name in found.items() if not name),
    )


def _distribution(module: str, distributions: Distributions) -> str:
    """The distribution that holds `module`; "" when that is not known."""
    found = list(dict.fromkeys(distributions.get(module, ())))
    if len(found) == 1:
        return normal(found[0])
    if known := known_distribution(module):
        return known
    same = [name for name in found if normal(name) == normal(module)]
    return normal((same or found)[0]) if found else ""
