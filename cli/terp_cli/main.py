"""The command `terp`. What is quick is answered here; the rest is put together in `terp_cli.program`."""

import gc
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command line, that of this process by default; the exit code."""
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    if arguments in (["--version"], ["-V"]):
        # Before any import: scripts ask for it, and wait.
        return _print_version()
    from terp_cli.line.surroundings import leave_directory_out  # noqa: PLC0415  (--version pays for nothing)

    leave_directory_out()
    # What imports make is not garbage; looking for some takes a tenth of a quick start.
    gc.disable()
    try:
        return _run(arguments)
    except KeyboardInterrupt:
        return 130
    finally:
        # The process ends here: a last search for garbage would take half of its way out.
        gc.freeze()
        gc.enable()


def _run(arguments: Sequence[str]) -> int:
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
    if line.options.help:
        from terp_cli.line.help import help_text  # noqa: PLC0415  (for --help alone)

        return _print(help_text())
    if line.command == "completions":
        from terp_cli.generate.shells import shipped  # noqa: PLC0415  (a shell that starts up may wait for it)

        return _print(shipped(line.argument))
    from terp_cli.program import run  # noqa: PLC0415  (--help pays for none of this)

    return run(line)


def _print_version() -> int:
    from terp import __version__  # noqa: PLC0415  (the only import that --version pays for)

    return _print(f"terp {__version__}\n")


def _print(text: str) -> int:
    from terp_cli.line.streams import let_go  # noqa: PLC0415  (see main)

    if sys.stdout is None:
        sys.stderr.write("terp: the output cannot be written: stdout is closed.\n")
        return 1
    try:
        sys.stdout.write(text)
        sys.stdout.flush()
    except BrokenPipeError:
        let_go()
    return 0
