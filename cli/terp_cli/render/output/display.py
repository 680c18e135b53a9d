"""One display of a run, in the best form for a terminal, and pictures in files of the run."""

import re
from base64 import b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, TypeVar

from rich.text import Text

from terp.events.outputs import FileChange
from terp.session.artifacts import mime_of
from terp.text import pictures
from terp.text.dataclasses import dataclass
from terp.text.files import content_of
from terp.text.plain import counted, is_wordless
from terp_cli.render import look
from terp_cli.render.ansi import text_of
from terp_cli.terminal.program_text import ProgramText
from terp_cli.terminal.rows import Graphic
from terp_cli.terminal.sanitise import one_line, readable

Drawn = Text | Graphic
Draw = Callable[[Mapping[str, Any]], Sequence[Drawn]]
"""The picture of a MIME bundle as rows; none where there is none, or it cannot be drawn."""

Row = TypeVar("Row")

MOST_ROWS = 52
_RESOURCE = "application/vnd.dataresource+json"
_FORMULA = re.compile(r"\s*\$\$?([^$]+)\$\$?\s*")
_SERIES_END = re.compile(r"(?:Freq: [^,]+, )?(?:Name: .*?, )?(?:Length: (\d{1,18}), )?dtype: .+")
_SERIES_GAP = re.compile(r"\s*\.\.\.?\s*")


@dataclass(frozen=True, slots=True)
class Fold:
    """The limit of rows of one output, and where the rest is: "/out 6", or "" if it is nowhere."""

    most: int = MOST_ROWS
    recall: str = ""

    def rows(self, rows: Sequence[Row], *, last: bool = False) -> list[Row | Text]:
        """Return at most so many rows: a third from the start, the others from the end, a count between.

        With `last` all are from the end.
        """
        if len(rows) <= self.most:
            return [*rows]
        head = 0 if last else self.most // 3
        left_out = Text(self.more(len(rows) - self.most, "line"), look.DIM)
        return [*rows[:head], left_out, *rows[head - self.most :]]

    def more(self, count: int, what: str) -> str:
        """Return the number of lines or characters that are not shown, and where they are."""
        said = f"… {counted(count, f'more {what}')}"
        return f"{said} · {self.recall}" if self.recall else said


def display_rows(
    data: Mapping[str, Any],
    path: str,
    width: Callable[[], int],
    draw: Draw | None = None,
    *,
    ascii_only: bool = False,
    fold: Fold | None = None,
) -> list[Drawn]:
    """Return the rows of a MIME bundle. A picture, or a note on it, is followed by the `path` of its file.

    For a bundle that cannot be shown, the row lists its types. With `ascii_only` formulas are written in
    ASCII. `fold` limits text.
    """
    rows: list[Drawn] = []
    picture = next((kind for kind in data if kind.startswith("image/")), "")
    if picture:
        rows += draw(data) if draw else []
    if isinstance(markdown := data.get("text/markdown"), str):
        rows += _of_markdown(markdown, width, ascii_only=ascii_only)
    elif not (picture and path):
        rows += _of_words(data, width(), path, ascii_only=ascii_only, fold=fold or Fold())
    if path:
        kind = picture.removeprefix("image/").partition("+")[0] or PurePath(path).suffix[1:] or "html"
        rows.append(Text.assemble((f"{one_line(kind)} ", look.DIM), (one_line(path), look.file_link(path))))
    elif data and not rows and "text/plain" not in data:
        rows.append(Text(f"{one_line(', '.join(data))}: not shown in a terminal.", look.DIM))
    return rows


def _of_markdown(markdown: str, width: Callable[[], int], *, ascii_only: bool) -> list[Text]:
    from terp_cli.render.markdown.markdown import MarkdownStream  # noqa: PLC0415  (few displays have any)

    stream = MarkdownStream(width, lambda: 12, ascii_only=ascii_only)
    return stream.feed(markdown) + stream.finish()


def _of_words(
    data: Mapping[str, Any],
    width: int,
    path: str,
    *,
    ascii_only: bool,
    fold: Fold,
) -> list[Text]:
    plain, page = data.get("text/plain"), data.get("text/html")
    wordless = not isinstance(plain, str) or is_wordless(plain)
    is_whole = wordless and isinstance(page, str) and "<script" not in page
    if isinstance(page, str) and (rows := _of_html(page, width, fold, whole=is_whole)):
        return rows
    if isinstance(resource := data.get(_RESOURCE), Mapping) and (rows := _of_resource(resource, width, fold)):
        return rows
    if rows := _of_formula(data, ascii_only=ascii_only):
        return rows
    if isinstance(plain, str) and not (wordless and path):
        return fold.rows(_of_series(plain) or lines_of(plain))
    return []


def _of_html(page: str, width: int, fold: Fold, *, whole: bool) -> list[Text]:
    """Return the rows of a data frame; with `whole`, also those of any other page."""
    if not whole and "<table" not in page:
        return []
    from terp_cli.render.output.frame import FrameTable, page_rows  # noqa: PLC0415  (few displays have any)

    if frame := FrameTable.of_html(page):
        return frame.drawn(width, fold)
    return fold.rows(page_rows(page, width)) if whole else []


def _of_resource(resource: Mapping[str, Any], width: int, fold: Fold) -> list[Text]:
    from terp_cli.render.output.frame import FrameTable  # noqa: PLC0415  (see `_of_html`)

    frame = FrameTable.of_resource(resource)
    return frame.drawn(width, fold) if frame else []


def _of_formula(data: Mapping[str, Any], *, ascii_only: bool) -> list[Text]:
    """Return the rows of a formula; none for LaTeX of other kinds, such as tables."""
    latex = data.get("text/latex")
    whole = _FORMULA.fullmatch(latex) if isinstance(latex, str) else None
    if whole is None:
        return []
    from terp_cli.render.math.latex import displayed  # noqa: PLC0415  (see `_of_markdown`)

    source = whole[1].removeprefix("\\displaystyle").strip()
    return [Text(readable(line), look.FORMULA) for line in displayed(source, ascii_only=ascii_only)]


def _of_series(plain: str) -> list[Text]:
    """Return the rows of a pandas Series, which has no HTML; none for anything else."""
    *values, last = lines_of(plain) or [Text()]
    end = _SERIES_END.fullmatch(last.plain)
    if end is None or not values:
        return []
    for at, row in enumerate(values):
        if end[1] and _SERIES_GAP.fullmatch(row.plain):
            values[at] = Text(f"… {int(end[1]) - len(values) + 1:,} rows …", look.DIM)
        elif index := re.match(r"\S+", row.plain):
            row.stylize(look.DIM, 0, index.end())
    return [*values, Text(last.plain, look.DIM)]


def lines_of(written: str) -> list[Text]:
    """Return the lines of a program's output."""
    text = ProgramText()
    return [text_of(line) for line in (*text.feed(written), *text.finish())]


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
    """Return the drawn pictures among the files of a run, and the paths of its other files.

    `shown` are files with pictures that the run has also displayed; they are not drawn again.
    """
    left = [one for one in files if one.action != "deleted"]
    done = {one.path for one in left if one.path in shown or not mime_of(one.path)}
    rows: list[Drawn] = []
    for one in [one for one in left if one.path not in done and one.here][:_MOST]:
        if drawn := picture_rows(one.here, draw):
            rows += drawn
            done.add(one.path)
    return rows, done
