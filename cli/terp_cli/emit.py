"""`--emit`: a variable of the code on stdout, in place of the answer."""

from typing import TextIO

from terp.emitting import Emission, emission, emitted
from terp.errors import SettingsError, TerpError
from terp.session import Session
from terp_cli.flags import Options

_BINARY = ("parquet", "png")


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
    """Write its bytes, and nothing else.

    Raises:
        TerpError: there is no such variable, or it has no such form.
    """
    written = await emitted(session.kernels.get("python"), wanted)
    if out.isatty() and wanted.form in _BINARY:
        raise TerpError(f"--emit: {wanted.form} is not for a terminal.", "Write it to a file with '> FILE'.")
    out.flush()
    # A stream that was closed by the caller has no bytes behind it.
    if (raw := getattr(out, "buffer", None)) is not None:
        raw.write(written)
        raw.flush()
