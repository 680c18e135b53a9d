"""What calling a method does, or reading an attribute, whosever it is."""

import ast
import re
from typing import TYPE_CHECKING

from terp.analysis.effects.known_effects import ARCHIVE_ONLY, METHOD_CALLS, METHODS, PATH_ONLY
from terp.analysis.effects.known_names import is_harmless_method, may_be_a_column
from terp.analysis.effects.scopes import place_of
from terp.analysis.effects.telling import (
    FILE,
    only_known_aggregates,
    only_known_callables,
    opened,
    tell,
    tell_rows,
    variable,
)
from terp.analysis.effects.texts import argument_of
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
    Thing,
    Value,
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
    """What an attribute is that is read and not called; tells what a method would do that is passed on."""
    name = node.attr
    if owner is None or owner == UNKNOWN:
        return owner
    if owner == SEVERAL:
        return reader.doubt(node, f"`{reader.texts.source(node.value)}` has several meanings")
    if owner == _INSTANCE or isinstance(owner, Local):
        return FUNCTION if name in reader.walk.methods else CONTENT
    _passed_on(reader, node, owner)
    if name in METHODS and (reader.has_paths or name not in PATH_ONLY):
        for row in METHODS[name]:
            reader.find.add(row.kind, f"what `{reader.texts.source(node)}` is given", place_of(node))
        return CONTENT
    if is_harmless_method(name) or name in reader.walk.stored | reader.walk.methods:
        return of_method(owner, name) if owner == PATH else FUNCTION if isinstance(owner, Ref) else CONTENT
    # A column has no columns.
    is_column = owner != COLUMN and may_be_a_column(name)
    return COLUMN if is_column else reader.doubt(node, f"`{reader.texts.source(node)}` is not known")


def _passed_on(reader: "Reader", node: ast.Attribute, owner: Value) -> None:
    """Tell what a method would do that does something to some objects and is harmless to others."""
    name, kinds = node.attr, set[EffectKind]()
    if name in ARCHIVE_ONLY and _is_archive(reader, owner):
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
    """Tell what a call of a method does."""
    name = func.attr
    only_known_callables(reader, node, METHOD_CALLS.get(name, ()), applies=name in _APPLYING)
    if name in _NAMED_BY_PAIRS:
        only_known_aggregates(reader, node)
    if owner is None or owner == SEVERAL:
        reader.doubt(node, f"calls `{reader.texts.source(func)}`, which has several meanings")
        return owner
    is_own = (owner == _INSTANCE or isinstance(owner, Local)) and name in reader.walk.methods
    told = CONTENT if is_own else _told(reader, node, func, owner)
    if told is None and name in METHODS:
        told = _with_effects(reader, node, func, owner)
    if told is None:
        told = UNKNOWN if owner == UNKNOWN else _without_effects(reader, node, func, owner)
    return told


def _told(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value | None:
    """What a method gives that has words of its own; None for the others."""
    name = func.attr
    if name in ARCHIVE_ONLY and _is_archive(reader, owner):
        where = argument_of(node, 0 if name == "extractall" else 1, "path")
        tell(reader, node, "writes", [where] if where else [])
        return CONTENT
    teller = _TELLERS.get(name)
    return teller(reader, node, func, owner) if teller else None


def _with_effects(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value:
    if func.attr in PATH_ONLY and not reader.has_paths and owner != UNKNOWN:
        reader.doubt(node, f"calls `{reader.texts.source(func)}`, which is not known")
    if func.attr in ("glob", "rglob"):
        tell(reader, node, "reads", [node])
    else:
        tell_rows(reader, node, METHODS[func.attr], func.value)
    return UNKNOWN if owner == UNKNOWN else of_method(owner, func.attr)


def _without_effects(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value:
    name = func.attr
    if name in ("__init__", "__post_init__") or is_harmless_method(name):
        return of_method(owner, name) if name not in reader.walk.methods else CONTENT
    if name in reader.walk.methods and may_be_a_column(name):
        return CONTENT
    return reader.doubt(node, f"calls `{reader.texts.source(func)}`, which is not known")


def _moved(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value | None:
    """`replace` and `rename`: a path moves its file, a text or table gives another one."""
    could_be = _could_be_path(reader, owner)
    alone = len(node.args) == 1 and not node.keywords
    if alone and could_be and not isinstance(node.args[0], ast.Dict | ast.List | ast.Lambda):
        tell(reader, node, "deletes", [func.value])
        tell(reader, node, "writes", node.args)
        return PATH if owner == PATH else CONTENT
    if owner == UNKNOWN:
        return UNKNOWN
    return TEXT if owner == TEXT else CONTENT


def _copied(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value | None:
    """`copy`: since Python 3.14 a path copies its file."""
    if _could_be_path(reader, owner) and len(node.args) == 1 and not isinstance(node.args[0], ast.Constant):
        tell(reader, node, "reads", [func.value])
        tell(reader, node, "writes", node.args)
    return None


def _written(reader: "Reader", node: ast.Call, _: ast.Attribute, owner: Value) -> Value | None:
    """`write`: a file was told where it was opened, a tree of XML opens one itself."""
    if owner not in (FILE, UNKNOWN) and "xml" in reader.imported:
        tell(reader, node, "writes", node.args[:1])
    return None


def _shown(reader: "Reader", node: ast.Call, _: ast.Attribute, owner: Value) -> Value | None:
    """`show`: a picture of PIL starts a program to show it."""
    if "PIL" in reader.imported and not isinstance(owner, Ref):
        reader.find.add("subprocess", "a program that shows pictures", place_of(node))
    return None


def _opened(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value | None:
    if owner == PATH or (reader.has_paths and owner not in (_ARCHIVE, UNKNOWN)):
        return opened(reader, node, func.value, mode_at=0)
    return CONTENT if owner == _ARCHIVE else None


def _evaluated(reader: "Reader", node: ast.Call, func: ast.Attribute, owner: Value) -> Value | None:
    """`DataFrame.query` and `eval`: code in a text."""
    texts = reader.texts.of(node.args[0]) if node.args else []
    if not texts or any(not told.exact or not _is_plain_query(told.text) for told in texts):
        return reader.doubt(node, f"`{reader.texts.source(func)}` runs a text")
    return None if owner == UNKNOWN else CONTENT


def _is_plain_query(text: str) -> bool:
    return bool(_PLAIN_QUERY.fullmatch(text)) and not _CALLED_IN_QUERY.search(_QUERY_WORDS.sub(" ", text))


def _executed(reader: "Reader", node: ast.Call, _: ast.Attribute, owner: Value) -> Value | None:
    if owner == UNKNOWN:
        return UNKNOWN
    tell_sql(reader, node)
    return owner


def tell_sql(reader: "Reader", node: ast.Call) -> None:
    """Tell what the statement in the first argument does."""
    for told in reader.texts.of(node.args[0]) if node.args else []:
        # What is computed may end a statement and begin another.
        if not told.exact:
            reader.doubt(node, f"the statement `{told.text}` is computed")
        if _WRITING_SQL.search(told.text) or not _READING_SQL.match(told.text):
            reader.find.add("writes", " ".join(told.text.split()[:3]), place_of(node))
    if not node.args:
        reader.doubt(node, "a statement is computed")


def _is_get(reader: "Reader", node: ast.Call, _: ast.Attribute, owner: Value) -> Value | None:
    """`environ.get` under another name."""
    if owner != Thing("environment"):
        return None
    variable(reader, node)
    return CONTENT


_TELLERS = {
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
