"""The address of a gateway, and the token for it."""

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from terp.errors import SettingsError
from terp.settings import Settings
from terp.text.dataclasses import dataclass, field

TOKEN_VARIABLES = ("JUPYTER_GATEWAY_AUTH_TOKEN", "JUPYTER_TOKEN")
"""The variables in which Jupyter's own programs look for a token; the first that is set counts."""

_LARGEST_TOKEN = 16_384
# Of the addresses that a user copies from a browser.
_PAGES = ("lab", "tree", "notebooks", "api")


@dataclass(frozen=True, slots=True)
class Token:
    """A token, and its source: "$JUPYTER_TOKEN", "/etc/token"."""

    value: str = field(default="", repr=False)
    origin: str = ""


@dataclass(frozen=True, slots=True)
class Gateway:
    """A server with kernels. `url` ends before `/api` and has no token in it."""

    url: str
    token: Token = field(default_factory=Token)

    @property
    def host(self) -> str:
        """Its name as shown to users: "hub.example.org", "127.0.0.1:8888"."""
        return urlsplit(self.url).netloc

    @property
    def is_here(self) -> bool:
        """Return True if it is on this machine, or behind a tunnel that begins here."""
        name = urlsplit(self.url).hostname or ""
        try:
            return ipaddress.ip_address(name).is_loopback
        except ValueError:
            return name == "localhost"

    @property
    def is_open_to_readers(self) -> bool:
        """Return True if the token and the code travel through a network as plain text."""
        return self.url.startswith("http:") and not self.is_here

    @property
    def headers(self) -> Mapping[str, str]:
        """Return the headers of every request to it."""
        return {"Authorization": f"token {self.token.value}"} if self.token.value else {}

    def api(self, *parts: str) -> str:
        """Return the address of a resource of its interface."""
        return "/".join((self.url, "api", *(quote(part, safe="") for part in parts)))

    def channels(self, kernel_id: str, session_id: str) -> str:
        """Return the address of the websocket to a kernel."""
        address = "ws" + self.api("kernels", kernel_id, "channels").removeprefix("http")
        return f"{address}?{urlencode({'session_id': session_id})}"


def gateway_of(settings: Settings, environ: Mapping[str, str]) -> Gateway | None:
    """Return the gateway that the settings name; None if code runs on this machine.

    Raises:
        SettingsError: the address is malformed or contains a token, or the token's file cannot be read.
    """
    if not settings.gateway_url:
        return None
    return Gateway(_checked(settings.gateway_url), token_of(settings, environ))


def token_of(settings: Settings, environ: Mapping[str, str]) -> Token:
    """Return the token: from the configured file, else the configured variable, else Jupyter's variable.

    Raises:
        SettingsError: the file cannot be read, or the configured variable is not set.
    """
    if settings.gateway_token_file:
        path = Path(settings.gateway_token_file).expanduser()
        return Token(_read(path), str(path))
    named = settings.gateway_token_env
    if named and not environ.get(named):
        raise SettingsError([f"gateway_token_env: the variable {named} is not set."])
    found = next((name for name in ((named,) if named else TOKEN_VARIABLES) if environ.get(name)), "")
    return Token(environ[found].strip(), f"${found}") if found else Token()


def token_value(settings: Settings, environ: Mapping[str, str]) -> str:
    """Return the token, for redaction; "" if there is none or it cannot be read."""
    try:
        return token_of(settings, environ).value if settings.gateway_url else ""
    except SettingsError:
        return ""


def _checked(text: str) -> str:
    """Return the address up to `/api`."""
    parts = urlsplit(text.strip())
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise SettingsError([f"gateway_url is '{_shown(text)}', must begin with http:// or https://."])
    if parts.username is not None or "token=" in parts.query:
        # What stands in a command line can be read by every user of the machine.
        raise SettingsError(
            [
                "gateway_url must not hold the token: put that into the variable "
                f"{TOKEN_VARIABLES[0]}, or name its file with gateway_token_file."
            ]
        )
    path = parts.path.rstrip("/")
    for page in _PAGES:
        path = path.removesuffix(f"/{page}")
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))


def _shown(text: str) -> str:
    """Return the address without parts that may be secret."""
    return text.partition("?")[0].rpartition("@")[2]


def _read(path: Path) -> str:
    try:
        with path.open(encoding="utf-8") as file:
            text = file.read(_LARGEST_TOKEN).strip()
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise SettingsError([f"gateway_token_file: cannot read '{path}': {why}."]) from error
    if not text or len(text.split()) > 1:
        raise SettingsError([f"gateway_token_file: '{path}' must contain only the token."])
    return text
