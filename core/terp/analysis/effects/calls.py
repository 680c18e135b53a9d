"""Calls of functions by their full name: their effects, and the values that they return."""

import ast
import re
import shlex
from collections.abc import Callable, Container
from typing import TYPE_CHECKING

from terp.analysis.effects import methods
from terp.analysis.effects.known import python_names
from terp.analysis.effects.methods import FILE, only_known_callables, opened, report, report_rows, variable
from terp.analysis.effects.shell import report_command, report_script
from terp.analysis.effects.shell_words import Word
from terp.analysis.effects.values import (
    CONTENT,
    KEEPS_ELEMENTS,
    PATH,
    PATHS,
    RESULTS,
    UNKNOWN,
    Local,
    Ref,
    ResolvedText,
    Thing,
    Value,
    argument_of,
    has_more,
)

if TYPE_CHECKING:
    from terp.analysis.effects.python import Reader

_STYLE = re.compile(r"[\w-]+")
_READ_ONLY = re.compile(r"file:[^?#]*\?(?:[^#]*&)?mode=(?:ro|memory)(?:&(?!.*mode=)|$)")


def called(reader: "Reader", node: ast.Call) -> Value | None:
    """Report the effects of a call; return its value."""
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
    only_known_callables(reader, node, python_names().calls.get(path, ()), applies=path.startswith("pandas."))
    if special := _SPECIAL.get(path):
        return special(reader, node)
    if path in python_names().harmless:
        keeps = path in KEEPS_ELEMENTS and node.args and reader.value(node.args[0]) == PATHS
        return PATHS if keeps else RESULTS.get(path, CONTENT)
    names = python_names()
    groups: tuple[tuple[Container[str], Callable[[Reader, ast.Call, str], Value | None]], ...] = (
        (names.functions, _with_rows),
        (names.readers, _read_anywhere),
        (names.openers | names.archives, _open),
        (names.processes, started),
        (names.unpicklers, _unpickle),
        (names.environment, _variable),
    )
    for group, report_call in groups:
        if path in group:
            return report_call(reader, node, path)
    return reader.doubt(node, f"calls `{path.removeprefix('builtins.')}`, which is not known")


def _with_rows(reader: "Reader", node: ast.Call, path: str) -> Value:
    report_rows(reader, node, python_names().functions[path])
    return RESULTS.get(path, CONTENT)


def _open(reader: "Reader", node: ast.Call, path: str) -> Value:
    is_archive = path in python_names().archives
    file = opened(reader, node, argument_of(node, 0, "name" if is_archive else "file"), mode_at=1)
    return Thing("archive") if is_archive else file


def _unpickle(reader: "Reader", node: ast.Call, path: str) -> Value:
    reader.doubt(node, f"`{path}` may run code from the file")
    report(reader, node, "reads", node.args[:1])
    return CONTENT


def _variable(reader: "Reader", node: ast.Call, path: str) -> Value:  # noqa: ARG001  (one of a table)
    variable(reader, node)
    return CONTENT


def _read_anywhere(reader: "Reader", node: ast.Call, path: str) -> Value:
    argument = argument_of(node, 0, python_names().readers[path])
    if argument is None and not has_more(node):
        argument = next(
            (one.value for one in node.keywords if one.arg in ("path", "io", "fname", "style")), None
        )
    value = reader.value(argument) if argument is not None else None
    if value == FILE:
        return CONTENT
    resolved = reader.texts.of(argument) if argument is not None else [ResolvedText("{…}", exact=False)]
    if path.endswith("style.use"):
        if not all(one.exact and _STYLE.fullmatch(one.text) for one in resolved):
            # `package.style` imports the package.
            reader.doubt(node, "names a style that may be a module")
        return CONTENT
    report(reader, node, "reads", [argument] if argument is not None else [], "{…}")
    for one in resolved:
        if one.may_be_address and value not in (PATH, UNKNOWN):
            reader.doubt(node, f"`{one.text}` may be an address")
    return CONTENT


def _getattr(reader: "Reader", node: ast.Call) -> Value:
    name = reader.texts.one(node.args[1]) if len(node.args) > 1 else ResolvedText("", exact=False)
    owner = reader.value(node.args[0]) if node.args else None
    if (
        not name.exact
        or isinstance(owner, Ref)
        or not (python_names().is_harmless_method(name.text) or python_names().may_be_column(name.text))
    ):
        return reader.doubt(node, "calls `getattr`")
    return CONTENT


def _type(reader: "Reader", node: ast.Call) -> Value:
    if len(node.args) != 1 or node.keywords or has_more(node):
        return reader.doubt(node, "makes a class with `type`")
    return CONTENT


def _database(reader: "Reader", node: ast.Call) -> Value:
    argument = argument_of(node, 0, "database")
    resolved = reader.texts.of(argument) if argument is not None else []
    if not resolved or any(one.text != ":memory:" for one in resolved):
        touched = [argument] if argument is not None else []
        report(reader, node, "reads", touched)
        uri = argument_of(node, 7, "uri")
        is_uri = isinstance(uri, ast.Constant) and uri.value is True
        if not (is_uri and resolved and all(one.exact and _READ_ONLY.match(one.text) for one in resolved)):
            # A file that is not there is made.
            report(reader, node, "writes", touched)
    return Thing("database")


def _read_sql(reader: "Reader", node: ast.Call) -> Value:
    methods.report_sql(reader, node)
    return CONTENT


def _load_arrays(reader: "Reader", node: ast.Call) -> Value:
    pickled = argument_of(node, 2, "allow_pickle")
    if has_more(node) or (
        pickled is not None and not (isinstance(pickled, ast.Constant) and not pickled.value)
    ):
        reader.doubt(node, "`numpy.load` may run code from the file")
    report(reader, node, "reads", node.args[:1])
    return CONTENT


def _backend(reader: "Reader", node: ast.Call) -> Value:
    resolved = reader.texts.of(node.args[0]) if node.args else [ResolvedText("", exact=False)]
    if any(not one.exact or ":" in one.text for one in resolved):
        return reader.doubt(node, "names a backend to import")
    return CONTENT


def _set_option(reader: "Reader", node: ast.Call) -> Value:
    resolved = [reader.texts.one(argument) for argument in node.args[::2]] or [ResolvedText("", exact=False)]
    if has_more(node) or any(not one.exact or "backend" in one.text for one in resolved):
        return reader.doubt(node, "sets an option that may name a module to import")
    return CONTENT


def _shown(reader: "Reader", node: ast.Call) -> Value:
    """Report an argument of a display object: one that looks like a URL is fetched."""
    argument = node.args[0] if node.args else None
    made = (
        isinstance(argument, ast.Call)
        and isinstance(argument.func, ast.Attribute)
        and argument.func.attr == "to_html"
    )
    resolved = reader.texts.of(argument) if argument is not None else []
    fetched = any(
        "http".startswith(one.text.partition("{")[0][:4]) and (not one.exact or one.text) for one in resolved
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


_BY_SHELL = frozenset(
    str.split("""
        os.system os.popen subprocess.getoutput subprocess.getstatusoutput asyncio.create_subprocess_shell
    """)
)
_BY_WORDS = frozenset({"asyncio.create_subprocess_exec"})


def started(reader: "Reader", node: ast.Call, path: str) -> Value:
    """Report the command that a call starts, and what that does."""
    by_shell = path in _BY_SHELL or _is_set(node, "shell")
    argument = argument_of(node, 0, "args") or argument_of(node, 0, "cmd") or argument_of(node, 0, "command")
    if path in _BY_WORDS and node.args:
        argument = ast.copy_location(ast.List(elts=node.args, ctx=ast.Load()), node)
    at = (node.lineno, node.col_offset)
    if argument is None or has_more(node) or argument_of(node, 99, "executable") is not None:
        reader.find.add("subprocess", reader.texts.source(node), at)
        reader.doubt(node, "the command is computed")
        return CONTENT
    words, certain = _literal(reader, argument)
    if not certain:
        reader.doubt(node, "the command may have grown since it was written")
    if not by_shell and isinstance(words, ast.List | ast.Tuple):
        resolved = [reader.texts.one(word) for word in words.elts]
        reader.find.add("subprocess", _joined(resolved), at)
        report_command([_word(one) for one in resolved], reader.find, at)
        return CONTENT
    one = reader.texts.one(argument)
    reader.find.add("subprocess", one.text, at)
    if not one.exact:
        reader.doubt(node, f"the command `{one.text}` is computed")
    elif by_shell:
        report_script(one.text, reader.find, at[0])
    else:
        report_command([Word(one.text)], reader.find, at)
    return CONTENT


def _literal(reader: "Reader", argument: ast.expr) -> tuple[ast.expr, bool]:
    """Return the list that a name stands for, else the expression; and True if it is certain at run time."""
    if not isinstance(argument, ast.Name):
        return argument, True
    found = reader.walk.scope_of[argument].find(argument.id)
    if found is None or len(found[1]) != 1 or found[1][0].how != "value":
        return argument, True
    value = found[1][0].node
    if not isinstance(value, ast.List | ast.Tuple):
        return argument, True
    return value, isinstance(value, ast.Tuple) or reader.texts.uses[argument.id] == 1


def _is_set(node: ast.Call, name: str) -> bool:
    return any(
        keyword.arg == name and not (isinstance(keyword.value, ast.Constant) and not keyword.value.value)
        for keyword in node.keywords
    )


def _word(resolved: ResolvedText) -> Word:
    return Word(resolved.text, plain=resolved.exact)


def _joined(resolved: list[ResolvedText]) -> str:
    return " ".join(shlex.quote(one.text) if one.exact else one.text for one in resolved)
