"""`terp sessions import`: a conversation of Open Interpreter, kept as a session."""

from pathlib import Path

from terp.errors import SessionError, SettingsError
from terp.events.messages import Message
from terp.settings.profile_file import short_path
from terp.store.importing import import_messages
from terp.store.keeping import Keeper
from terp.store.places import real_directory
from terp.store.saved_messages import MessagesUnreadable, from_json
from terp_cli.fronts.call import Call
from terp_cli.repl.keeping import place_of


def imported(call: Call, source: Path) -> tuple[Path, int]:
    """The folder of the new session, and how many messages it has.

    Raises:
        SettingsError: the file holds no conversation.
        SessionError: sessions cannot be kept here.
    """
    messages = _messages(source)
    call.settings()
    place = place_of(call, None)
    if not isinstance(place.keeper, Keeper):
        raise SessionError("Sessions cannot be kept here, so nothing was imported.")
    import_messages(messages, place.keeper, real_directory(call.cwd))
    return place.folder, len(messages)


def _messages(source: Path) -> list[Message]:
    name = short_path(source)
    try:
        messages = from_json(source.read_text(encoding="utf-8"))
    except OSError as error:
        raise SettingsError([f"{name} cannot be read: {error.strerror}."]) from error
    except UnicodeDecodeError as error:
        raise SettingsError([f"{name} is not text."]) from error
    except MessagesUnreadable as error:
        raise SettingsError([f"{name}: {error.message}"]) from error
    if not messages:
        raise SettingsError([f"{name} holds no message."])
    return messages
