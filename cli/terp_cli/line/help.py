"""The text of `terp --help`, from the tables of flags."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from textwrap import fill, wrap

from terp.settings import Settings
from terp.settings.setting import Setting, table
from terp_cli.line.flags import Options, long_names, rows
from terp_cli.line.subcommands import SUBCOMMANDS, VERBS, Subcommand

_USAGE = """\
terp: write a prompt; a model writes code, you approve it, it runs here.
  terp                      ask and answer at a prompt
  terp "plot iris.csv"      one question; asks before code runs
  cat a.csv | terp -y "…"   stdin is data for the code; -y runs without asking
"""
_MORE_USAGE = """\
  cat question.txt | terp -y    without words, stdin is the question
  terp -- demo                  a question that begins with a command's name
"""
_MORE = "terp help COMMAND shows its flags, terp --help all every flag and setting.\n"
_OF_ALL = "Other flags and settings count too: terp --help all.\n"
_OFTEN = {
    "model": ("NAME", "the model, as PROVIDER/NAME"),
    "profile": ("NAME", "a named set of settings; terp profiles lists them"),
    "auto_run": ("", "run code without asking"),
    "continue_": ("", "resume the last session of this directory"),
    "resume": ("[ID]", "resume a session: this one, or one from a list"),
    "file": ("FILE", "attach a file, or the page at an address"),
    "out": ("DIR", "collect the files and images of the run"),
    "emit": ("NAME[:FORM]", "write a variable to stdout instead of the answer"),
    "until": ("CHECK", "repeat until this command or py: expression passes"),
    "sandbox": ("TIER", "auto, off, workspace, strict or docker"),
    "python": ("PATH", "the Python that runs the code"),
    "output_format": ("FORM", "text, json or stream-json"),
}
"""The flags of the overview, with the placeholders of their values and short descriptions."""
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


def help_text(topic: str = "") -> str:
    """Return the text of `terp --help`; that of a command, or with "all" that of every flag."""
    if topic == "all":
        return "\n".join([_USAGE + _MORE_USAGE, _subcommands(SUBCOMMANDS), *_groups(), _ENDING])
    if topic:
        return "\n".join(_about(next(one for one in SUBCOMMANDS if one.name == topic)))
    usual = [one for one in SUBCOMMANDS if one.usual]
    others = ", ".join(one.name for one in SUBCOMMANDS if not one.usual)
    also = fill(others, _WIDTH, initial_indent=f"  {'and terp':24}", subsequent_indent=" " * 26)
    return "\n".join([_USAGE, f"{_subcommands(usual)}{also}\n", "".join(_overview()), _MORE])


def _subcommands(commands: Sequence[Subcommand]) -> str:
    return "".join(f"  {f'terp {one.name} {one.argument}':24}{one.about}\n" for one in commands)


def _about(command: Subcommand) -> Iterator[str]:
    about = command.about.partition(":")[0] if command.name in VERBS else command.about
    verbs = VERBS.get(command.name, {}).items()
    calls = [(f"{verb} {row.argument}", row.about) for verb, row in verbs] or [(command.argument, about)]
    width = max(len(call) for call, _ in calls) + len(command.name) + 8
    yield "".join(f"  {f'terp {command.name} {call}':{width}}{what}\n" for call, what in calls)
    yield f"Example:  {command.example}\n"
    if command.flags:
        yield "Flags:\n" + "".join(_line(rows()[name]) for name in command.flags)
    yield _OF_ALL


def _overview() -> Iterator[str]:
    known = rows()
    for name, (value, about) in _OFTEN.items():
        yield f"  {f'{spelled(known[name])} {value}':28}{about}\n"


def _groups() -> Iterator[str]:
    yield "This call:\n" + "".join(map(_line, table(Options).values()))
    settable = [row for row in table(Settings).values() if row.has_flag]
    for group, same in groupby(settable, key=lambda row: row.group):
        yield f"Settings, {group}:\n" + "".join(map(_line, same))


def _line(row: Setting) -> str:
    flags = f"{spelled(row)} {value_of(row)}".rstrip()
    about = wrap(about_row(row), _WIDTH - _COLUMN)
    first = [flags] if len(flags) > _COLUMN - 4 else [f"{flags:{_COLUMN - 2}}{about.pop(0)}"]
    return "".join(f"{line}\n" for line in ["  " + first[0], *(" " * _COLUMN + line for line in about)])


def spelled(row: Setting) -> str:
    """Return the short spellings of a flag, and the first long one."""
    return ", ".join([*(flag for flag in row.flags if not flag.startswith("--")), long_names(row)[0]])


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
