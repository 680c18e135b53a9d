"""The text of `terp --help`, from the tables of flags."""

from collections.abc import Iterator
from itertools import groupby
from textwrap import wrap

from terp.settings import Settings
from terp.settings.setting import Setting, table
from terp_cli.line.flags import Options, long_names
from terp_cli.line.subcommands import SUBCOMMANDS

_USAGE = """\
terp: write a prompt; a model writes code, you approve it, it runs here.

  terp                    ask and answer at a prompt
  terp "plot iris.csv"    one question; asks before code runs
  terp -y "…"             the same without asking
  cat big.csv | terp -y "monthly totals"    stdin is data for the code
  cat question.txt | terp -y                without words, stdin is the question
"""
_PROMPT = "  terp -- demo            a question that begins with the name of a command\n"
_ENDING = """\
Every setting can also be a line of a profile or of config.yaml (model: …) and a
variable (TERP_MODEL=…). Strongest first: flag, variable, profile, a trusted
project, config.yaml, built-in value. In long flags - and _ are alike; --no-…
turns a switch off. Flags of Open Interpreter are understood.

Exit codes: 0 done, 1 error or a check that did not pass, 2 usage, 3 approval
needed or declined, 4 a limit, 69 model unreachable, 75 rate-limited, 77 no key
or no right, 124 --timeout, 130 interrupted, 143 terminated.
"""
_COLUMN = 32
_WIDTH = 80


def help_text() -> str:
    """Return the text of `terp --help`."""
    return "\n".join([_USAGE + "".join(_subcommands()) + _PROMPT, *_groups(), _ENDING])


def _subcommands() -> Iterator[str]:
    for command in SUBCOMMANDS:
        yield f"  {f'terp {command.name} {command.argument}':24}{command.about}\n"


def _groups() -> Iterator[str]:
    yield "This call:\n" + "".join(map(_line, table(Options).values()))
    settable = [row for row in table(Settings).values() if row.has_flag]
    for group, rows in groupby(settable, key=lambda row: row.group):
        yield f"Settings, {group}:\n" + "".join(map(_line, rows))


def _line(row: Setting) -> str:
    short = [flag for flag in row.flags if not flag.startswith("--")]
    flags = " ".join([", ".join([*short, long_names(row)[0]]), value_of(row)]).rstrip()
    about = wrap(about_row(row), _WIDTH - _COLUMN)
    first = [flags] if len(flags) > _COLUMN - 4 else [f"{flags:{_COLUMN - 2}}{about.pop(0)}"]
    return "".join(f"{line}\n" for line in ["  " + first[0], *(" " * _COLUMN + line for line in about)])


def about_row(row: Setting) -> str:
    """Return the description of a setting, with its default in brackets."""
    return row.about + _default(row)


def value_of(row: Setting) -> str:
    """Return the placeholder for the value of a flag; "" for a switch."""
    if row.kind == "switch":
        return ""
    if row.choices:
        return "|".join(row.choices)
    return row.metavar or {"s": "SECONDS", "": "N"}.get(row.unit, row.unit.upper())


def _default(row: Setting) -> str:
    unit = f" {row.unit}" if row.unit else ""
    if row.unset:
        return f" [{row.unset}]" if not row.default else f" [{row.default:g}{unit}; 0: {row.unset}]"
    if row.kind == "switch" or row.default in ("", (), {}, None):
        return ""
    return f" [{row.default}{unit}]"
