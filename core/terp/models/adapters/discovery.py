"""Discovery of a model when none is configured: by a key in the environment, else a local server."""

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

from terp.errors import ModelError, NoModel, SettingsError
from terp.models.adapters.failures import unusable_key
from terp.models.adapters.routing import is_loopback, ollama_base, route
from terp.secrets.keys import with_keys
from terp.settings.model_settings import ModelOptions
from terp.settings.providers import PROVIDERS, Provider
from terp.text.dataclasses import dataclass, replace
from terp.text.importing import import_slow

# First come, first taken. The names are what the providers recommend for work with tools; where they keep
# a name for "the newest", it is that one.
DEFAULT_MODELS: tuple[tuple[str, str], ...] = (
    ("anthropic", "claude-sonnet-5-5"),
    ("openai", "gpt-5.6"),
    ("gemini", "gemini-pro-latest"),
    ("openrouter", "anthropic/claude-sonnet-5.5"),
    ("mistral", "mistral-large-latest"),
    ("xai", "grok-4.7"),
    ("deepseek", "deepseek-v4-pro"),
    ("groq", "openai/gpt-oss-120b"),
    ("cerebras", "gpt-oss-120b"),
)

_START_ONE = "Start Ollama, LM Studio, llama.cpp, vLLM or Jan; terp doctor shows which answer."
NO_MODEL = """\
No model is configured, no key is set and no local server answers.

  With a key       terp keys set anthropic, or export ANTHROPIC_API_KEY=…,
                   OPENAI_API_KEY, GEMINI_API_KEY, OPENROUTER_API_KEY,
                   MISTRAL_API_KEY, XAI_API_KEY, DEEPSEEK_API_KEY,
                   GROQ_API_KEY, CEREBRAS_API_KEY
  A local model    start Ollama, LM Studio, llama.cpp, vLLM or Jan; for Ollama,
                   ollama serve, and beside it: ollama pull qwen3
  Another server   terp --model openai/NAME --api-base http://HOST:PORT/v1
  Without either   terp demo   (a recorded model, a real kernel)"""

Body = Any
Reader = Callable[[Body], Sequence[str]]


@dataclass(frozen=True, slots=True)
class FoundModel:
    """A model that can be used now. `why` says in a few words how it was found."""

    model: str
    why: str
    api_base: str = ""
    local: bool = False


@dataclass(frozen=True, slots=True)
class LocalServer:
    """A kind of local server: its usual ports, and the path and format of its list of models.

    `models` returns the names in the answer to `path`; it returns none for the answer of another program,
    because many programs use ports 8000 and 8080.
    """

    name: str
    provider: str
    address: str
    path: str
    models: Reader


def _entries(body: Body, key: str, name: str) -> list[tuple[str, Mapping[str, Any]]]:
    """Return those members of the list `key` that have the field `name`."""
    listed = body.get(key) if isinstance(body, Mapping) else None
    members = listed if isinstance(listed, list) else []
    return [(str(one[name]), one) for one in members if isinstance(one, Mapping) and one.get(name)]


def _ollama(body: Body) -> list[str]:
    return [model for model, _ in _entries(body, "models", "model")]


def _lm_studio(body: Body) -> list[str]:
    # Embedding models are listed too, and cannot talk.
    return [key for key, one in _entries(body, "models", "key") if one.get("type") == "llm"]


def _jan(body: Body) -> list[str]:
    return [model for model, _ in _entries(body, "data", "id")]


def _owned_by(owner: str) -> Reader:
    return lambda body: [model for model, one in _entries(body, "data", "id") if one.get("owned_by") == owner]


_V1 = "/v1/models"
_OTHERS = (
    LocalServer("LM Studio", "lm_studio", "http://127.0.0.1:1234", "/api/v1/models", _lm_studio),
    LocalServer("llama.cpp", "llamacpp", "http://127.0.0.1:8080", _V1, _owned_by("llamacpp")),
    LocalServer("llamafile", "llamafile", "http://127.0.0.1:8080", _V1, _owned_by("llamafile")),
    LocalServer("vLLM", "hosted_vllm", "http://127.0.0.1:8000", _V1, _owned_by("vllm")),
    LocalServer("Jan", "jan", "http://127.0.0.1:1337", _V1, _jan),
)


def local_servers(environ: Mapping[str, str]) -> tuple[LocalServer, ...]:
    """Return the servers to query, in order of preference; all of them on this machine."""
    usual = PROVIDERS["ollama"].api_base
    host = environ.get("OLLAMA_HOST", "")
    address = _root(ollama_base(host, usual) if host else usual)
    ollama = LocalServer("Ollama", "ollama", address, "/api/tags", _ollama)
    return tuple(server for server in (ollama, *_OTHERS) if is_loopback(server.address))


def keyed_models(environ: Mapping[str, str]) -> Iterator[FoundModel]:
    """Yield the defaults of the providers whose keys are set, the first one preferred."""
    for provider, model in DEFAULT_MODELS:
        for key_env in PROVIDERS[provider].key_envs:
            if environ.get(key_env, "").strip():
                yield FoundModel(f"{provider}/{model}", f"{key_env} is set")
                break


async def find_model(
    environ: Mapping[str, str],
    *,
    servers: Sequence[LocalServer] | None = None,
    budget_s: float = 0.15,
    keys: bool = True,
) -> FoundModel:
    """Find a model for a user who configured none; without `keys`, only on this machine.

    All servers are queried at once, on loopback, without any proxy; together they have `budget_s` seconds.

    Raises:
        NoModel: there is no key, and no server answered.
    """
    for keyed in keyed_models(environ) if keys else ():
        return keyed
    asked = local_servers(environ) if servers is None else servers
    for local in await running_models(asked, budget_s=budget_s):
        return local
    if not keys:
        raise NoModel("No server with a model answers on this machine.", _START_ONE)
    raise NoModel(NO_MODEL)


async def offered_models(
    options: ModelOptions, environ: Mapping[str, str], provider: str = "openai"
) -> list[str]:
    """Return the models that the server at `options.api_base` lists, as names for `--model`; at least one.

    Without an address, it is that of `provider`.

    No other host is contacted.

    Raises:
        ModelError: it cannot be reached, or refuses the key.
        SettingsError: it lists no models.
    """
    # Whatever the model will be called: address and key are the same.
    there = route(replace(options, model=f"{provider}/", adapter="direct"), environ)
    if problem := unusable_key(there.target, needed=there.lacks_key):
        raise problem
    await asyncio.to_thread(import_slow, "terp.models.adapters.chat_server")
    from terp.models.adapters.chat_server import get_json  # noqa: PLC0415  (httpx)

    target = replace(there.target, model=there.api_base)
    listed = await get_json(there, "/models", target, options.timeout_s or None)
    names = [f"{provider}/{name}" for name, _ in _entries(listed, "data", "id")]
    if not names:
        raise SettingsError([f"{there.api_base} lists no models: name the model with -m openai/NAME."])
    return names


async def provider_models(options: ModelOptions, model: str, environ: Mapping[str, str]) -> list[str]:
    """Return the models that the provider of `model` lists at its address; none if it gives no list."""
    provider = model.partition("/")[0]
    if not (options.api_base or PROVIDERS.get(provider, Provider("litellm")).adapter == "direct"):
        return []
    try:
        return await offered_models(options, environ, provider)
    except (ModelError, SettingsError):
        return []


_LIST_WAIT_S = 3.0


async def listed_models(
    options: ModelOptions, model: str, environ: Mapping[str, str]
) -> Sequence[FoundModel]:
    """Return what the provider of `model` lists, and local servers at their usual addresses; in some 3 s.

    Raises:
        SettingsError, KeyringFailed: stored keys cannot be read.
    """
    # Without a model the keyring would be asked for every key.
    keyed = await asyncio.to_thread(with_keys, environ, model, keyring=bool(model))
    offered, running = await asyncio.gather(
        provider_models(replace(options, timeout_s=_LIST_WAIT_S), model, keyed),
        running_models(local_servers(environ)),
    )
    why = f"listed by {model.partition('/')[0]}"
    return [*(FoundModel(one, why) for one in offered), *(one for one in running if not one.api_base)]


async def running_models(servers: Sequence[LocalServer], *, budget_s: float = 0.15) -> list[FoundModel]:
    """Return the models of all servers that answer in time, in the order of `servers`."""
    questions = [asyncio.create_task(_ask(server)) for server in servers]
    if not questions:
        return []
    done, late = await asyncio.wait(questions, timeout=budget_s)
    for question in late:
        question.cancel()
    await asyncio.gather(*late, return_exceptions=True)
    return [found for question in questions if question in done for found in question.result()]


async def _ask(server: LocalServer) -> list[FoundModel]:
    try:
        names = server.models(await _get(server.address, server.path))
    except (OSError, ValueError, IndexError, EOFError, asyncio.LimitOverrunError):
        return []
    base = f"{server.address}/v1"
    usual = PROVIDERS[server.provider].api_base
    return [
        FoundModel(
            f"{server.provider}/{name}",
            f"{server.name} answers at {server.address}",
            "" if base == usual else base,
            local=True,
        )
        for name in names
    ]


async def _get(address: str, path: str) -> Body:
    """Return the JSON at a loopback address. By hand: httpx takes longer to import than this may take."""
    parts = urlsplit(address)
    reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    try:
        writer.write(
            f"GET {path} HTTP/1.0\r\nHost: {parts.netloc}\r\nAccept: application/json\r\n\r\n".encode()
        )
        head = await reader.readuntil(b"\r\n\r\n")
        if head.split(None, 2)[1] != b"200":
            raise ValueError(head)
        return json.loads(await reader.read())
    finally:
        writer.close()
        with suppress(OSError):
            await writer.wait_closed()


def _root(api_base: str) -> str:
    parts = urlsplit(api_base)
    return f"{parts.scheme}://{parts.netloc}"
