"""Calls of functions by their full name, and of methods: their effects, and the values that they return."""

import ast
import re
import shlex
from collections.abc import Callable, Container, Sequence
from typing import TYPE_CHECKING

from terp.analysis.effects.known import NOTHING, RECEIVER, EffectRow, Slots, python_names
from terp.analysis.effects.scopes import place_of
from terp.analysis.effects.shell import host_of, report_script
from terp.analysis.effects.values import (
    Local,
    Ref,
    ResolvedText,
    Thing,
    Value,
    argument_of,
    builds_expressions,
    has_more,
    of_function,
    of_method,
)
from terp.events.effects import EffectKind

if TYPE_CHECKING:
    from terp.analysis.effects.python import Reader

_KEYWORD_ONLY = 99
_STYLE, _OPTION = re.compile(r"[\w-]+"), re.compile(r"(?!.*backend)[\w.-]+")
_NAMING = ("use", "pyplot.switch_backend", "pyplot.style.use", "style.use")
_READ_ONLY = re.compile(r"file:[^?#]*\?mode=(?:ro|memory)$")
# Code in a text of a table or a model: names, numbers and comparisons.
_QUOTED = re.compile(r"'[^'\\]*'|\"[^\"\\]*\"|`[^`]*`")
_PLAIN_CODE = re.compile(r"(?!.*(?:@\w+\s*[.(\[]|[\])]\s*\())[\w\s.,<>=!&|~+*/%^:@\[\]()-]*", re.DOTALL)
_CALL = re.compile(r"\b(?!(?:and|or|not|in)\s*\()[\w.]+\s*\(")
_SYMBOLS = re.compile(r"[\w ,+*/^=-]*")
_FIELD = re.compile(r"\{[^{}:!]*[.\[]")
_READING_SQL = re.compile(r"\s*(?:select|with|explain|values|from|describe|summarize|show)\b", re.IGNORECASE)
_WRITING_SQL = re.compile(
    r"\b(?:insert|update|delete|drop|create|alter|replace|attach|detach|vacuum|load_extension|writefile|edit|into"
    r"|copy|optimize|wal_checkpoint|incremental_vacuum|install|load|export|import)\b",
    re.IGNORECASE,
)
# Some databases take the name of a file for a table.
_FILES_OF_SQL = re.compile(r"['\"]([^'\"]*[./*][^'\"]*)['\"]")


def called(reader: "Reader", node: ast.Call) -> Value | None:
    """Report the effects of a call; return its value."""
    func, value = node.func, reader.value(node.func)
    for keyword in node.keywords:
        _look_at_keyword(reader, node, keyword)
    if isinstance(func, ast.Attribute) and (value == Thing.UNKNOWN or value == reader.value(func.value)):
        return _method(reader, node, func, value)
    if isinstance(value, Ref):
        return _function(reader, node, value.path)
    if isinstance(value, Local):
        return Thing.INSTANCE if isinstance(value.node, ast.ClassDef) else Thing.CONTENT
    if value == Thing.EXPRESSION:
        return _of_expressions(reader, node)
    if value not in (Thing.UNKNOWN, Thing.FUNCTION):
        reader.doubt(node, f"calls `{reader.texts.source(func)}`, which is not known")
    return Thing.CONTENT if value == Thing.FUNCTION else Thing.UNKNOWN


def _look_at_keyword(reader: "Reader", node: ast.Call, keyword: ast.keyword) -> None:
    """Doubt an option that has files made, modules imported or code run."""
    name, value, sets = keyword.arg, keyword.value, python_names().sets
    if name is None and isinstance(value, ast.Dict):
        for key, item in zip(value.keys, value.values, strict=True):
            _look_at_keyword(reader, node, ast.keyword(str(getattr(key, "value", "")), item))
        return
    is_off = isinstance(value, ast.Constant) and not value.value
    # A table draws with a backend that it imports, a pipeline keeps results in files.
    hides = name is None and any(word in reader.texts.source(node.func) for word in sets["takes options"])
    is_backend = name == "backend" and reader.texts.one(value).text not in sets["backends"]
    is_file = name == "input" and reader.texts.one(value).text in ("file", "filename")
    passes = reader.value(value) == Thing.COLUMN and name in sets["calling keywords"]
    if hides or is_backend or is_file or passes or (name in sets["ruling options"] and not is_off):
        shown = f"{name or '**'}={reader.texts.source(value)}"
        reader.doubt(value, f"`{shown}` may have files used, modules imported or code run")


def _function(reader: "Reader", node: ast.Call, path: str) -> Value | None:
    names = python_names()
    _check_callables(reader, node, names.calls.get(path, ()), applies=path.startswith("pandas."))
    _check_addresses(reader, node, names.addresses.get(path, ()))
    if special := _SPECIAL.get(path):
        return special(reader, node)
    if path in names.sets["formulas"]:
        _check_code(reader, node, 0, "formula")
    if path in names.harmless:
        if builds_expressions(path):
            return _of_expressions(reader, node)
        keeps = (
            path in names.sets["keeps elements"] and node.args and reader.value(node.args[0]) == Thing.PATHS
        )
        return Thing.PATHS if keeps else of_function(path)
    groups: tuple[tuple[Container[str], Callable[[Reader, ast.Call, str], Value | None]], ...] = (
        (names.functions, _with_rows),
        (names.readers, _read_anywhere),
        (names.sets["openers"] | names.sets["archives"], _open),
        (names.sets["processes"], _started),
        (names.sets["unpicklers"], _unpickle),
        (names.sets["environment"], _variable),
    )
    for group, report_call in groups:
        if path in group:
            return report_call(reader, node, path)
    return reader.doubt(node, f"calls `{path.removeprefix('builtins.')}`, which is not known")


def _of_expressions(reader: "Reader", node: ast.Call) -> Value:
    """Report a call of a library that builds expressions: sympy evaluates the texts that it is given."""
    func = reader.value(node.func)
    makes_names = isinstance(func, Ref) and func.path in python_names().sets["takes text"]
    if "sympy" in reader.imported and not makes_names:
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        odd = next((one for one in given if not _is_symbolic(reader, one)), None)
        if odd is not None:
            reader.doubt(odd, f"sympy may run `{reader.texts.source(odd)}`")
    return Thing.EXPRESSION


def _is_symbolic(reader: "Reader", node: ast.expr) -> bool:
    """Return True if an expression is certainly no text that could be evaluated as code."""
    if isinstance(node, ast.Constant):
        text = str(node.value)
        return not isinstance(node.value, str) or ("__" not in text and bool(_SYMBOLS.fullmatch(text)))
    if isinstance(node, ast.Tuple | ast.List | ast.Dict | ast.BinOp | ast.UnaryOp):
        parts = [part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr)]
        return all(_is_symbolic(reader, part) for part in parts)
    value = reader.value(node)
    return value == Thing.EXPRESSION or (isinstance(value, Ref) and builds_expressions(value.path))


def passed_on(reader: "Reader", node: ast.Attribute, owner: Value | None) -> Value | None:
    """Return the value of an attribute that is read; report the effects of a method that is passed on."""
    name, names = node.attr, python_names()
    if owner == Thing.SEVERAL:
        return reader.doubt(node, f"`{reader.texts.source(node)}` has several meanings")
    if owner is None or owner == Thing.UNKNOWN:
        return owner
    if owner == Thing.INSTANCE or isinstance(owner, Local):
        return Thing.FUNCTION if name in reader.walk.methods else Thing.CONTENT
    kinds = _ambiguous(reader, name, owner) or [row.kind for row in names.methods.get(name, ())]
    for kind in kinds:
        reader.find.add(kind, f"what `{reader.texts.source(node)}` is given", place_of(node))
    is_harmless = name in names.harmless_methods or name in reader.walk.methods
    is_harmless = is_harmless or name in reader.walk.stored
    is_path = owner == Thing.PATH or (isinstance(owner, Ref) and owner.path.startswith("pathlib."))
    if kinds or is_harmless:
        if isinstance(owner, Ref) and not (kinds and name in names.methods):
            return Thing.FUNCTION
        return of_method(owner, name) if owner in (Thing.PATH, Thing.EXPRESSION) else Thing.CONTENT
    # A column has no columns, and neither has a path.
    is_column = owner != Thing.COLUMN and not is_path and names.may_be_column(name)
    return Thing.COLUMN if is_column else reader.doubt(node, f"`{reader.texts.source(node)}` is not known")


def _ambiguous(reader: "Reader", name: str, owner: Value) -> list[EffectKind]:
    """Return the effects of a method that does something to some objects and is harmless to others."""
    imported, sets = reader.imported, python_names().sets
    could_be_path = owner == Thing.PATH or (
        "pathlib" in imported and owner not in (Thing.TEXT, Thing.UNKNOWN, Ref("builtins.str"))
    )
    could_be_archive = owner == Thing.ARCHIVE or (owner != Thing.TEXT and bool(imported & sets["archivers"]))
    kinds: list[tuple[bool, EffectKind]] = [
        (name in sets["archive only"] and could_be_archive, "writes"),
        (name in sets["moving"] and could_be_path, "writes"),
        (name in sets["moving"] and could_be_path and not name.startswith("copy"), "deletes"),
        (name == "write" and owner != Thing.FILE and "xml" in imported, "writes"),
        (name == "show" and "PIL" in imported, "subprocess"),
        (name == "parse" and "xml" in imported, "reads"),
    ]
    return [kind for applies, kind in kinds if applies]


def _method(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value | None) -> Value | None:
    """Report the effects of a method call; return its value."""
    name, names = func.attr, python_names()
    _check_method_callables(reader, node, name)
    if owner is None or owner == Thing.SEVERAL:
        reader.doubt(node, f"calls `{reader.texts.source(func)}`, which has several meanings")
        return owner
    is_own = (owner == Thing.INSTANCE or isinstance(owner, Local)) and name in reader.walk.methods
    if is_own or name in ("__init__", "__post_init__"):
        return Thing.CONTENT
    # Without its object a method has it as its first argument.
    is_class, does = isinstance(owner, Ref), _ambiguous(reader, name, owner) or name in names.methods
    if is_class and (does or name == "open"):
        return reader.doubt(node, f"calls `{reader.texts.source(func)}` without its object")
    special = _BY_METHOD.get(name)
    result = special(reader, node, func, owner) if special else None
    if result is None and name in names.methods:
        _report_rows(reader, node, names.methods[name], func.value)
        result = of_method(owner, name)
    if owner == Thing.EXPRESSION:
        _of_expressions(reader, node)
    if owner == Thing.UNKNOWN or result is not None:
        return Thing.UNKNOWN if owner == Thing.UNKNOWN else result
    is_column = name in reader.walk.methods and names.may_be_column(name)
    if name in names.harmless_methods or is_column:
        return Thing.CONTENT if name in reader.walk.methods else of_method(owner, name)
    return reader.doubt(node, f"calls `{reader.texts.source(func)}`, which is not known")


def _check_method_callables(reader: "Reader", node: ast.Call, name: str) -> None:
    names = python_names()
    applies = name in names.sets["applying"]
    _check_callables(reader, node, names.calls.get(name, ()), applies=applies)
    for keyword in node.keywords if applies else ():
        if isinstance(keyword.value, ast.Tuple) and len(keyword.value.elts) == 2:
            # A column of `agg(total=("price", "sum"))`.
            _check_callable(reader, keyword.value.elts[1], applies=True)


def _globbed(reader: "Reader", node: ast.Call, _: ast.Attribute, owner: Value) -> Value | None:
    report(reader, node, "reads", node)
    return of_method(owner, "glob")


def _moved(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value | None:
    """`replace`, `rename`, `copy`, `move`: a path does it to its file, a text or table gives another one."""
    targets = [*node.args, *(one.value for one in node.keywords if one.arg in ("target", "target_dir", None))]
    kinds = _ambiguous(reader, func.attr, owner)
    harmless = isinstance(targets[0], ast.Dict | ast.List | ast.Lambda) if targets else True
    harmless = harmless or (isinstance(targets[0], ast.Constant) and not isinstance(targets[0].value, str))
    if not kinds or (not has_more(node) and (harmless or len(targets) != 1)):
        return of_method(owner, func.attr) if func.attr in ("replace", "rename", "copy") else None
    report(reader, node, "deletes" if "deletes" in kinds else "reads", func.value)
    report(reader, node, "writes", *targets)
    return Thing.PATH if owner == Thing.PATH else Thing.CONTENT


def _written(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value | None:
    """`write`, `parse`, `extract`, `show`: of an XML tree, an archive, a picture that starts a program."""
    kinds = _ambiguous(reader, func.attr, owner) if owner != Thing.UNKNOWN else ()
    where = argument_of(node, 1 if func.attr == "extract" else 0, "path")
    for kind in kinds:
        report(reader, node, kind, where if kind != "subprocess" else None)
    return Thing.CONTENT if kinds else None


def _opened(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value | None:
    if owner == Thing.PATH or ("pathlib" in reader.imported and owner not in (Thing.ARCHIVE, Thing.UNKNOWN)):
        return _opens(reader, node, func.value, mode_at=0)
    return Thing.CONTENT if owner == Thing.ARCHIVE else None


def _evaluated(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value | None:
    """`query`, `eval`, `execute`, `sql`: code in a text, of a table or of a database."""
    argument = argument_of(node, 0, "expr")
    is_sql = argument is not None and all(
        _READING_SQL.match(one.text) or _WRITING_SQL.search(one.text) for one in reader.texts.of(argument)
    )
    if is_sql or func.attr not in ("query", "eval"):
        if owner != Thing.UNKNOWN:
            _report_sql(reader, node)
        return owner
    _check_code(reader, node, 0, "expr")
    return Thing.CONTENT


def _check_code(reader: "Reader", node: ast.Call, at: int, keyword: str) -> None:
    """Doubt a call that evaluates a text as code, unless that compares and computes without a call."""
    argument = argument_of(node, at, keyword)
    texts = reader.texts.of(argument)
    plain = (_QUOTED.sub(" 0 ", one.text) if one.exact and "__" not in one.text else "?" for one in texts)
    if has_more(node) or any(_CALL.search(code) or not _PLAIN_CODE.fullmatch(code) for code in plain):
        reader.doubt(node, f"`{reader.texts.source(node.func)}` runs a text")


def _report_sql(reader: "Reader", node: ast.Call) -> None:
    """Report what the statement in the first argument does."""
    for one in reader.texts.of(argument_of(node, 0)):
        # What is computed may end a statement and begin another.
        if not one.exact:
            reader.doubt(node, f"the statement `{one.text}` is computed")
        if "://" in one.text:
            reader.find.add("network", "what the statement names", place_of(node))
        for file in _FILES_OF_SQL.findall(one.text) if reader.imported & {"duckdb", "polars"} else ():
            reader.find.add("reads", file, place_of(node))
        if _WRITING_SQL.search(one.text) or not _READING_SQL.match(one.text):
            reader.find.add("writes", " ".join(one.text.split()[:3]), place_of(node))


def _formatted(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value | None:
    """`format`: a field can reach through what it is given, to all that a module has."""
    texts = [*reader.texts.of(func.value), *(one for part in node.args for one in reader.texts.of(part))]
    if any(one.exact and _FIELD.search(one.text) for one in texts) or (
        owner == Thing.TEXT and not texts[0].exact
    ):
        reader.doubt(node, f"`{reader.texts.source(func)}` may reach through what it is given")
    return None


_BY_METHOD: dict[str, Callable[["Reader", ast.Call, ast.Attribute, Value], Value | None]] = {
    **dict.fromkeys(("replace", "rename", "copy", "copy_into", "move", "move_into"), _moved),
    **dict.fromkeys(("write", "show", "extract", "extractall", "parse"), _written),
    **dict.fromkeys(("query", "eval", "execute", "executemany", "executescript", "sql"), _evaluated),
    **dict.fromkeys(("glob", "rglob"), _globbed),
    **dict.fromkeys(("format", "format_map"), _formatted),
    "open": _opened,
}


def report(reader: "Reader", node: ast.AST, kind: EffectKind, *touched: ast.expr | None) -> None:
    """Report an effect on what these arguments name."""
    texts = [text for argument in touched if argument is not None for text in reader.texts.of(argument)]
    for one in texts or [ResolvedText("", exact=False)]:
        is_remote = kind == "network" or one.is_address
        reader.find.add(
            "network" if is_remote else kind,
            (host_of(one.text) or one.text) if is_remote else one.text,
            place_of(node),
        )
        reader.secret(one.text, node)
        if kind == "reads" and not one.exact and reader.decodes:
            reader.doubt(node, "the name of what is read may be decoded")


def _report_rows(
    reader: "Reader", node: ast.Call, rows: Sequence[EffectRow], receiver: ast.expr | None = None
) -> None:
    for row in rows:
        if row.argument == NOTHING:
            reader.find.add(row.kind, row.what, place_of(node))
        elif row.argument == RECEIVER:
            report(reader, node, row.kind, receiver)
        else:
            _report_argument(reader, node, row)


def _file_of(node: ast.Call, at: int, keyword: str) -> ast.expr | None:
    """Return the argument that names a file, which has another keyword here and there."""
    others = python_names().sets["names of files"]
    named = (one.value for one in node.keywords if one.arg in others)
    return argument_of(node, at, keyword) or next(named, None)


def _report_argument(reader: "Reader", node: ast.Call, row: EffectRow) -> None:
    argument = _file_of(node, row.argument, row.keyword)
    # A call without any argument gives the text back.
    is_none = isinstance(argument, ast.Constant) and argument.value is None
    if row.optional and (is_none or argument is None) and not has_more(node):
        return
    if argument is None or reader.value(argument) != Thing.FILE:  # A file was reported when it was opened.
        report(reader, node, row.kind, argument)


def _check_callables(reader: "Reader", node: ast.Call, slots: Slots, *, applies: bool = False) -> None:
    """Doubt a call that calls what it is given, if that is not known; `applies` may name methods by text."""
    for _, argument in _given(reader, node, slots):
        _check_callable(reader, argument, applies=applies)


def _given(reader: "Reader", node: ast.Call, slots: Slots) -> list[tuple[int | str, ast.expr]]:
    """Return the arguments in these slots; doubt a call that may have others."""
    if slots and has_more(node):
        reader.doubt(node, f"what `{reader.texts.source(node.func)}` is given cannot be seen")
    places = [(slot, (slot, "") if isinstance(slot, int) else (_KEYWORD_ONLY, slot)) for slot in slots]
    return [(slot, found) for slot, place in places if (found := argument_of(node, *place)) is not None]


def _check_callable(reader: "Reader", argument: ast.expr, *, applies: bool) -> None:
    if not _is_known_callable(reader, argument, applies=applies):
        reader.doubt(argument, f"passes on `{reader.texts.source(argument)}`, which is not known")


def _is_known_callable(reader: "Reader", argument: ast.expr, *, applies: bool) -> bool:
    if applies and isinstance(argument, ast.Name):
        bound = reader.texts.bound(argument)
        argument = bound if isinstance(bound, ast.Dict | ast.List | ast.Constant) else argument
    value = reader.value(argument)
    match argument:
        case ast.Constant(value=str(name)) if applies:
            return name in python_names().harmless_methods
        case ast.Dict() | ast.Call(func=ast.Name(id="dict")) if not applies:
            # The values of a mapping are data for `map`, and functions for `agg`.
            return True
        case ast.Dict(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
            return all(_is_known_callable(reader, part, applies=applies) for part in parts)
        case ast.Attribute(attr=name) if (
            not isinstance(value, Ref) and name in python_names().harmless_methods
        ):
            return True
    is_data = isinstance(argument, ast.Constant | ast.Compare | ast.UnaryOp | ast.JoinedStr)
    return is_data or value == Thing.UNKNOWN or reader.callable(value)


def _check_addresses(reader: "Reader", node: ast.Call, slots: Slots) -> None:
    """Report a text that a function would take for an address, or for the name of a file."""
    for slot, argument in _given(reader, node, slots):
        if slot in ("filename", "stylesheet"):
            report(reader, node, "reads", argument)
        # A table or a connection, as these functions mostly get; what is displayed is mostly a text.
        is_made = isinstance(argument, ast.Name) and "url" not in slots
        could_be_text = reader.value(argument) == Thing.TEXT or not is_made
        for one in reader.texts.of(argument):
            if one.exact and ("://" in one.text or one.text.startswith("http")):
                reader.find.add("network", host_of(one.text) or one.text, place_of(node))
            elif could_be_text and one.may_be_address:
                reader.doubt(node, f"`{one.text}` may be an address")


def _with_rows(reader: "Reader", node: ast.Call, path: str) -> Value:
    _report_rows(reader, node, python_names().functions[path])
    return of_function(path)


def _open(reader: "Reader", node: ast.Call, path: str) -> Value:
    is_archive = path in python_names().sets["archives"]
    file = _opens(reader, node, argument_of(node, 0, "name" if is_archive else "file"), mode_at=1)
    return Thing.ARCHIVE if is_archive else file


def _opens(reader: "Reader", node: ast.Call, file: ast.expr | None, mode_at: int) -> Value:
    """Report what opening a file in a mode does."""
    given = argument_of(node, mode_at, "mode")
    modes = reader.texts.of(given) if given is not None else [ResolvedText("r", exact=not has_more(node))]
    for mode in modes:
        if not mode.exact:
            reader.doubt(node, "opens a file in a mode that is computed")
        if set(mode.text) & set("wax+"):
            report(reader, node, "writes", file)
        if not set(mode.text) & set("wax") or "+" in mode.text:
            report(reader, node, "reads", file)
    return Thing.FILE


def _unpickle(reader: "Reader", node: ast.Call, path: str) -> Value:
    reader.doubt(node, f"`{path}` runs what the file says")
    report(reader, node, "reads", *node.args[:1])
    return Thing.CONTENT


def _variable(reader: "Reader", node: ast.Call, _: str) -> Value:
    """Report if the environment variable that is asked for holds a secret."""
    argument = argument_of(node, 0, "key")
    for one in reader.texts.of(argument):
        reader.variable(one.text, exact=one.exact, node=node)
    return Thing.CONTENT


def _read_anywhere(reader: "Reader", node: ast.Call, path: str) -> Value:
    argument = _file_of(node, 0, python_names().readers[path])
    value = reader.value(argument) if argument is not None else None
    texts = reader.texts.of(argument)
    if value != Thing.FILE:
        report(reader, node, "reads", argument)
        for one in texts:
            if one.may_be_address and value not in (Thing.PATH, Thing.UNKNOWN):
                reader.doubt(node, f"`{one.text}` may be an address")
    return of_function(path)


def _type(reader: "Reader", node: ast.Call) -> Value:
    if len(node.args) != 1 or node.keywords or has_more(node):
        return reader.doubt(node, "makes a class with `type`")
    return Thing.CONTENT


def _database(reader: "Reader", node: ast.Call) -> Value:
    argument = argument_of(node, 0, "database")
    texts = reader.texts.of(argument) if argument or has_more(node) else []
    if any(one.text != ":memory:" for one in texts):
        report(reader, node, "reads", argument)
        uri = argument_of(node, 7, "uri")
        is_uri = isinstance(uri, ast.Constant) and uri.value is True
        if not (is_uri and all(one.exact and _READ_ONLY.match(one.text) for one in texts)):
            # A file that is not there is made.
            report(reader, node, "writes", argument)
    return Thing.DATABASE


def _read_sql(reader: "Reader", node: ast.Call) -> Value:
    _report_sql(reader, node)
    return Thing.EXPRESSION if "duckdb" in reader.imported else Thing.CONTENT


def _load_arrays(reader: "Reader", node: ast.Call) -> Value:
    if len(node.args) != 1 or node.keywords:
        reader.doubt(node, "an option of `numpy.load` may run what the file says, or change it")
    report(reader, node, "reads", *node.args[:1])
    return Thing.CONTENT


def _named_option(reader: "Reader", node: ast.Call) -> Value:
    """Doubt the name of a style, a backend or an option that may be a module to import."""
    named = _OPTION if "option" in reader.texts.source(node.func) else _STYLE
    texts = [reader.texts.one(argument) for argument in node.args[::2]]
    if has_more(node) or not texts or not all(one.exact and named.fullmatch(one.text) for one in texts):
        return reader.doubt(node, "names an option that may have a module imported")
    return Thing.CONTENT


_SPECIAL: dict[str, Callable[["Reader", ast.Call], Value]] = {
    "builtins.type": _type,
    "numpy.load": _load_arrays,
    **dict.fromkeys(("sqlite3.connect", "sqlite3.Connection", "duckdb.connect"), _database),
    **dict.fromkeys(("pandas.read_sql", "pandas.read_sql_query", "duckdb.query", "duckdb.sql"), _read_sql),
    **dict.fromkeys((f"matplotlib.{one}" for one in _NAMING), _named_option),
    **dict.fromkeys(("pandas.set_option", "pandas.option_context"), _named_option),
}


def _started(reader: "Reader", node: ast.Call, path: str) -> Value:
    """Report the command that a call starts, and what that does."""
    named = (argument_of(node, 0, keyword) for keyword in ("args", "cmd", "command"))
    command = next((one for one in named if one is not None), None)
    parts: list[ast.expr] = node.args if path.endswith("_exec") else [command] if command else []
    is_list = len(parts) == 1 and isinstance(parts[0], ast.List | ast.Tuple)
    texts = [reader.texts.one(part) for part in (parts[0].elts if is_list else parts)]  # type: ignore[attr-defined]
    # A list may have grown since it was written.
    bound = reader.texts.bound(command) if isinstance(command, ast.Name) else None
    is_whole = len(texts) == 1 and not is_list
    script = texts[0].text if is_whole else shlex.join(one.text for one in texts)
    reader.find.add("subprocess", script or reader.texts.source(node), place_of(node))
    computed = has_more(node) or argument_of(node, _KEYWORD_ONLY, "executable") is not None
    if computed or not texts or isinstance(bound, ast.List) or not all(one.exact for one in texts):
        reader.doubt(node, "the command is computed")
    report_script(script, reader.find, place_of(node)[0])
    return Thing.CONTENT
