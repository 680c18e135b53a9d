"""`terp export`: a session that is kept, as a notebook, a script, a transcript or a page."""

from typing import TYPE_CHECKING, cast

from terp.secrets.environment import find_python
from terp.store.catalogue import Catalogue
from terp.store.export.imports import distributions_of
from terp.store.export.writing import export
from terp.store.places import real_directory
from terp.store.reading import read
from terp.text.paths import typed_path
from terp_cli.fronts.call import Call
from terp_cli.terminal.sanitise import one_line

if TYPE_CHECKING:
    from terp.store.export.writing import Format


def export_session(call: Call) -> int:
    """Write the session that was named, or the last one of this directory; the exit code."""
    catalogue, here = Catalogue(call.places.sessions), real_directory(call.cwd)
    named = call.line.arguments
    folder = catalogue.find(named[0], here) if named else catalogue.last(here)
    settings = call.settings()
    written = export(
        read(folder).events.records,
        folder,
        cast("Format", call.line.argument),
        typed_path(str(call.options.out)) if call.options.out else call.cwd,
        scrubber=call.secrets.scrubber(),
        distributions=lambda: distributions_of(find_python(settings.python, call.environ).path),
    )
    # A program needs the path as it is; a terminal must not obey it.
    call.out.write(f"{one_line(str(written)) if call.out.isatty() else written}\n")
    return 0
