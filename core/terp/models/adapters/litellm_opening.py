"""A request of litellm that can be given up at any moment, and the end of its reply."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any

_LOOKS_AGAIN_S = 0.001


class Ending:
    """Reports whether a reply came to its own end: litellm makes up a finish reason for one that broke off.

    For every part of a reply of Gemini it makes one up. There the reasons are read before it does.
    `spliced` is set once a second reply of Claude's begins within the first: servers between have been seen
    to repeat a request whose stream stalled, and litellm mixes both replies.
    """

    def __init__(self, stream: Any) -> None:
        """Watch the stream, which has not begun."""
        self._stream = stream
        self._gemini = False
        self.told = False
        self._begun = self.spliced = False
        parts: Any = getattr(stream, "completion_stream", None)
        if "anthropic" in type(parts).__module__ and hasattr(parts, "chunk_parser"):
            parts.chunk_parser = partial(self._parsed_claude, parts.chunk_parser)
        if make_call := getattr(stream, "make_call", None):
            stream.make_call = partial(self._made, make_call)

    @property
    def reached(self) -> bool:
        """True if the provider has said why the reply ends, or cannot be asked."""
        if self._gemini:
            return self.told
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
        self.told = self.told or any(reasons) or bool((chunk.get("promptFeedback") or {}).get("blockReason"))
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
    """The stream of the reply to `request`, once it has begun.

    litellm prepares a request in a thread, whose result is a coroutine; cancelled meanwhile it would drop
    that, and Python complains on stderr about what nobody awaited. So the few milliseconds are waited for.

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
    """Whether `acompletion` itself waits, and not a coroutine that it awaits."""
    innermost = opening.get_coro()
    while inspect.iscoroutine(innermost.cr_await):
        innermost = innermost.cr_await
    return bool(innermost.cr_code.co_name == "acompletion")
