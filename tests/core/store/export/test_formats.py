import pytest

from tests.core.store.export.scripted import EXPECTED, rendered

NAMES = ("session.ipynb", "session.py", "session.md", "session.html")


@pytest.mark.parametrize("name", NAMES)
def test_each_format_tells_the_whole_session(name: str) -> None:
    expected = (EXPECTED / name).read_text(encoding="utf-8")
    assert rendered()[name].text == expected, "write them anew: python -m tests.core.store.export.scripted"


def test_there_is_no_other_expected_file() -> None:
    assert {path.name for path in EXPECTED.iterdir()} == set(NAMES)
