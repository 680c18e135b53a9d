"""Failures of model calls as errors of terp.

Providers agree neither on statuses (xAI refuses a bad key with 400) nor on bodies, so both are read.
"""

import ast
import json
import re
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from terp.errors import (
    AuthFailed,
    ContextFull,
    ModelError,
    RateLimited,
    RequestRejected,
    ToolsRejected,
    Unavailable,
)
from terp.text.dataclasses import dataclass, field
from terp.text.wording import shortened

# Separates the recorded error bodies of 14 providers without a miss or a false hit.
_CONTEXT = re.compile(
    r"context.?(length|window)|maximum context|exceeds? the available context"
    r"|prompt (is )?too long|messages? (is|are) too long|too many tokens|too_many_(prompt_)?tokens"
    r"|(input token count|input tokens).{0,60}exceed|exceeds? the maximum number of tokens|tokens exceeded",
    re.IGNORECASE,
)
_BAD_KEY = re.compile(
    r"(incorrect|invalid|missing|expired|wrong|no) (x-)?api.?key|invalid_api_key|api_key_invalid"
    r"|api.?key (is )?(not valid|invalid|missing|expired)"
    r"|authentication_error|authentication fails|unauthorized|unauthenticated",
    re.IGNORECASE,
)
_NO_TOOLS = re.compile(
    r"(does ?n[o']t|do not|not|un)\s*support(s|ed|ing)?\b[^.]{0,40}\b(tools?|functions?)\b"
    r"|\b(tools?|functions?)( use| calls?| calling| choice)?\b[^.]{0,30}\b(not|un)\s*(supported|available)"
    r"|(tool.?choice|tools?) (parameter )?requires|--jinja|--enable-auto-tool-choice"
    r"|no endpoints found that support tool",
    re.IGNORECASE,
)
_USED_UP = re.compile(r"insufficient_quota")
_RATE = re.compile(r"rate.?limit|too many requests|resource.?exhausted|quota", re.IGNORECASE)
_UNREACHED = re.compile(
    r"connection error|cannot connect|connection (refused|reset)|timed? ?out|overloaded|unavailable",
    re.IGNORECASE,
)
_NO_SUCH_MODEL = re.compile(
    r"model.{0,120}(not (be )?found|not exist)|(unknown|invalid) model|model_not_found",
    re.IGNORECASE | re.DOTALL,
)
# What litellm says, at length, of a name whose first part it does not know.
_NO_PROVIDER = "LLM Provider NOT provided"
BROKE_OFF = "the answer broke off before its end"
SPLICED = "the server began a second answer within the first"
_ANYTHING = re.compile("")

# The first that fits. Status 0 is an error that came without one: in a stream, or from litellm.
_RULES: tuple[tuple[frozenset[int], re.Pattern[str], type[ModelError]], ...] = (
    (frozenset({401, 403}), _ANYTHING, AuthFailed),
    (frozenset({0, 400, 404, 413, 422, 500}), _CONTEXT, ContextFull),
    (frozenset({0, 400, 404, 422, 500, 501}), _NO_TOOLS, ToolsRejected),
    (frozenset({0, 400}), _BAD_KEY, AuthFailed),
    (frozenset({402, 429}), _ANYTHING, RateLimited),
    (frozenset({0}), _RATE, RateLimited),
    (frozenset({408, 409, 425, *range(500, 600)}), _ANYTHING, Unavailable),
    (frozenset({0}), _UNREACHED, Unavailable),
)
_REMEDIES: Mapping[type[ModelError], str] = {
    ContextFull: "Shorten the conversation, or pick a model with a longer context with --model.",
    RateLimited: "Wait and try again, look at the plan of your account, or pick another model with --model.",
    ToolsRejected: "Set supports_tools to false, or pick another model with --model.",
    Unavailable: "Try again later, or pick another model with --model.",
}
_LONGEST_MESSAGE = 600
_WAIT = re.compile(
    r"(?:retry|try again|wait)[^.\d]{0,30}?(?:(\d+)h)?(?:(\d+)m(?!s))?(\d+(?:\.\d+)?)\s?(ms|s\b|sec)",
    re.IGNORECASE,
)
_RETRY_DELAY = re.compile(r'"retryDelay"\s*:\s*"([\d.]+)s"')
_SECRET = re.compile(
    r"\b(?:(?:sk|pk|gsk|xai|r8|hf|nvapi|pplx|csk|fw|ghp|gho)[-_]|AIza|Bearer )[\w\-*.]{7,}[\w*]"
)
_BYTES = re.compile(r"\bb(['\"]).*\1", re.DOTALL)
_WRAPPING = re.compile(
    r"^((litellm\.)?\w*(Error|Exception|Timeout)(: | - | (?=\w+Error - ))|Error code: \d+ - )+"
)


@dataclass(frozen=True, slots=True)
class Target:
    """The destination of a request, for error messages. `key_env` is "" if no key is used."""

    model: str
    provider: str
    api_base: str = ""
    key_env: str = ""
    key: str = field(default="", repr=False)


def unusable_key(target: Target, *, needed: bool) -> AuthFailed | None:
    """Return the error for a required key that is not set or not valid in a header; else None."""
    if needed:
        return AuthFailed(
            f"No key for provider '{target.provider}'.",
            f"Set {target.key_env} or store a key with terp keys set, or pick another model with --model.",
        )
    if target.key.isascii() and (not target.key or target.key.isprintable()):
        return None
    return AuthFailed(
        f"The key for provider '{target.provider}' contains characters that are not valid in a key.",
        f"Check {target.key_env or 'it'}: quotes or other text may have been copied with it.",
    )


def classify(
    target: Target,
    status: int,
    body: str,
    headers: Mapping[str, str] | None = None,
    *,
    streaming: bool = False,
) -> ModelError:
    """Return the error for a response. `status` is 0 if unknown, `body` is the text of the response.

    `streaming`: the answer had begun, so an error of unknown kind counts as a broken stream.
    """
    said = message_in(body)
    if _NO_PROVIDER in body:
        return RequestRejected(
            f"{target.model}: no provider of that name is known.",
            "Write the model as PROVIDER/NAME, such as openai/gpt-5.6, or look for a misspelling.",
            status=status,
        )
    if not said:
        said = f"the provider answered with status {status}" if status else "the provider sent an empty error"
    elif len(said.split()) == 1 or said.endswith(" -"):
        # A key that litellm missed, or a class of its own: what it could not read.
        said = f"the answer could not be read, or was an error without words ({said.rstrip(' -')})"
    kind = _kind(status, body, streaming=streaming)
    failed = kind(
        f"{target.model}: {without_secrets(said, target.key)}",
        _remedy(kind, target, status, body),
        status=status,
        retry_after_s=retry_after_s(headers or {}, body),
    )
    if _USED_UP.search(body):
        # An account that has nothing left to pay with has no more a minute later.
        failed.retryable = False
    return failed


def unreachable(target: Target, reason: str) -> Unavailable:
    """Return the error for a server that does not answer, or breaks off."""
    address = target.api_base
    local = any(host in address for host in ("//127.", "//localhost", "//[::1]"))
    remedy = f"Is the server at {address} running?" if local else "Check the network, then try again."
    return Unavailable(f"{target.model}: {without_secrets(reason, target.key)}", remedy)


def _kind(status: int, body: str, *, streaming: bool) -> type[ModelError]:
    for statuses, pattern, kind in _RULES:
        if status in statuses and pattern.search(body):
            return kind
    return Unavailable if streaming and not status else RequestRejected


def _remedy(kind: type[ModelError], target: Target, status: int, body: str) -> str:
    if remedy := _REMEDIES.get(kind):
        return remedy
    if kind is AuthFailed:
        named = target.key_env
        what = f"Check {named}" if named else "Name the variable with the key in api_key_env"
        return f"{what}, or pick another model with --model."
    if _NO_SUCH_MODEL.search(body):
        if target.provider.startswith("ollama"):
            name = target.model.partition("/")[2]
            return f"Fetch it with 'ollama pull {name}', or pick another model with --model."
        return "Check the name, or pick another model with --model."
    if status in (301, 302, 307, 308, 404, 405):
        return "Check --api-base (it usually ends in /v1) and --model."
    return "Change the setting it names, or pick another model with --model."


def message_in(body: str) -> str:
    """Return the sentence in an error body of any form, without litellm's wrapping."""
    # litellm puts its own traceback after the sentence, and prints bodies as Python bytes.
    bare = body.partition("Traceback (most recent call last)")[0]
    if quoted := _BYTES.search(bare):
        bare = _literal(quoted[0], bare)
    start = bare.find("{")
    if start >= 0 and (message := _dig(_first_object(bare[start:]))):
        return _shortened(_WRAPPING.sub("", message))
    if "<html" in bare[:2000].lower():
        title = re.search(r"<title[^>]*>(.*?)</title>", bare, re.IGNORECASE | re.DOTALL)
        return f"a web page instead of an answer{f' ({_shortened(title[1])})' if title else ''}"
    return _shortened(_WRAPPING.sub("", bare.strip()))


def without_secrets(text: str, key: str = "") -> str:
    """Return `text` without `key` and texts that look like keys: providers quote the key they refuse."""
    from terp.secrets.redactor import REDACTED, Redactor  # noqa: PLC0415  (few requests fail)

    if len(key) >= 8:
        text = text.replace(key, "[key]")
    return Redactor().redacted(_SECRET.sub("[key]", text)).replace(REDACTED, "[key]")


def retry_after_s(headers: Mapping[str, str], body: str) -> float | None:
    """Return the wait that the provider requests, in seconds: from its headers, else from its message."""
    lower = {name.lower(): value for name, value in headers.items()}
    if (milliseconds := _number(lower.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1000
    value = lower.get("retry-after", "")
    if (seconds := _number(value)) is not None:
        return seconds
    if value:
        from email.utils import parsedate_to_datetime  # noqa: PLC0415  (a date is rare)

        with suppress(ValueError):
            return max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    return _wait_in(body)


def _first_object(text: str) -> Any:
    try:
        return json.JSONDecoder(strict=False).raw_decode(text)[0]
    except ValueError:
        return _literal(text[: text.rfind("}") + 1], None)


def _literal(text: str, otherwise: Any) -> Any:
    """Return the value of a Python literal, bytes decoded; `otherwise` for any other text."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return otherwise
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _dig(found: Any) -> str:
    """Return the message in a parsed body; the provider's original one if a gateway wraps it."""
    if isinstance(found, str):
        return found
    if isinstance(found, list):
        return _dig(found[0]) if found else ""
    if not isinstance(found, Mapping):
        return ""
    metadata = found.get("metadata")
    if isinstance(metadata, Mapping) and (raw := metadata.get("raw")):
        return message_in(str(raw))
    for name in ("error", "message", "detail", "details", "error_message", "msg"):
        if message := _dig(found.get(name)):
            return message
    return ""


def _shortened(text: str) -> str:
    return shortened(" ".join(text.split()), _LONGEST_MESSAGE)


def _wait_in(body: str) -> float | None:
    if delay := _RETRY_DELAY.search(body):
        return _number(delay[1])
    found = _WAIT.search(body)
    if not found:
        return None
    hours, minutes, amount, unit = found.groups()
    seconds = float(amount) / 1000 if unit.lower() == "ms" else float(amount)
    return int(hours or 0) * 3600 + int(minutes or 0) * 60 + seconds


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if 0 <= number < 1e9 else None
