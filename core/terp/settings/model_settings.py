"""The settings of the model and of the conversation with it: the first part of the one table."""

from dataclasses import dataclass, field
from typing import Literal

from terp.settings.setting import BY_ANYBODY, BY_PROJECT, setting

AdapterName = Literal["auto", "direct", "litellm"]


@dataclass(frozen=True)
class ModelSettings:
    """Settings of the model, of requests to it, and of the conversation."""

    model: str = setting(
        "",
        "the model, as PROVIDER/NAME",
        group="model",
        flags=("-m",),
        metavar="NAME",
        unset="the one that `api_base` lists, else found by the keys in the environment, else a local server",
    )
    discover: str = setting(
        "any",
        "where to look for a model if none is named: keys and this machine, or only this machine",
        group="model",
        choices=("any", "local"),
    )
    fallback_models: tuple[str, ...] = setting(
        (),
        "models to ask in turn if the one before cannot be reached",
        group="model",
        metavar="NAME,…",
    )
    adapter: str = setting(
        "auto", "how the model is reached", group="model", choices=("auto", "direct", "litellm")
    )
    api_base: str = setting(
        "", "address of an OpenAI-compatible server", group="model", flags=("-ab",), metavar="URL"
    )
    api_version: str = setting(
        "", "version of the API, if the provider needs one", group="model", flags=("-av",), metavar="TEXT"
    )
    api_key_env: str = setting(
        "", "the variable that holds the key", group="model", metavar="VARIABLE", unset="the provider's own"
    )
    temperature: float | None = setting(
        None,
        "randomness of the model's replies",
        group="model",
        kind="number",
        flags=("-t",),
        limits=(0, 2),
        unset="the provider's choice",
        sources=BY_ANYBODY,
    )
    max_tokens: int = setting(
        0,
        "longest reply",
        group="model",
        flags=("-x",),
        unit="tokens",
        unset="the provider's choice",
        sources=BY_ANYBODY,
    )
    context_window: int = setting(
        0,
        "size of the model's context window",
        group="model",
        flags=("-cw",),
        unit="tokens",
        unset="looked up by the model's name",
        sources=BY_ANYBODY,
    )
    compact_at: int = setting(
        85,
        "how full the context window may be before the conversation is compacted",
        group="model",
        unit="%",
        limits=(0, 100),
        unset="only after the model refused a request",
        sources=BY_ANYBODY,
    )
    supports_tools: bool | None = setting(
        None,
        "the model can call tools; otherwise it writes fenced code",
        group="model",
        kind="switch",
        unset="tried out",
        sources=BY_ANYBODY,
    )
    supports_vision: bool | None = setting(
        None,
        "the model can read images",
        group="model",
        kind="switch",
        unset="looked up by the model's name",
        sources=BY_ANYBODY,
    )
    reasoning_effort: str = setting(
        "",
        "how much a reasoning model thinks",
        group="model",
        choices=("none", "minimal", "low", "medium", "high"),
        unset="the provider's choice",
        sources=BY_ANYBODY,
    )
    input_price: float | None = setting(
        None,
        "price of the tokens that are sent, if terp does not know it",
        group="model",
        kind="number",
        unit="USD per million tokens",
        unset="looked up by the model's name",
    )
    output_price: float | None = setting(
        None,
        "price of the tokens of replies, if terp does not know it",
        group="model",
        kind="number",
        unit="USD per million tokens",
        unset="looked up by the model's name",
    )
    timeout_s: float = setting(
        180.0,
        "time without a reply after which a request fails",
        group="model",
        unit="s",
        unset="never",
        sources=BY_PROJECT,
    )
    retries: int = setting(
        3, "how often a failed request is retried", group="model", limits=(0, 20), sources=BY_PROJECT
    )

    system_message: str = setting(
        "",
        "the whole system prompt, in place of terp's own",
        group="conversation",
        flags=("-sm",),
        metavar="TEXT",
        sources=BY_ANYBODY,
    )
    instructions: str = setting(
        "",
        "your own instructions, added to the system prompt",
        group="conversation",
        flags=("-ci", "--custom-instructions"),
        metavar="TEXT",
        sources=BY_ANYBODY,
    )
    max_steps: int = setting(
        50,
        "model replies in one turn before it stops",
        group="conversation",
        unset="no limit",
        sources=BY_PROJECT,
    )
    max_budget_usd: float = setting(
        0.0,
        "limit of the costs of a session",
        group="conversation",
        flags=("-b", "--max-budget"),
        unit="USD",
        unset="no limit",
    )
    max_turn_usd: float = setting(
        0.0, "limit of the costs of one turn", group="conversation", unit="USD", unset="no limit"
    )
    max_month_usd: float = setting(
        0.0,
        "limit of the costs of all sessions of the profile in a calendar month",
        group="conversation",
        unit="USD",
        unset="no limit",
    )
    max_output_chars: int = setting(
        16_000,
        "how much of a run's output the model reads: its beginning and its end",
        group="conversation",
        flags=("-xo", "--max-output"),
        unit="characters",
        limits=(500, 10_000_000),
        sources=BY_ANYBODY,
    )
    error_values: bool = setting(
        True,
        "send small values of variables at a failed or interrupted line to the model",
        group="conversation",
    )
    session_quota_mb: int = setting(
        1_000,
        "disk space for stored sessions; beyond it the oldest are removed",
        group="conversation",
        unit="MB",
        unset="no limit",
    )


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
    """The retries of a request after a failure that may pass."""
