"""The man page, generated from the tables of subcommands and settings."""

import re
import shutil
import subprocess

import pytest

from terp.settings import Settings
from terp.settings.setting import table
from terp_cli.generate.man import EXIT_STATUS, man_page, place
from terp_cli.line.flags import long_names
from terp_cli.line.stopping import EXIT_CODES, HUNG_UP, TERMINATED


def test_the_stored_page_is_the_generated_one() -> None:
    assert place().read_text(encoding="utf-8") == man_page(), (
        "write it again: python -m terp_cli.generate.man"
    )


def test_every_setting_with_a_flag_is_on_the_page() -> None:
    page = man_page().replace("\\-", "-")
    flags = [long_names(row)[0] for row in table(Settings).values() if row.has_flag]
    assert [flag for flag in flags if flag not in page] == []


def test_every_exit_code_has_a_meaning() -> None:
    listed = {int(code) for key in EXIT_STATUS for code in key.split(",")}
    assert listed == {*EXIT_CODES.values(), HUNG_UP, TERMINATED}


def test_the_page_is_plain_ascii() -> None:
    assert man_page().isascii()


@pytest.mark.skipif(shutil.which("man") is None, reason="man is not installed")
def test_man_renders_the_page_without_a_warning() -> None:
    ran = subprocess.run(
        ["man", "--warnings", "-l", str(place())], capture_output=True, text=True, check=True
    )
    assert ran.stderr == ""
    assert re.search(r"--max-steps N\n +\S", ran.stdout)
