"""Lines of a log without secrets."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from terp.text.pictures import is_picture

if TYPE_CHECKING:
    from terp.secrets.scrubbing import Scrubber


def redacted(line: Mapping[str, Any], scrubber: "Scrubber") -> dict[str, Any]:
    """The line with every secret replaced in whatever text it holds."""
    return {key: _value(key, value, scrubber) for key, value in line.items()}


def _value(key: str, value: Any, scrubber: "Scrubber") -> Any:
    match value:
        case str() if is_picture(key):
            return value
        case str():
            return _arguments(value, scrubber) if key == "arguments" else scrubber.redacted(value)
        case {"mime": str(mime), "data": str()} if is_picture(mime):
            return value
        case Mapping():
            return redacted(value, scrubber)
        case [*parts]:
            return [_value(key, part, scrubber) for part in parts]
    return value


def _arguments(text: str, scrubber: "Scrubber") -> str:
    """The arguments of a call, which stay JSON: what begins as a key may swallow all that follows."""
    clean = scrubber.redacted(text)
    if clean == text:
        return text
    try:
        return json.dumps(scrubber.redacted_value(json.loads(text)), ensure_ascii=False)
    except ValueError:
        return clean
