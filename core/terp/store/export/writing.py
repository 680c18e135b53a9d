"""Exports of sessions to new files."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import packages_distributions
from itertools import count
from pathlib import Path
from typing import Literal

from terp.errors import TerpError
from terp.events.log import Record
from terp.secrets.redactor import Redactor
from terp.store.export.notebook import notebook
from terp.store.export.page import page
from terp.store.export.script import Distributions, script
from terp.store.export.story import Rendered, Story, redacted, story_of
from terp.store.export.transcript import transcript
from terp.text.paths import numbered

Format = Literal["ipynb", "py", "md", "html"]
FORMATS: tuple[Format, ...] = ("ipynb", "py", "md", "html")
_SLUG_CHARS = 50


class ExportFailed(TerpError):
    """There is nothing to export, or the file cannot be written."""


def export(
    records: Sequence[Record],
    folder: Path,
    format: Format,  # noqa: A002  # the word a person types
    target: Path,
    *,
    redactor: Redactor | None = None,
    distributions: Callable[[], Distributions] = packages_distributions,
) -> Path:
    """Write the session of `records` as a new file of `format`, and return its path.

    `folder` is the session's: pictures that the records only name are read there. `target` is the file,
    or a directory in which it is named by the session's title. An existing file is kept:
    the new one gets `-2` after its name. `redactor` takes secrets out; `distributions` returns the
    installed packages by module, for a script; the default are those beside terp. Takes its time
    (imports, large outputs): on an event loop it belongs into a thread.

    Raises:
        ExportFailed: nothing was said yet, or the file cannot be written.
    """
    story = story_of(records, folder)
    if not story.parts:
        raise ExportFailed("There is nothing to export yet.")
    if redactor is not None:
        story = redacted(story, redactor)
    return write_story(story, format, target, distributions)


def write_story(
    story: Story,
    format: Format,  # noqa: A002  # see above
    target: Path,
    distributions: Callable[[], Distributions] = packages_distributions,
) -> Path:
    """Write a story as `export` does, and return the path.

    Raises:
        ExportFailed: the file cannot be written.
    """
    if target.is_dir():
        target = target / f"{slug(story.title) or story.name}.{format}"
    elif not target.suffix:
        target = target.with_name(f"{target.name}.{format}")
    known = distributions() if format == "py" else {}
    return _written(target, lambda stem: _render(story, format, stem, known))


def slug(title: str) -> str:
    """Return a title as part of a file's name: letters and digits of any script, and hyphens."""
    words = re.sub(r"[^\w]+", "-", title.lower()).strip("-_")
    if len(words) <= _SLUG_CHARS:
        return words
    return words[: _SLUG_CHARS + 1].rpartition("-")[0] or words[:_SLUG_CHARS]


def write_new(target: Path, content: bytes) -> Path:
    """Write a new file, as `target` or with a number after its name, and return its path.

    Raises:
        ExportFailed: it cannot be written.
    """
    for path in _names(target):
        try:
            with path.open("xb") as file:
                file.write(content)
        except FileExistsError:
            continue
        except OSError as error:
            raise ExportFailed(f"{path} cannot be written: {error.strerror}.") from error
        return path
    raise AssertionError("there is always another name")


def _render(story: Story, format: Format, stem: str, known: Distributions) -> Rendered:  # noqa: A002
    match format:
        case "ipynb":
            return notebook(story)
        case "py":
            return script(story, known)
        case "md":
            return transcript(story, stem)
        case "html":
            return page(story)


def _written(target: Path, render: Callable[[str], Rendered]) -> Path:
    # The folder of what lies beside a transcript is named by it, so both names must be free.
    free = next(path for path in _names(target) if not _taken(path))
    rendered = render(free.stem)
    path = write_new(free, rendered.text.encode("utf-8", "replace"))
    if path != free:
        path.unlink()
        return _written(target, render)
    _write_beside(path.parent, rendered.beside)
    return path


def _write_beside(folder: Path, files: Mapping[str, bytes]) -> None:
    for name, content in files.items():
        path = folder / name
        try:
            path.parent.mkdir(exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise ExportFailed(f"{path} cannot be written: {error.strerror}.") from error


def _taken(path: Path) -> bool:
    return path.exists() or (path.suffix == ".md" and path.with_name(f"{path.stem}_files").exists())


def _names(target: Path) -> Iterator[Path]:
    yield target
    for number in count(2):
        yield numbered(target, number)
