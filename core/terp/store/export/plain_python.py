"""Cells of IPython as statements of plain Python."""

import ast
import re
import symtable
from collections.abc import Iterator

_INDENT = "    "
_FUTURE = re.compile(r"^from __future__ import .*$", re.MULTILINE)
_MAGIC = {"run_line_magic", "run_cell_magic", "system", "getoutput"}
# Cell magics whose body is Python that runs in the notebook itself.
_AROUND_PYTHON = {"time", "timeit", "capture", "prun"}


def compiles(code: str, *, awaits: bool = False) -> bool:
    """Return True if `code` is Python; with `awaits` also if it awaits outside functions."""
    flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT if awaits else 0
    try:
        compile(code, "<cell>", "exec", flags | ast.PyCF_ONLY_AST, dont_inherit=True)
        compile(code, "<cell>", "exec", flags, dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def commented(code: str) -> str:
    """Return every line as a comment."""
    return "\n".join(f"# {_unmarked(line)}".rstrip() for line in code.replace("\0", "␀").splitlines())


def indented(code: str) -> str:
    """Return Python code one level deeper; lines inside strings stay as they are."""
    inside = _inside_strings(code)
    return "\n".join(
        line if number in inside or not line.strip() else _INDENT + line
        for number, line in enumerate(_lines(code), 1)
    )


def without_metadata(code: str) -> str:
    """Return code without comments that begin script metadata, of which a file can have one block."""
    inside = _inside_strings(code)
    return "\n".join(
        f"# {_unmarked(line[2:])}" if line.startswith("# ///") and number not in inside else line
        for number, line in enumerate(_lines(code), 1)
    )


def _unmarked(line: str) -> str:
    return f" {line}" if line.startswith("///") else line


def _lines(code: str) -> list[str]:
    # As Python counts them: `splitlines` knows more line ends.
    return re.split("\r\n|\r|\n", code)


def _inside_strings(code: str) -> set[int]:
    """Return the numbers of the lines that begin inside a string."""
    inside: set[int] = set()
    for node in ast.walk(_parsed(code)):
        if isinstance(node, ast.Constant | ast.JoinedStr) and node.end_lineno is not None:
            inside.update(range(node.lineno + 1, node.end_lineno + 1))
    return inside


def guarded(code: str, error: str) -> str:
    """Return code that failed in the session, in a `try`: the code after it runs all the same."""
    return f"try:\n{indented(code)}\nexcept Exception:  # {error}\n{_INDENT}traceback.print_exc()"


def awaited(code: str, number: int) -> str:
    """Return code that awaits outside functions as an async function that binds global names."""
    name = f"_cell_{number}"
    body = indented(code)
    names = sorted(_bound(f"async def {name}():\n{body}"))
    shared = f"{_INDENT}global {', '.join(names)}\n" if names else ""
    return f"async def {name}():\n{shared}{body}\n\n\nasyncio.run({name}())"


def without_futures(code: str) -> tuple[str, list[str]]:
    """Return code without its `from __future__` lines, and these: only the top of a file may have them."""
    return _FUTURE.sub("", code).strip("\n"), _FUTURE.findall(code)


def plain_python(code: str) -> str:
    """Return a cell as plain Python: `!command` as a call of `subprocess`, magics as comments."""
    if compiles(code, awaits=True):
        return code
    # IPython's own reader knows what is a magic and what only looks like one.
    from IPython.core.inputtransformer2 import TransformerManager  # noqa: PLC0415

    try:
        transformed = str(TransformerManager().transform_cell(code))  # type: ignore[no-untyped-call]
        tree = _parsed(transformed)
    except (SyntaxError, ValueError):
        return code
    match tree.body:
        case [ast.Expr(value=ast.Call() as call)] if _kind(call) == "run_cell_magic":
            return _cell_magic(code, call)
    lines = transformed.split("\n")
    for statement in reversed(list(_statements(tree))):
        if (new := _replaced(statement)) and statement.end_lineno is not None:
            indent = lines[statement.lineno - 1][: statement.col_offset]
            lines[statement.lineno - 1 : statement.end_lineno] = [indent + line for line in new]
    return "\n".join(lines).rstrip("\n")


def shell(command: str) -> str:
    """Return a shell command as a call of `subprocess`, which has to be imported."""
    return f"subprocess.run({_literal(command)}, shell=True)"


def shell_script(code: str) -> str:
    """Return lines for bash as a call of `subprocess`."""
    return f'subprocess.run(["bash", "-c", {_literal(code)}])'


def _literal(text: str) -> str:
    plain = "\n" in text and "'''" not in text and not text.endswith(("'", "\\")) and "\\" not in text
    return f"'''{text}'''" if plain else repr(text)


def _parsed(code: str) -> ast.Module:
    flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
    tree: ast.Module = compile(code, "<cell>", "exec", flags, dont_inherit=True)
    return tree


def _bound(function: str) -> set[str]:
    """Return the names that a function, the only statement of its code, binds."""
    table = symtable.symtable(function, "<cell>", "exec").get_children()[0]
    return {symbol.get_name() for symbol in table.get_symbols() if symbol.is_local()}


def _statements(tree: ast.Module) -> Iterator[ast.stmt]:
    simple = (node for node in ast.walk(tree) if isinstance(node, ast.Expr | ast.Assign))
    yield from sorted(simple, key=lambda node: node.lineno)


def _kind(call: ast.expr) -> str:
    match call:
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="get_ipython")), attr=attr)):
            return attr if attr in _MAGIC else ""
    return ""


def _texts(call: ast.expr) -> list[str]:
    arguments = call.args if isinstance(call, ast.Call) else []
    return [one.value for one in arguments if isinstance(one, ast.Constant) and isinstance(one.value, str)]


def _replaced(statement: ast.stmt) -> list[str]:
    """Return the lines for a statement of IPython; [] for any other."""
    match statement:
        case ast.Expr(value=call) if kind := _kind(call):
            text = " ".join(_texts(call)).strip()
            if kind in ("system", "getoutput") and "{" not in text:
                return shell(text).split("\n")
            return [f"pass  # {'!' if kind in ('system', 'getoutput') else '%'}{text}"]
        case ast.Assign(targets=[target], value=call) if kind := _kind(call):
            text, name = " ".join(_texts(call)).strip(), ast.unparse(target)
            if kind == "getoutput" and "{" not in text:
                ran = f"subprocess.run({_literal(text)}, shell=True, capture_output=True, text=True)"
                return f"{name} = {ran}.stdout.splitlines()".split("\n")
            return [f"{name} = None  # {'!' if kind == 'getoutput' else '%'}{text}"]
    return []


def _cell_magic(code: str, call: ast.Call) -> str:
    name, argument, body = (*_texts(call), "", "", "")[:3]
    if name in ("bash", "sh", "script") and not argument.replace("bash", ""):
        return shell_script(body.rstrip("\n"))
    if name in _AROUND_PYTHON:
        return f"# %%{name} {argument}".rstrip() + "\n" + plain_python(body.rstrip("\n"))
    return commented(code)
