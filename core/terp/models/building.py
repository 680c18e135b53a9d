"""From settings to a model: adapter, patience, tools or fenced code, recording."""

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from terp.models.fences import FencedModel, with_text_fallback
from terp.models.options import AdapterName, ModelOptions
from terp.models.protocol import Model
from terp.models.recording import RecordingModel, ReplayMode, ReplayModel
from terp.models.routing import open_model
from terp.models.scrubbing import Scrubber, secrets_in
from terp.settings import Settings


async def build_model(
    settings: Settings, languages: Sequence[str], *, cwd: str, environ: Mapping[str, str], api_key: str = ""
) -> Model:
    """The model that `settings` ask for. When none is named, servers on this machine are asked for one.

    Raises:
        SettingsError: the model's name says no provider, or the recording cannot be read.
        NoModel: none is named, and none is found.
    """
    scrubber = Scrubber(
        secrets=secrets_in(environ, api_key, environ.get(settings.api_key_env, "")),
        cwd=cwd,
        home=environ.get("HOME", ""),
        temporary=tempfile.gettempdir(),
    )
    sampling = _sampling(settings)
    mode = cast("ReplayMode", settings.replay_mode)
    if settings.replay and mode != "new":
        return ReplayModel(settings.replay, mode, scrubber=scrubber, sampling=sampling, name=settings.model)
    model = await _live(settings, languages, environ, api_key)
    if settings.replay:
        return ReplayModel(settings.replay, mode, model, scrubber=scrubber, sampling=sampling)
    if settings.record:
        return RecordingModel(model, Path(settings.record), scrubber=scrubber, sampling=sampling)
    return model


async def _live(
    settings: Settings, languages: Sequence[str], environ: Mapping[str, str], api_key: str
) -> Model:
    named, api_base = settings.model, settings.api_base
    if not named:
        from terp.models.discovery import find_model  # noqa: PLC0415  # only who names none pays for it

        found = await find_model(environ)
        named, api_base = found.model, found.api_base
    options = ModelOptions(
        model=named,
        adapter=cast("AdapterName", settings.adapter),
        api_base=api_base,
        api_version=settings.api_version,
        api_key_env=settings.api_key_env,
        api_key=api_key,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens or None,
        reasoning_effort=settings.reasoning_effort,
        context_window=settings.context_window or None,
        supports_vision=settings.supports_vision,
        timeout_s=settings.timeout_s,
        retries=settings.retries,
    )
    model = open_model(options, environ=environ)
    if settings.supports_tools is False:
        return FencedModel(model, languages)
    return with_text_fallback(model, languages)


def _sampling(settings: Settings) -> dict[str, Any]:
    """What changes the replies to equal requests."""
    chosen = {
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens or None,
        "reasoning_effort": settings.reasoning_effort or None,
    }
    return {name: value for name, value in chosen.items() if value is not None}
