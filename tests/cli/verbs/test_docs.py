"""`terp docs`, without and with a terminal."""

import re
import sys
from pathlib import Path

import pytest

from terp_cli.verbs.docs import INDEX, folder, listed, page_names
from tests.cli.running import Terp
from tests.cli.teletype import Teletype

PAGES = Path(__file__).resolve().parents[3] / "docs"


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    return Terp(tmp_path)


def on_terminal(terp: Terp, *arguments: str, **environ: str) -> str:
    command = [sys.executable, "-m", "terp_cli", "docs", *arguments]
    with Teletype(command, terp.cwd, {**terp.environ, **environ}) as terminal:
        return terminal.until("<over 0>")


def test_in_a_checkout_the_pages_are_at_its_root() -> None:
    assert folder() == PAGES


def test_every_page_is_listed_with_a_description() -> None:
    lines = "\n".join(listed())
    assert set(re.findall(r"^  ([a-z-]+)  +\S", lines, re.MULTILINE)) == {*page_names()} - {INDEX}


def test_without_a_name_the_pages_are_listed(terp: Terp) -> None:
    result = terp("docs")
    assert (result.code, result.notes) == (0, "")
    assert "\n  rewind " in result.out


@pytest.mark.parametrize("name", ["rewind", "rewind.md"])
def test_in_a_pipe_a_page_is_its_markdown(name: str, terp: Terp) -> None:
    result = terp("docs", name)
    assert (result.code, result.out) == (0, (PAGES / "rewind.md").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("name", "hint"), [("rewnd", "Did you mean terp docs rewind?"), ("xyzzy", "terp docs lists them.")]
)
def test_an_unknown_page_ends_with_a_suggestion(name: str, hint: str, terp: Terp) -> None:
    result = terp("docs", name)
    assert (result.code, result.out, result.notes) == (2, "", f"terp: there is no page '{name}'. {hint}\n")


def test_a_path_outside_is_no_page(terp: Terp) -> None:
    assert terp("docs", "../README").code == 2


def test_words_after_the_page_are_no_prompt(terp: Terp) -> None:
    result = terp("docs", "rewind", "please")
    assert result.code == 2
    assert "it takes the name of a page" in result.notes


def test_on_a_terminal_the_pager_of_the_user_shows_a_page_as_rows(terp: Terp) -> None:
    shown = on_terminal(terp, "rewind", PAGER="sed s/^/:/")
    assert ":\x1b[" in shown
    assert "# " not in shown
    assert "`" not in shown


def test_on_a_terminal_links_name_pages_instead_of_files(terp: Terp) -> None:
    shown = on_terminal(terp, "until", PAGER="cat")
    assert ".md" not in shown
    assert "(terp docs trust)" in re.sub(r"\x1b\[[\d;]*m|\s+", " ", shown).replace("( ", "(").replace(
        " )", ")"
    )


@pytest.mark.parametrize("pager", ["no-such-pager", "less 'never closed"])
def test_without_a_pager_a_page_is_written_to_the_terminal(terp: Terp, pager: str) -> None:
    shown = on_terminal(terp, "rewind", PAGER=pager)
    assert "\x1b[1m" in shown


def test_a_plain_page_has_no_control_sequences(terp: Terp) -> None:
    shown = on_terminal(terp, "rewind", "--plain", PAGER="sed s/^/:/")
    assert not re.search(r"\n:|\x1b\[", shown)


def test_a_pager_that_does_not_read_to_the_end_is_no_error(terp: Terp) -> None:
    assert "Settings" in on_terminal(terp, "settings", PAGER="head -n 3")
