"""The settings of `terp.open` and `terp.kernel`, typed. Made by `python -m terp_cli.generate.pages`."""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, Literal, TypedDict

class KernelSettings(TypedDict, total=False):
    """Settings about code; docs/settings.md describes each, with its unit and its built-in value."""

    code: bool
    python: str | PathLike[str]
    shell: str | PathLike[str]
    references: bool
    languages: Sequence[str]
    packages: Sequence[str]
    auto_install: Literal["never", "ask", "known", "always", ""]
    attach: str | PathLike[str]
    kernel_provisioner: str | PathLike[str]
    kernel_provisioner_config: Mapping[str, Any]
    run_timeout_s: float
    background_after_s: float
    until: str | PathLike[str]
    max_revisions: int
    watch: str | PathLike[str]
    until_timeout_s: float
    solve_timeout_s: float
    until_protect: Sequence[str]
    env_pass: Sequence[str]
    gateway_url: str | PathLike[str]
    gateway_token_env: str | PathLike[str]
    gateway_token_file: str | PathLike[str]
    gateway_keep: bool
    mcp_servers: Mapping[str, Any]
    search_provider: Literal["searxng", "brave", "tavily", ""]
    search_url: str | PathLike[str]
    sandbox: Literal["auto", "off", "workspace", "strict", "docker"]
    sandbox_required: bool
    network: bool
    memory_limit_mb: int
    max_processes: int
    max_file_mb: int
    docker_image: str | PathLike[str]
    allow: Sequence[str]
    ask: Sequence[str]
    deny: Sequence[str]

class OpenSettings(KernelSettings, total=False):
    """All settings."""

    discover: Literal["any", "local"]
    fallback_models: Sequence[str]
    adapter: Literal["auto", "direct", "litellm"]
    api_base: str | PathLike[str]
    api_version: str | PathLike[str]
    api_key_env: str | PathLike[str]
    temperature: float | None
    max_tokens: int
    context_window: int
    compact_at: int
    supports_tools: bool | None
    supports_vision: bool | None
    reasoning_effort: Literal["none", "minimal", "low", "medium", "high", ""]
    input_price: float | None
    output_price: float | None
    timeout_s: float
    retries: int
    system_message: str | PathLike[str]
    instructions: str | PathLike[str]
    max_steps: int
    max_budget_usd: float
    max_turn_usd: float
    max_month_usd: float
    max_output_chars: int
    error_values: bool
    checkpoint: str | PathLike[str]
    session_quota_mb: int
    auto_run: bool
    theme: Literal["auto", "dark", "light", "none"]
    images: Literal["auto", "off", "kitty", "iterm", "sixel", "blocks"]
    vi_mode: bool
    screen_reader: bool
    titles: Literal["auto", "off"]
    notify: Literal["auto", "off", "bell", "osc9", "osc99", "osc777"]
    record: str | PathLike[str]
    replay: str | PathLike[str]
    replay_mode: Literal["strict", "new", "sequence"]
