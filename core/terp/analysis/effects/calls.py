"""What calling something does that has a full name: the functions of modules, and of the cell."""

import ast
import re
from collections.abc import Callable, Container
from typing import TYPE_CHECKING

from terp.analysis.effects import known_effects as known
from terp.analysis.effects import methods, processes
from terp.analysis.effects.known_names import harmless, is_harmless_method, may_be_a_column
from terp.analysis.effects.telling import FILE, only_known_callables, opened, tell, tell_rows, variable
from terp.analysis.effects.texts import Told, argument_of, has_more
from terp.analysis.effects.values import (
    CONTENT,
    KEEPS_ELEMENTS,
    PATH,
    PATHS,
    RESULTS,
    UNKNOWN,
    Local,
    Ref,
    Thing,
    Value,
)

if TYPE_CHECKING:
    from terp.analysis.effects.python import Reader

_STYLE = re.compile(r"[\w-]+")
_READ_ONLY = re.compile(r"file:[^?#]*\?(?:[^#]*&)?mode=(?:ro|memory)(?:&(?!.*mode=)|$)")


def called(reader: "Reader", node: ast.Call) -> Value | None:
    """Tell what a call does; what it gives."""
    func = node.func
    value = reader.value(func)
    if isinstance(func, ast.Attribute) and (value == UNKNOWN or value == reader.value(func.value)):
        return methods.called(reader, node, func, value)
    match value:
        case Thing(kind="unknown"):
            return UNKNOWN
        case Ref(path=path):
            return _of_name(reader, node, path)
        case Local(node=ast.ClassDef()):
            return Thing("instance")
        case Local() | Thing(kind="function"):
            return CONTENT
    return reader.doubt(node, f"calls `{reader.texts.source(func)}`, which is not known")


def _of_name(reader: "Reader", node: ast.Call, path: str) -> Value | None:
    only_known_callables(reader, node, known.CALLS.get(path, ()), applies=path.startswith("pandas."))
    if special := _SPECIAL.get(path):
        return special(reader, node)
    if path in harmless():
        keeps = path in KEEPS_ELEMENTS and node.args and reader.value(node.args[0]) == PATHS
        return PATHS if keeps else RESULTS.get(path, CONTENT)
    for names, tell_call in _GROUPS:
        if path in names:
            return tell_call(reader, node, path)
    return reader.doubt(node, f"calls `{path.removeprefix('builtins.')}`, which is not known")


def _with_rows(reader: "Reader", node: ast.Call, path: str) -> Value:
    tell_rows(reader, node, known.FUNCTIONS[path])
    return RESULTS.get(path, CONTENT)


def _open(reader: "Reader", node: ast.Call, path: str) -> Value:
    is_archive = path in known.ARCHIVES
    file = opened(reader, node, argument_of(node, 0, "name" if is_archive else "file"), mode_at=1)
    return Thing("archive") if is_archive else file


def _unpickle(reader: "Reader", node: ast.Call, path: str) -> Value:
    reader.doubt(node, f"`{path}` runs what the file says")
    tell(reader, node, "reads", node.args[:1])
    return CONTENT


def _variable(reader: "Reader", node: ast.Call, path: str) -> Value:  # noqa: ARG001  (one of a table)
    variable(reader, node)
    return CONTENT


def _read_anywhere(reader: "Reader", node: ast.Call, path: str) -> Value:
    argument = argument_of(node, 0, known.REMOTE_READERS[path])
    if argument is None and not has_more(node):
        argument = next(
            (one.value for one in node.keywords if one.arg in ("path", "io", "fname", "style")), None
        )
    value = reader.value(argument) if argument is not None else None
    if value == FILE:
        return CONTENT
    told = reader.texts.of(argument) if argument is not None else [Told("{…}", exact=False)]
    if path.endswith("style.use"):
        if not all(one.exact and _STYLE.fullmatch(one.text) for one in told):
            # `package.style` imports the package.
            reader.doubt(node, "names a style that may be a module")
        return CONTENT
    tell(reader, node, "reads", [argument] if argument is not None else [], "{…}")
    for one in told:
        if one.may_be_address and value not in (PATH, UNKNOWN):
            reader.doubt(node, f"`{one.text}` may be an address")
    return CONTENT


def _getattr(reader: "Reader", node: ast.Call) -> Value:
    name = reader.texts.one(node.args[1]) if len(node.args) > 1 else Told("", exact=False)
    owner = reader.value(node.args[0]) if node.args else None
    if (
        not name.exact
        or isinstance(owner, Ref)
        or not (is_harmless_method(name.text) or may_be_a_column(name.text))
    ):
        return reader.doubt(node, "calls `getattr`")
    return CONTENT


def _type(reader: "Reader", node: ast.Call) -> Value:
    if len(node.args) != 1 or node.keywords or has_more(node):
        return reader.doubt(node, "makes a class with `type`")
    return CONTENT


def _database(reader: "Reader", node: ast.Call) -> Value:
    argument = argument_of(node, 0, "database")
    told = reader.texts.of(argument) if argument is not None else []
    if not told or any(one.text != ":memory:" for one in told):
        touched = [argument] if argument is not None else []
        tell(reader, node, "reads", touched)
        uri = argument_of(node, 7, "uri")
        is_uri = isinstance(uri, ast.Constant) and uri.value is True
        if not (is_uri and told and all(one.exact and _READ_ONLY.match(one.text) for one in told)):
            # A file that is not there is made.
            tell(reader, node, "writes", touched)
    return Thing("database")


def _read_sql(reader: "Reader", node: ast.Call) -> Value:
    methods.tell_sql(reader, node)
    return CONTENT


def _load_arrays(reader: "Reader", node: ast.Call) -> Value:
    pickled = argument_of(node, 2, "allow_pickle")
    if has_more(node) or (
        pickled is not None and not (isinstance(pickled, ast.Constant) and not pickled.value)
    ):
        reader.doubt(node, "`numpy.load` runs what the file says")
    tell(reader, node, "reads", node.args[:1])
    return CONTENT


def _backend(reader: "Reader", node: ast.Call) -> Value:
    told = reader.texts.of(node.args[0]) if node.args else [Told("", exact=False)]
    if any(not one.exact or ":" in one.text for one in told):
        return reader.doubt(node, "names a backend to import")
    return CONTENT


def _set_option(reader: "Reader", node: ast.Call) -> Value:
    told = [reader.texts.one(argument) for argument in node.args[::2]] or [Told("", exact=False)]
    if has_more(node) or any(not one.exact or "backend" in one.text for one in told):
        return reader.doubt(node, "sets an option that may name a module to import")
    return CONTENT


def _shown(reader: "Reader", node: ast.Call) -> Value:
    """Text for the notebook: when it begins like an address, it is fetched."""
    argument = node.args[0] if node.args else None
    made = (
        isinstance(argument, ast.Call)
        and isinstance(argument.func, ast.Attribute)
        and argument.func.attr == "to_html"
    )
    told = reader.texts.of(argument) if argument is not None else []
    fetched = any(
        "http".startswith(one.text.partition("{")[0][:4]) and (not one.exact or one.text) for one in told
    )
    if (fetched and not made) or {one.arg for one in node.keywords} & {"url", "filename", None}:
        return reader.doubt(node, "shows what may be an address")
    return CONTENT


def _path(reader: "Reader", node: ast.Call) -> Value:  # noqa: ARG001  (one of a table)
    return PATH


def _harmless(reader: "Reader", node: ast.Call) -> Value:  # noqa: ARG001  (one of a table)
    return CONTENT


_SPECIAL: dict[str, Callable[["Reader", ast.Call], Value]] = {
    "builtins.getattr": _getattr,
    "builtins.type": _type,
    "sqlite3.connect": _database,
    "pandas.read_sql": _read_sql,
    "pandas.read_sql_query": _read_sql,
    "numpy.load": _load_arrays,
    "matplotlib.use": _backend,
    "matplotlib.pyplot.switch_backend": _backend,
    "pandas.set_option": _set_option,
    "pandas.option_context": _set_option,
    "IPython.display.HTML": _shown,
    "IPython.display.Markdown": _shown,
    "pathlib.Path.cwd": _path,
    "pathlib.Path.home": _path,
    "pickle.dump": _harmless,
    "pickle.dumps": _harmless,
}
_GROUPS: tuple[tuple[Container[str], Callable[["Reader", ast.Call, str], Value | None]], ...] = (
    (known.FUNCTIONS, _with_rows),
    (known.REMOTE_READERS, _read_anywhere),
    (known.OPENERS | known.ARCHIVES, _open),
    (known.PROCESSES, processes.started),
    (known.UNPICKLERS, _unpickle),
    (known.ENVIRONMENT, _variable),
)
