"""Pictures in files of this machine, drawn where a run has made them or an answer names them."""

from base64 import b64encode
from collections.abc import Collection, Sequence
from pathlib import Path

from terp.events.outputs import FileChange
from terp.session.artifacts import mime_of
from terp.text import pictures
from terp.text.own_files import content_of
from terp_cli.render.output.display import Draw, Drawn

_LARGEST = 20_000_000
_MOST = 4


def picture_rows(path: str, draw: Draw | None) -> Sequence[Drawn]:
    """The picture in a file as rows; none where there is none, or it cannot be drawn."""
    mime = mime_of(path)
    if draw is None or not mime:
        return ()
    try:
        content = content_of(Path(path), _LARGEST)
    except OSError:
        return ()
    if mime.endswith("xml"):
        return draw({mime: content.decode("utf-8", "replace")})
    return draw({mime: b64encode(content).decode()}) if pictures.size(content) else ()


def made_files(
    files: Sequence[FileChange], draw: Draw | None, shown: Collection[str]
) -> tuple[list[Drawn], set[str]]:
    """The pictures that a run has written, drawn, and the paths of what it left that need no picture more.

    Files that are `shown` hold pictures that the run has displayed as well.
    """
    left = [one for one in files if one.action != "deleted"]
    done = {one.path for one in left if one.path in shown or not mime_of(one.path)}
    rows: list[Drawn] = []
    for one in [one for one in left if one.path not in done and one.here][:_MOST]:
        if drawn := picture_rows(one.here, draw):
            rows += drawn
            done.add(one.path)
    return rows, done
