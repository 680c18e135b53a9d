"""What goes along when the model is changed in a conversation."""

from terp.models.building import settings_for
from terp.settings import Settings

HERE = Settings(model="openai/a", api_base="http://127.0.0.1:1/v1", api_key_env="MY_KEY")


def test_another_model_of_the_provider_is_reached_as_the_first_one() -> None:
    wanted = Settings(model="openai/b", api_base="http://127.0.0.1:1/v1", api_key_env="MY_KEY")
    assert settings_for("openai/b", "openai/a", HERE, "secret") == (wanted, "secret")


def test_the_key_and_the_address_of_one_provider_never_go_to_another() -> None:
    assert settings_for("groq/b", "openai/a", HERE, "secret") == (Settings(model="groq/b"), "")


def test_a_name_without_a_provider_is_a_model_of_the_server_that_is_talked_to() -> None:
    wanted = Settings(model="b", api_base="http://127.0.0.1:1/v1", api_key_env="MY_KEY")
    assert settings_for("b", "openai/a", HERE, "secret") == (wanted, "secret")


def test_a_price_stays_with_the_model_that_it_was_given_for() -> None:
    here = Settings(model="openai/a", input_price=3.0, output_price=15.0)
    assert settings_for("openai/b", "openai/a", here, "") == (Settings(model="openai/b"), "")
    assert settings_for("openai/a", "openai/b", here, "") == (here, "")
    bare = Settings(model="a", input_price=3.0)
    assert settings_for("openai/a", "openai/a", bare, "")[0].input_price == 3.0
    found = Settings(input_price=3.0, output_price=15.0)
    assert settings_for("openai/a", "openai/a", found, "")[0].input_price == 3.0
