from pathlib import Path

import pytest

from terp.errors import SettingsError
from terp.secrets.known_secrets import Secrets
from terp.settings import Settings
from terp.settings.gateway import Gateway, Token, gateway_of, token_of, token_value


def of(url: str, **environ: str) -> Gateway:
    gateway = gateway_of(Settings(gateway_url=url), environ)
    assert gateway is not None
    return gateway


def test_without_an_address_there_is_no_gateway() -> None:
    assert gateway_of(Settings(), {"JUPYTER_TOKEN": "abc"}) is None


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("http://host:8888", "http://host:8888"),
        ("http://host:8888/", "http://host:8888"),
        ("https://hub/user/ada/lab", "https://hub/user/ada"),
        ("https://hub/user/ada/tree?", "https://hub/user/ada"),
        ("https://host/base/api", "https://host/base"),
        (" http://[::1]:8888/#top", "http://[::1]:8888"),
    ],
)
def test_an_address_can_be_copied_from_a_browser(given: str, meant: str) -> None:
    assert of(given).url == meant


@pytest.mark.parametrize("url", ["host:8888", "ws://host", "/api", "http://", "file:///etc"])
def test_what_is_no_address_is_told_as_it_was_written(url: str) -> None:
    with pytest.raises(SettingsError, match="must begin with http:// or https://") as error:
        of(url)
    assert url in error.value.problems[0]


@pytest.mark.parametrize("url", ["http://host/?token=s3cret", "http://ada:s3cret@host"])
def test_a_token_in_the_address_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(SettingsError, match="must not hold the token") as error:
        of(url)
    assert "s3cret" not in str(error.value)


def test_the_websocket_of_a_kernel_is_named_by_both_ids() -> None:
    assert of("https://hub/user/a b").channels("k1", "s1") == (
        "wss://hub/user/a b/api/kernels/k1/channels?session_id=s1"
    )


@pytest.mark.parametrize(
    ("url", "exposed"),
    [
        ("http://127.0.0.1:8888", False),
        ("http://localhost", False),
        ("http://[::1]", False),
        ("https://host", False),
        ("http://host", True),
    ],
)
def test_only_plain_http_to_another_machine_can_be_read_on_the_way(url: str, exposed: bool) -> None:
    assert of(url).is_open_to_readers == exposed


def test_the_token_comes_from_the_variables_of_jupyter() -> None:
    both = {"JUPYTER_TOKEN": "b", "JUPYTER_GATEWAY_AUTH_TOKEN": "a"}
    assert token_of(Settings(), both) == Token("a", "$JUPYTER_GATEWAY_AUTH_TOKEN")
    assert token_of(Settings(), {"JUPYTER_TOKEN": "b"}) == Token("b", "$JUPYTER_TOKEN")


def test_the_variable_that_is_named_is_the_only_one() -> None:
    settings = Settings(gateway_token_env="HUB")
    assert token_of(settings, {"HUB": "a", "JUPYTER_TOKEN": "b"}) == Token("a", "$HUB")
    with pytest.raises(SettingsError, match="the variable HUB is not set"):
        token_of(settings, {"JUPYTER_TOKEN": "b"})


def test_a_file_holds_the_token(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("s3cret\n")
    settings = Settings(gateway_token_file=str(path))
    assert token_of(settings, {"JUPYTER_TOKEN": "b"}) == Token("s3cret", str(path))


@pytest.mark.parametrize("text", ["", "two words", None])
def test_a_file_without_one_is_refused(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / "token"
    if text is not None:
        path.write_text(text)
    with pytest.raises(SettingsError, match="gateway_token_file"):
        token_of(Settings(gateway_token_file=str(path)), {})


def test_a_token_shows_itself_to_nobody() -> None:
    assert "s3cret" not in repr(of("http://host", JUPYTER_TOKEN="s3cret"))


def test_the_token_is_taken_out_of_what_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text("plain-words-of-a-token")
    settings = Settings(gateway_url="http://host", gateway_token_file=str(path))
    assert token_value(settings, {}) == "plain-words-of-a-token"
    redactor = Secrets({}, settings).redactor()
    assert redactor.redacted("it is plain-words-of-a-token.") == "it is [redacted]."
