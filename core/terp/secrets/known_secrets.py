"""Secrets that a session must not write anywhere: keys that terp holds, and configured passwords."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

from terp.analysis.effects.secret_names import is_secret_name
from terp.errors import SettingsError
from terp.secrets.environment import kernel_environment
from terp.settings import Settings
from terp.settings.mcp_servers import McpServer, between_variables, variables_in

if TYPE_CHECKING:
    from terp.secrets.redactor import Redactor

_SECRET_HEADER = re.compile(r"authorization|cookie|key|token|secret", re.IGNORECASE)


class Secrets:
    """The secrets of a session: keys in the environment, stored keys, a key of the call, keys of MCP servers.

    There is one object for a session; all that the session writes passes through `redactor`.
    """

    def __init__(
        self, environ: Mapping[str, str], settings: Settings, api_key: str = "", *, keyring: bool = True
    ) -> None:
        """Collect them from environment and settings; with `keyring` also from the system's keyring."""
        self._environ = environ
        self._keyring = keyring
        self._api_key = api_key
        self._settings = [settings]
        self._redactor: Redactor | None = None

    def use(self, settings: Settings) -> None:
        """Add the secrets of settings that the session uses from now on."""
        if settings not in self._settings:
            self._settings.append(settings)
            self._redactor = None

    def redactor(self) -> "Redactor":
        """Return the redactor of these secrets."""
        if self._redactor is None:
            # A prompt that waits writes nothing.
            from terp.secrets.redactor import Redactor, secrets_in  # noqa: PLC0415

            self._redactor = Redactor(secrets_in(self._keyed(), self._api_key, *self._of_settings()))
        return self._redactor

    def redacted(self, text: str) -> str:
        """Return the text without them."""
        return self.redactor().redacted(text)

    def _keyed(self) -> Mapping[str, str]:
        from terp.secrets.keys import KeyringFailed, with_keys  # noqa: PLC0415  (see above)

        models = [name for one in self._settings for name in (one.model, *one.fallback_models)]
        try:
            return with_keys(self._environ, *models, keyring=self._keyring)
        except KeyringFailed:
            # A key that the keyring does not give is in no text.
            return with_keys(self._environ, keyring=False)
        except SettingsError:
            # No key is taken from a file that others can read.
            return self._environ

    def _of_settings(self) -> Iterator[str]:
        for settings in self._settings:
            yield self._environ.get(settings.api_key_env, "")
            if settings.gateway_url:
                from terp.settings.gateway import token_value  # noqa: PLC0415  (few sessions have one)

                yield token_value(settings, self._environ)
            for server in settings.mcp_servers.values():
                yield from _secrets_of(server, self._environ)


def _secrets_of(server: McpServer, environ: Mapping[str, str]) -> Iterator[str]:
    open_to_code = kernel_environment(environ)
    yield from (environ.get(name, "") for name in variables_in(server) if name not in open_to_code)
    # `${NAME}` stands for a secret and is none.
    yield from (part for text in _written_in(server) for part in between_variables(text))


def _written_in(server: McpServer) -> Iterator[str]:
    """Yield the secrets in the settings of a server."""
    yield from (text for name, text in server.env.items() if is_secret_name(name))
    yield from (text for name, text in parse_qsl(urlsplit(server.url).query) if is_secret_name(name))
    yield from _given(server.args)
    for name, text in server.headers.items():
        if _SECRET_HEADER.search(name):
            yield text.rpartition(" ")[2]


def _given(arguments: Sequence[str]) -> Iterator[str]:
    """Yield the values of options that are secret by their names: `--token=VALUE`, `--api-key VALUE`."""
    for argument, following in pairwise((*arguments, "")):
        option, equals, value = argument.partition("=")
        if option.startswith("-") and is_secret_name(option.replace("-", "_")):
            yield value if equals else following
