"""Which distributions a piece of code needs, by what it imports."""

import ast
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from terp.kernels.environment import kernel_environment

# Modules whose distribution has another name. What the kernel's own environment says comes first.
_KNOWN = {
    "Bio": "biopython",
    "Crypto": "pycryptodome",
    "IPython": "ipython",
    "OpenSSL": "pyopenssl",
    "PIL": "pillow",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "fitz": "pymupdf",
    "git": "gitpython",
    "jwt": "pyjwt",
    "magic": "python-magic",
    "mpl_toolkits": "matplotlib",
    "pptx": "python-pptx",
    "serial": "pyserial",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "yaml": "pyyaml",
}
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


def imported(tree: ast.AST) -> Iterator[str]:
    """The top-level modules that code imports."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name.partition(".")[0] for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module.partition(".")[0]


def _distribution(module: str, distributions: Distributions) -> str:
    """The distribution that holds `module`; "" when that is not known."""
    found = list(dict.fromkeys(distributions.get(module, ())))
    if len(found) == 1:
        return _normal(found[0])
    if module in _KNOWN:
        return _KNOWN[module]
    same = [name for name in found if _normal(name) == _normal(module)]
    return _normal((same or found)[0]) if found else ""


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
