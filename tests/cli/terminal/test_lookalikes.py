import pytest

from terp_cli.terminal.sanitise import lookalikes


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("p\u0430ypal = 1\np\u0430ypal", ["'p\u0430ypal' mixes Cyrillic and Latin letters"]),
        ("\U0001d429rint(1)", ["'\U0001d429rint' mixes Latin and Mathematical letters"]),
        ("\u039fs.remove(x)", ["'\u039fs' mixes Greek and Latin letters"]),
    ],
)
def test_a_name_of_two_alphabets_is_told(code: str, said: list[str]) -> None:
    assert lookalikes(code) == said


@pytest.mark.parametrize(
    "code", ["print(1)", "Δt = μ_x", "имя = 1", "naïve = 'имя'", "データx = 1", "数据df"]
)
def test_ordinary_names_are_not(code: str) -> None:
    assert lookalikes(code) == []
