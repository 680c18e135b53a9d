"""A model from settings: adapter, retries, tools or fenced code, recording."""

import os
import tempfile
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from terp.errors import NoModel, SettingsError
from terp.events.model import Model
from terp.models.adapters.retrying import FallingBackModel, NudgingModel, RetryingModel
from terp.models.adapters.routing import route
from terp.models.repair.fences import TextFallback
from terp.person import Consent, Nobody, Person
from terp.secrets.known_secrets import Secrets
from terp.settings import Settings
from terp.settings.model_settings import AdapterName, ModelOptions

_NAMED = 5


async def build_model(
    settings: Settings,
    languages: Sequence[str],
    *,
    cwd: str,
    environ: Mapping[str, str],
    api_key: str = "",
    person: Person | None = None,
    functions: Collection[str] = (),
) -> Model:
    """Return the model that `settings` ask for.

    When none is named, it is the one that the server at `api_base` lists; without an address the keys in
    `environ` pick one, else a server of this machine is offered to `person`. A printed call of one of
    `functions`, which are names in the Python kernel, is a call.

    Raises:
        SettingsError: the model's name has no known provider, the recording cannot be read, or none is named
            where `api_base` does not list exactly one.
        NoModel: none is named, and none is found or the user declines the one found.
    """

    async def live() -> Model:
        if settings.model:
            return _live(settings, languages, environ, api_key, functions)
        if settings.api_base:
            named = await with_offered_model(settings, environ, api_key)
        else:
            named = await with_found_model(settings, environ, person or Nobody())
        return _live(named, languages, environ, api_key, functions)

    if not (settings.record or settings.replay):
        return await live()
    from terp.models.recording.models import RecordingModel, ReplayMode, ReplayModel  # noqa: PLC0415  (as below)
    from terp.secrets.redactor import Redactor  # noqa: PLC0415

    redactor = Redactor(
        secrets=Secrets(environ, settings, api_key).redactor().secrets,
        cwd=cwd,
        home=environ.get("HOME", ""),
        temporary=tempfile.gettempdir(),
    )
    sampling = _sampling(settings)
    mode = cast("ReplayMode", settings.replay_mode)
    if not settings.replay:
        return RecordingModel(await live(), Path(settings.record), redactor=redactor, sampling=sampling)
    if mode == "new":
        return ReplayModel(settings.replay, mode, await live(), redactor=redactor, sampling=sampling)
    return ReplayModel(settings.replay, mode, redactor=redactor, sampling=sampling, name=settings.model)


async def with_offered_model(
    settings: Settings,
    environ: Mapping[str, str],
    api_key: str = "",
    choose: Callable[[Sequence[str]], Awaitable[str]] | None = None,
) -> Settings:
    """Return the settings with the one model that the server at `api_base` lists, or the result of `choose`.

    Raises:
        ModelError: the server cannot be reached, or refuses the key.
        SettingsError: it lists no model, or several and none was chosen.
    """
    from terp.models.adapters.discovery import offered_models  # noqa: PLC0415  (see above)

    names = await offered_models(options_of(settings, api_key), environ)
    chosen = names[0] if len(names) == 1 else await choose(names) if choose else ""
    if not chosen:
        shown = ", ".join(names[:_NAMED]) + (", …" if len(names) > _NAMED else "")
        fact = f"{settings.api_base} lists {len(names)} models ({shown})"
        raise SettingsError([f"{fact}: name the model with -m openai/NAME."])
    return replace(settings, model=chosen)


async def with_found_model(settings: Settings, environ: Mapping[str, str], person: Person) -> Settings:
    """Return the settings with the model that a key in `environ` picks, else with that of a local server.

    `person` is asked about a local server, unless `discover` names them.

    Raises:
        NoModel: none is found, or the user declines the one found.
    """
    from terp.models.adapters.discovery import find_model  # noqa: PLC0415  # only who names none pays for it

    # With discover: local the user has agreed to the servers of this machine.
    only_local = settings.discover == "local"
    found = await find_model(environ, keys=not only_local)
    if (
        found.local
        and not only_local
        and not await person.allow(Consent(f"No model is configured. Use {found.model}?", f"{found.why}."))
    ):
        raise NoModel(
            f"No model is configured; {found.why} with {found.model}.", f"Use it with --model {found.model}."
        )
    return replace(settings, model=found.model, api_base=found.api_base)


def settings_for(name: str, present: str, settings: Settings, api_key: str) -> tuple[Settings, str]:
    """Return the settings and the key for another model, without those for another provider.

    A name without a provider is a model of the server at `api_base`, if that is set.
    """
    own = settings.model or present
    if own not in (name, name.partition("/")[2]):
        # They are those of the model that the settings name, perhaps without its provider.
        settings = replace(settings, input_price=None, output_price=None)
    if settings.api_base and "/" not in name:
        return replace(settings, model=name), api_key
    if provider_of(name) == provider_of(present):
        return replace(settings, model=name), api_key
    return replace(settings, model=name, api_base="", api_key_env="", api_version=""), ""


def provider_of(model: str) -> str:
    """Return the provider in a model's name."""
    return model.partition("/")[0]


def _live(
    settings: Settings,
    languages: Sequence[str],
    environ: Mapping[str, str],
    api_key: str,
    functions: Collection[str],
) -> Model:
    """Return the model of `settings`, with its fallback models."""
    first = _without_fallback(settings, languages, environ, api_key, functions)
    if not settings.fallback_models:
        return first

    others = []
    for name in settings.fallback_models:
        wanted, key = settings_for(name, settings.model, settings, api_key)
        # A name that says no provider is a mistake now, and not when the first model fails.
        route(options_of(wanted, key), environ)
        others.append((name, partial(_without_fallback, wanted, languages, environ, key, functions)))
    return FallingBackModel(first, others)


def _without_fallback(
    settings: Settings,
    languages: Sequence[str],
    environ: Mapping[str, str],
    api_key: str,
    functions: Collection[str],
) -> Model:
    model = open_model(options_of(settings, api_key), environ=environ)
    # Providers refuse calls in a history for which no tools are offered; fences hold them as text.
    fenced = settings.supports_tools is False or not settings.code
    return TextFallback(model, languages, functions=functions, fenced=fenced)


def options_of(settings: Settings, api_key: str) -> ModelOptions:
    """Return the settings that are passed to a model."""
    return ModelOptions(
        model=settings.model,
        adapter=cast("AdapterName", settings.adapter),
        api_base=settings.api_base,
        api_version=settings.api_version,
        api_key_env=settings.api_key_env,
        api_key=api_key,
        temperature=settings.temperature,
        max_tokens=settings.max_tokens or None,
        reasoning_effort=settings.reasoning_effort,
        context_window=settings.context_window or None,
        supports_vision=settings.supports_vision,
        input_price=settings.input_price,
        output_price=settings.output_price,
        timeout_s=settings.timeout_s,
        retries=settings.retries,
    )


def _sampling(settings: Settings) -> dict[str, Any]:
    """Return the settings that change the replies to equal requests."""
    chosen = {
        "temperature": settings.temperature,
        "max_tokens": settings.max_tokens or None,
        "reasoning_effort": settings.reasoning_effort or None,
    }
    return {name: value for name, value in chosen.items() if value is not None}


def open_model(options: ModelOptions, *, environ: Mapping[str, str] | None = None) -> Model:
    """Return the model: an adapter with retries after failures and empty replies.

    Only modules that the model needs are imported. No request is sent before the first `stream`, which
    raises `AuthFailed` if a key is missing.

    Raises:
        SettingsError: the name has no known provider, and no address is set.
    """
    return NudgingModel(RetryingModel(open_adapter(options, environ=environ), retries=options.retries))


def open_adapter(options: ModelOptions, *, environ: Mapping[str, str] | None = None) -> Model:
    """Return the adapter for a model, without retries."""
    found = route(options, os.environ if environ is None else environ)
    if found.adapter == "direct":
        from terp.models.adapters.openai_compatible import OpenAICompatible  # noqa: PLC0415 — as below

        return OpenAICompatible(found, options)
    from terp.models.adapters.litellm_adapter import LiteLLM  # noqa: PLC0415 — only one of the two is needed

    return LiteLLM(found, options)
