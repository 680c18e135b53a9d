"""The command `terp`: reads what is asked, builds what it needs, and is the only place that does."""

import sys
from collections.abc import Sequence


def main() -> int:
    """Run the command line of this process; the exit code."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):
        # Before any import: scripts ask for it, and wait.
        return _print_version()
    from terp.errors import SettingsError  # noqa: PLC0415  (--version pays for none of this)

    try:
        return _run(arguments)
    except SettingsError as error:
        for problem in error.problems:
            sys.stderr.write(f"terp: {problem}\n")
        return 2


def _print_version() -> int:
    from terp import __version__  # noqa: PLC0415  (the only import that --version pays for)

    sys.stdout.write(f"terp {__version__}\n")
    return 0


def _run(arguments: Sequence[str]) -> int:
    from terp_cli.command_line import read_command_line  # noqa: PLC0415  (see main)

    line = read_command_line(arguments)
    if line.options.help:
        from terp_cli.help import help_text  # noqa: PLC0415  (for --help only)

        sys.stdout.write(help_text())
        return 0
    if line.options.version:
        return _print_version()
    return 2
