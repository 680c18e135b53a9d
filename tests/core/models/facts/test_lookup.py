"""What each of the models of some settings reads at once."""

from terp.models.facts.lookup import windows
from terp.models.facts.model_facts import Window
from terp.settings import Settings


def test_the_price_list_tells_the_window_of_a_model_it_knows() -> None:
    assert windows(Settings(model="openai/gpt-4o"), {})("openai/gpt-4o") == Window(128_000)


def test_what_the_settings_say_comes_first() -> None:
    settings = Settings(model="openai/gpt-4o", context_window=4_000, max_tokens=500, compact_at=60)
    assert windows(settings, {})("openai/gpt-4o") == Window(4_000, 500, 60)


def test_a_server_of_ones_own_only_borrows_the_name_of_a_known_model() -> None:
    settings = Settings(model="gpt-4o", api_base="http://127.0.0.1:8080/v1")
    assert windows(settings, {})("openai/gpt-4o") == Window(0, vision=False)


def test_a_model_that_stands_in_has_its_own_window() -> None:
    settings = Settings(model="openai/gpt-4o", fallback_models=("anthropic/claude-opus-4-5",))
    assert windows(settings, {})("anthropic/claude-opus-4-5").tokens == 200_000


def test_a_name_that_nobody_knows_has_the_window_of_the_settings() -> None:
    assert windows(Settings(context_window=4_000), {})("recorded") == Window(4_000)
    assert windows(Settings(), {})("recorded") == Window()
