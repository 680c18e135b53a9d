"""Embeddings from the provider of a model, which `terp serve` passes on to clients."""

import asyncio
from collections.abc import Mapping
from typing import Any

from terp.errors import ModelError, RequestRejected
from terp.models.adapters.failures import classify, unusable_key
from terp.models.adapters.openai_compatible import preload
from terp.models.adapters.routing import Route, route
from terp.models.building import options_of, provider_of, settings_for
from terp.secrets.keys import with_keys
from terp.settings import Settings

NOT_THERE = 501


async def embeddings(
    request: Mapping[str, Any], settings: Settings, environ: Mapping[str, str], api_key: str = ""
) -> dict[str, Any]:
    """Return the provider's answer to a request in OpenAI's form.

    A model name without a provider belongs to the provider in `settings`.

    Raises:
        SettingsError: the model's name has no known provider.
        ModelError: the provider failed; with status `NOT_THERE` if terp does not support its embeddings.
    """
    found = await asyncio.to_thread(_route, str(request["model"]), settings, environ, api_key)
    if found.adapter != "direct":
        raise RequestRejected(
            f"{found.full_name}: terp passes no embeddings on to this provider.",
            "Name one that has OpenAI's interface, as PROVIDER/NAME.",
            status=NOT_THERE,
        )
    if problem := unusable_key(found.target, needed=found.lacks_key):
        raise problem
    await asyncio.to_thread(preload)
    return await _answer({**request, "model": found.model}, found, settings.timeout_s or None)


def _route(name: str, settings: Settings, environ: Mapping[str, str], api_key: str) -> Route:
    if "/" not in name and "/" in settings.model and not settings.api_base:
        name = f"{provider_of(settings.model)}/{name}"
    wanted, key = settings_for(name, settings.model, settings, api_key)
    return route(options_of(wanted, key), with_keys(environ, name))


async def _answer(request: Mapping[str, Any], found: Route, timeout_s: float | None) -> dict[str, Any]:
    from terp.models.adapters.chat_server import answer_to  # noqa: PLC0415  (httpx: 50 ms, imported by now)

    response = await answer_to(found, "POST", "/embeddings", found.target, timeout_s, request)
    if response.status_code != 200:
        raise classify(found.target, response.status_code, response.text, response.headers)
    try:
        answer = response.json()
    except ValueError as error:
        raise ModelError(f"{found.full_name}: the answer is no JSON: {error}.") from error
    if not isinstance(answer, dict):
        raise ModelError(f"{found.full_name}: the answer has no embeddings.")
    return answer
