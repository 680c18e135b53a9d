"""The man page terp(1), generated from the tables of subcommands and settings.

`python -m terp_cli.generate.man` writes man/terp.1.
"""

from collections.abc import Iterable, Iterator
from itertools import groupby
from pathlib import Path

import terp_cli
from terp.settings import Settings
from terp.settings.setting import Setting, table
from terp_cli.line.flags import Options
from terp_cli.line.help import about_row, spelled, value_of
from terp_cli.line.subcommands import SUBCOMMANDS, VERBS

EXIT_STATUS = {
    "0": "The answer is complete.",
    "1": "An error, or a check of --until or a test of terp solve that did not pass.",
    "2": "Wrong usage, or a mistake in a profile or a setting.",
    "3": "Code needed approval and no user could be asked, or it was declined; or a required sandbox fails.",
    "4": "A limit of steps or of costs was reached.",
    "69": "The model cannot be reached, or fails, also after retries.",
    "75": "The provider limits the rate, also after retries.",
    "77": "No key, a wrong key, or no permission.",
    "124": "The time of --timeout is over.",
    "129, 130, 143": "Stopped by SIGHUP, by Ctrl-C (SIGINT) or by SIGTERM.",
}
"""The exit codes of terp with their meanings."""

_SYNOPSIS = (
    ("terp", "[FLAGS]"),
    ("terp", "[FLAGS] PROMPT…"),
    ("terp", "[FLAGS] COMMAND [ARGUMENT…]"),
)
_DESCRIPTION = (
    "terp is a terminal agent. You write a prompt; a language model writes code; you see the code and "
    "approve it; it runs in a live Jupyter kernel on your machine; the model reads the result and continues.",
    "Without a prompt, terp asks for one, and the conversation and its kernels stay until you leave. With a "
    "prompt, terp answers it and ends. -y runs code without asking, in a sandbox if this machine has one. "
    "Data on stdin is available to the code; without a prompt, stdin is the prompt.",
)
_ENVIRONMENT = (
    ("TERP_NAME", "Sets the setting NAME, such as TERP_MODEL. Flags are stronger."),
    ("TERP_HOME", "Holds all files of terp in place of the folders below FILES."),
    ("OPENAI_API_KEY, ANTHROPIC_API_KEY, …", "Keys of providers. terp keys list names all of them."),
    ("PAGER, BROWSER, VISUAL, EDITOR", "Programs that show and edit text."),
    ("NO_COLOR", "Turns colours off."),
)
_FILES = (
    ("~/.config/terp/config.yaml", "Your settings."),
    ("~/.config/terp/profiles/", "Your profiles, one file each."),
    ("~/.config/terp/AGENTS.md", "Instructions for the model in every conversation."),
    ("~/.config/terp/tools.py", "Functions that the model can call."),
    ("~/.local/state/terp/sessions/", "Stored sessions, one folder each."),
    (".terp/profile.yaml", "Settings of a project. They take effect once you trust the project."),
)
_EXAMPLES = (
    ("terp", "Start a conversation."),
    ('terp "plot iris.csv by species"', "Answer one prompt; ask before code runs."),
    ('cat big.csv | terp -y "monthly totals"', "Data in, answer out, without asking."),
    ('terp --until "pytest -q" "make the tests pass"', "Repeat until the tests pass."),
    ("terp -c", "Resume the last session of this directory."),
)
_SIGNS = {"\\": "\\e", "-": "\\-", "'": "\\(aq", "`": "\\(ga", "^": "\\(ha", "~": "\\(ti", '"': "\\(dq"}


def place() -> Path:
    """Return the path of the man page in a checkout."""
    return Path(terp_cli.__file__).parents[2] / "man" / "terp.1"


def man_page() -> str:
    """Return the man page, in roff."""
    return "".join(f"{line}\n" for line in _lines())


def _lines() -> Iterator[str]:
    yield '.\\" Written by python -m terp_cli.generate.man from terp_cli.line: edit that.'
    yield '.TH TERP 1 "" terp "User Commands"'
    yield ".SH NAME"
    yield "terp \\- a terminal agent whose code runs in a live kernel"
    yield ".SH SYNOPSIS"
    for number, (name, arguments) in enumerate(_SYNOPSIS):
        yield from ([".br"] if number else [])
        yield f".B {name}"
        yield _escaped(arguments)
    yield ".SH DESCRIPTION"
    yield from _paragraphs(_DESCRIPTION)
    yield ".SH COMMANDS"
    yield from _entries(_commands())
    yield ".SH OPTIONS"
    yield from _entries(map(_flag, table(Options).values()))
    yield ".SH SETTINGS"
    yield from _paragraphs(
        ("Each setting is a flag, a variable TERP_NAME, and a line of a profile or of config.yaml.",)
    )
    settable = [row for row in table(Settings).values() if row.has_flag]
    for group, rows in groupby(settable, key=lambda row: row.group):
        yield f".SS {_escaped(group.capitalize())}"
        yield from _entries(map(_flag, rows))
    for title, pairs in (
        ("EXIT STATUS", EXIT_STATUS.items()),
        ("ENVIRONMENT", _ENVIRONMENT),
        ("FILES", _FILES),
        ("EXAMPLES", _EXAMPLES),
    ):
        yield f".SH {title}"
        yield from _entries(pairs)
    yield ".SH SEE ALSO"
    yield from _paragraphs(("terp docs lists the pages of the documentation, and terp docs PAGE shows one.",))


def _commands() -> Iterator[tuple[str, str]]:
    for command in SUBCOMMANDS:
        verbs = [
            f"{f'{verb} {row.argument}'.rstrip()} ({row.about})"
            for verb, row in VERBS.get(command.name, {}).items()
        ]
        # The line of --help names some verbs after a colon.
        about = command.about.partition(":")[0] if verbs else command.about
        more = f" Verbs: {'; '.join(verbs)}." if verbs else ""
        yield f"terp {command.name} {command.argument}".rstrip(), f"{about[0].upper()}{about[1:]}.{more}"


def _flag(row: Setting) -> tuple[str, str]:
    return f"{spelled(row)} {value_of(row)}".rstrip(), about_row(row)


def _entries(pairs: Iterable[tuple[str, str]]) -> Iterator[str]:
    for name, about in pairs:
        yield ".TP"
        yield f"\\fB{_escaped(name)}\\fR"
        yield _escaped(about)


def _paragraphs(texts: Iterable[str]) -> Iterator[str]:
    for text in texts:
        yield ".PP"
        yield _escaped(text)


def _escaped(text: str) -> str:
    """Escape text for roff: its control characters, and all that is not ASCII, by name."""
    signs = (_SIGNS.get(sign) or (sign if sign.isascii() else f"\\[u{ord(sign):04X}]") for sign in text)
    line = "".join(signs)
    return f"\\&{line}" if line.startswith(".") else line


if __name__ == "__main__":
    place().parent.mkdir(exist_ok=True)
    place().write_text(man_page(), encoding="utf-8")
