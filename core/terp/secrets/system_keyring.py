"""The keyring of the desktop, through the package `keyring` (the extra `keys`)."""

from importlib.util import find_spec

from terp.secrets.keys import Keyring, KeyringFailed

_SERVICE = "terp"


def system_keyring() -> Keyring | None:
    """The keyring that the package finds; None where it is not installed or finds none that works."""
    if find_spec("keyring") is None:
        return None
    import keyring  # noqa: PLC0415  (100 ms, for who uses it)
    from keyring.errors import KeyringError  # noqa: PLC0415

    backend = keyring.get_keyring()
    # Those that only say that there is none have no priority (documentation of keyring).
    if not backend.priority >= 1:
        return None

    def get(provider: str) -> str:
        try:
            return backend.get_password(_SERVICE, provider) or ""
        except KeyringError as error:
            raise _failed(backend.name, error) from error

    def put(provider: str, key: str) -> None:
        try:
            backend.set_password(_SERVICE, provider, key)
        except KeyringError as error:
            raise _failed(backend.name, error) from error

    def delete(provider: str) -> None:
        try:
            backend.delete_password(_SERVICE, provider)
        except KeyringError as error:
            raise _failed(backend.name, error) from error

    return Keyring(backend.name, get, put, delete)


def _failed(name: str, error: Exception) -> KeyringFailed:
    why = str(error) or type(error).__name__
    return KeyringFailed(f"The system's keyring ({name}) refused: {why}.", "Unlock it, or set a variable.")
