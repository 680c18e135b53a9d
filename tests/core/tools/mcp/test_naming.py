"""Names of servers, tools and parameters in Python."""

import keyword

import pytest
from hypothesis import given
from hypothesis import strategies as st

from terp.tools.mcp.naming import python_names


@pytest.mark.parametrize(
    ("name", "python"),
    [
        ("read_file", "read_file"),
        ("read-file", "read_file"),
        ("files/read", "files_read"),
        ("from", "from_"),
        ("3d", "n3d"),
        ("", "unnamed"),
        ("__class__", "class_"),
        ("größe", "größe"),
    ],
)
def test_a_name_becomes_one_that_python_can_write(name: str, python: str) -> None:
    assert python_names([name]) == {name: python}


def test_a_name_that_python_can_write_is_not_taken_by_another() -> None:
    assert python_names(["a-b", "a_b", "a.b"]) == {"a-b": "a_b_2", "a_b": "a_b", "a.b": "a_b_3"}


@given(st.lists(st.text(max_size=6)))
def test_every_name_has_its_own_and_each_can_be_written(names: list[str]) -> None:
    made = python_names(names)
    assert made.keys() == set(names)
    assert len(set(made.values())) == len(made)
    assert all(name.isidentifier() and not keyword.iskeyword(name) for name in made.values())
