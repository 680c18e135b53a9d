"""Write a whole number from 1 to 3999 in Roman numerals."""


def roman(number: int) -> str:
    """IX for 9."""
    raise NotImplementedError


def test_small() -> None:
    assert roman(4) == "IV"
    assert roman(9) == "IX"


assert roman(1994) == "MCMXCIV"
