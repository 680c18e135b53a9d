"""Routes to models: the adapter, the address and the key."""

import re
from collections.abc import Mapping
from typing import Literal
from urllib.parse import urlsplit

from terp.errors import SettingsError
from terp.models.adapters.failures import Target
from terp.models.facts.model_facts import PriceList
from terp.settings.model_settings import ModelOptions
from terp.settings.providers import ECHOED, PROVIDERS, Provider
from terp.text.dataclasses import dataclass, field

_FAMILIES = (
    (re.compile(r"(gpt|chatgpt|codex)-|o\d(-|$)"), "openai"),
    (re.compile(r"claude-"), "anthropic"),
    (re.compile(r"gemini-"), "gemini"),
    (re.compile(r"grok-"), "xai"),
    (re.compile(r"deepseek-"), "deepseek"),
    (re.compile(r"(mistral|magistral|codestral|ministral|devstral)-"), "mistral"),
)
# OpenAI serves these through its Responses API alone, which the direct adapter does not speak.
_RESPONSES_ONLY = re.compile(r"codex|-pro\b|deep-research|computer-use")
# … and these when tools and an effort are asked for together.
_RESPONSES_WITH_EFFORT = re.compile(r"gpt-(5\.[4-9]|[6-9])")
# Providers of litellm that take an address and speak no chat completions there.
_OWN_INTERFACES = frozenset({"bedrock", "sagemaker", "vertex_ai", "vertex_ai_beta", "watsonx", "oci"})


@dataclass(frozen=True, slots=True)
class Route:
    """The destination of an adapter's requests: provider, model, address, key."""

    adapter: Literal["direct", "litellm"]
    provider_name: str
    provider: Provider
    model: str
    """The name on the wire, without the prefix."""
    api_base: str
    custom_base: bool
    key_env: str
    """The variable that holds the key, or that should; "" where no key is needed."""
    key: str = field(default="", repr=False)

    @property
    def full_name(self) -> str:
        """The full name, as users write it and litellm understands it."""
        return f"{self.provider_name}/{self.model}"

    @property
    def target(self) -> Target:
        """The destination of requests, for error messages."""
        return Target(self.full_name, self.provider_name, self.api_base, self.key_env, self.key)

    @property
    def lacks_key(self) -> bool:
        """Return True if a request would certainly be refused without a key."""
        return bool(self.key_env) and not self.key and not is_loopback(self.api_base)

    @property
    def echoed(self) -> tuple[str, ...]:
        """The fields of a reply that are sent back with it; all fields if the user set the address."""
        return ECHOED if self.custom_base or self.adapter == "litellm" else self.provider.echoed


def route(options: ModelOptions, environ: Mapping[str, str]) -> Route:
    """Return the route to `options.model`.

    Raises:
        SettingsError: the name has no known provider, and no address is set.
    """
    provider_name, model = _split(options, environ)
    provider = PROVIDERS.get(provider_name, Provider("litellm"))
    custom = _checked(options.api_base or _base_from(environ, provider))
    api_base = (custom or provider.api_base).rstrip("/")
    key_env, key = _key(options, environ, provider)
    return Route(
        adapter=_adapter(options, provider_name, provider, model, custom=bool(custom)),
        provider_name=provider_name,
        provider=provider,
        model=model,
        api_base=api_base,
        custom_base=bool(custom) and custom.rstrip("/") != provider.api_base,
        key_env=key_env,
        key=key,
    )


def doubt(name: str, api_base: str = "") -> str:
    """Return a warning if a model's name belongs to another provider than its prefix; else ""."""
    prefix, _, model = name.partition("/")
    families = {provider for _, provider in _FAMILIES}
    if api_base or prefix not in families:
        return ""
    for pattern, provider in _FAMILIES:
        if pattern.match(model) and provider != prefix:
            return f"'{model}' looks like a model of {provider}, but goes to {prefix}."
    return ""


def is_loopback(address: str) -> bool:
    """Return True if `address` is on this machine."""
    host = urlsplit(address).hostname or ""
    return host in ("localhost", "::1") or host.startswith("127.")


def _split(options: ModelOptions, environ: Mapping[str, str]) -> tuple[str, str]:
    name = options.model
    prefix, slash, rest = name.partition("/")
    if slash and (prefix in PROVIDERS or prefix in _OWN_INTERFACES):
        return prefix, rest
    if options.api_base:
        # Whatever the name is there: local servers use slashes too ("qwen/qwen3-coder").
        return "openai", name
    if slash:
        return prefix, rest
    for pattern, provider in _FAMILIES:
        if pattern.match(name):
            return provider, name
    if _base_from(environ, PROVIDERS["openai"]):
        return "openai", name
    listed = PriceList().facts(name).provider
    if listed in PROVIDERS:
        return listed, name
    raise SettingsError(
        [f"model: '{name}' names no provider. Write provider/model, such as ollama/{name}, or set api_base."]
    )


def _checked(address: str) -> str:
    if address and not re.match(r"https?://[^/\s]+", address):
        raise SettingsError([f"api_base: '{address}' must begin with http:// or https:// and a host."])
    try:
        _ = urlsplit(address).port
    except ValueError as error:
        raise SettingsError([f"api_base: '{address}' is no address: {error}."]) from error
    return address


def _base_from(environ: Mapping[str, str], provider: Provider) -> str:
    for name in provider.base_envs:
        if value := environ.get(name, ""):
            return ollama_base(value, provider.api_base) if name == "OLLAMA_HOST" else value
    return ""


def ollama_base(host: str, usual: str) -> str:
    """Return the URL for an `OLLAMA_HOST`, which is a bind address: host, port or both."""
    parts = urlsplit(host if "//" in host else f"//{host}", scheme="http")
    try:
        port = parts.port or 11434
    except ValueError:
        return usual
    name = parts.hostname or "127.0.0.1"
    name = {"0.0.0.0": "127.0.0.1", "::": "127.0.0.1", "localhost": "127.0.0.1"}.get(name, name)  # noqa: S104
    return f"{parts.scheme}://{f'[{name}]' if ':' in name else name}:{port}{urlsplit(usual).path}"


def _key(options: ModelOptions, environ: Mapping[str, str], provider: Provider) -> tuple[str, str]:
    names = (options.api_key_env,) if options.api_key_env else provider.key_envs
    if options.api_key:
        return (names[0] if names else ""), options.api_key
    for name in names:
        if value := environ.get(name, "").strip():
            return name, value
    return (names[0] if names else ""), ""


def _adapter(
    options: ModelOptions, provider_name: str, provider: Provider, model: str, *, custom: bool
) -> Literal["direct", "litellm"]:
    if options.adapter != "auto":
        return options.adapter
    if provider_name == "openai" and not custom:
        with_effort = options.reasoning_effort and _RESPONSES_WITH_EFFORT.match(model)
        if with_effort or _RESPONSES_ONLY.search(model):
            return "litellm"
    return provider.adapter
