"""What a program may still change after it has made its interpreter, and before the server runs."""

from collections.abc import Callable, Mapping

from terp.person import Person
from terp.settings import Settings
from terp_cli.server.compat.variables import Variables
from terp_cli.server.ground import Ground
from terp_cli.server.opening import Offer, Opened, SettingsOpener
from terp_cli.server.own_names import OwnNames, is_loopback
from terp_cli.server.token import Token
from terp_cli.server.wishes import Wishes

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 8000


class LateNames:
    """The names of a server whose address can be set until it runs."""

    def __init__(self, variables: Variables) -> None:
        self.host = variables.host or DEFAULT_HOST
        self.port = int(variables.port or DEFAULT_PORT)

    @property
    def alone(self) -> bool:
        """Whether only this machine can call."""
        return is_loopback(self.host)

    def is_host(self, host: str, came_in_on: str) -> bool:
        """Whether a request with this `Host` is meant for this server."""
        return OwnNames(self.host, self.port).is_host(host, came_in_on)

    def is_origin(self, origin: str, came_in_on: str) -> bool:
        """Whether a page of this origin is one of this server."""
        return OwnNames(self.host, self.port).is_origin(origin, came_in_on)


class LateOpener:
    """Opens sessions as the settings, and the key, are by then."""

    def __init__(
        self,
        ground: Ground,
        environ: Mapping[str, str],
        token: Token,
        settings: Callable[[], Settings],
        key: Callable[[], str],
    ) -> None:
        self._ground = ground
        self._environ = environ
        self._token = token
        self._settings = settings
        self._key = key

    async def new(self, wishes: Wishes, person: Person) -> Opened:
        """A new session."""
        return await self._opener().new(wishes, person)

    async def stored(self, session: str, wishes: Wishes, person: Person) -> Opened:
        """The stored session with this id."""
        return await self._opener().stored(session, wishes, person)

    def offer(self) -> Offer:
        """What a client may wish for."""
        return self._opener().offer()

    def _opener(self) -> SettingsOpener:
        settings = self._settings()
        # No client of the protocol names a profile.
        return SettingsOpener(
            settings, lambda _: settings, self._ground, self._environ, self._token, self._key()
        )
