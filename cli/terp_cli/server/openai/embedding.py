"""Embeddings for clients: passed on to the model's provider, whose failures become answers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from terp.errors import ModelError
from terp.models.adapters.embeddings import embeddings
from terp.settings import Settings
from terp_cli.server.failures import Refused

_UNKNOWN = 502


@dataclass(frozen=True)
class Embedder:
    """Asks the provider of the server's own model, or the one that a model's name says."""

    settings: Settings
    environ: Mapping[str, str]
    api_key: str = ""

    async def __call__(self, request: Mapping[str, Any]) -> dict[str, Any]:
        """What the provider answers.

        Raises:
            Refused: it does not answer as it should.
        """
        try:
            return await embeddings(request, self.settings, self.environ, self.api_key)
        except ModelError as error:
            # A key that the provider refuses is the server's, and none of the client's business.
            status = _UNKNOWN if error.status in (0, 401, 403) else error.status
            raise Refused(status, error.message, error.remedy, code=error.stop_reason) from error
