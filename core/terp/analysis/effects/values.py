"""What an expression may be, as far as it decides what its methods do."""

import ast
from dataclasses import dataclass
from typing import Literal

Kind = Literal[
    "content",  # numbers, containers, tables, pictures: only what harmless functions make
    "text",
    "path",
    "paths",  # something to iterate over that has paths
    "column",  # what an attribute gives that is not listed
    "file",
    "database",
    "archive",
    "instance",  # of a class of the cell
    "function",  # made by a harmless function of known functions
    "environment",
    "several",  # one of several that differ: nothing is known of its methods
    "unknown",  # told already where it came from
]


@dataclass(frozen=True, slots=True)
class Ref:
    """A module, or something in one, by its full name."""

    path: str


@dataclass(frozen=True, slots=True)
class Local:
    """A function or class of the cell: all it does is told where it is defined."""

    node: ast.AST


@dataclass(frozen=True, slots=True)
class Thing:
    """An object."""

    kind: Kind


Value = Ref | Local | Thing

CONTENT = Thing("content")
TEXT = Thing("text")
PATH = Thing("path")
PATHS = Thing("paths")
COLUMN = Thing("column")
SEVERAL = Thing("several")
UNKNOWN = Thing("unknown")
FUNCTION = Thing("function")


def joined(one: Value | None, other: Value | None) -> Value | None:
    """What is one of two; None is what nothing is known of yet."""
    if one is None or other is None or one == other:
        return other if one is None else one
    both = (one, other)
    if UNKNOWN in both:
        return UNKNOWN
    if all(value == FUNCTION or isinstance(value, Local) for value in both):
        return FUNCTION
    return CONTENT if SEVERAL not in both and all(isinstance(value, Thing) for value in both) else SEVERAL


def element_of(value: Value | None) -> Value | None:
    """What iterating over something gives, or taking an item of it."""
    match value:
        case None | Thing(kind="unknown" | "text"):
            return value
        case Thing(kind="paths"):
            return PATH
    return CONTENT


RESULTS: dict[str, Value] = {
    **dict.fromkeys(
        ("pathlib.Path", "pathlib.PosixPath", "pathlib.PurePath", "pathlib.Path.cwd", "pathlib.Path.home"),
        PATH,
    ),
    **dict.fromkeys(
        (
            "builtins.str",
            "builtins.input",
            "builtins.repr",
            "builtins.format",
            "json.dumps",
            "os.getcwd",
            "os.path.join",
            "os.path.basename",
            "os.path.dirname",
            "os.path.abspath",
            "os.path.expanduser",
            "textwrap.dedent",
            "re.sub",
        ),
        TEXT,
    ),
    **dict.fromkeys(("io.StringIO", "io.BytesIO", "pandas.ExcelWriter"), Thing("file")),
    **dict.fromkeys(
        (
            "functools.partial",
            "numpy.vectorize",
            "numpy.poly1d",
            "operator.itemgetter",
            "scipy.interpolate.interp1d",
            "scipy.interpolate.CubicSpline",
            "scipy.stats.gaussian_kde",
            "numpy.frompyfunc",
        ),
        FUNCTION,
    ),
}
KEEPS_ELEMENTS = frozenset(
    {"builtins.sorted", "builtins.list", "builtins.tuple", "builtins.set", "builtins.reversed"}
)

_PATH_TO_PATH = frozenset(
    str.split("""
        parent with_name with_suffix with_stem joinpath absolute resolve expanduser relative_to rename
        replace
    """)
)
_PATH_TO_PATHS = frozenset(str.split("iterdir glob rglob parents"))
_TO_TEXT = frozenset(
    str.split("""
        upper lower strip lstrip rstrip title capitalize casefold swapcase format format_map join zfill
        ljust rjust center removeprefix removesuffix expandtabs translate read_text strftime isoformat
        getvalue to_string to_html to_json to_latex to_markdown as_posix hexdigest get_text decode readline
    """)
)


def of_method(receiver: Value, name: str) -> Value:
    """What a method or attribute of this name gives."""
    if receiver == PATH:
        if name in _PATH_TO_PATH:
            return PATH
        if name in _PATH_TO_PATHS:
            return PATHS
        if name in ("name", "stem", "suffix"):
            return TEXT
    if receiver == TEXT and name == "replace":
        return TEXT
    return TEXT if name in _TO_TEXT else CONTENT
