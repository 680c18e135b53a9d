"""`terp keys`, as a person calls it; the keyring is a real backend of the package `keyring`."""

import sys
from pathlib import Path

import pytest

from tests.cli.running import ROOT, Result, Terp
from tests.cli.teletype import Teletype
from tests.core.keyring_backend import NAME, VARIABLE
from tests.loopback import Call, Http, Loopback, Scripted

KEY = "sk-of-the-test-0123456789"
NO_KEYRING = {"PYTHON_KEYRING_BACKEND": "keyring.backends.fail.Keyring"}


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    terp = Terp(tmp_path)
    terp.environ |= NO_KEYRING
    return terp


@pytest.fixture
def with_keyring(terp: Terp, tmp_path: Path) -> Terp:
    (tmp_path / "keyring.json").touch()
    terp.environ |= {
        "PYTHON_KEYRING_BACKEND": NAME,
        VARIABLE: str(tmp_path / "keyring.json"),
        "PYTHONPATH": f"{terp.environ['PYTHONPATH']}:{ROOT}",
    }
    return terp


def test_a_key_from_stdin_is_kept_listed_and_forgotten_and_never_shown(terp: Terp) -> None:
    kept = terp("keys", "set", "openai", data=f"{KEY}\n")
    assert kept == Result(0, "", "terp: the key of openai is in ~/home/keys.json, which only you can read.\n")
    assert terp("keys").out == "openai  ~/home/keys.json\n"
    assert terp("keys", "delete", "openai").notes == "terp: the key of openai was deleted.\n"
    assert terp("keys").notes.startswith("terp: no key is stored")
    assert KEY not in (terp.home / "keys.json").read_text()


def test_a_key_that_is_typed_is_not_shown(terp: Terp) -> None:
    command = [sys.executable, "-m", "terp_cli", "keys", "set", "openai"]
    with Teletype(command, terp.cwd, terp.environ) as teletype:
        teletype.until("(it is not shown): ")
        teletype.types(f"{KEY}\r")
        shown, code = teletype.over()
    assert (code, KEY in shown, "the key of openai is in" in shown) == (0, False, True)
    assert KEY in (terp.home / "keys.json").read_text()


def test_a_key_goes_to_its_provider_and_not_to_the_code(terp: Terp) -> None:
    terp("keys", "set", "openai", data=KEY)
    looks = "import os; print([name for name in os.environ if 'KEY' in name])"
    script: list[Scripted] = [Call(code=looks), "done"]
    with Loopback(script) as server:
        result = terp("-y", "-m", "openai/m", "--api-base", server.url, "go")
    assert (result.code, result.out) == (0, "done\n")
    assert [headers["authorization"] for headers in lowered(server)] == [f"Bearer {KEY}"] * 2
    assert server.requests[1]["messages"][-1]["content"] == "[]"


def test_the_keyring_of_the_system_is_used_where_there_is_one(with_keyring: Terp) -> None:
    terp = with_keyring
    assert terp("keys", "set", "openai", data=KEY).notes == (
        "terp: the key of openai is in the system's keyring (keyring backend FileKeyring).\n"
    )
    assert KEY not in (terp.home / "keys.json").read_text()
    assert terp("keys", "list").out == "openai  the system's keyring\n"
    with Loopback(["hello"]) as server:
        assert terp("-m", "openai/m", "--api-base", server.url, "go").out == "hello\n"
    assert lowered(server)[0]["authorization"] == f"Bearer {KEY}"


def test_a_keyring_that_is_locked_is_told_with_what_to_do(with_keyring: Terp) -> None:
    terp = with_keyring
    terp("keys", "set", "openai", data=KEY)
    del terp.environ[VARIABLE]
    result = terp("-m", "openai/m", "--api-base", "http://127.0.0.1:9/v1", "go")
    assert result.code == 1
    assert "refused: it is locked. Unlock it, or set a variable." in result.notes


def test_keys_of_other_providers_are_left_in_the_keyring(with_keyring: Terp) -> None:
    terp = with_keyring
    terp("keys", "set", "groq", data=KEY)
    del terp.environ[VARIABLE]
    with Loopback(["hello"]) as server:
        result = terp("-m", "openai/m", "--api-base", server.url, "go", OPENAI_API_KEY="other-key")
    assert (result.code, result.out) == (0, "hello\n")


def test_a_model_that_stands_in_gets_its_own_key_from_the_keyring(with_keyring: Terp) -> None:
    terp = with_keyring
    terp("keys", "set", "openai", data=KEY)
    with Loopback([Http(503), "hello"]) as server:
        flags = ["-m", "hosted_vllm/m", "--fallback-models", "openai/m", "--retries", "0"]
        result = terp(*flags, "go", HOSTED_VLLM_API_BASE=server.url, OPENAI_BASE_URL=server.url)
    assert result.out == "hello\n"
    assert [KEY in str(headers) for headers in server.headers] == [False, True]


def test_a_file_that_others_can_read_is_refused(terp: Terp) -> None:
    terp("keys", "set", "openai", data=KEY)
    (terp.home / "keys.json").chmod(0o644)
    result = terp("-m", "openai/m", "--api-base", "http://127.0.0.1:9/v1", "go")
    assert (result.code, result.notes) == (
        2,
        "terp: ~/home/keys.json: other users can read it, so no key is used from it: "
        f"chmod 600 {terp.home}/keys.json\n",
    )


def test_a_key_among_the_arguments_is_refused_and_sent_to_nobody(terp: Terp) -> None:
    with Loopback(["hello"]) as server:
        result = terp("-m", "openai/m", "--api-base", server.url, "keys", "set", "openai", KEY)
    assert (result.code, server.requests, KEY in result.notes) == (2, [], False)
    assert result.notes.startswith("terp: a key is never an argument")


@pytest.mark.parametrize(
    ("typed", "told"), [("", "the key is empty"), ("a b", "no blanks"), ("ä", "no blanks")]
)
def test_what_can_be_no_key_is_not_kept(terp: Terp, typed: str, told: str) -> None:
    result = terp("keys", "set", "openai", data=typed)
    assert (result.code, told in result.notes, (terp.home / "keys.json").exists()) == (2, True, False)


def test_a_provider_that_has_no_key_is_refused_with_a_suggestion(terp: Terp) -> None:
    assert terp("keys", "set", "opnai", data=KEY).notes == (
        "terp: 'opnai' is no provider with a key. Did you mean 'openai'?\n"
    )


def test_a_variable_counts_before_what_is_kept_and_that_is_said(terp: Terp) -> None:
    result = terp("keys", "set", "openai", data=KEY, OPENAI_API_KEY="other")
    assert result.notes.endswith("terp: OPENAI_API_KEY is set, and takes precedence over it.\n")
    assert terp("keys", OPENAI_API_KEY="other").out == "openai  OPENAI_API_KEY\n"


def lowered(server: Loopback) -> list[dict[str, str]]:
    return [{name.lower(): value for name, value in headers.items()} for headers in server.headers]
