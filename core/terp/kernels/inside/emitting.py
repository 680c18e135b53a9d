"""The bytes of a variable, in a format for other programs."""

from __future__ import annotations

import base64
import io
import json
from collections.abc import Callable
from typing import Any

from IPython import get_ipython

from .home import ROOM

MIME = "application/vnd.terp.bytes+json"


class CannotEmit(Exception):
    """A variable does not exist or has no such format; the message is for the user."""


def emit(names: dict[str, Any], name: str, form: str) -> None:
    """Send the bytes of a variable, in the format `form`, as display data of a private MIME type."""
    try:
        answer = {"bytes": _encoded(name, _bytes(names, name, form))}
    except CannotEmit as error:
        answer = {"error": str(error)}
    except ImportError:
        # The message of pandas is a page about installing packages.
        needed = _NEEDED.get(form, "a package that is not installed")
        answer = {"error": f"'{name}' cannot be written as {form or 'bytes'} without {needed}."}
    except Exception as error:  # noqa: BLE001 - whatever the user's objects raise
        answer = {
            "error": f"'{name}' cannot be written as {form or 'bytes'}: {type(error).__name__}: {error}"
        }
    publish: Any = get_ipython().display_pub.publish
    publish({MIME: answer})


def _encoded(name: str, written: bytes) -> str:
    encoded = base64.b64encode(written).decode()
    if len(encoded) > ROOM:
        most = ROOM // 4 * 3 // 1_000_000
        raise CannotEmit(
            f"'{name}' has {len(written):,} bytes, and at most {most} MB can be written; save it with code."
        )
    return encoded


def _bytes(names: dict[str, Any], name: str, form: str) -> bytes:
    if name not in names:
        own = sorted(known for known in names if not known.startswith("_"))
        shown = [known for known in own if known not in ("In", "Out", "exit", "quit", "get_ipython", "open")]
        there = f" There are: {', '.join(shown[:20])}." if shown else ""
        raise CannotEmit(f"there is no variable '{name}'.{there}")
    value = names[name]
    written = _WRITERS[form or _usual_form(value)](value)
    if written is None:
        raise CannotEmit(f"'{name}' is of type {type(value).__name__}, which has no form {form}.")
    return written if isinstance(written, bytes) else written.encode()


def _usual_form(value: Any) -> str:
    if hasattr(value, "to_csv"):
        return "csv"
    if hasattr(value, "savefig") or hasattr(value, "_repr_png_"):
        return "png"
    return "json" if isinstance(value, dict | list | tuple | int | float | bool | None) else "txt"


def _csv(value: Any) -> str | None:
    if hasattr(value, "to_csv"):
        return str(value.to_csv(index=_has_own_index(value)))
    rows = list(value) if isinstance(value, list | tuple) else []
    if not rows:
        return None
    import csv  # noqa: PLC0415 - for lists alone

    out = io.StringIO()
    if all(isinstance(row, dict) for row in rows):
        columns = dict.fromkeys(key for row in rows for key in row)
        table = csv.DictWriter(out, list(columns))
        table.writeheader()
        table.writerows(rows)
    else:
        csv.writer(out).writerows(row if isinstance(row, list | tuple) else [row] for row in rows)
    return out.getvalue()


def _json(value: Any) -> str:
    if hasattr(value, "to_json"):
        frame = hasattr(value, "columns")
        text = str(value.to_json(orient="records" if frame and not _has_own_index(value) else None))
        return text + "\n"
    return json.dumps(value, ensure_ascii=False, default=_plain) + "\n"


def _plain(value: Any) -> Any:
    """Convert a value for JSON: numpy's to lists and numbers, sets to lists, others to text."""
    for convert in ("tolist", "item"):
        if hasattr(value, convert):
            return getattr(value, convert)()
    return list(value) if isinstance(value, set | frozenset) else str(value)


def _parquet(value: Any) -> bytes | None:
    if not hasattr(value, "to_parquet"):
        return None
    out = io.BytesIO()
    value.to_parquet(out)
    return out.getvalue()


def _png(value: Any) -> bytes | None:
    if isinstance(value, bytes):
        return value if value.startswith(b"\x89PNG") else None
    figure: Any = value if hasattr(value, "savefig") else getattr(value, "figure", None)
    if hasattr(figure, "savefig"):
        out = io.BytesIO()
        figure.savefig(out, format="png", bbox_inches="tight")
        return out.getvalue()
    if hasattr(value, "save") and hasattr(value, "mode"):
        out = io.BytesIO()
        value.save(out, format="PNG")
        return out.getvalue()
    drawn = value._repr_png_() if hasattr(value, "_repr_png_") else None
    return base64.b64decode(drawn) if isinstance(drawn, str) else drawn


def _md(value: Any) -> str:
    if hasattr(value, "_repr_markdown_") and (text := value._repr_markdown_()):
        return str(text) + "\n"
    if hasattr(value, "to_frame") and not hasattr(value, "columns"):
        value = value.to_frame()
    if not (hasattr(value, "itertuples") and hasattr(value, "columns")):
        return str(value.to_markdown()) + "\n" if hasattr(value, "to_markdown") else str(value)
    return _md_table(value)


def _md_table(frame: Any) -> str:
    """Return a data frame as a Markdown table; pandas' own `to_markdown` needs the package tabulate."""
    index = _has_own_index(frame)
    names = [*(["" if name is None else name for name in frame.index.names] if index else []), *frame.columns]
    rows = [_flat(row, index=index) for row in frame.itertuples(index=index, name=None)]
    lines = [names, ["---"] * len(names), *rows]
    return "".join(f"| {' | '.join(map(_md_cell, line))} |\n" for line in lines)


def _flat(row: tuple[Any, ...], *, index: bool) -> tuple[Any, ...]:
    return (*row[0], *row[1:]) if index and row and isinstance(row[0], tuple) else row


def _md_cell(value: Any) -> str:
    text = " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
    return " ".join(text.replace("|", "\\|").split())


def _txt(value: Any) -> bytes | str:
    return bytes(value) if isinstance(value, bytes | bytearray | memoryview) else str(value)


def _has_own_index(value: Any) -> bool:
    return type(getattr(value, "index", None)).__name__ != "RangeIndex"


_NEEDED = {"parquet": "pyarrow: --packages pyarrow installs it"}
_WRITERS: dict[str, Callable[[Any], Any]] = {
    "csv": _csv,
    "json": _json,
    "parquet": _parquet,
    "png": _png,
    "md": _md,
    "txt": _txt,
}
