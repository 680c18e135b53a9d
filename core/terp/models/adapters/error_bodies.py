"""What providers write into error bodies: the sentence to show, the time to wait, no keys."""

import ast
import json
import re
import time
from collections.abc import Mapping
from typing import Any

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


def message_in(body: str) -> str:
    """The sentence in an error body, of whatever form; litellm's wrapping is taken off."""
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
    """`text` with `key`, and what looks like one, replaced: providers quote the key they refuse."""
    from terp.secrets.scrubbing import REDACTED, Scrubber  # noqa: PLC0415  (few requests fail)

    if len(key) >= 8:
        text = text.replace(key, "[key]")
    return Scrubber().redacted(_SECRET.sub("[key]", text)).replace(REDACTED, "[key]")


def retry_after_s(headers: Mapping[str, str], body: str = "", *, now: float | None = None) -> float | None:
    """How long the provider asks to wait, in seconds: from its headers, else from its words.

    `now` is the time since the epoch against which a date is read.
    """
    lower = {name.lower(): value for name, value in headers.items()}
    if (milliseconds := _number(lower.get("retry-after-ms", ""))) is not None:
        return milliseconds / 1000
    value = lower.get("retry-after", "")
    if (seconds := _number(value)) is not None:
        return seconds
    if value:
        from email.utils import parsedate_to_datetime  # noqa: PLC0415  (a date is rare)

        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - (time.time() if now is None else now))
        except ValueError:
            return _wait_in(body)
    return _wait_in(body)


def _first_object(text: str) -> Any:
    try:
        return json.JSONDecoder(strict=False).raw_decode(text)[0]
    except ValueError:
        return _literal(text[: text.rfind("}") + 1], None)


def _literal(text: str, otherwise: Any) -> Any:
    """The value of a Python literal, bytes decoded; `otherwise` where it is none."""
    try:
        value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return otherwise
    return value.decode(errors="replace") if isinstance(value, bytes) else value


def _dig(found: Any) -> str:
    """The message in a parsed body; the provider's own where a gateway wraps it."""
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
    line = " ".join(text.split())
    return line if len(line) <= _LONGEST_MESSAGE else line[:_LONGEST_MESSAGE] + "…"


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
