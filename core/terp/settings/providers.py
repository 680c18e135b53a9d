"""The table of providers: the address of each, and the variable with its key."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from terp.text.dataclasses import dataclass

ECHOED = (
    "thinking_blocks",
    "reasoning_content",
    "reasoning",
    "reasoning_details",
    "provider_specific_fields",
)
"""Fields of a reply that some provider wants to see again in the next request."""


@dataclass(frozen=True, slots=True)
class Provider:
    """A provider, named by the prefix of a model's name.

    If none of several `key_envs` is set, messages name the first; without entries no key is used.
    `usage_option` is True if `stream_options` is understood, `calls_tools` if `tools` is; `echoed` names the
    fields of a reply that must be sent back. Models with `marks_cache` in their names cache only the marked
    parts of a request; "" stands for none.
    """

    adapter: Literal["direct", "litellm"]
    api_base: str = ""
    key_envs: tuple[str, ...] = ()
    base_envs: tuple[str, ...] = ()
    length_option: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    usage_option: bool = True
    calls_tools: bool = True
    echoed: tuple[str, ...] = ECHOED
    marks_cache: str = ""


def _remote(api_base: str, *key_envs: str, usage_option: bool = True) -> Provider:
    return Provider("direct", api_base, key_envs, usage_option=usage_option)


def _local(api_base: str, *base_envs: str) -> Provider:
    return Provider("direct", api_base, base_envs=base_envs)


def _cohere() -> Provider:
    base = "https://api.cohere.ai/compatibility/v1"
    return Provider("direct", base, ("COHERE_API_KEY", "CO_API_KEY"), usage_option=False, echoed=())


# Addresses and variables as litellm 1.105 has them, so that a key works with both adapters.
PROVIDERS: Mapping[str, Provider] = MappingProxyType(
    {
        "openai": Provider(
            "direct",
            "https://api.openai.com/v1",
            ("OPENAI_API_KEY",),
            ("OPENAI_BASE_URL", "OPENAI_API_BASE"),
            length_option="max_completion_tokens",
            echoed=(),
        ),
        "groq": Provider(
            "direct", "https://api.groq.com/openai/v1", ("GROQ_API_KEY",), echoed=("reasoning",)
        ),
        "openrouter": Provider(
            "direct",
            "https://openrouter.ai/api/v1",
            ("OPENROUTER_API_KEY",),
            echoed=("reasoning", "reasoning_details"),
            marks_cache="claude",
        ),
        "deepseek": Provider(
            "direct", "https://api.deepseek.com/v1", ("DEEPSEEK_API_KEY",), echoed=("reasoning_content",)
        ),
        "mistral": Provider(
            "direct", "https://api.mistral.ai/v1", ("MISTRAL_API_KEY",), usage_option=False, echoed=()
        ),
        "xai": Provider("direct", "https://api.x.ai/v1", ("XAI_API_KEY",), echoed=("reasoning_content",)),
        "cerebras": Provider(
            "direct",
            "https://api.cerebras.ai/v1",
            ("CEREBRAS_API_KEY",),
            usage_option=False,
            echoed=("reasoning",),
        ),
        "perplexity": Provider(
            "direct",
            "https://api.perplexity.ai",
            ("PERPLEXITY_API_KEY", "PERPLEXITYAI_API_KEY"),
            usage_option=False,
            calls_tools=False,
            echoed=(),
        ),
        "together_ai": _remote("https://api.together.ai/v1", "TOGETHER_API_KEY", "TOGETHERAI_API_KEY"),
        "fireworks_ai": _remote(
            "https://api.fireworks.ai/inference/v1", "FIREWORKS_API_KEY", "FIREWORKS_AI_API_KEY"
        ),
        "moonshot": _remote("https://api.moonshot.ai/v1", "MOONSHOT_API_KEY"),
        "zai": _remote("https://api.z.ai/api/paas/v4", "ZAI_API_KEY"),
        "dashscope": _remote("https://dashscope.aliyuncs.com/compatible-mode/v1", "DASHSCOPE_API_KEY"),
        "novita": _remote("https://api.novita.ai/v3/openai", "NOVITA_API_KEY"),
        "nvidia_nim": _remote(
            "https://integrate.api.nvidia.com/v1", "NVIDIA_NIM_API_KEY", usage_option=False
        ),
        "vercel_ai_gateway": _remote("https://ai-gateway.vercel.sh/v1", "VERCEL_AI_GATEWAY_API_KEY"),
        "huggingface": _remote("https://router.huggingface.co/v1", "HF_TOKEN", "HUGGINGFACE_API_KEY"),
        # 127.0.0.1 and not localhost, which tries IPv6 first.
        "ollama": _local("http://127.0.0.1:11434/v1", "OLLAMA_HOST"),
        "lm_studio": _local("http://127.0.0.1:1234/v1", "LM_STUDIO_API_BASE"),
        "hosted_vllm": _local("http://127.0.0.1:8000/v1", "HOSTED_VLLM_API_BASE"),
        "llamafile": _local("http://127.0.0.1:8080/v1", "LLAMAFILE_API_BASE"),
        "llamacpp": _local("http://127.0.0.1:8080/v1"),
        "jan": Provider("direct", "http://127.0.0.1:1337/v1", ("JAN_API_KEY",)),
        "anthropic": Provider("litellm", key_envs=("ANTHROPIC_API_KEY",)),
        "gemini": Provider("litellm", key_envs=("GEMINI_API_KEY", "GOOGLE_API_KEY")),
        "azure": Provider("litellm", key_envs=("AZURE_API_KEY",)),
        "azure_ai": Provider("litellm", key_envs=("AZURE_AI_API_KEY",)),
        # litellm cannot read the streams of Cohere's own interface.
        "cohere_chat": _cohere(),
        "cohere": _cohere(),
        "ollama_chat": Provider("litellm", "http://127.0.0.1:11434", base_envs=("OLLAMA_HOST",)),
        # No entry means litellm, with whatever credentials it finds: bedrock, vertex_ai, sagemaker …
    }
)
