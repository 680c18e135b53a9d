"""A story as a Python script of `# %%` cells, with the packages it needs in its head (PEP 723)."""

import ast
import json
import os
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence

from terp.events.outputs import Error
from terp.events.run_log import LoggedRun
from terp.kernels.environments.distributions import imported, known_distribution, normal
from terp.secrets.environment import kernel_environment
from terp.store.export.plain_python import (
    awaited,
    commented,
    compiles,
    guarded,
    plain_python,
    shell_script,
    without_futures,
    without_metadata,
)
from terp.store.export.story import Answer, Part, Prompt, Remark, Rendered, Story
from terp.store.export.words import one_line, unfinished
from terp.text.dataclasses import dataclass, field
from terp.text.languages import language_of
from terp.text.plain import mended

_MARK = "# %%"
# What the script itself calls.
_OWN = ("asyncio", "subprocess", "traceback")
_ASK = "import importlib.metadata as m, json; print(json.dumps(m.packages_distributions()))"
_ASK_S = 20.0

Distributions = Mapping[str, Sequence[str]]


def distributions_of(python: str, environ: Mapping[str, str] = os.environ) -> Distributions:
    """Return the distributions of the environment of `python` by module; {} if they are unknown.

    Of `environ` it gets the part that a kernel gets: packages can run code at every start of a Python.
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
        found = json.loads(asked.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def script(story: Story, distributions: Distributions) -> Rendered:
    """Return the script of all runs: failed code is guarded, so that the rest runs after it.

    Magics and code that was interrupted are comments, shell commands calls of `subprocess`. It always
    compiles.
    """
    cells = _Cells()
    for part in story.parts:
        cells.add(part)
    needed = needs(cells.trees, distributions)
    imports, packages = _imports(cells.trees), list(needed.distributions)
    if any("IPython" in line for line in imports):
        packages = sorted({*packages, "ipython"})
    head = "\n".join([script_metadata(packages), *_unknown(needed.unknown)])
    top = "\n".join([*cells.futures, *imports])
    parts = [head, commented(mended(story.title)), top, *cells.texts]
    return Rendered("\n\n".join(part for part in parts if part) + "\n")


@dataclass(slots=True)
class _Cells:
    """The cells so far, as text and as syntax trees."""

    texts: list[str] = field(default_factory=list)
    trees: list[ast.Module] = field(default_factory=list)
    futures: list[str] = field(default_factory=list)

    def add(self, part: Part) -> None:
        """Add a part of the story; code that did not run is left out."""
        match part:
            case Prompt(text=text):
                self._words("\n".join(f"> {line}" for line in text.strip().split("\n")))
            case Answer(text=text) | Remark(text=text):
                self._words(text)
            case LoggedRun() if part.ran:
                code = self._code(part)
                self.texts.append(f"{_MARK}\n{code}")

    def _words(self, text: str) -> None:
        # A line end that only Python sees would end the comment.
        safe = "\n".join(mended(text).splitlines())
        self.texts.append(f"{_MARK} [markdown]\n{commented(safe)}")

    def _code(self, run: LoggedRun) -> str:
        written = mended(run.code).strip("\n")
        language = language_of(run.language, ("python", "shell"))
        if not language or unfinished(run):
            why = unfinished(run) or f"This was {one_line(run.language) or 'of another language'}."
            return f"# {why}\n{commented(written)}"
        code = shell_script(written) if language == "shell" else plain_python(written)
        code, futures = without_futures(code)
        made = self._made(code, run)
        if made is None or not compiles(made):
            return f"# This is not Python that compiles.\n{commented(written)}"
        self.futures += [line for line in futures if line not in self.futures]
        made = without_metadata(made)
        self.trees.append(ast.parse(made))
        return made

    def _made(self, code: str, run: LoggedRun) -> str | None:
        if not compiles(code, awaits=True):
            return None
        if not compiles(code):
            # A star import cannot stand in a function; then this does not compile either.
            code = awaited(code, len(self.texts))
        if run.fate != "error":
            return code
        raised = next((output for output in run.outputs if isinstance(output, Error)), Error("Error", ""))
        return guarded(code, one_line(f"{raised.name}: {raised.value}")[:200])


def _imports(trees: list[ast.Module]) -> list[str]:
    names = {node.id for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Name)}
    bound = {alias for tree in trees for alias in _bound(tree)}
    lines = [f"import {name}" for name in _OWN if name in names]
    # A notebook has it without an import.
    return [*lines, "from IPython.display import display"] if "display" in names - bound else lines


def _unknown(modules: tuple[str, ...]) -> list[str]:
    comment = f"# No installed package holds {', '.join(modules)}: files of yours, or not installed."
    return ["", comment] if modules else []


def _bound(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                yield from (alias.asname or alias.name for alias in names)
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name) | ast.Name(id=name, ctx=ast.Store()):
                yield name


def script_metadata(packages: Sequence[str]) -> str:
    """Return inline script metadata (PEP 723) for the packages that a file needs."""
    listed = "".join(f'#     "{name}",\n' for name in packages)
    dependencies = f"# dependencies = [\n{listed}# ]" if packages else "# dependencies = []"
    return f'# /// script\n# requires-python = ">=3.11"\n{dependencies}\n# ///'


@dataclass(frozen=True, slots=True)
class Needs:
    """The imports of code: `distributions` to install, and `unknown` modules, perhaps files of the user."""

    distributions: tuple[str, ...]
    unknown: tuple[str, ...] = ()


def needs(trees: Iterable[ast.AST], distributions: Distributions) -> Needs:
    """Return the imports of code besides the standard library.

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
    """Return the distribution that holds `module`; "" if unknown."""
    found = list(dict.fromkeys(distributions.get(module, ())))
    if len(found) == 1:
        return normal(found[0])
    if known := known_distribution(module):
        return known
    same = [name for name in found if normal(name) == normal(module)]
    return normal((same or found)[0]) if found else ""
