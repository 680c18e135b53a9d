import pytest

from terp_cli.prompt.interface import at_indent, code_goes_on, indent_after, pasted_code


@pytest.mark.parametrize(
    "code",
    [
        "for i in range(3):",
        "for i in range(3):\n    print(i)",
        "x = (",
        "x = 1 + \\",
        "text = '''a",
        "@decorated",
        "try:\n    a\n",
        "if x:\n    !ls",
        "async with a as b:\n    f()",
        "%%bash\nls",
    ],
)
def test_code_goes_on_until_it_is_complete(code: str) -> None:
    assert code_goes_on(f">>> {code}")


@pytest.mark.parametrize(
    "code",
    [
        "for i in range(3):\n    print(i)\n    ",
        "x = 1\ny = 2",
        "x = (1,\n     2)",
        "if x: y",
        "await f()",
        "%time x",
        "!ls",
        "x?",
        "%%bash\nls\n",
        "this is no Python",
        "",
    ],
)
def test_code_that_is_complete_does_not_go_on(code: str) -> None:
    assert not code_goes_on(f">>> {code}")


@pytest.mark.parametrize(
    ("code", "indent"),
    [
        ("for i in x:", "    "),
        ("for i in x:  # each", "    "),
        ("for i in x:\n    if i:", "        "),
        ("for i in x:\n    print(i)", "    "),
        ("def f():\n    return 1", ""),
        ("x = 1", ""),
    ],
)
def test_the_next_line_is_indented_as_its_block(code: str, indent: str) -> None:
    assert indent_after(f">>> {code}") == indent


@pytest.mark.parametrize(
    ("before", "indents"),
    [(">>> ", True), (">>> if x:\n  ", True), (">>> x.", False), ("", False), ("some words\n", False)],
)
def test_a_tab_indents_where_a_line_of_code_begins(before: str, indents: bool) -> None:
    assert at_indent(before) is indents


@pytest.mark.parametrize(
    ("before", "pasted", "line"),
    [
        ("", ">>> for i in x:\n...     print(i)\n...\n", ">>> for i in x:\n    print(i)"),
        ("", ">>> a = 1\n>>> b = 2\n", ">>> a = 1\nb = 2"),
        ("", "    >>> a\n    an output\n    >>> b", ">>> a\nb"),
        (">>> ", ">>> a = 1\n>>> b = 2", "a = 1\nb = 2"),
        (">>> ", "for i in x:\n    i", "for i in x:\n    i"),
        ("what is ", ">>> this", ">>> this"),
        ("", "some\nwords", "some\nwords"),
    ],
)
def test_the_prompts_of_a_console_are_no_part_of_pasted_code(before: str, pasted: str, line: str) -> None:
    assert pasted_code(pasted, before) == line
