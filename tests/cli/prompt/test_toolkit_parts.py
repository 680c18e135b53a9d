"""Parts of prompt_toolkit's imports are loaded at their first use."""

import subprocess
import sys

import pytest
import wcwidth

from terp_cli.prompt.toolkit_parts import NARROW

BEGIN = "from terp_cli.prompt.toolkit_parts import delay_toolkit_parts; delay_toolkit_parts(); import sys\n"
LOADED = "print('wcwidth.wcwidth' in sys.modules)\n"


def printed(code: str) -> list[str]:
    ran = subprocess.run([sys.executable, "-c", BEGIN + code], capture_output=True, text=True, check=True)
    return ran.stdout.split()


@pytest.mark.parametrize("char", sorted(NARROW))
def test_a_character_that_needs_no_table_has_one_column(char: str) -> None:
    assert wcwidth.wcwidth(char) == 1


def test_a_line_of_ascii_loads_no_tables() -> None:
    code = "from prompt_toolkit.utils import get_cwidth; print(get_cwidth('plot (x) › ~'))\n"
    assert printed(code + LOADED) == ["12", "False"]


def test_other_characters_have_the_columns_of_the_library() -> None:
    chars = ["é", "漢", "\u0301", "\x1b", "", "👍"]
    code = f"from wcwidth import wcwidth; print(*map(wcwidth, {chars!r}))\n"
    assert printed(code + LOADED) == [*map(str, map(wcwidth.wcwidth, chars)), "True"]


def test_other_names_of_the_library_are_there() -> None:
    code = "import wcwidth; print(wcwidth.wcswidth('漢字')); import wcwidth; print(wcwidth.__name__)\n"
    code += "print(wcwidth.__file__)"
    assert printed(code) == ["4", "wcwidth", wcwidth.__file__]


def test_prompt_toolkit_loads_no_xml_until_a_text_needs_it() -> None:
    code = "from prompt_toolkit import HTML; loaded = 'pyexpat' in sys.modules\n"
    code += "print(loaded, HTML('<b>x</b>').formatted_text)"
    assert printed(code) == ["False", "FormattedText([('class:b',", "'x')])"]
