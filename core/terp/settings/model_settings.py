"""The settings of the model and of the conversation with it: the first part of the one table."""

from typing import Any, Literal

from terp.settings.setting import BY_ANYBODY, BY_PROJECT, T, setting
from terp.text.dataclasses import dataclass, field

AdapterName = Literal["auto", "direct", "litellm"]


def model_setting(default: T, about: str, **facts: Any) -> T:
    """Declare a setting of the group `model`; see `setting`."""
    return setting(default, about, group="model", **facts)


def conversation_setting(default: T, about: str, **facts: Any) -> T:
    """Declare a setting of the group `conversation`; see `setting`."""
    return setting(default, about, group="conversation", **facts)


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """Settings of the model, of requests to it, and of the conversation."""

    model: str = model_setting(
        "",
        "the model, as PROVIDER/NAME",
        flags=("-m",),
        metavar="NAME",
        unset="the one that `api_base` lists, else found by the keys in the environment, else a local server",
    )
    discover: str = model_setting(
        "any",
        "where to look for a model if none is named: keys and this machine, or only this machine",
        choices=("any", "local"),
    )
    fallback_models: tuple[str, ...] = model_setting(
        (), "models to ask in turn if the one before cannot be reached", metavar="NAME,…"
    )
    adapter: str = model_setting("auto", "how the model is reached", choices=("auto", "direct", "litellm"))
    api_base: str = model_setting("", "address of an OpenAI-compatible server", flags=("-ab",), metavar="URL")
    api_version: str = model_setting(
        "", "version of the API, if the provider needs one", flags=("-av",), metavar="TEXT"
    )
    api_key_env: str = model_setting(
        "", "the variable that holds the key", metavar="VARIABLE", unset="the provider's own"
    )
    temperature: float | None = model_setting(
        None,
        "randomness of the model's replies",
        kind="number",
        flags=("-t",),
        limits=(0, 2),
        unset="the provider's choice",
        sources=BY_ANYBODY,
    )
    max_tokens: int = model_setting(
        0, "longest reply", flags=("-x",), unit="tokens", unset="the provider's choice", sources=BY_ANYBODY
    )
    context_window: int = model_setting(
        0,
        "size of the model's context window",
        flags=("-cw",),
        unit="tokens",
        unset="looked up by the model's name",
        sources=BY_ANYBODY,
    )
    compact_at: int = model_setting(
        85,
        "how full the context window may be before the conversation is compacted",
        unit="%",
        limits=(0, 100),
        unset="only after the model refused a request",
        sources=BY_ANYBODY,
    )
    supports_tools: bool | None = model_setting(
        None,
        "the model can call tools; otherwise it writes fenced code",
        kind="switch",
        unset="tried out",
        sources=BY_ANYBODY,
    )
    supports_vision: bool | None = model_setting(
        None,
        "the model can read images",
        kind="switch",
        unset="looked up by the model's name",
        sources=BY_ANYBODY,
    )
    reasoning_effort: str = model_setting(
        "",
        "how much a reasoning model thinks",
        choices=("none", "minimal", "low", "medium", "high"),
        unset="the provider's choice",
        sources=BY_ANYBODY,
    )
    input_price: float | None = model_setting(
        None,
        "price of the tokens that are sent, if terp does not know it",
        kind="number",
        unit="USD per million tokens",
        unset="looked up by the model's name",
    )
    output_price: float | None = model_setting(
        None,
        "price of the tokens of replies, if terp does not know it",
        kind="number",
        unit="USD per million tokens",
        unset="looked up by the model's name",
    )
    timeout_s: float = model_setting(
        180.0, "time without a reply after which a request fails", unit="s", unset="never", sources=BY_PROJECT
    )
    retries: int = model_setting(
        3, "how often a failed request is retried", limits=(0, 20), sources=BY_PROJECT
    )

    system_message: str = conversation_setting(
        "",
        "the whole system prompt, in place of terp's own",
        flags=("-sm",),
        metavar="TEXT",
        sources=BY_ANYBODY,
    )
    instructions: str = conversation_setting(
        "",
        "your own instructions, added to the system prompt",
        flags=("-ci", "--custom-instructions"),
        metavar="TEXT",
        sources=BY_ANYBODY,
    )
    max_steps: int = conversation_setting(
        50, "model replies in one turn before it stops", unset="no limit", sources=BY_PROJECT
    )
    max_budget_usd: float = conversation_setting(
        0.0, "limit of the costs of a session", flags=("-b", "--max-budget"), unit="USD", unset="no limit"
    )
    max_turn_usd: float = conversation_setting(
        0.0, "limit of the costs of one turn", unit="USD", unset="no limit"
    )
    max_month_usd: float = conversation_setting(
        0.0,
        "limit of the costs of all sessions of the profile in a calendar month",
        unit="USD",
        unset="no limit",
    )
    max_output_chars: int = conversation_setting(
        16_000,
        "how much of a run's output the model reads: its beginning and its end",
        flags=("-xo", "--max-output"),
        unit="characters",
        limits=(500, 10_000_000),
        sources=BY_ANYBODY,
    )
    error_values: bool = conversation_setting(
        True, "send small values of variables at a failed or interrupted line to the model"
    )
    checkpoint: str = conversation_setting(
        "off",
        "keep Python's variables on disk after each turn: auto (up to 1 GB a session), off, or a size (5GB)",
        metavar="auto|off|SIZE",
    )
    session_quota_mb: int = conversation_setting(
        1_000, "disk space for stored sessions; beyond it the oldest are removed", unit="MB", unset="no limit"
    )


@dataclass(frozen=True, slots=True)
class ModelOptions:
    """The settings that are passed to a model. None, or "", means the provider's default."""

    model: str
    """A name such as "openai/gpt-5.5"; the prefix names the provider."""
    adapter: AdapterName = "auto"
    """The adapter that reaches the provider; "auto" takes the quicker adapter that can do it."""
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
    """The retries of a request after a failure that may pass."""
