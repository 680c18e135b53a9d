"""Markdown files with front matter, as people write them."""

import pytest

from terp.settings.front_matter import FrontMatter, read_front_matter


def test_entries_have_their_lines_and_the_rest_is_the_body() -> None:
    content = b"---\nname: pdf\n# a comment\ndescription: >-\n  Reads\n  files.\n---\n\n# How\nRead.\n"
    assert read_front_matter(content) == FrontMatter(
        "# How\nRead.", {"name": "pdf", "description": "Reads files."}, {"name": 2, "description": 4}
    )


@pytest.mark.parametrize(
    "content", [b"Only a prompt.\n", b"\xef\xbb\xbfOnly a prompt.", b"Only a prompt.\r\n"]
)
def test_a_file_without_entries_is_body(content: bytes) -> None:
    assert read_front_matter(content) == FrontMatter("Only a prompt.")


def test_lists_and_groups_are_text_as_written() -> None:
    read = read_front_matter(b"---\nallowed-tools: [Bash, Read]\nmetadata:\n  a: 1\n---\nx")
    assert dict(read.entries) == {"allowed-tools": "[Bash, Read]", "metadata": "a: 1"}


def test_entries_that_are_not_yaml_are_read_line_by_line_and_the_mistake_is_named() -> None:
    read = read_front_matter(b"---\nargument-hint: [file] [words]\ndescription: Use when: asked\n---\nx")
    assert dict(read.entries) == {"argument-hint": "[file] [words]", "description": "Use when: asked"}
    assert read.problem is not None
    assert read.problem[0] == 2


def test_entries_without_an_end_are_a_mistake() -> None:
    assert read_front_matter(b"---\nname: x\n").problem == (1, "no second line `---` ends the entries.")
