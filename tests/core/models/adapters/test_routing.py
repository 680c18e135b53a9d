"""Which adapter reaches a model, with what address and key."""

import pytest

from terp.errors import SettingsError
from terp.models.adapters.routing import Route, doubt, ollama_base, route
from terp.models.facts.abilities import Abilities
from terp.models.facts.model_facts import PriceList
from terp.settings.model_settings import ModelOptions

KEYS = {"OPENAI_API_KEY": "sk-o", "ANTHROPIC_API_KEY": "sk-a", "GOOGLE_API_KEY": "g"}


def found(model: str, **options: object) -> Route:
    return route(ModelOptions(model, **options), KEYS)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("model", "adapter", "full_name"),
    [
        ("openai/gpt-5.6", "direct", "openai/gpt-5.6"),
        ("gpt-5.6", "direct", "openai/gpt-5.6"),
        ("o3", "direct", "openai/o3"),
        ("claude-sonnet-5-5", "litellm", "anthropic/claude-sonnet-5-5"),
        ("gemini-pro-latest", "litellm", "gemini/gemini-pro-latest"),
        ("groq/openai/gpt-oss-120b", "direct", "groq/openai/gpt-oss-120b"),
        ("bedrock/anthropic.claude", "litellm", "bedrock/anthropic.claude"),
        ("gpt-5-codex", "litellm", "openai/gpt-5-codex"),
        ("o1-pro", "litellm", "openai/o1-pro"),
        ("ollama/qwen3", "direct", "ollama/qwen3"),
        ("ollama_chat/qwen3", "litellm", "ollama_chat/qwen3"),
    ],
)
def test_a_name_says_how_its_model_is_reached(model: str, adapter: str, full_name: str) -> None:
    assert (found(model).adapter, found(model).full_name) == (adapter, full_name)


def test_an_address_of_ones_own_takes_the_name_as_it_is() -> None:
    mine = found("qwen/qwen3-coder", api_base="http://10.0.0.7:1234/v1/")
    assert (mine.adapter, mine.model, mine.api_base) == (
        "direct",
        "qwen/qwen3-coder",
        "http://10.0.0.7:1234/v1",
    )


def test_a_model_that_needs_the_responses_api_is_direct_behind_ones_own_address() -> None:
    assert found("openai/gpt-5-codex", api_base="http://127.0.0.1:1/v1").adapter == "direct"


def test_the_adapter_can_be_chosen() -> None:
    assert found("openai/gpt-5.6", adapter="litellm").adapter == "litellm"


def test_tools_with_an_effort_need_the_responses_api() -> None:
    assert found("gpt-5.6", reasoning_effort="high").adapter == "litellm"


def test_every_model_of_the_responses_api_goes_to_litellm() -> None:
    listed = PriceList()
    names = ["gpt-5.2-codex", "gpt-5.5-pro", "o3-deep-research", "o3-pro", "gpt-5.1-codex-mini"]
    assert [listed.facts(name).mode for name in names] == ["responses"] * len(names)
    assert [found(name).adapter for name in names] == ["litellm"] * len(names)


def test_the_second_variable_of_a_provider_counts_too() -> None:
    assert (found("gemini/x").key_env, found("gemini/x").key) == ("GOOGLE_API_KEY", "g")


def test_a_loopback_address_needs_no_key() -> None:
    assert not route(ModelOptions("openai/m", api_base="http://127.0.0.1:1/v1"), {}).lacks_key
    assert route(ModelOptions("openai/m"), {}).lacks_key


def test_no_key_is_in_a_repr() -> None:
    assert "sk-o" not in repr(found("gpt-5.6")) + repr(found("gpt-5.6").target)
    assert "secret" not in repr(ModelOptions("m", api_key="secret"))


def test_a_name_without_a_provider_says_how_to_write_it() -> None:
    with pytest.raises(SettingsError) as caught:
        found("qwen3")
    assert caught.value.problems == (
        "model: 'qwen3' names no provider. Write provider/model, such as ollama/qwen3, or set api_base.",
    )


def test_an_address_without_a_scheme_is_refused() -> None:
    with pytest.raises(SettingsError, match="must begin with http"):
        found("openai/m", api_base="localhost:1234")


def test_a_name_of_another_provider_is_doubted() -> None:
    assert doubt("openai/claude-3") == "'claude-3' looks like a model of anthropic, but goes to openai."
    assert doubt("openai/gpt-5.6") == ""
    assert doubt("openrouter/claude-3") == ""
    assert doubt("openai/claude-3", "http://127.0.0.1:1/v1") == ""


@pytest.mark.parametrize("address", ["http://localhost:99999/v1", "http://localhost:port", "http://[::1/v1"])
def test_an_address_with_a_slip_in_it_is_refused(address: str) -> None:
    with pytest.raises(SettingsError, match="is no address"):
        found("openai/m", api_base=address)


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("0.0.0.0", "http://127.0.0.1:11434/v1"),
        ("0.0.0.0:99", "http://127.0.0.1:99/v1"),
        ("http://gpu:1", "http://gpu:1/v1"),
        ("[::]:5", "http://127.0.0.1:5/v1"),
        ("nonsense:port", "http://127.0.0.1:11434/v1"),
    ],
)
def test_ollama_host_is_read_as_ollama_writes_it(host: str, address: str) -> None:
    assert ollama_base(host, "http://127.0.0.1:11434/v1") == address


def test_prices_are_known_without_importing_litellm() -> None:
    known = PriceList().facts("gpt-4o")
    assert (known.context_window, known.supports_vision) == (128000, True)
    assert known.cost_usd(1000, 100, cached=400) == pytest.approx(600 * 2.5e-6 + 400 * 1.25e-6 + 100 * 1e-5)


def test_an_unknown_price_is_unknown() -> None:
    assert PriceList().facts("openai/never-heard-of").cost_usd(1, 1) is None


def test_a_borrowed_name_has_no_price() -> None:
    mine = ModelOptions("openai/gpt-4o", api_base="http://127.0.0.1:1/v1")
    assert Abilities(route(mine, {}), mine).cost_usd(1, 1, 0, 0) is None
    theirs = ModelOptions("openai/gpt-4o")
    assert Abilities(route(theirs, {}), theirs).cost_usd(1, 1, 0, 0) == pytest.approx(1.25e-5)


def test_the_person_prices_what_the_list_does_not_know_or_knows_otherwise() -> None:
    mine = ModelOptions("openai/x", api_base="http://127.0.0.1:1/v1", input_price=2.0, output_price=0.0)
    assert Abilities(route(mine, {}), mine).cost_usd(1_000_000, 5, 400_000, 0) == pytest.approx(2.0)
    half = ModelOptions("openai/gpt-4o", output_price=1.0)
    assert Abilities(route(half, {}), half).cost_usd(1, 1, 0, 0) == pytest.approx(2.5e-6 + 1e-6)
    lacking = ModelOptions("openai/x", api_base="http://127.0.0.1:1/v1", input_price=2.0)
    assert Abilities(route(lacking, {}), lacking).cost_usd(1, 1, 0, 0) is None


def test_cohere_is_reached_through_its_openai_compatible_address() -> None:
    mine = found("cohere_chat/command-a")
    assert (mine.adapter, mine.api_base) == ("direct", "https://api.cohere.ai/compatibility/v1")


def test_a_provider_with_an_interface_of_its_own_keeps_its_adapter_at_an_address() -> None:
    mine = found("bedrock/claude", api_base="https://vpce.example/x")
    assert (mine.adapter, mine.full_name) == ("litellm", "bedrock/claude")
