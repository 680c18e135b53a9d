"""The settings of the model and of the conversation with it: the first part of the one table."""

from dataclasses import dataclass

from terp.settings.setting import BY_ANYBODY, BY_PROJECT, setting


@dataclass(frozen=True)
class ModelSettings:
    """What is asked, how, and what it may cost."""

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
        "where a model is looked for when none is named: keys first, or this machine alone",
        group="model",
        choices=("any", "local"),
    )
    fallback_models: tuple[str, ...] = setting(
        (),
        "models that are asked in turn when the one before cannot be reached",
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
        "", "version of the API, where a provider wants one", group="model", flags=("-av",), metavar="TEXT"
    )
    api_key_env: str = setting(
        "", "the variable that holds the key", group="model", metavar="VARIABLE", unset="the provider's own"
    )
    temperature: float | None = setting(
        None,
        "how freely the model words its replies",
        group="model",
        kind="number",
        flags=("-t",),
        limits=(0, 2),
        unset="the provider's choice",
        sources=BY_ANYBODY,
    )
    max_tokens: int = setting(
        0,
        "length of one reply",
        group="model",
        flags=("-x",),
        unit="tokens",
        unset="the provider's choice",
        sources=BY_ANYBODY,
    )
    context_window: int = setting(
        0,
        "what the model can read at once",
        group="model",
        flags=("-cw",),
        unit="tokens",
        unset="looked up by the model's name",
        sources=BY_ANYBODY,
    )
    compact_at: int = setting(
        85,
        "how full that may be before the conversation is shortened",
        group="model",
        unit="%",
        limits=(0, 100),
        unset="only when the model takes no more",
        sources=BY_ANYBODY,
    )
    supports_tools: bool | None = setting(
        None,
        "whether the model can call tools; without, it writes fenced code",
        group="model",
        kind="switch",
        unset="tried out",
        sources=BY_ANYBODY,
    )
    supports_vision: bool | None = setting(
        None,
        "whether the model can see images",
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
        "the price of what this model reads, where terp does not know it",
        group="model",
        kind="number",
        unit="USD per million tokens",
        unset="looked up by the model's name",
    )
    output_price: float | None = setting(
        None,
        "the price of what it writes",
        group="model",
        kind="number",
        unit="USD per million tokens",
        unset="looked up by the model's name",
    )
    timeout_s: float = setting(
        180.0,
        "silence of the model after which a request fails",
        group="model",
        unit="s",
        unset="never",
        sources=BY_PROJECT,
    )
    retries: int = setting(
        3, "how often a failed request is sent again", group="model", limits=(0, 20), sources=BY_PROJECT
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
        "what a session may cost",
        group="conversation",
        flags=("-b", "--max-budget"),
        unit="USD",
        unset="no limit",
    )
    max_turn_usd: float = setting(
        0.0, "what one turn may cost", group="conversation", unit="USD", unset="no limit"
    )
    max_month_usd: float = setting(
        0.0,
        "what all sessions of the profile may cost in a calendar month",
        group="conversation",
        unit="USD",
        unset="no limit",
    )
    max_output_chars: int = setting(
        16_000,
        "output of a run that the model reads; head and tail are kept",
        group="conversation",
        flags=("-xo", "--max-output"),
        unit="characters",
        limits=(500, 10_000_000),
        sources=BY_ANYBODY,
    )
    error_values: bool = setting(
        True,
        "the model reads small values of variables at the line where code fails or is stopped",
        group="conversation",
    )
    session_quota_mb: int = setting(
        1_000,
        "disk space for stored sessions; beyond it the oldest are removed",
        group="conversation",
        unit="MB",
        unset="no limit",
    )
