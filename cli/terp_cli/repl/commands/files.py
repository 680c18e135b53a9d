"""Commands that write or read files: exports, and conversations as Open Interpreter keeps them."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, cast

from terp.errors import TerpError
from terp.secrets.known_secrets import Secrets
from terp.text.paths import typed_path
from terp_cli.line.subcommands import EXPORTS
from terp_cli.repl.commands.rows import counted, size_of
from terp_cli.repl.commands.table import misused
from terp_cli.repl.commands.talk import Talk

if TYPE_CHECKING:
    from terp.secrets.scrubbing import Scrubber

_MESSAGES = "messages.json"


async def export(talk: Talk, argument: str) -> None:
    """The session as a file of a format."""
    from terp.store.export.writing import FORMATS  # noqa: PLC0415  (see `_exported`)

    format_, _, path = argument.partition(" ")
    if format_ not in FORMATS:
        # `/export plot.html` says as much.
        path, format_ = argument, Path(argument).suffix.removeprefix(".")
    if format_ not in FORMATS:
        raise misused("export", f"the format is one of {', '.join(FORMATS)}.")
    await _exported(talk, format_, path.strip())


async def jupyter(talk: Talk, path: str) -> None:
    """The session as a notebook."""
    await _exported(talk, "ipynb", path)


async def markdown(talk: Talk, path: str) -> None:
    """The session as Markdown."""
    await _exported(talk, "md", path)


async def _exported(talk: Talk, format_: str, path: str) -> None:
    # Nothing of an export is needed before there is one.
    from terp.secrets.environment import find_python  # noqa: PLC0415
    from terp.store.export.imports import distributions_of  # noqa: PLC0415
    from terp.store.export.writing import Format, export  # noqa: PLC0415

    session, environ = talk.session, talk.environ
    records = session.log.since(0)
    written = await asyncio.to_thread(
        export,
        records,
        session.folder,
        cast("Format", format_),
        place_in(talk, path),
        scrubber=_scrubber(talk),
        distributions=lambda: distributions_of(find_python(talk.settings.python, environ).path),
    )
    talk.say(f"{written} ({size_of(written.stat().st_size)})")


def formats(_: Talk, begun: str) -> list[str]:
    """The formats that begin like this."""
    return [name for name in EXPORTS if name.startswith(begun)]


async def save_message(talk: Talk, path: str) -> None:
    """The conversation as JSON that Open Interpreter reads too."""
    from terp.store.export.writing import write_new  # noqa: PLC0415  (see above)
    from terp.store.saved_messages import to_json  # noqa: PLC0415

    messages = talk.session.history
    if not messages:
        talk.say("Nothing was said yet.")
        return
    text = to_json(messages, _scrubber(talk))
    written = write_new(place_in(talk, path or _MESSAGES), text.encode("utf-8", "replace"))
    size = size_of(written.stat().st_size)
    talk.say(f"{written} ({counted(len(messages), 'message')}, {size})")


async def load_message(talk: Talk, path: str) -> None:
    """The conversation of such a file, in place of this one."""
    from terp.store.saved_messages import MessagesUnreadable, from_json  # noqa: PLC0415  (see above)

    place = place_in(talk, path or _MESSAGES)
    try:
        messages = from_json(place.read_text(encoding="utf-8"))
    except OSError as error:
        raise TerpError(f"{place} cannot be read: {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise TerpError(f"{place} is not text.") from error
    except MessagesUnreadable as error:
        raise TerpError(f"{place}: {error.message}") from error
    talk.session.history = messages
    talk.say(
        f"The conversation is that of {place} now: {counted(len(messages), 'message')}. "
        "No code of it has run here; variables are as they were."
    )


def _scrubber(talk: Talk) -> "Scrubber":
    """What takes the secrets of this session out."""
    secrets = talk.session.equipment.secrets or Secrets(talk.environ, talk.settings)
    return secrets.scrubber()


def place_in(talk: Talk, path: str) -> Path:
    """Where a file is that the person names: below the directory of the code."""
    kernels = talk.session.kernels
    cwd = kernels.cwd if kernels.elsewhere else kernels.get(kernels.languages[0]).cwd
    return Path(cwd) / typed_path(path)
