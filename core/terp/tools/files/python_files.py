"""Tool files in Python: declarations read from their source, which is not run here."""

import ast
from collections.abc import Iterator

from terp.tools.files.declared import Declared, Parameter, Tool, wrong_name

_DECORATOR = "register_tool"


class _Refused(Exception):
    """A declaration is wrong at `line`."""

    def __init__(self, line: int, why: str) -> None:
        super().__init__(line, why)
        self.line, self.why = line, why


def read_python(source: str, place: str, path: str, *, alone: bool = True) -> Declared:
    """Return the tools in the source of the file at `path`; `place` is the file's name in messages.

    A file that is `alone` is part of no package, so it has no relative imports. Each problem is one line with
    place, line, function and parameter. A problem removes only its own tool.
    """
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        line = getattr(error, "lineno", 0) or 0
        why = getattr(error, "msg", "") or str(error)
        return Declared((), (f"{place}:{line}: {why}; none of its tools is there.",))
    if alone and (wrong := _relative_import(tree, place)):
        return Declared((), (wrong,))
    tools: dict[str, Tool] = {}
    problems: list[str] = []
    for function, registration in _registered(tree):
        try:
            # As in Python, a later function replaces an earlier one of the same name.
            tools[function.name] = _tool(function, registration, place, path)
        except _Refused as refused:
            problems.append(f"{place}:{refused.line}: {function.name}: {refused.why}.")
    return Declared(tuple(tools.values()), tuple(problems))


def _relative_import(tree: ast.Module, place: str) -> str:
    """Return the problem of the first relative import, or "" (a tool file has no package)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.level:
            names = ", ".join(alias.name for alias in node.names)
            written = f"from {node.module} import {names}" if node.module else f"import {names}"
            why = f"a tool file is in no package. Write `{written}`: it finds files beside this one"
            return f"{place}:{node.lineno}: {why}. None of its tools is there."
    return ""


def _registered(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef | ast.AsyncFunctionDef, ast.expr]]:
    """Yield the decorated functions at the top level, each with its `register_tool` decorator."""
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            for decorator in node.decorator_list:
                called = decorator.func if isinstance(decorator, ast.Call) else decorator
                if _last_name(called) == _DECORATOR:
                    yield node, decorator


def _last_name(node: ast.expr) -> str:
    return str(getattr(node, "id", getattr(node, "attr", "")))


def _tool(
    function: ast.FunctionDef | ast.AsyncFunctionDef, registration: ast.expr, place: str, path: str
) -> Tool:
    if isinstance(function, ast.AsyncFunctionDef):
        raise _Refused(function.lineno, "is `async`; a tool is called without `await`")
    if wrong := wrong_name(function.name):
        raise _Refused(function.lineno, wrong)
    description = (ast.get_docstring(function) or "").strip()
    if not description:
        raise _Refused(function.lineno, "has no docstring, which the model needs")
    return Tool(
        function.name,
        description,
        tuple(_parameters(function)),
        f"{place}:{function.lineno}",
        target=path,
        returns=ast.unparse(function.returns) if function.returns else "",
        max_chars=_max_chars(registration),
    )


def _parameters(function: ast.FunctionDef) -> Iterator[Parameter]:
    args = function.args
    for star, unnamed in (("*", args.vararg), ("**", args.kwarg)):
        if unnamed is not None:
            raise _Refused(unnamed.lineno, f"parameter `{star}{unnamed.arg}`: each parameter needs a name")
    if args.posonlyargs:
        raise _Refused(
            args.posonlyargs[0].lineno,
            f"parameter `{args.posonlyargs[0].arg}` has no name for callers (`/` in the signature)",
        )
    without = [None] * (len(args.args) - len(args.defaults))
    for arg, default in zip(args.args, [*without, *args.defaults], strict=True):
        yield _parameter(arg, default)
    for arg, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield _parameter(arg, default)


def _parameter(arg: ast.arg, default: ast.expr | None) -> Parameter:
    if arg.annotation is None:
        raise _Refused(arg.lineno, f"parameter `{arg.arg}` has no type annotation")
    written = ast.unparse(default) if default is not None else ""
    annotation = _unquoted(arg.annotation)
    match annotation:
        case ast.Subscript(value=value, slice=inside) if _last_name(value) == "Annotated":
            kind, description, required = _annotated(arg, inside)
            return Parameter(arg.arg, kind, description, required and not written, written)
    return Parameter(arg.arg, ast.unparse(annotation), required=not written, default=written)


def _annotated(arg: ast.arg, inside: ast.expr) -> tuple[str, str, bool]:
    """Return type, description and required of `Annotated[type, "description", required]`."""
    parts = inside.elts if isinstance(inside, ast.Tuple) else [inside]
    if not 2 <= len(parts) <= 3:
        raise _Refused(
            arg.lineno,
            f'parameter `{arg.arg}` must be Annotated[type, "description", required], no more or less',
        )
    described, required = _literal(parts[1]), _literal(parts[2]) if len(parts) == 3 else True
    if not isinstance(described, str):
        raise _Refused(arg.lineno, f"the description of parameter `{arg.arg}` must be a string")
    if not isinstance(required, bool):
        raise _Refused(arg.lineno, f"whether parameter `{arg.arg}` is required must be True or False")
    return ast.unparse(_unquoted(parts[0])), described.strip(), required


def _unquoted(annotation: ast.expr) -> ast.expr:
    """Return an annotation; one written as a string is parsed."""
    if isinstance(annotation, ast.Constant) and isinstance(annotation.value, str):
        try:
            return ast.parse(annotation.value.strip(), mode="eval").body
        except (SyntaxError, ValueError, RecursionError) as error:
            raise _Refused(annotation.lineno, f"`{annotation.value}` is no type") from error
    return annotation


def _max_chars(registration: ast.expr) -> int:
    if not isinstance(registration, ast.Call):
        return 0
    for word in registration.keywords:
        value = _literal(word.value)
        if word.arg == "max_chars" and type(value) is int and value >= 0:
            return value
        raise _Refused(
            registration.lineno, f"register_tool takes max_chars, a whole number; not {ast.unparse(word)}"
        )
    if registration.args:
        raise _Refused(registration.lineno, "register_tool takes max_chars by its name only")
    return 0


def _literal(node: ast.expr) -> object:
    """Return the value of a literal; None for any other expression."""
    try:
        return ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, RecursionError, MemoryError):
        return None
