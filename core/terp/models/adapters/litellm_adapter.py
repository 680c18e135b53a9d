"""The adapter for every provider that litellm supports.

Importing litellm takes 2 to 5 seconds, so it is imported by the first call, or ahead of it by `preload` in
a thread. By default it reads `.env` files, fetches price lists and tokenizers, and prints; `_litellm`
prevents that.
"""

import asyncio
import inspect
import logging
import os
import warnings
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from functools import partial
from typing import Any, ClassVar
from weakref import WeakSet

from terp.errors import ModelError, ToolsRejected, Unavailable
from terp.events.messages import Message
from terp.events.model import Chunk, demanded
from terp.models.adapters.accumulator import Accumulator
from terp.models.adapters.chat_format import cache_points, chat_messages
from terp.models.adapters.failures import BROKE_OFF, SPLICED, classify, unreachable, unusable_key
from terp.models.adapters.routing import Route
from terp.models.facts.abilities import Abilities
from terp.settings.model_settings import ModelOptions
from terp.text.importing import import_slow, in_daemon

_LONGEST_CLAUDE_REPLY = 32_000
_SAFE_CLAUDE_REPLY = 8_192
_SHARED = "module_level_aclient"
_TIMEOUTS = frozenset({"Timeout", "TimeoutError", "ReadTimeout", "APITimeoutError"})
_REPORTED = ("cost", "cost_in_usd_ticks", "total_tokens", "reasoning_tokens")
# What pydantic says about litellm's own classes while they are used.
_NOISE = ("Pydantic serializer warnings", "Items? '.*' on TypedDict class '.*' (is|are) using the `ReadOnly`")
_LOOKS_AGAIN_S = 0.001


def preload() -> None:
    """Import litellm, and run the setup that it delays until its first call. Meant for a thread.

    The import slows down typing (a key is echoed after 92 ms instead of 3), so it should begin when the
    user pauses or has sent a message.
    """
    litellm = _litellm()
    asyncio.run(_warm_up(litellm))


class LiteLLM:
    """A model behind `litellm.acompletion`."""

    # litellm keeps its connections for the whole process, one set for each event loop; they are closed
    # with the last adapter that used them there. One client (Gemini's) it keeps for all loops, and it
    # fails in the second.
    _in_use: ClassVar[WeakSet["LiteLLM"]] = WeakSet()
    _loop_of_shared: ClassVar[int] = 0

    def __init__(self, route: Route, options: ModelOptions) -> None:
        self._route = route
        self._options = options
        self._abilities = Abilities(route, options)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._suffix = ""

    @property
    def name(self) -> str:
        """Provider and model."""
        return self._route.full_name

    async def stream(
        self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]] = ()
    ) -> AsyncGenerator[Chunk, None]:
        """Send one request and yield its reply, as `Model.stream` describes it."""
        if problem := unusable_key(self._route.target, needed=self._route.lacks_key):
            raise problem
        # In a thread, so that the screen lives and Ctrl-C works during the import.
        litellm = await in_daemon(_litellm)
        self._enter(litellm, asyncio.get_running_loop())
        self._check_tools(litellm, tools)
        reply = Accumulator(self._abilities.cost_usd)
        async with aclosing(self._received(litellm, self._request(messages, tools))) as received:
            async for event in received:
                for chunk in reply.feed(event):
                    yield chunk
        for chunk in reply.finish():
            yield chunk

    async def aclose(self) -> None:
        """Close the connections, unless another adapter uses them. Harmless when called twice."""
        self._in_use.discard(self)
        loop, self._loop = self._loop, None
        if loop is None or any(other._loop is loop for other in self._in_use):
            return
        await _close_clients(_litellm(), self._suffix)

    def _enter(self, litellm: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        # By this the keys of its connections end; versions differ in how they name a loop.
        self._suffix = str(litellm.in_memory_llm_clients_cache.update_cache_key_with_event_loop(""))
        self._in_use.add(self)
        if LiteLLM._loop_of_shared != id(loop):
            LiteLLM._loop_of_shared = id(loop)
            vars(litellm).pop(_SHARED, None)

    def _check_tools(self, litellm: Any, tools: Sequence[Mapping[str, Any]]) -> None:
        """Raise if litellm would silently drop `tools`."""
        if not tools:
            return
        supported = litellm.get_supported_openai_params(
            model=self._route.model.removeprefix("responses/"),
            custom_llm_provider=self._route.provider_name,
        )
        if supported is not None and "tools" not in supported:
            raise ToolsRejected(f"{self.name}: litellm passes no tools to this provider.")

    async def _received(
        self, litellm: Any, request: Mapping[str, Any]
    ) -> AsyncGenerator[Mapping[str, Any], None]:
        """Yield the chunks of the reply as mappings in OpenAI's form.

        Raises:
            ModelError: litellm raised an error.
        """
        begun, ending = False, None
        limit_s = self._options.timeout_s or None
        try:
            stream = await opened(litellm, request, limit_s)
            ending = Ending(stream)
            try:
                # litellm hands the timeout on to most providers; Gemini's it lets hang.
                while (chunk := await _next(stream, limit_s)) is not None:
                    begun = True
                    if ending.spliced:
                        raise unreachable(self._route.target, SPLICED)
                    yield _mapping(chunk, stream)
                if not ending.reached:
                    raise unreachable(self._route.target, BROKE_OFF)
            finally:
                # Leaving the loop alone would let the provider write on, and bill.
                await stream.aclose()
        except (asyncio.CancelledError, GeneratorExit, Unavailable):
            raise
        except Exception as error:
            if ending is not None and ending.has_reason:
                return
            # litellm raises its own classes, those of openai, httpx and botocore, and bare ValueErrors.
            raise self._failure(error, begun=begun) from error

    def _failure(self, error: Exception, *, begun: bool) -> ModelError:
        inner: BaseException = getattr(error, "original_exception", None) or error
        chain = list(_chain(error))
        if any(type(one).__name__ in _TIMEOUTS for one in chain):
            waited = f"no data arrived for {self._options.timeout_s:g} s (timeout_s)"
            return unreachable(self._route.target, waited)
        status = getattr(error, "status_code", None) or getattr(inner, "status_code", None)
        headers = [found for one in chain if (found := getattr(one, "litellm_response_headers", None))]
        return classify(
            self._route.target,
            status if isinstance(status, int) else 0,
            str(getattr(inner, "message", "") or inner),
            headers[0] if headers else None,
            streaming=begun,
        )

    def _request(self, messages: Sequence[Message], tools: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        options, route = self._options, self._route
        sent = chat_messages(messages, vision=self._abilities.sees(messages), echoed=route.echoed)
        request = {
            "model": route.full_name,
            "messages": sent,
            "tools": list(tools) or None,
            "stream": True,
            "stream_options": {"include_usage": True},
            "api_base": route.api_base or None,
            "api_version": options.api_version or None,
            "api_key": route.key or ("none" if route.api_base else None),
            "temperature": options.temperature,
            "reasoning_effort": options.reasoning_effort or None,
            "max_tokens": options.max_tokens,
            "timeout": options.timeout_s or None,
            "num_retries": 0,
            "max_retries": 0,
            **self._for_provider(sent),
            **demanded(tools),
        }
        return {name: value for name, value in request.items() if value is not None}

    def _for_provider(self, sent: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        if "claude" in self._route.model:
            # Anthropic wants a limit; litellm's own guess is 4 096 for a name it does not know.
            most = self._abilities.facts.max_output or _SAFE_CLAUDE_REPLY
            return {
                "max_tokens": self._options.max_tokens or min(most, _LONGEST_CLAUDE_REPLY),
                "cache_control_injection_points": [
                    {"location": "message", "index": at} for at in cache_points(sent)
                ],
            }
        if self._route.provider_name == "ollama_chat" and self._options.context_window:
            # Ollama cuts a longer prompt without a word, at 4 096 tokens on most machines.
            return {"num_ctx": self._options.context_window}
        return {}


def _litellm() -> Any:
    """Import litellm, configure it to be quiet, and return it; only the first call is slow."""
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault("LITELLM_LOCAL_ANTHROPIC_BETA_HEADERS", "True")
    os.environ.setdefault("OR_APP_NAME", "terp")
    # The only value that keeps it from loading `.env`.
    os.environ["LITELLM_MODE"] = "PRODUCTION"
    with warnings.catch_warnings():
        # Deprecations inside its dependencies are nothing a person can act on.
        warnings.simplefilter("ignore")
        litellm: Any = import_slow("litellm")
    litellm.suppress_debug_info = True
    litellm.disable_hf_tokenizer_download = True
    litellm.disable_streaming_logging = True
    # aiohttp complains on stderr about each connection that is open at exit.
    litellm.disable_aiohttp_transport = True
    # It takes code with many equal lines for a loop.
    litellm.REPEATED_STREAMING_CHUNK_LIMIT = 10**9
    litellm.drop_params = True
    litellm.modify_params = True
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    for noise in _NOISE:
        warnings.filterwarnings("ignore", message=noise, category=UserWarning)
    return litellm


async def _warm_up(litellm: Any) -> None:
    stream = await litellm.acompletion(
        model="gpt-4o", messages=[{"role": "user", "content": "hi"}], mock_response="ok", stream=True
    )
    async for _ in stream:
        pass


async def _close_clients(litellm: Any, suffix: str) -> None:
    cache = litellm.in_memory_llm_clients_cache.cache_dict
    clients = [cache.pop(key) for key in list(cache) if str(key).endswith(suffix)]
    if shared := vars(litellm).pop(_SHARED, None):
        clients.append(shared)
    for client in clients:
        close = getattr(client, "aclose", None) or getattr(client, "close", None)
        with suppress(RuntimeError, OSError):
            closing = close() if close else None
            if inspect.isawaitable(closing):
                await closing


async def _next(stream: Any, limit_s: float | None) -> Any:
    """Return the next chunk; None at the end."""
    async with asyncio.timeout(limit_s):
        return await anext(stream, None)


def _chain(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and its causes; litellm wraps errors twice, and stores one cause in another field."""
    waiting, seen = [error], set[int]()
    while waiting:
        one = waiting.pop(0)
        if id(one) not in seen:
            seen.add(id(one))
            yield one
            origins = (getattr(one, "original_exception", None), one.__cause__, one.__context__)
            waiting += [origin for origin in origins if isinstance(origin, BaseException)]


def _mapping(chunk: Any, stream: Any) -> Mapping[str, Any]:
    """Return the chunk in OpenAI's form, with only the usage that the provider reported.

    litellm guesses the tokens if none are reported, prices them even for a server that only uses the
    name of a known model, and adds up the total again. It also stores the original chunks.
    """
    found: dict[str, Any] = _plain(chunk)
    kept = getattr(stream, "chunks", None)
    if "usage" in found and kept is not None:
        reported = [_plain(one.usage) for one in kept if getattr(one, "usage", None)]
        if reported:
            found["usage"].update({name: reported[-1].get(name) for name in _REPORTED})
        else:
            del found["usage"]
    return found


def _plain(value: Any) -> Any:
    """Return Pydantic models as mappings, without None. `model_dump` takes ten times as long, and warns."""
    if hasattr(value, "model_dump"):
        return {name: _plain(inner) for name, inner in value if inner is not None}
    if isinstance(value, list):
        return [_plain(inner) for inner in value]
    return value


class Ending:
    """Detects if a reply is complete: litellm invents a finish reason for one that broke off.

    For Gemini it invents one for every part of a reply, so the reasons are read before it does.
    `spliced` is set if a second reply of Claude begins within the first: some intermediate servers repeat
    a request whose stream stalled, and litellm mixes both replies.
    """

    def __init__(self, stream: Any) -> None:
        """Watch the stream, which has not begun."""
        self._stream = stream
        self._gemini = False
        self.has_reason = False
        self._begun = self.spliced = False
        parts: Any = getattr(stream, "completion_stream", None)
        if "anthropic" in type(parts).__module__ and hasattr(parts, "chunk_parser"):
            parts.chunk_parser = partial(self._parsed_claude, parts.chunk_parser)
        if make_call := getattr(stream, "make_call", None):
            stream.make_call = partial(self._made, make_call)

    @property
    def reached(self) -> bool:
        """True if the stream holds the reason why the reply ended, or does not show whether it does."""
        if self._gemini:
            return self.has_reason
        reasons = ("received_finish_reason", "intermittent_finish_reason")
        return any(getattr(self._stream, name, "unknown") for name in reasons)

    async def _made(self, make_call: Callable[..., Awaitable[Any]], *args: Any, **kwargs: Any) -> Any:
        parts = await make_call(*args, **kwargs)
        if "gemini" in type(parts).__module__ and hasattr(parts, "chunk_parser"):
            self._gemini = True
            parts.chunk_parser = partial(self._parsed, parts.chunk_parser)
        return parts

    def _parsed_claude(self, parse: Callable[[Any], Any], chunk: Mapping[str, Any]) -> Any:
        kind = chunk.get("type")
        self._begun = self._begun or kind == "content_block_start"
        self.spliced = self.spliced or (self._begun and kind == "message_start")
        return parse(chunk)

    def _parsed(self, parse: Callable[[Any], Any], chunk: Mapping[str, Any]) -> Any:
        candidates = chunk.get("candidates") or ()
        reasons = [one.get("finishReason") for one in candidates]
        self.has_reason = (
            self.has_reason or any(reasons) or bool((chunk.get("promptFeedback") or {}).get("blockReason"))
        )
        for part in (part for one in candidates for part in (one.get("content") or {}).get("parts") or ()):
            if "functionCall" in part:
                # litellm fails on a call without arguments.
                part["functionCall"].setdefault("args", {})
        counts = chunk.get("usageMetadata") or {}
        if searched := counts.pop("toolUsePromptTokenCount", 0):
            # It leaves out what Gemini's own tools have read.
            counts["promptTokenCount"] = counts.get("promptTokenCount", 0) + searched
        return parse(chunk)


async def opened(litellm: Any, request: Mapping[str, Any], limit_s: float | None) -> Any:
    """Return the stream of the reply to `request`, once it has begun.

    litellm prepares a request in a thread, whose result is a coroutine. If cancelled meanwhile, it would drop
    the coroutine, and Python would warn that it was never awaited. So those milliseconds are not cancelled.

    Raises:
        TimeoutError: `limit_s` is over.
        Exception: whatever litellm raises.
    """
    opening = asyncio.ensure_future(litellm.acompletion(**request))
    try:
        async with asyncio.timeout(limit_s):
            return await asyncio.shield(opening)
    except BaseException:
        await _given_up(opening)
        raise


async def _given_up(opening: "asyncio.Future[Any]") -> None:
    while not opening.done() and _is_in_thread(opening):
        # The future of the thread is out of reach.
        await asyncio.wait([opening], timeout=_LOOKS_AGAIN_S)
    opening.cancel()
    await asyncio.wait([opening])
    if opening.cancelled() or opening.exception() is not None:
        return
    await opening.result().aclose()


def _is_in_thread(opening: Any) -> bool:
    """Return True if `acompletion` itself waits (for its thread), not a coroutine that it awaits."""
    innermost = opening.get_coro()
    while inspect.iscoroutine(innermost.cr_await):
        innermost = innermost.cr_await
    return bool(innermost.cr_code.co_name == "acompletion")
