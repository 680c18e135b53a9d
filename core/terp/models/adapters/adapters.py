"""From a route to the adapter that goes there, with patience around it."""

import os
from collections.abc import Mapping

from terp.events.model import Model
from terp.models.adapters.retrying import RetryingModel
from terp.models.adapters.routing import route
from terp.models.repair.nudging import NudgingModel
from terp.settings.model_options import ModelOptions


def open_model(options: ModelOptions, *, environ: Mapping[str, str] | None = None) -> Model:
    """The model, ready to be called: an adapter that is asked again when it fails or says nothing.

    Nothing is imported that the model does not need, and nothing is sent before the first `stream`, which
    raises `AuthFailed` where a key is missing.

    Raises:
        SettingsError: the name says no provider, and no address is given.
    """
    return NudgingModel(RetryingModel(open_adapter(options, environ=environ), retries=options.retries))


def open_adapter(options: ModelOptions, *, environ: Mapping[str, str] | None = None) -> Model:
    """The plain adapter for a model, with nothing around it."""
    found = route(options, os.environ if environ is None else environ)
    if found.adapter == "direct":
        from terp.models.adapters.openai_compatible import OpenAICompatible  # noqa: PLC0415 — as below

        return OpenAICompatible(found, options)
    from terp.models.adapters.litellm_adapter import LiteLLM  # noqa: PLC0415 — only one of the two is needed

    return LiteLLM(found, options)
