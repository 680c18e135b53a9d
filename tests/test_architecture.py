"""The laws of ARCHITECTURE.md that can be read off the source or off a fresh interpreter."""

import ast
import functools
import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
CORE, CLI = ROOT / "core", ROOT / "cli"
# These packages run in processes of the code, where the streams are its own and there is no terp.
INSIDE = {CORE / "terp" / part for part in ("kernels/inside", "checks/inside", "notebook")}
FRONT_ENDS = {"rich", "prompt_toolkit", "starlette", "fastapi", "uvicorn", "terp_cli"}
SLOW = {
    "IPython", "asyncio", "httpx", "ipykernel", "jupyter_client", "litellm", "openai", "websockets", "yaml",
    "zmq",
}  # fmt: skip
FILE_LINES, FUNCTION_LINES = 600, 60

Function = ast.FunctionDef | ast.AsyncFunctionDef


def sources(*trees: Path) -> Iterator[tuple[Path, ast.Module]]:
    for tree in trees:
        for path in sorted(tree.rglob("*.py")):
            yield path.relative_to(ROOT), parsed(path)


@functools.cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module", autouse=True)
def trees_are_kept_for_these_tests_alone() -> Iterator[None]:
    yield
    parsed.cache_clear()


def outside(*trees: Path) -> Iterator[tuple[Path, ast.Module]]:
    """The sources that run in terp's own process."""
    return ((path, tree) for path, tree in sources(*trees) if INSIDE.isdisjoint((ROOT / path).parents))


def imported(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and full name of all that is imported, also inside functions and through `import_module`."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield node.lineno, module
            case ast.Call(func=func, args=[ast.Constant(value=str(name)), *_]) if called(func) in IMPORTERS:
                yield node.lineno, name


IMPORTERS = {"import_module", "import_slow", "__import__", "find_spec", "run_module"}


def called(func: ast.expr) -> str:
    """The last part of the name by which something is called."""
    match func:
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return name
    return ""


# A room imports only rooms that stand before it, in any form: at the top, in a function, for types only.
ROOMS = {
    CORE / "terp": (
        "errors text events person analysis settings secrets models kernels tools session checks store "
        "opening notebook testing"
    ),
    CLI / "terp_cli": (
        "terminal line render fronts prompt repl acp verbs generate server mcp_server notebook program main "
        "__main__"
    ),
}
ROOT_ENTRIES, FOLDER_MODULES = 16, 36


def room_of(module: str) -> str:
    """The first name below the package; "" for the package itself."""
    return module.split(".")[1] if "." in module else ""


def own_imports(tree: ast.Module, package: str) -> Iterator[tuple[int, str]]:
    """The imports of a package's own modules and packages, with what `from terp import NAME` names."""
    for line, name in imported(tree):
        if name.partition(".")[0] == package and "." in name:
            yield line, name
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == package and not node.level:
            yield from ((node.lineno, f"{package}.{alias.name}") for alias in node.names)


@pytest.mark.parametrize("root", ROOMS, ids=lambda root: root.name)
def test_each_room_imports_only_rooms_before_it(root: Path) -> None:
    order = ROOMS[root].split()
    found = [
        f"{path}:{line}: {name}"
        for path, tree in sources(root)
        for line, name in own_imports(tree, root.name)
        if (own := room_of(module_name(path)))
        and (to := room_of(name)) in order
        and order.index(to) > order.index(own)
    ]
    assert found == []


@pytest.mark.parametrize("root", ROOMS, ids=lambda root: root.name)
def test_each_entry_at_a_root_is_a_room_of_the_table(root: Path) -> None:
    left_out = {"__init__.py", "__main__.py", "py.typed", "__pycache__"}
    entries = {path.name.removesuffix(".py") for path in root.iterdir() if path.name not in left_out}
    assert entries == set(ROOMS[root].split()) - {"__main__"}
    assert len(entries) <= ROOT_ENTRIES


def test_a_folder_has_few_modules() -> None:
    crowded = {
        str(folder.relative_to(ROOT)): count
        for root in ROOMS
        for folder in (root, *(path for path in root.rglob("*") if path.is_dir()))
        if folder not in INSIDE and (count := len(list(folder.glob("*.py")))) > FOLDER_MODULES
    }
    assert crowded == {}


def test_the_core_imports_no_front_end() -> None:
    found = [
        f"{path}:{line}: {name}"
        for path, tree in sources(CORE)
        for line, name in imported(tree)
        if name.partition(".")[0] in FRONT_ENDS
    ]
    assert found == []


def test_a_session_is_put_together_in_few_places() -> None:
    found = {
        (f"{path.parent.name}/{path.name}", called(node.func))
        for path, tree in sources(CORE, CLI)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and called(node.func) in ("Session", "ChatSession", "build_session")
    }
    assert found == {
        ("opening/session.py", "ChatSession"),
        ("opening/opening.py", "build_session"),
        ("demo/play.py", "Session"),
        ("repl/keeping.py", "build_session"),
        ("server/opening.py", "build_session"),
        ("notebook/conversation.py", "build_session"),
    }


def test_nothing_imports_by_relative_name() -> None:
    found = [
        f"{path}:{node.lineno}"
        for path, tree in outside(CORE, CLI)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.level
    ]
    assert found == []


def test_the_core_neither_prints_nor_reads_the_terminal() -> None:
    banned = {"print", "input", "breakpoint"}
    found = [
        f"{path}:{node.lineno}: {node.func.id}"
        for path, tree in outside(CORE)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in banned
    ]
    streams = [
        f"{path}:{node.lineno}: sys.{node.attr}"
        for path, tree in outside(CORE)
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "sys"
        and node.attr in {"stdin", "stdout", "stderr"}
    ]
    assert found + streams == []


def test_no_file_is_longer_than_600_lines() -> None:
    lengths = {
        str(path.relative_to(ROOT)): path.read_text(encoding="utf-8").count("\n")
        for folder in (CORE, CLI, ROOT / "tests", ROOT / "bench")
        for path in folder.rglob("*.py")
    }
    assert {path: lines for path, lines in lengths.items() if lines > FILE_LINES} == {}


def test_no_function_is_longer_than_60_lines() -> None:
    found = {
        f"{path}:{node.lineno}: {node.name}": length
        for path, tree in sources(CORE, CLI, ROOT / "tests", ROOT / "bench")
        for node in ast.walk(tree)
        if isinstance(node, Function)
        and (length := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES
    }
    assert found == {}


# What a module may call when it is imported: the makers of plain values and of types.
PURE = {
    "NamedTuple", "NewType", "ParamSpec", "TypeVar", "namedtuple", "field", "fields", "get_args",
    "MappingProxyType", "getLogger", "bytes", "chr", "dict", "float", "frozenset", "int", "len", "list",
    "range", "set", "sorted", "sum", "tuple", "compile", "escape", "fromkeys", "items", "join", "keys",
    "maketrans", "map", "replace", "split", "union", "values",
}  # fmt: skip


def top_level(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported."""
    for statement in body:
        match statement:
            case ast.If(test=ast.Compare(left=ast.Name(id="__name__"))):
                continue  # runs only where the module is the program
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                continue  # never runs
            case ast.If() | ast.Try() | ast.With() | ast.For() | ast.While():
                yield statement
                yield from top_level([*statement.body, *getattr(statement, "orelse", [])])
            case _:
                yield statement


def frozen_classes() -> set[str]:
    """The names of terp's immutable classes: a table of them is data."""
    return {
        node.name
        for _, tree in sources(CORE, CLI)
        for node in ast.walk(tree)
        if isinstance(node, ast.ClassDef)
        and any("frozen=True" in ast.unparse(decorator) for decorator in node.decorator_list)
    }


def row_makers(classes: set[str]) -> set[str]:
    """The functions that make one immutable row of a table, or a function for one."""
    return {
        node.name
        for _, tree in sources(CORE, CLI)
        for node in tree.body
        if isinstance(node, ast.FunctionDef) and (made_by(node) in classes or made_by(node) == "lambda")
    }


def made_by(function: ast.FunctionDef) -> str:
    """What a function says it returns; "lambda" when all it does is return one."""
    match function.body:
        case [*_, ast.Return(value=ast.Lambda())]:
            return "lambda"
    return ast.unparse(function.returns) if function.returns else ""


def calls_on_import(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """What a module calls when it is imported, wherever outside functions and classes."""
    for statement in top_level(tree.body):
        if isinstance(statement, Function | ast.ClassDef):
            continue
        for node in evaluated(statement):
            if isinstance(node, ast.Call):
                yield node.lineno, ast.unparse(node.func)


def evaluated(node: ast.AST) -> Iterator[ast.AST]:
    """The nodes of a statement that run with it: not the body of a lambda."""
    yield node
    if not isinstance(node, ast.Lambda):
        for child in ast.iter_child_nodes(node):
            yield from evaluated(child)


def test_the_core_has_no_module_level_instances() -> None:
    harmless = PURE | frozen_classes() | row_makers(frozen_classes())
    found = [
        f"{path}:{line}: {name}(…)"
        for path, tree in outside(CORE)
        for line, name in calls_on_import(tree)
        if name.rpartition(".")[2] not in harmless
    ]
    assert found == []


def test_the_core_keeps_no_state_in_globals() -> None:
    found = [
        f"{path}:{node.lineno}"
        for path, tree in outside(CORE)
        for node in ast.walk(tree)
        if isinstance(node, ast.Global) or (isinstance(node, ast.Call) and called(node.func) == "ContextVar")
    ]
    assert found == []


def test_nothing_is_left_to_do_later() -> None:
    word = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b")
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for folder in (CORE, CLI, ROOT / "tests", ROOT / "bench")
        for path in folder.rglob("*.py")
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if word.search(line) and path != Path(__file__)
    ]
    assert found == []


def test_the_core_has_no_import_cycles() -> None:
    trees = {module_name(path): tree for path, tree in sources(CORE)}
    needs = {name: set(imported_on_import(tree, trees.keys())) for name, tree in trees.items()}
    assert cycles({name: found & needs.keys() - {name} for name, found in needs.items()}) == []


def module_name(path: Path) -> str:
    """The dotted name of a file below core/."""
    return ".".join(path.with_suffix("").parts[1:]).removesuffix(".__init__")


def imported_on_import(tree: ast.Module, modules: Collection[str]) -> Iterator[str]:
    """The modules a module imports when it is imported itself."""
    for statement in top_level(tree.body):
        match statement:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), names=names):
                full = {f"{module}.{alias.name}" for alias in names}
                yield from full & set(modules) or {module}


def cycles(needs: dict[str, set[str]]) -> list[str]:
    """The modules that are left when those that need no other are taken away again and again."""
    left = dict(needs)
    while free := [name for name, found in left.items() if not found & left.keys()]:
        for name in free:
            del left[name]
    return sorted(left)


def loaded_by(*arguments: str) -> set[str]:
    """The top-level modules that a fresh interpreter with these arguments imports."""
    return {name.partition(".")[0] for name in all_loaded_by(*arguments)}


def all_loaded_by(*arguments: str) -> set[str]:
    """The modules that a fresh interpreter with these arguments imports."""
    env = {"PYTHONPATH": os.pathsep.join([str(CORE), str(CLI)]), "PATH": os.environ["PATH"]}
    command = [sys.executable, "-X", "importtime", *arguments]
    ran = subprocess.run(command, env=env, capture_output=True, text=True, check=True)
    reports = [line for line in ran.stderr.splitlines() if line.startswith("import time:")]
    return {line.rpartition("|")[2].strip() for line in reports}


def test_importing_terp_loads_nothing_slow() -> None:
    assert loaded_by("-c", "import terp") & (SLOW | FRONT_ENDS - {"terp_cli"}) == set()


def test_building_the_help_loads_nothing_slow() -> None:
    assert loaded_by("-m", "terp_cli", "--help", "all") & (SLOW | FRONT_ENDS - {"terp_cli"}) == set()


def test_a_prompt_and_its_model_load_neither_httpx_nor_rich() -> None:
    opened = "open_model(ModelOptions('openai/gpt-4o'), environ={})"
    code = f"""
import terp_cli.program, terp_cli.repl.repl
from terp.settings.model_settings import ModelOptions
from terp.models.building import open_model
{opened}
"""
    assert loaded_by("-c", code) & (SLOW - {"asyncio"} | {"rich", "click", "pygments"}) == set()


def test_a_first_prompt_waits_for_no_session() -> None:
    loaded = all_loaded_by(
        "-c", "import terp_cli.program, terp_cli.repl.first_prompt, terp_cli.prompt.prompt_app"
    )
    assert (
        loaded & {"terp.session.session", "terp.events", "terp.kernels", "terp.models", "terp.store"} == set()
    )


def test_the_direct_adapter_leaves_the_command_line_of_httpx_out() -> None:
    adapter = "terp.models.adapters.openai_compatible"
    code = f"from {adapter} import preload; preload(); import httpx; httpx.AsyncClient"
    assert loaded_by("-c", code) & {"rich", "click"} == set()


def test_entering_the_sandbox_loads_nothing_else_of_terp() -> None:
    code = f"""
import sys
terp = type(sys)("terp")
terp.__path__ = [{str(CORE / "terp")!r}]
sys.modules["terp"] = terp
import terp.kernels.sandbox.entering.__main__
"""
    loaded = {name for name in all_loaded_by("-I", "-S", "-c", code) if name.startswith("terp.")}
    sandbox = "terp.kernels.sandbox"
    assert {name for name in loaded if not name.startswith(f"{sandbox}.entering")} == {
        "terp.kernels",
        sandbox,
    }
