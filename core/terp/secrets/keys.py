"""Keys of providers that the user stored with terp: in a file, or in the system's keyring (extra `keys`).

They are sent with the requests that need them, never into a kernel, a project, a log or the arguments of a
program.
"""

import json
import os
import stat
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

from terp.errors import SettingsError, TerpError
from terp.settings.places import Places, find_places
from terp.settings.profile_file import short_path
from terp.settings.providers import PROVIDERS
from terp.text.dataclasses import dataclass
from terp.text.files import make_private, write_whole

Where = Literal["file", "keyring"]
_SEARCH = {"brave": ("BRAVE_API_KEY",), "tavily": ("TAVILY_API_KEY",)}
_OPEN_TO_OTHERS = 0o077
_SERVICE = "terp"


class KeyringFailed(TerpError):
    """The system's keyring failed."""


@dataclass(frozen=True, slots=True)
class Keyring:
    """The system's keyring and its `name`; the first argument of each function is the provider."""

    name: str
    get: Callable[[str], str]
    set: Callable[[str, str], None]
    delete: Callable[[str], None]


def variables_of(provider: str) -> tuple[str, ...]:
    """Return the variables in which the key of a provider is usually found; none for one without a key."""
    known = PROVIDERS.get(provider)
    return known.key_envs if known else _SEARCH.get(provider, ())


def key_providers() -> list[str]:
    """Return every provider that has a key."""
    return sorted([*(name for name, one in PROVIDERS.items() if one.key_envs), *_SEARCH])


class StoredKeys:
    """The stored keys. The file maps each provider to its key, or to null if the key is in the keyring."""

    def __init__(self, file: Path, keyring: Callable[[], Keyring | None]) -> None:
        """Read keys from `file`; `keyring` is called only to read or store a key there."""
        self.file = file
        self._keyring = keyring

    def places(self) -> Mapping[str, Where]:
        """Return the place of each provider's key.

        Raises:
            SettingsError: others can read the file, or it contains no keys.
        """
        return {name: "keyring" if key is None else "file" for name, key in self._read().items()}

    def get(self, provider: str) -> str:
        """Return the key of a provider; "" without one.

        Raises:
            SettingsError: as `places`.
            KeyringFailed: the keyring did not return it.
        """
        kept = self._read()
        if provider not in kept:
            return ""
        if (key := kept[provider]) is not None:
            return key
        keyring = self._keyring()
        if keyring is None:
            raise KeyringFailed(
                f"The key of {provider} is in the system's keyring, which cannot be reached here.",
                "Install terp with the extra `keys`, or store it again with terp keys set.",
            )
        return keyring.get(provider)

    def set(self, provider: str, key: str) -> str:
        """Store a key, in the keyring if there is one; return its place in words.

        Raises:
            SettingsError: as `places`.
            KeyringFailed: the keyring did not store it.
        """
        kept = self._read()
        if keyring := self._keyring():
            keyring.set(provider, key)
            self._write({**kept, provider: None})
            return f"the system's keyring ({keyring.name})"
        self._write({**kept, provider: key})
        return f"{short_path(self.file)}, which only you can read"

    def delete(self, provider: str) -> bool:
        """Delete a key; return True if there was one.

        Raises:
            SettingsError: as `places`.
            KeyringFailed: the keyring did not delete it.
        """
        kept = self._read()
        if provider not in kept:
            return False
        if kept.pop(provider) is None and (keyring := self._keyring()):
            keyring.delete(provider)
        self._write(kept)
        return True

    def _read(self) -> dict[str, str | None]:
        try:
            with self.file.open("rb") as file:
                facts = os.fstat(file.fileno())
                content = file.read()
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise SettingsError([f"{short_path(self.file)}: cannot be read: {error.strerror}."]) from error
        if stat.S_IMODE(facts.st_mode) & _OPEN_TO_OTHERS or facts.st_uid != os.getuid():
            fact = f"{short_path(self.file)}: other users can read it, so no key is used from it"
            raise SettingsError([f"{fact}: chmod 600 {self.file}"])
        return dict(self._entries(content))

    def _entries(self, content: bytes) -> Iterator[tuple[str, str | None]]:
        try:
            kept: Any = json.loads(content)
        except ValueError:
            # Its message is not shown: it may quote a key.
            kept = None
        if not isinstance(kept, dict):
            raise SettingsError(
                [f"{short_path(self.file)}: is no file of keys; terp keys set makes a new one."]
            )
        yield from ((str(name), key) for name, key in kept.items() if key is None or isinstance(key, str))

    def _write(self, kept: Mapping[str, str | None]) -> None:
        try:
            make_private(self.file.parent)
            write_whole(self.file, f"{json.dumps(dict(kept), indent=2)}\n".encode())
        except OSError as error:
            raise TerpError(f"{short_path(self.file)} cannot be written: {error.strerror}.") from error


def stored_keys(places: Places) -> StoredKeys:
    """Return the stored keys of the user with these places."""
    return StoredKeys(places.keys, system_keyring)


def checked_key(line: str) -> str:
    """Return the key in a line that was typed.

    Raises:
        SettingsError: it is none.
    """
    key = line.strip()
    if not key:
        raise SettingsError(["the key is empty, so it was not stored."])
    if not (key.isascii() and key.isprintable()) or " " in key:
        raise SettingsError(["a key has no blanks or special characters, so this was not stored."])
    return key


def with_keys(environ: Mapping[str, str], *models: str, keyring: bool = True) -> Mapping[str, str]:
    """Return `environ` with the stored keys that it lacks, for requests to providers and for redaction.

    The keyring is queried only for the providers of `models`, or for all if the first of them is unknown;
    without `keyring` it is not queried.

    Raises:
        SettingsError, KeyringFailed: as `StoredKeys.get`.
    """
    keys = stored_keys(find_places(environ))
    everybody = not (models and models[0])
    wanted = {*_SEARCH, *(model.partition("/")[0] for model in models)}
    found: dict[str, str] = {}
    for provider, where in keys.places().items():
        names = variables_of(provider)
        if not names or any(environ.get(name, "").strip() for name in names):
            continue
        if where == "file" or (keyring and (everybody or provider in wanted)):
            found[names[0]] = keys.get(provider)
    return {**found, **environ} if found else environ


def system_keyring() -> Keyring | None:
    """Return the keyring that the package finds; None if it is not installed or finds none that works."""
    if find_spec("keyring") is None:
        return None
    import keyring  # noqa: PLC0415  (100 ms, for who uses it)
    from keyring.errors import KeyringError  # noqa: PLC0415

    backend = keyring.get_keyring()
    # Those that only say that there is none have no priority (documentation of keyring).
    if not backend.priority >= 1:
        return None

    def call(method: Callable[..., Any], *given: str) -> Any:
        try:
            return method(_SERVICE, *given)
        except KeyringError as error:
            why = str(error) or type(error).__name__
            fact = f"The system's keyring ({backend.name}) refused: {why}."
            raise KeyringFailed(fact, "Unlock it, or set a variable.") from error

    return Keyring(
        backend.name,
        lambda provider: call(backend.get_password, provider) or "",
        partial(call, backend.set_password),
        partial(call, backend.delete_password),
    )
