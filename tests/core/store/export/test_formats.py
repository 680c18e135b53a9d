import re

import pytest

from tests.core.store.export.scripted import EXPECTED, rendered

NAMES = ("session.ipynb", "session.py", "session.md", "session.html")


@pytest.mark.parametrize("name", NAMES)
def test_each_format_tells_the_whole_session(name: str) -> None:
    expected = (EXPECTED / name).read_text(encoding="utf-8")
    assert unmarked(rendered()[name].text) == unmarked(expected), (
        "write them anew: python -m tests.core.store.export.scripted"
    )


def unmarked(text: str) -> str:
    """The text without marks of colours and escaped quotes, which differ between versions of Pygments."""
    plain = re.sub(r'<span class="\w+">|</span>', "", text)
    return plain.replace("&quot;", '"').replace("&#39;", "'")


def test_code_in_a_page_is_coloured() -> None:
    assert '<span class="kn">import</span>' in rendered()["session.html"].text


def test_there_is_no_other_expected_file() -> None:
    assert {path.name for path in EXPECTED.iterdir()} == set(NAMES)
