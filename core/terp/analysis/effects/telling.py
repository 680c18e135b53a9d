"""Telling effects: what the arguments of a call name, and what it calls by itself."""

import ast
from collections.abc import Sequence
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from terp.analysis.effects.known_effects import NOTHING, RECEIVER, Row
from terp.analysis.effects.known_names import is_harmless_method
from terp.analysis.effects.scopes import place_of
from terp.analysis.effects.texts import Told, argument_of, has_more
from terp.analysis.effects.values import UNKNOWN, Thing, Value
from terp.events.effects import EffectKind

if TYPE_CHECKING:
    from terp.analysis.effects.python import Reader

FILE = Thing("file")


def tell(
    reader: "Reader", node: ast.AST, kind: EffectKind, touched: Sequence[ast.expr], more: str = ""
) -> None:
    """Tell an effect on what these arguments name."""
    told = [text for argument in touched for text in reader.texts.of(argument)] or [Told(more, exact=False)]
    if kind == "reads" and any(reader.value(one) != FILE and reader.texts.is_decoded(one) for one in touched):
        reader.doubt(node, "the name of what is read is decoded")
    for one in told:
        is_remote = kind == "network" or one.is_address
        reader.find.add(
            "network" if is_remote else kind, host_of(one.text) if is_remote else one.text, place_of(node)
        )
        reader.secret(one.text, node)


def tell_rows(
    reader: "Reader", node: ast.Call, rows: Sequence[Row], receiver: ast.expr | None = None
) -> None:
    """Tell the effects of a known function or method."""
    for row in rows:
        if row.argument == NOTHING:
            reader.find.add(row.kind, row.what, place_of(node))
        elif row.argument == RECEIVER:
            tell(reader, node, row.kind, [receiver] if receiver is not None else [])
        else:
            _tell_argument(reader, node, row)


def _tell_argument(reader: "Reader", node: ast.Call, row: Row) -> None:
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
        return  # told where it was opened
    tell(reader, node, row.kind, [argument] if argument is not None else [])


def host_of(text: str) -> str:
    """The host of an address; the text itself when it is none."""
    try:
        return urlsplit(text).netloc.rpartition("@")[2] or text if "://" in text else text
    except ValueError:
        return text


def only_known_callables(
    reader: "Reader", node: ast.Call, slots: Sequence[int | str], *, applies: bool = False
) -> None:
    """Doubt a call that calls what it is given, if that is not known; `applies` may name methods by text."""
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
        return not (applies and isinstance(argument.value, str)) or is_harmless_method(argument.value)
    if isinstance(argument, ast.List | ast.Tuple | ast.Dict):
        # The values of a mapping are data for `map`, and functions for `agg`.
        parts = argument.values if isinstance(argument, ast.Dict) else argument.elts
        mapped = isinstance(argument, ast.Dict) and not applies
        return mapped or all(_is_known_callable(reader, part, applies=applies) for part in parts)
    value = reader.value(argument)
    is_method = isinstance(argument, ast.Attribute) and is_harmless_method(argument.attr)
    return is_method or value == UNKNOWN or reader.callable(value)


def _literal(reader: "Reader", name: ast.Name) -> ast.expr | None:
    """The table or text that a name stands for, if it is written down once."""
    found = reader.walk.scope_of[name].find(name.id)
    if found is None or len(found[1]) != 1 or found[1][0].how != "value":
        return None
    node = found[1][0].node
    return node if isinstance(node, ast.Dict | ast.List | ast.Constant) else None


def opened(reader: "Reader", node: ast.Call, file: ast.expr | None, mode_at: int) -> Value:
    """Tell what opening a file in a mode does."""
    given = argument_of(node, mode_at, "mode")
    modes = reader.texts.of(given) if given is not None else [Told("r", exact=not has_more(node))]
    touched = [file] if file is not None else []
    for mode in modes:
        if not mode.exact:
            reader.doubt(node, "opens a file in a mode that is computed")
        if set(mode.text) & set("wax+"):
            tell(reader, node, "writes", touched)
        if not set(mode.text) & set("wax") or "+" in mode.text:
            tell(reader, node, "reads", touched)
    return FILE


def variable(reader: "Reader", node: ast.Call) -> None:
    """Tell if the environment variable that is asked for holds a secret."""
    argument = argument_of(node, 0, "key")
    told = reader.texts.of(argument) if argument is not None else [Told("{…}", exact=False)]
    for one in told:
        reader.variable(one.text, exact=one.exact, node=node)
