"""Calls of methods and reads of attributes: their effects, and the values that they return."""

import ast
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from terp.analysis.effects.known import NOTHING, RECEIVER, EffectRow, python_names
from terp.analysis.effects.scopes import place_of
from terp.analysis.effects.values import (
    COLUMN,
    CONTENT,
    FUNCTION,
    PATH,
    SEVERAL,
    TEXT,
    UNKNOWN,
    Local,
    Ref,
    ResolvedText,
    Thing,
    Value,
    argument_of,
    has_more,
    of_method,
)
from terp.events.effects import EffectKind

if TYPE_CHECKING:
    from terp.analysis.effects.python import Reader

# These take the names of methods as text as well.
_APPLYING = frozenset(str.split("apply agg aggregate transform pivot_table"))
_NAMED_BY_PAIRS = frozenset({"agg", "aggregate"})
# The last ones came with Python 3.14.
_MOVING = frozenset(str.split("replace rename copy copy_into move move_into"))
_ARCHIVING = frozenset({"zipfile", "tarfile", "h5py"})
_INSTANCE, _ARCHIVE = Thing("instance"), Thing("archive")
# What a table evaluates: names of columns, numbers, comparisons; nothing that is called or reached through.
_PLAIN_QUERY = re.compile(r"[\w\s.,<>=!&|~+*/%'\"`\[\]()-]*")
_CALLED_IN_QUERY = re.compile(r"[\w`\])]\s*\(|__")
_QUERY_WORDS = re.compile(r"\b(?:and|or|not|in)\s*\(")
_READING_SQL = re.compile(
    r"\s*(?:(?:select|with|explain|values)\b"
    r"|pragma\s+(?:(?:table_x?info|index_x?info|index_list|foreign_key_list)\s*\(\s*['\"]?\w+['\"]?\s*\)|\w+)\s*;?\s*$)",
    re.IGNORECASE,
)
_WRITING_SQL = re.compile(
    r"\b(?:insert|update|delete|drop|create|alter|replace|attach|detach|vacuum|load_extension|writefile|edit|into"
    r"|copy|optimize|wal_checkpoint|incremental_vacuum)\b",
    re.IGNORECASE,
)


def mentioned(reader: "Reader", node: ast.Attribute, owner: Value | None) -> Value | None:
    """Return the value of an attribute that is read; report the effects of a method that is passed on."""
    name = node.attr
    if owner is None or owner == UNKNOWN:
        return owner
    if owner == SEVERAL:
        return reader.doubt(node, f"`{reader.texts.source(node.value)}` has several meanings")
    if owner == _INSTANCE or isinstance(owner, Local):
        return FUNCTION if name in reader.walk.methods else CONTENT
    _passed_on(reader, node, owner)
    if name in python_names().methods and (reader.has_paths or name not in python_names().path_only):
        for row in python_names().methods[name]:
            reader.find.add(row.kind, f"what `{reader.texts.source(node)}` is given", place_of(node))
        return CONTENT
    if python_names().is_harmless_method(name) or name in reader.walk.stored | reader.walk.methods:
        return of_method(owner, name) if owner == PATH else FUNCTION if isinstance(owner, Ref) else CONTENT
    # A column has no columns.
    is_column = owner != COLUMN and python_names().may_be_column(name)
    return COLUMN if is_column else reader.doubt(node, f"`{reader.texts.source(node)}` is not known")


def _passed_on(reader: "Reader", node: ast.Attribute, owner: Value) -> None:
    """Report the effects of a method that is passed on, if it is harmless only for some objects."""
    name, kinds = node.attr, set[EffectKind]()
    if name in python_names().archive_only and _is_archive(reader, owner):
        kinds = {"writes"}
    elif name in _MOVING and _could_be_path(reader, owner):
        kinds = {"writes"} if name.startswith("copy") else {"deletes", "writes"}
    elif name == "write" and owner != FILE and "xml" in reader.imported:
        kinds = {"writes"}
    elif name == "show" and "PIL" in reader.imported and not isinstance(owner, Ref):
        kinds = {"subprocess"}
    for kind in kinds:
        reader.find.add(kind, f"what `{reader.texts.source(node)}` is given", place_of(node))


def _is_archive(reader: "Reader", owner: Value) -> bool:
    return owner != TEXT and (owner == _ARCHIVE or bool(reader.imported & _ARCHIVING))


def _could_be_path(reader: "Reader", owner: Value) -> bool:
    return owner == PATH or (reader.has_paths and owner not in (TEXT, UNKNOWN))


def called(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value | None) -> Value | None:
    """Report the effects of a method call; return its value."""
    name = func.attr
    only_known_callables(reader, node, python_names().method_calls.get(name, ()), applies=name in _APPLYING)
    if name in _NAMED_BY_PAIRS:
        only_known_aggregates(reader, node)
    if owner is None or owner == SEVERAL:
        reader.doubt(node, f"calls `{reader.texts.source(func)}`, which has several meanings")
        return owner
    is_own = (owner == _INSTANCE or isinstance(owner, Local)) and name in reader.walk.methods
    result = CONTENT if is_own else _by_rule(reader, node, func, owner)
    if result is None and name in python_names().methods:
        result = _with_effects(reader, node, func, owner)
    if result is None:
        result = UNKNOWN if owner == UNKNOWN else _without_effects(reader, node, func, owner)
    return result


def _by_rule(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value | None:
    """Return the value of a method that has a rule of its own, or None."""
    name = func.attr
    if name in python_names().archive_only and _is_archive(reader, owner):
        where = argument_of(node, 0 if name == "extractall" else 1, "path")
        report(reader, node, "writes", [where] if where else [])
        return CONTENT
    analyse = _BY_METHOD.get(name)
    return analyse(reader, node, func, owner) if analyse else None


def _with_effects(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value:
    if func.attr in python_names().path_only and not reader.has_paths and owner != UNKNOWN:
        reader.doubt(node, f"calls `{reader.texts.source(func)}`, which is not known")
    if func.attr in ("glob", "rglob"):
        report(reader, node, "reads", [node])
    else:
        report_rows(reader, node, python_names().methods[func.attr], func.value)
    return UNKNOWN if owner == UNKNOWN else of_method(owner, func.attr)


def _without_effects(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value:
    name = func.attr
    if name in ("__init__", "__post_init__") or python_names().is_harmless_method(name):
        return of_method(owner, name) if name not in reader.walk.methods else CONTENT
    if name in reader.walk.methods and python_names().may_be_column(name):
        return CONTENT
    return reader.doubt(node, f"calls `{reader.texts.source(func)}`, which is not known")


def _moved(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value | None:
    """Report `replace` and `rename`: on a path they move its file, on text or a table they only compute."""
    could_be = _could_be_path(reader, owner)
    alone = len(node.args) == 1 and not node.keywords
    if alone and could_be and not isinstance(node.args[0], ast.Dict | ast.List | ast.Lambda):
        report(reader, node, "deletes", [func.value])
        report(reader, node, "writes", node.args)
        return PATH if owner == PATH else CONTENT
    if owner == UNKNOWN:
        return UNKNOWN
    return TEXT if owner == TEXT else CONTENT


def _copied(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value | None:
    """Report `copy`: since Python 3.14 a path copies its file."""
    if _could_be_path(reader, owner) and len(node.args) == 1 and not isinstance(node.args[0], ast.Constant):
        report(reader, node, "reads", [func.value])
        report(reader, node, "writes", node.args)
    return None


def _written(reader: "Reader", node: ast.Call, _: ast.Attribute, owner: Value) -> Value | None:
    """Report `write` of an XML tree, which opens a file; other files were reported when they were opened."""
    if owner not in (FILE, UNKNOWN) and "xml" in reader.imported:
        report(reader, node, "writes", node.args[:1])
    return None


def _shown(reader: "Reader", node: ast.Call, _: ast.Attribute, owner: Value) -> Value | None:
    """Report `show`: a picture of PIL starts a program to show it."""
    if "PIL" in reader.imported and not isinstance(owner, Ref):
        reader.find.add("subprocess", "a program that shows pictures", place_of(node))
    return None


def _opened(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value | None:
    if owner == PATH or (reader.has_paths and owner not in (_ARCHIVE, UNKNOWN)):
        return opened(reader, node, func.value, mode_at=0)
    return CONTENT if owner == _ARCHIVE else None


def _evaluated(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value | None:
    """Report `DataFrame.query` and `eval`, which run code in a text."""
    texts = reader.texts.of(node.args[0]) if node.args else []
    if not texts or any(not resolved.exact or not _is_plain_query(resolved.text) for resolved in texts):
        return reader.doubt(node, f"`{reader.texts.source(func)}` runs a text")
    return None if owner == UNKNOWN else CONTENT


def _is_plain_query(text: str) -> bool:
    return bool(_PLAIN_QUERY.fullmatch(text)) and not _CALLED_IN_QUERY.search(_QUERY_WORDS.sub(" ", text))


def _executed(reader: "Reader", node: ast.Call, _: ast.Attribute, owner: Value) -> Value | None:
    if owner == UNKNOWN:
        return UNKNOWN
    report_sql(reader, node)
    return owner


def report_sql(reader: "Reader", node: ast.Call) -> None:
    """Report the effects of the SQL statement in the first argument."""
    for resolved in reader.texts.of(node.args[0]) if node.args else []:
        # What is computed may end a statement and begin another.
        if not resolved.exact:
            reader.doubt(node, f"the statement `{resolved.text}` is computed")
        if _WRITING_SQL.search(resolved.text) or not _READING_SQL.match(resolved.text):
            reader.find.add("writes", " ".join(resolved.text.split()[:3]), place_of(node))
    if not node.args:
        reader.doubt(node, "a statement is computed")


def _is_get(reader: "Reader", node: ast.Call, _: ast.Attribute, owner: Value) -> Value | None:
    """Return True for `environ.get` under another name."""
    if owner != Thing("environment"):
        return None
    variable(reader, node)
    return CONTENT


_BY_METHOD = {
    "replace": _moved,
    "rename": _moved,
    "open": _opened,
    "copy": _copied,
    "write": _written,
    "show": _shown,
    "query": _evaluated,
    "eval": _evaluated,
    "execute": _executed,
    "executemany": _executed,
    "executescript": _executed,
    "get": _is_get,
}


FILE = Thing("file")


def report(
    reader: "Reader", node: ast.AST, kind: EffectKind, touched: Sequence[ast.expr], more: str = ""
) -> None:
    """Report an effect on the targets that these arguments name."""
    resolved = [text for argument in touched for text in reader.texts.of(argument)] or [
        ResolvedText(more, exact=False)
    ]
    if kind == "reads" and any(reader.value(one) != FILE and reader.texts.is_decoded(one) for one in touched):
        reader.doubt(node, "the name of what is read is decoded")
    for one in resolved:
        is_remote = kind == "network" or one.is_address
        reader.find.add(
            "network" if is_remote else kind, host_of(one.text) if is_remote else one.text, place_of(node)
        )
        reader.secret(one.text, node)


def report_rows(
    reader: "Reader", node: ast.Call, rows: Sequence[EffectRow], receiver: ast.expr | None = None
) -> None:
    """Report the effects of a known function or method."""
    for row in rows:
        if row.argument == NOTHING:
            reader.find.add(row.kind, row.what, place_of(node))
        elif row.argument == RECEIVER:
            report(reader, node, row.kind, [receiver] if receiver is not None else [])
        else:
            _report_argument(reader, node, row)


def _report_argument(reader: "Reader", node: ast.Call, row: EffectRow) -> None:
    argument = argument_of(node, row.argument, row.keyword)
    if argument is None:
        # Tables have other names for it; a call without any argument gives the text back.
        named = [
            one.value
            for one in node.keywords
            if one.arg in ("path", "path_or_buf", "excel_writer", "fname", "url")
        ]
        argument = named[0] if named else None
    is_none = isinstance(argument, ast.Constant) and argument.value is None
    if row.optional and (is_none or argument is None) and not has_more(node):
        return
    if argument is not None and reader.value(argument) == FILE:
        return  # Reported when it was opened.
    report(reader, node, row.kind, [argument] if argument is not None else [])


def host_of(text: str) -> str:
    """Return the host of an address; the text itself if it is no address."""
    try:
        return urlsplit(text).netloc.rpartition("@")[2] or text if "://" in text else text
    except ValueError:
        return text


def only_known_callables(
    reader: "Reader", node: ast.Call, slots: Sequence[int | str], *, applies: bool = False
) -> None:
    """Report a call of an unknown function argument as unknown; `applies` may name methods by text."""
    for slot in slots:
        at, keyword = (slot, "") if isinstance(slot, int) else (99, slot)
        argument = argument_of(node, at, keyword)
        if argument is not None and not _is_known_callable(reader, argument, applies=applies):
            reader.doubt(argument, f"passes on `{reader.texts.source(argument)}`, which is not known")


def only_known_aggregates(reader: "Reader", node: ast.Call) -> None:
    """Doubt a column of `agg(total=("price", "sum"))` that is made by something not known."""
    for keyword in node.keywords:
        pair = keyword.value
        if isinstance(pair, ast.Tuple) and len(pair.elts) == 2:
            made = pair.elts[1]
            if not _is_known_callable(reader, made, applies=True):
                reader.doubt(made, f"passes on `{reader.texts.source(made)}`, which is not known")


def _is_known_callable(reader: "Reader", argument: ast.expr, *, applies: bool) -> bool:
    if applies and isinstance(argument, ast.Name):
        argument = _literal(reader, argument) or argument
    if isinstance(argument, ast.Constant):
        return not (applies and isinstance(argument.value, str)) or python_names().is_harmless_method(
            argument.value
        )
    if isinstance(argument, ast.List | ast.Tuple | ast.Dict):
        # The values of a mapping are data for `map`, and functions for `agg`.
        parts = argument.values if isinstance(argument, ast.Dict) else argument.elts
        mapped = isinstance(argument, ast.Dict) and not applies
        return mapped or all(_is_known_callable(reader, part, applies=applies) for part in parts)
    value = reader.value(argument)
    is_method = isinstance(argument, ast.Attribute) and python_names().is_harmless_method(argument.attr)
    return is_method or value == UNKNOWN or reader.callable(value)


def _literal(reader: "Reader", name: ast.Name) -> ast.expr | None:
    """Return the literal dict or text that a name stands for, if it is bound once."""
    found = reader.walk.scope_of[name].find(name.id)
    if found is None or len(found[1]) != 1 or found[1][0].how != "value":
        return None
    node = found[1][0].node
    return node if isinstance(node, ast.Dict | ast.List | ast.Constant) else None


def opened(reader: "Reader", node: ast.Call, file: ast.expr | None, mode_at: int) -> Value:
    """Report what opening a file in a mode does."""
    given = argument_of(node, mode_at, "mode")
    modes = reader.texts.of(given) if given is not None else [ResolvedText("r", exact=not has_more(node))]
    touched = [file] if file is not None else []
    for mode in modes:
        if not mode.exact:
            reader.doubt(node, "opens a file in a mode that is computed")
        if set(mode.text) & set("wax+"):
            report(reader, node, "writes", touched)
        if not set(mode.text) & set("wax") or "+" in mode.text:
            report(reader, node, "reads", touched)
    return FILE


def variable(reader: "Reader", node: ast.Call) -> None:
    """Report if the environment variable that is read holds a secret."""
    argument = argument_of(node, 0, "key")
    resolved = reader.texts.of(argument) if argument is not None else [ResolvedText("{…}", exact=False)]
    for one in resolved:
        reader.variable(one.text, exact=one.exact, node=node)
