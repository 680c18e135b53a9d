"""`--emit`: a variable of the code on stdout, in place of the answer."""

from typing import TextIO

from terp.errors import SettingsError, TerpError
from terp.session.emitting import Emission, emission, emitted
from terp.session.session import Session
from terp.text.plain import without_escapes
from terp_cli.line.flags import Options
from terp_cli.terminal.sanitise import readable


def wanted_by(options: Options) -> Emission | None:
    """What a call wants written.

    Raises:
        SettingsError: it is no name or no form, or stdout is to carry JSON as well.
    """
    if not options.emit:
        return None
    if options.output_format != "text":
        raise SettingsError(
            [f"--emit writes to stdout itself: leave out --output-format {options.output_format}."]
        )
    return emission(options.emit)


async def write_variable(session: Session, wanted: Emission, out: TextIO) -> None:
    """Write its bytes, and nothing else; to a terminal as text that it does not obey.

    Raises:
        TerpError: there is no such variable, it has no such form, or it is not for a terminal.
    """
    written = await emitted(session.kernels.get("python"), wanted)
    if out.isatty():
        out.write(on_terminal(wanted, written))
        out.flush()
        return
    out.flush()
    # A stream that was closed by the caller has no bytes behind it.
    if (raw := getattr(out, "buffer", None)) is not None:
        raw.write(written)
        raw.flush()


def on_terminal(wanted: Emission, written: bytes) -> str:
    """What a terminal shows of a variable.

    Raises:
        TerpError: it is no text.
    """
    try:
        text = written.decode()
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise TerpError(
            f"--emit: '{wanted.name}' is no text, and stdout is a terminal.",
            "Write it to a file with '> FILE'.",
        )
    return readable(without_escapes(text))
