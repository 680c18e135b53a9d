"""Keys that are kept: where they are, who may read them, and who gets them."""

import json
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from terp.errors import SettingsError
from terp.secrets.keys import (
    Keyring,
    KeyringFailed,
    StoredKeys,
    key_providers,
    stored_keys,
    variables_of,
    with_keys,
)
from terp.secrets.known_secrets import Secrets
from terp.settings import Settings
from terp.settings.places import Places


@pytest.fixture
def keys(tmp_path: Path) -> StoredKeys:
    return StoredKeys(tmp_path / "terp/keys.json", lambda: None)


def in_memory(kept: dict[str, str]) -> Callable[[], Keyring]:
    return lambda: Keyring("memory", kept.__getitem__, kept.__setitem__, kept.__delitem__)


def test_a_key_is_kept_in_a_file_that_only_its_owner_can_read(keys: StoredKeys) -> None:
    assert keys.set("openai", "sk-1").endswith("keys.json, which only you can read")
    assert (keys.get("openai"), keys.places()) == ("sk-1", {"openai": "file"})
    assert stat.S_IMODE(keys.file.stat().st_mode) == 0o600
    assert stat.S_IMODE(keys.file.parent.stat().st_mode) == 0o700
    assert [path.name for path in keys.file.parent.iterdir()] == ["keys.json"]


def test_a_key_can_be_replaced_and_forgotten(keys: StoredKeys) -> None:
    keys.set("openai", "sk-1")
    keys.set("groq", "gsk-1")
    keys.set("openai", "sk-2")
    assert keys.get("openai") == "sk-2"
    assert (keys.delete("openai"), keys.delete("openai")) == (True, False)
    assert (keys.get("openai"), keys.places()) == ("", {"groq": "file"})


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644])
def test_a_file_that_others_can_read_is_refused_with_what_to_do(keys: StoredKeys, mode: int) -> None:
    keys.set("openai", "sk-1")
    keys.file.chmod(mode)
    with pytest.raises(SettingsError) as caught:
        keys.get("openai")
    [problem] = caught.value.problems
    assert problem.endswith(f"other users can read it, so no key is used from it: chmod 600 {keys.file}")


@pytest.mark.parametrize("content", ["{", "[]", '"sk-secret"', "sk-secret"])
def test_a_file_that_is_none_of_keys_is_told_without_quoting_it(keys: StoredKeys, content: str) -> None:
    keys.file.parent.mkdir()
    keys.file.write_text(content)
    keys.file.chmod(0o600)
    with pytest.raises(SettingsError, match="is no file of keys") as caught:
        keys.places()
    assert "secret" not in str(caught.value)


def test_where_there_is_a_keyring_the_file_only_says_so(tmp_path: Path) -> None:
    kept: dict[str, str] = {}
    keys = StoredKeys(tmp_path / "keys.json", in_memory(kept))
    assert keys.set("openai", "sk-1") == "the system's keyring (memory)"
    assert (kept, json.loads(keys.file.read_text())) == ({"openai": "sk-1"}, {"openai": None})
    assert (keys.get("openai"), keys.places()) == ("sk-1", {"openai": "keyring"})
    assert keys.delete("openai")
    assert kept == {}


def test_a_keyring_that_is_gone_is_told_with_what_to_do(tmp_path: Path) -> None:
    StoredKeys(tmp_path / "keys.json", in_memory({})).set("openai", "sk-1")
    with pytest.raises(KeyringFailed, match="which cannot be reached here"):
        StoredKeys(tmp_path / "keys.json", lambda: None).get("openai")


def test_keys_stand_in_for_variables_that_are_not_set(tmp_path: Path) -> None:
    keys = stored_keys(Places(tmp_path, tmp_path))
    for provider in ("openai", "gemini", "brave"):
        StoredKeys(keys.file, lambda: None).set(provider, f"key-of-{provider}")
    environ = {"TERP_HOME": str(tmp_path), "GOOGLE_API_KEY": "mine"}
    assert with_keys(environ) == {
        **environ,
        "OPENAI_API_KEY": "key-of-openai",
        "BRAVE_API_KEY": "key-of-brave",
    }


def test_without_kept_keys_the_environment_is_as_it_is(tmp_path: Path) -> None:
    environ = {"TERP_HOME": str(tmp_path), "HOME": str(tmp_path)}
    assert with_keys(environ) is environ


def test_what_is_kept_of_a_session_has_no_such_key_in_it(tmp_path: Path) -> None:
    StoredKeys(tmp_path / "keys.json", lambda: None).set("openai", "of-no-known-shape-42")
    redactor = Secrets({"TERP_HOME": str(tmp_path)}, Settings()).redactor()
    assert redactor.redacted("it is of-no-known-shape-42!") == "it is [redacted]!"


def test_every_provider_with_a_key_has_a_variable_for_it() -> None:
    assert [name for name in key_providers() if not variables_of(name)] == []
    assert {"openai", "anthropic", "brave"} <= set(key_providers())
