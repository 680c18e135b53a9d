"""The files that are generated from the tables of settings and flags.

docs/settings.md, a schema of profiles, the types of `terp.open`, and the text of `terp --help`.

`python -m terp_cli.generate.pages` writes them.
"""

import json
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path

import terp
import terp_cli
from terp.opening.opening import for_kernels
from terp.settings import Settings
from terp.settings.profiles import shipped_profiles
from terp.settings.schema import NAME, profile_schema
from terp.settings.setting import Setting, Source, table
from terp_cli.line.flags import long_names
from terp_cli.line.help import help_text

_HEAD = """\
# Settings

Set a value for one call, for a kind of work, or always.

```sh
terp --max-steps 5 "…"                   # a flag, for this call
export TERP_MAX_STEPS=5                  # a variable, for this shell
```

```yaml
# ~/.config/terp/config.yaml, or a profile
max_steps: 5
```

In long flags `-` and `_` are the same, and `--no-…` turns a switch off. `/settings all` shows each value and
its source. [Profiles](profiles.md) describes the files. This page is generated from the table of settings by
`python -m terp_cli.generate.pages`.

Sources of a value, strongest first:

1. a flag of the call;
2. a variable `TERP_…`;
3. the profile named with `-p` or `TERP_PROFILE`, else that of the folder (`folders:` in your `config.yaml`),
   then the profiles that it `extends`;
4. `.terp/local.yaml`, then `.terp/profile.yaml` of the project, if you trust it, each followed by the
   profile that it names;
5. the profile that your `config.yaml` names (`profile: NAME`), then `config.yaml` itself;
6. the shipped profile `default`;
7. the built-in value, which the tables below show.

Only rules (`allow`, `ask`, `deny`) add up: those of all sources count together. `instructions` of a project
are added to yours.

Files are lists of `name: value` in UTF-8, of at most 64 KB, without anchors or tags. All mistakes are
reported together, each with file and line. In a file of `terp profiles new NAME` an editor completes and
checks names (`# yaml-language-server:`).

The last column names who may set a value. "you" are your flags, variables and files. A **project** may set no
address, key, provider, program, path or variable, and nothing that weakens an approval or a limit: terp names
and ignores such settings in its files. A client of a server (**wire**) may set even less.
"""

# Parameters of their own in `terp.open`: each may also be an object.
_OBJECTS = ("model", "approve", "tools")
_TYPES_HEAD = '''\
"""The settings of `terp.open` and `terp.kernel`, typed. Made by `python -m terp_cli.generate.pages`."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict

class KernelSettings(TypedDict, total=False):
    """Settings about code; docs/settings.md describes each, with its unit and its built-in value."""

'''
_TYPES_OF_OPEN = '''
class OpenSettings(KernelSettings, total=False):
    """All settings."""

'''
_TYPES = {
    "text": "str | PathLike[str]", "switch": "bool", "whole": "int", "number": "float",
    "names": "Sequence[str]", "rules": "Sequence[str]", "mapping": "Mapping[str, Any]",
}  # fmt: skip


def generated() -> Mapping[Path, str]:
    """Return the content of each generated file, by its path."""
    schema = json.dumps(profile_schema(), ensure_ascii=False, indent=2)
    page_file = Path(terp_cli.__file__).parents[2] / "docs" / "settings.md"
    types_file = Path(terp.__file__).parent / "opening" / "typed.pyi"
    help_file = Path(terp_cli.__file__).parent / "line" / "help.txt"
    return {
        page_file: page(),
        shipped_profiles() / NAME: f"{schema}\n",
        types_file: types(),
        help_file: help_text(),
    }


def page() -> str:
    """Return the page of settings, in Markdown."""
    return "\n".join([_HEAD, *_groups()])


def types() -> str:
    """Return the types of the settings as keywords of `terp.kernel` and `terp.open`, for type checkers."""
    of_kernels, of_open = (
        [f"    {name}: {_type(row)}\n" for name, row in table(Settings).items() if chosen(row)]
        for chosen in (for_kernels, lambda row: not for_kernels(row) and row.name not in _OBJECTS)
    )
    return "".join([_TYPES_HEAD, *of_kernels, _TYPES_OF_OPEN, *of_open])


def _type(row: Setting) -> str:
    default = [] if row.default is None else [row.default]
    choices = ", ".join(f'"{one}"' for one in dict.fromkeys(row.choices and [*row.choices, *default]))
    kind = f"Literal[{choices}]" if row.choices else _TYPES[row.kind]
    return f"{kind} | None" if row.default is None else kind


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
    value = f"`{shown:g}`" if isinstance(shown, float) else f"`{shown}`" if shown not in ("", (), {}) else "–"
    return f"{value} (0: {row.unset})" if row.unset else value


def _who(sources: tuple[Source, ...]) -> str:
    if "user" not in sources:
        return "you, for one call"
    return ", ".join(["you", *(name for name in ("project", "wire") if name in sources)])


if __name__ == "__main__":
    for path, content in generated().items():
        path.write_text(content, encoding="utf-8")
