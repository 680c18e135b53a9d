"""The variables with which Open Interpreter's server is configured."""

from collections.abc import Mapping
from dataclasses import dataclass

HOST, PORT = "INTERPRETER_HOST", "INTERPRETER_PORT"
_KEY = "INTERPRETER_API_KEY"
_ID = "INTERPRETER_ID"
_AUTH, _ACKNOWLEDGE = "INTERPRETER_REQUIRE_AUTH", "INTERPRETER_REQUIRE_ACKNOWLEDGE"
_INSECURE = "INTERPRETER_INSECURE_ROUTES"


@dataclass(frozen=True)
class Variables:
    """The protocol's environment variables, read at each use: programs set them while the server runs."""

    environ: Mapping[str, str]

    @property
    def host(self) -> str:
        """The address to listen on; "" where it is not said."""
        return self.environ.get(HOST, "")

    @property
    def port(self) -> str:
        """The port, as it is written."""
        return self.environ.get(PORT, "")

    @property
    def key(self) -> str:
        """The key that clients must send; "" if any value is accepted."""
        return self.environ.get(_KEY, "")

    @property
    def says_auth(self) -> bool | None:
        """True if a WebSocket must send its key first; None if the variable is not set."""
        said = self.environ.get(_AUTH)
        return None if said is None else said != "False"

    @property
    def acknowledges(self) -> bool:
        """True if each frame is repeated until the client acknowledges it."""
        return self.environ.get(_ACKNOWLEDGE, "").lower() == "true"

    @property
    def has_insecure_routes(self) -> bool:
        """True if `/run`, `/upload` and `/download` are enabled."""
        return self.environ.get(_INSECURE, "").lower() == "true"

    @property
    def id(self) -> str:
        """The name of the server; "" where it has none."""
        return self.environ.get(_ID, "")
