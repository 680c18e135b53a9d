"""What a person can say about the model they want."""

from dataclasses import dataclass, field
from typing import Literal

AdapterName = Literal["auto", "direct", "litellm"]


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The settings that reach a model. None, or "", leaves a choice to the provider."""

    model: str
    """A name such as "openai/gpt-5.5"; the prefix names the provider."""
    adapter: AdapterName = "auto"
    """How the provider is reached; "auto" takes the quicker adapter that can do it."""
    api_base: str = ""
    """The address up to and without "/chat/completions"."""
    api_version: str = ""
    """For providers that want one, such as Azure."""
    api_key_env: str = ""
    """The environment variable that holds the key, instead of the provider's usual one."""
    api_key: str = field(default="", repr=False)
    """The key itself, where it was given on the command line."""
    temperature: float | None = None
    max_tokens: int | None = None
    """The longest reply, in tokens."""
    reasoning_effort: str = ""
    context_window: int | None = None
    """In tokens, where it is known better than by the price list."""
    supports_vision: bool | None = None
    input_price: float | None = None
    """In USD per million tokens, where it is known better than by the price list."""
    output_price: float | None = None
    """Likewise."""
    timeout_s: float = 180.0
    """The longest silence: before the first byte, and between any two. 0 means no limit."""
    retries: int = 3
    """How often a request is sent again after a failure that may pass."""
