from pathlib import Path

from terp.kernels.sandbox.tier import with_own_places


def copied(home: Path) -> dict[str, str]:
    """What is in the kernel's own folder of matplotlib."""
    own = home / "own"
    own.mkdir()
    with_own_places({"HOME": str(home)}, own)
    return {path.name: path.read_text() for path in (own / "matplotlib").iterdir()}


def test_what_matplotlib_knows_of_fonts_is_copied(tmp_path: Path) -> None:
    cache = tmp_path / ".cache" / "matplotlib"
    cache.mkdir(parents=True)
    (cache / "fontlist-v390.json").write_text("{}")
    assert copied(tmp_path) == {"fontlist-v390.json": "{}"}


def test_a_link_in_the_place_of_its_settings_is_not_followed(tmp_path: Path) -> None:
    cache = tmp_path / ".cache" / "matplotlib"
    cache.mkdir(parents=True)
    (tmp_path / "key").write_text("secret")
    (cache / "matplotlibrc").symlink_to(tmp_path / "key")
    assert copied(tmp_path) == {}
