"""What a person reads when a gateway does not do what was asked of it."""

import asyncio
import shutil
import ssl
import subprocess
from collections.abc import AsyncGenerator
from dataclasses import replace
from pathlib import Path

import pytest

from terp.errors import GatewayRefused, GatewayUnavailable, KernelStartFailed, SettingsError, UnknownLanguage
from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.remote.claims import Claims
from terp.kernels.remote.kernels import GatewayKernels, Origin
from terp.kernels.remote.rest import GatewayApi, refused, unreachable
from terp.settings.gateway import Gateway, Token
from tests.core.kernels.remote.connecting import connected
from tests.core.kernels.remote.servers import Server, jupyter_server
from tests.loopback import Http, Loopback


async def why_not(gateway: Gateway) -> KernelStartFailed:
    """The error with which a gateway is not asked."""
    api = GatewayApi(gateway)
    try:
        with pytest.raises(KernelStartFailed) as error:
            await api.specs()
        return error.value
    finally:
        await api.aclose()


async def test_without_a_token_it_says_where_one_is_put(server: Server) -> None:
    error = await why_not(Gateway(server.url))
    assert isinstance(error, GatewayRefused)
    assert error.message.startswith(f"The gateway at {server.gateway.host} requires a token (40")
    assert "JUPYTER_GATEWAY_AUTH_TOKEN" in error.remedy


async def test_a_wrong_token_is_named_by_where_it_came_from_and_not_by_what_it_is(server: Server) -> None:
    error = await why_not(replace(server.gateway, token=Token("wr0ng", "$HUB_TOKEN")))
    assert "refuses the token of $HUB_TOKEN" in error.message
    assert "wr0ng" not in error.message + error.remedy


async def test_a_wrong_path_is_told(server: Server) -> None:
    error = await why_not(replace(server.gateway, url=f"{server.url}/nowhere"))
    assert isinstance(error, GatewayUnavailable | GatewayRefused)
    assert "nowhere" in error.message or "refused access" in error.message


async def test_nobody_there_is_told() -> None:
    error = await why_not(Gateway("http://127.0.0.1:1"))
    assert error.message.startswith("Nothing answers at 127.0.0.1:1: ")


async def test_another_server_is_none() -> None:
    with Loopback([], pages={"/api/kernelspecs": ["something else"]}) as other:
        gateway = Gateway(other.url.removesuffix("/v1"))
        error = await why_not(gateway)
    assert error.message == f"The server at {gateway.host} is no Jupyter gateway."


def test_a_page_to_log_in_is_told() -> None:
    gateway = Gateway("https://hub/user/ada", Token("t", "$JUPYTER_TOKEN"))
    error = refused(gateway, 302, "Found", "https://hub/hub/login?next=/user/ada")
    assert error.message == "hub refused access: it redirects to hub/hub/login (302 Found)."
    assert "The token is that of $JUPYTER_TOKEN." in error.remedy


def test_a_gateway_that_is_full_is_told() -> None:
    error = refused(Gateway("http://host", Token("t", "$T")), 403, "Resource Limit")
    assert error.message == "The gateway at host starts no more kernels (403 Resource Limit)."


def test_a_reason_that_the_gateway_gives_is_told() -> None:
    error = refused(Gateway("http://host", Token("t", "$T")), 403, "User 'root' is not authorized.")
    assert error.message == "The gateway at host does not allow this: 403 User 'root' is not authorized."


def test_a_certificate_that_nobody_vouches_for_is_told() -> None:
    cause = ssl.SSLCertVerificationError(1, "certificate verify failed: self-signed certificate")
    cause.verify_message = "self-signed certificate"
    error = unreachable(Gateway("https://host"), cause)
    assert error.message == "The connection to host cannot be made safe: self-signed certificate."
    assert "SSL_CERT_FILE" in error.remedy


async def test_a_language_that_is_not_there_is_told_before_anything_runs(
    server: Server, tmp_path: Path
) -> None:
    with pytest.raises(SettingsError, match="runs no 'cobol'; it runs python"):
        await connected(server, tmp_path, KernelOptions(languages=("cobol",)))


async def test_a_language_is_found_by_its_names_and_by_its_kernelspec(server: Server, tmp_path: Path) -> None:
    kernels = await connected(server, tmp_path, KernelOptions(languages=("python3",)))
    assert kernels.languages == ("python",)
    assert kernels.get("py") is kernels.get("python")
    with pytest.raises(UnknownLanguage, match="There is: python"):
        kernels.get("cobol")
    await kernels.aclose()


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate of its own for 127.0.0.1, and beside it its key."""
    if not shutil.which("openssl"):
        pytest.skip("there is no openssl")
    path = tmp_path_factory.mktemp("tls") / "own.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=terp"]
    names = ["-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-out", str(path), "-keyout", str(path.with_suffix(".key"))]
    subprocess.run([*made, *names, *files], check=True, capture_output=True)
    return path


@pytest.fixture(scope="module")
async def safe(certificate: Path, tmp_path_factory: pytest.TempPathFactory) -> AsyncGenerator[Server, None]:
    """A server with that certificate."""
    keys = (f"--ServerApp.certfile={certificate}", f"--ServerApp.keyfile={certificate.with_suffix('.key')}")
    with jupyter_server(tmp_path_factory.mktemp("safe") / "root", *keys, scheme="https") as server:
        yield server


async def test_a_certificate_of_its_own_is_not_trusted_by_itself(safe: Server) -> None:
    error = await why_not(safe.gateway)
    assert error.message == (
        f"The connection to {safe.gateway.host} cannot be made safe: self-signed certificate."
    )


async def test_code_runs_through_tls_when_the_certificate_is_named(
    safe: Server, certificate: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    kernels = await GatewayKernels.connect(safe.gateway, Claims(None, safe.url), Origin(".", tmp_path))
    try:
        async with asyncio.timeout(30):
            items = [item async for item in kernels.get("python").execute("6 * 7")]
        assert "42" in str(items)
    finally:
        await kernels.aclose()


def test_the_status_of_a_server_that_fails_is_told() -> None:
    told = refused(Gateway("http://host"), Http(500).status, "Internal Server Error").message
    assert told == "The gateway at host failed: 500 Internal Server Error."
