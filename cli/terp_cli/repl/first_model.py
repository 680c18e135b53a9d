"""The first start at a terminal, without any model: a key is asked for, a local server, or the demo."""

from collections.abc import Mapping
from dataclasses import replace

from terp.errors import NoModel, SettingsError
from terp.models.adapters.discovery import DEFAULT_MODELS
from terp.models.building import with_found_model
from terp.person import Person
from terp.secrets.keys import checked_key, stored_keys
from terp.settings import Settings
from terp_cli.fronts.invocation import Invocation
from terp_cli.prompt.interface import Pick, PromptReader

_TITLE = "No model is configured, no key is set. What do you have?"
_LOCAL = Pick(("a local server", "Ollama, LM Studio, llama.cpp, vLLM or Jan, once it runs"))
_DEMO = Pick(("none of these", "terp demo: a recorded model, a real kernel"))


async def first_model(
    call: Invocation, settings: Settings, environ: Mapping[str, str], prompt: PromptReader, person: Person
) -> Settings:
    """Return the settings with a model for which the user gives a key or starts a server.

    If the user wants the demo, the call notes that, and the settings are unchanged.

    Raises:
        NoModel: the user leaves the list.
    """
    picks = [Pick((f"a key of {provider}", name)) for provider, name in DEFAULT_MODELS]
    picks += [_LOCAL, _DEMO]
    while (at := await prompt.pick(_TITLE, picks)) is not None:
        if picks[at] is _DEMO:
            call.wants_demo = True
            return settings
        try:
            if picks[at] is _LOCAL:
                found = await with_found_model(replace(settings, discover="local"), environ, person)
                return replace(found, discover=settings.discover)
            await _keep_key(call, prompt, DEFAULT_MODELS[at][0])
            return replace(settings, model="/".join(DEFAULT_MODELS[at]))
        except (NoModel, SettingsError) as problem:
            prompt.say(f"{problem.message} {problem.remedy}".rstrip())
        except (EOFError, KeyboardInterrupt):
            continue
    raise NoModel("No model is configured.", "terp keys set PROVIDER stores a key; terp demo needs none.")


async def _keep_key(call: Invocation, prompt: PromptReader, provider: str) -> None:
    typed = await prompt.line(f"Key of {provider} (it is not shown) › ", secret=True)
    where = stored_keys(call.places).set(provider, checked_key(typed.text))
    prompt.say(f"The key of {provider} is in {where}; terp keys delete {provider} removes it.")
