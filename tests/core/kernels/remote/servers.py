"""Real servers of Jupyter on loopback, each a process of its own."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from terp.settings.gateway import Gateway, Token

TOKEN = "f00d-0f-a-test-of-terp"
_UP_S = 60.0


@dataclass(frozen=True)
class Server:
    """A server that answers. `root` is the directory of its kernels, `log` what it writes."""

    url: str
    root: Path
    log: Path

    @property
    def gateway(self) -> Gateway:
        return Gateway(self.url, Token(TOKEN, "$JUPYTER_TOKEN"))

    def asked(self, path: str, method: str = "GET") -> object:
        """What its REST interface answers."""
        request = urllib.request.Request(
            f"{self.url}/api/{path}", method=method, headers={"Authorization": f"token {TOKEN}"}
        )
        with urllib.request.urlopen(request, timeout=30) as answer:
            body = answer.read()
        return json.loads(body) if body else None


@contextlib.contextmanager
def jupyter_server(root: Path, *options: str, scheme: str = "http") -> Iterator[Server]:
    """A jupyter_server, with its own limits on output."""
    arguments = (
        "-m",
        "jupyter_server",
        f"--IdentityProvider.token={TOKEN}",
        "--ServerApp.open_browser=False",
    )
    with _serving([sys.executable, *arguments], "ServerApp", root, *options, scheme=scheme) as server:
        yield server


@contextlib.contextmanager
def kernel_gateway(root: Path, *options: str) -> Iterator[Server]:
    """A jupyter-kernel-gateway."""
    arguments = ("-m", "kernel_gateway", f"--KernelGatewayApp.auth_token={TOKEN}")
    listing = "--JupyterWebsocketPersonality.list_kernels=True"
    with _serving([sys.executable, *arguments], "KernelGatewayApp", root, listing, *options) as server:
        yield server


def enterprise_gateway_program() -> str:
    """The program that TERP_TEST_ENTERPRISE_GATEWAY names, or "".

    It needs older versions of Jupyter than the others do, so it lives in an environment of its own.
    """
    return shutil.which(os.environ.get("TERP_TEST_ENTERPRISE_GATEWAY", "")) or ""


@contextlib.contextmanager
def enterprise_gateway(root: Path) -> Iterator[Server]:
    """A jupyter_enterprise_gateway whose kernels are processes of this machine."""
    command = [enterprise_gateway_program(), f"--EnterpriseGatewayApp.auth_token={TOKEN}"]
    # It starts no kernels for root otherwise, as whom tests may run.
    more = ("--EnterpriseGatewayApp.list_kernels=True", "--EnterpriseGatewayApp.unauthorized_users=nobody")
    with _serving(command, "EnterpriseGatewayApp", root, *more) as server:
        yield server


@contextlib.contextmanager
def _serving(
    command: Sequence[str], app: str, root: Path, *options: str, scheme: str = "http"
) -> Iterator[Server]:
    root.mkdir(parents=True, exist_ok=True)
    log, port = root.parent / f"{root.name}.log", _free_port()
    environ = {**os.environ, "JUPYTER_RUNTIME_DIR": str(root.parent / f"{root.name}-run"), "HOME": str(root)}
    # Packages that were installed for the person are where their home says.
    environ.update({"PYTHONNOUSERSITE": "1", "JUPYTER_CONFIG_DIR": str(root / ".config")})
    place = (f"--{app}.ip=127.0.0.1", f"--{app}.port={port}", f"--{app}.port_retries=0")
    root_too = ("--allow-root",) if app == "ServerApp" else ()
    with log.open("w") as written:
        process = subprocess.Popen(
            [*command, *place, *root_too, *options], cwd=root, env=environ, stdout=written, stderr=written
        )
    try:
        server = Server(f"{scheme}://127.0.0.1:{port}", root, log)
        _wait_for(port, process, log)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _wait_for(port: int, process: "subprocess.Popen[bytes]", log: Path) -> None:
    deadline = time.monotonic() + _UP_S
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.05)
    raise AssertionError(f"the server did not come up:\n{log.read_text()}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
