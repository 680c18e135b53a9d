"""The file of decisions about Pythons, which anybody may have edited."""

from pathlib import Path

import pytest

from terp.kernels.environments.remembered import Decision, Remembered


def test_a_decision_is_kept_for_the_file_that_the_python_was(tmp_path: Path) -> None:
    file = tmp_path / "state/pythons.json"
    Remembered(file).keep("/project", "/no/python", "own")
    assert Remembered(file).about("/project", "/no/python") == Decision("/no/python", "/no/python", "own")


@pytest.mark.parametrize("text", ["", "[]", '{"/project": "own"}', '{"/project": [1]}', '{"/project": {}}'])
def test_what_is_no_decision_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "pythons.json").write_text(text)
    assert Remembered(tmp_path / "pythons.json").about("/project", "/no/python") is None
