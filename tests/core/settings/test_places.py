"""Where files go."""

from pathlib import Path

from terp.settings.places import Places, find_places


def test_terp_home_moves_everything() -> None:
    assert find_places({"TERP_HOME": "/x", "XDG_CONFIG_HOME": "/y"}) == Places(
        Path("/x"), Path("/x"), Path("/x/agents")
    )


def test_the_xdg_variables_are_followed_when_absolute() -> None:
    environ = {"HOME": "/h", "XDG_CONFIG_HOME": "/c", "XDG_STATE_HOME": "relative"}
    assert find_places(environ) == Places(Path("/c/terp"), Path("/h/.local/state/terp"), Path("/h/.agents"))
