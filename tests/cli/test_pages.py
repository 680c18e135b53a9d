"""What is made of the table of settings and kept in the repository."""

from pathlib import Path

import pytest

from terp.settings import Settings
from terp.settings.setting import table
from terp_cli.generate.pages import generated, page


@pytest.mark.parametrize("path", list(generated()), ids=lambda path: path.name)
def test_what_is_kept_is_what_the_table_gives(path: Path) -> None:
    assert path.read_text(encoding="utf-8") == generated()[path], (
        "write it again: python -m terp_cli.generate.pages"
    )


def test_every_setting_is_on_the_page() -> None:
    assert [name for name in table(Settings) if f"\n| `{name}` |" not in page()] == []
