"""What each of the models of some settings costs."""

from dataclasses import replace

import pytest

from terp.models.facts.lookup import known_prices
from terp.settings import Settings

HERE = Settings(model="openai/mine", api_base="http://127.0.0.1:1/v1", input_price=3.0, output_price=15.0)


def test_the_settings_price_the_model_that_they_name_perhaps_without_its_provider() -> None:
    for settings in (HERE, replace(HERE, model="mine")):
        assert known_prices(settings, {})("openai/mine").cost_usd(1_000_000, 100_000) == pytest.approx(4.5)


def test_another_model_of_the_same_server_has_no_price() -> None:
    assert known_prices(HERE, {})("openai/gpt-4o").cost_usd(1, 1) is None


def test_a_model_that_stands_in_has_the_price_of_the_list() -> None:
    settings = Settings(model="openai/x", input_price=3.0, fallback_models=("anthropic/claude-sonnet-4-5",))
    assert known_prices(settings, {})("anthropic/claude-sonnet-4-5").input_price == pytest.approx(3e-6)


def test_a_name_that_nobody_knows_has_no_price() -> None:
    assert known_prices(HERE, {})("a recording").cost_usd(1, 1) is None
