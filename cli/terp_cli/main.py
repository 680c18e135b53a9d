"""The command `terp`. Version, help and completions are printed here; `terp_cli.program` does the rest."""

import gc
import sys

# `typing` and `collections.abc` take longer than all that `--version` does.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: "Sequence[str] | None" = None) -> int:
    """Run a command line, by default that of this process; return the exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments in (["--version"], ["-V"]):
        # Before any import: scripts wait for it.
        return _print_version()
    if arguments in (["--help"], ["-h"]):
        return _print_shipped_help()
    from terp_cli.line.isolation import exclude_directory  # noqa: PLC0415  (--version pays for nothing)

    exclude_directory()
    from terp_cli.line.delayed import delay_rarely_used  # noqa: PLC0415  (imports come after that)

    delay_rarely_used()
    # Imports create no garbage; a search for it takes a tenth of a quick start.
    gc.disable()
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return 130
    finally:
        # The process ends here: a last search for garbage would take half of the time to exit.
        gc.freeze()
        gc.enable()


def _run(arguments: "Sequence[str]") -> int:
    from terp.errors import SettingsError  # noqa: PLC0415  (--version pays for none of these)
    from terp_cli.line.command_line import read_command_line  # noqa: PLC0415

    try:
        line = read_command_line(arguments)
    except SettingsError as error:
        from terp_cli.terminal.sanitise import readable  # noqa: PLC0415  (for a mistake only)

        sys.stderr.write("".join(f"terp: {readable(problem)}\n" for problem in error.problems))
        return 2
    if line.options.version:
        return _print_version()
    if line.help is not None:
        from terp_cli.line.help import help_text  # noqa: PLC0415  (for --help only)

        return _print(help_text(line.help))
    if line.command == "completions":
        from terp_cli.generate.shells import shipped  # noqa: PLC0415  (a shell may wait for it as it starts)

        return _print(shipped(line.argument))
    from terp_cli.program import run  # noqa: PLC0415  (--help pays for none of this)

    return run(line)


def _print_version() -> int:
    from terp import __version__  # noqa: PLC0415  (the only import that --version pays for)

    return _print(f"terp {__version__}\n")


def _print_shipped_help() -> int:
    # The tables of flags and settings take three times as long to build as Python takes to start.
    with open(f"{__file__.removesuffix('main.py')}line/help.txt", encoding="utf-8") as file:  # noqa: PTH123
        return _print(file.read())


def _print(text: str) -> int:
    if sys.stdout is None:
        sys.stderr.write("terp: the output cannot be written: stdout is closed.\n")
        return 1
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        from terp_cli.line.streams import let_go  # noqa: PLC0415  (for a reader that left only)

        let_go()
    return 0
