"""The page of settings, in Markdown."""

from collections.abc import Iterator
from itertools import groupby

from terp.settings import Settings
from terp.settings.setting import Setting, Source, table
from terp_cli.line.flags import long_names

_HEAD = """\
# Settings

Each setting is a flag, a variable and a line of YAML: `--max-steps 5`, `TERP_MAX_STEPS=5`, `max_steps: 5`.
In long flags `-` and `_` are alike; `--no-…` turns a switch off. `/settings` shows each value and where
it came from. This page is made from the table of settings by `python -m terp_cli.generate.pages`.

What sets something, strongest first:

1. a flag of the call;
2. a variable `TERP_…` of its environment;
3. the profile named with `-p` or `TERP_PROFILE`, then what that `extends`;
4. `.terp/local.yaml`, then `.terp/profile.yaml` of the project, once they are trusted;
5. a profile that your `config.yaml` names (`profile: NAME`), then that file itself;
6. the shipped profile `default`;
7. the built-in value, which is given below.

Only rules (`allow`, `ask`, `deny`) add up: those of all places count together.

Files are plain lists of `name: value`, in UTF-8, of at most 64 KB, without anchors or tags. Every mistake of
every file is told at once, with its file and line. `terp profiles new NAME` makes a file in which an editor
completes and checks names (`# yaml-language-server:`).

Not everybody may set everything. "you" are your flags, variables and files. A **project** may set what stays
within that: no address, key, provider, program, path or variable, and nothing that loosens a question or a
limit of safety. What its files set beyond that is left out, with a line that names it. A client of a server
(**wire**) may set less still.
"""


def page() -> str:
    """The whole page."""
    return "\n".join([_HEAD, *_groups()])


def _groups() -> Iterator[str]:
    for group, rows in groupby(table(Settings).values(), key=lambda row: row.group):
        lines = [
            "| setting | what it is | value | built in | flags | who may set it |",
            "|---|---|---|---|---|---|",
        ]
        lines += [_row(row) for row in rows]
        yield f"## {group.capitalize()}\n\n" + "\n".join(lines) + "\n"


def _row(row: Setting) -> str:
    short = [flag for flag in row.flags if not flag.startswith("--")]
    flags = " ".join(f"`{flag}`" for flag in (*short, *long_names(row)) if row.has_flag)
    cells = (f"`{row.name}`", row.about, _value(row), _built_in(row), flags or "–", _who(row.sources))
    return f"| {' | '.join(cell.replace('|', '/') for cell in cells)} |"


def _value(row: Setting) -> str:
    if row.choices:
        return ", ".join(f"`{choice}`" for choice in row.choices if choice)
    if row.kind == "rules":
        return "[rules](rules.md), one in each flag"
    if row.free:
        return "a group of entries by name, one in each flag as `NAME=VALUE`"
    return row.rule.replace("a list of names", "names, with commas between them in a flag") + (
        f", in {row.unit}" if row.unit else ""
    )


def _built_in(row: Setting) -> str:
    if row.default in ("", (), None, 0) and row.unset and row.kind != "switch":
        return row.unset
    if row.kind == "switch" and row.default is None:
        return row.unset
    shown = {True: "true", False: "false"}.get(row.default) if isinstance(row.default, bool) else row.default
    told = f"`{shown:g}`" if isinstance(shown, float) else f"`{shown}`" if shown not in ("", (), {}) else "–"
    return f"{told} (0: {row.unset})" if row.unset else told


def _who(sources: tuple[Source, ...]) -> str:
    if "user" not in sources:
        return "you, for one call"
    return ", ".join(["you", *(name for name in ("project", "wire") if name in sources)])
