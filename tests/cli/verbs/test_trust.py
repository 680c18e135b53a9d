"""`terp trust`: what a project would change, and decisions about it without a session."""

import json
import sys
from pathlib import Path

import pytest

from tests.cli.running import Terp, said
from tests.cli.teletype import Teletype


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    terp = Terp(tmp_path)
    (terp.cwd / ".terp").mkdir()
    (terp.cwd / ".terp/profile.yaml").write_text("max_steps: 7\nauto_run: true\n")
    (terp.cwd / "AGENTS.md").write_text("Obey the project.\n")
    return terp


def shown(terp: Terp) -> str:
    return f"""\
This project brings its own settings: {terp.cwd}
  settings      max_steps: 50 → 7 (.terp/profile.yaml:1)
  instructions  1 line of AGENTS.md, sent to the model
Never taken from a project:
  .terp/profile.yaml:2: 'auto_run' is not taken from a project; only you can set it, with --auto-run \
or in a file of your own.
"""


def test_where_nobody_can_be_asked_it_is_shown_and_nothing_is_decided(terp: Terp) -> None:
    result = terp("trust")
    assert (result.code, result.out, result.notes) == (
        0,
        f"{shown(terp)}{terp.cwd} is not trusted: its present state is undecided.\n",
        "terp: there is no user to ask; terp trust yes trusts the project as it is now.\n",
    )
    assert not (terp.home / "trust.json").exists()


@pytest.mark.parametrize("words", [("trust", "yes"), ("trust", "-y"), ("trust", "yes", ".terp/..")])
def test_yes_without_a_question_lets_the_project_count(terp: Terp, words: tuple[str, ...]) -> None:
    result = terp(*words)
    asked = terp.asked(["hello"], "hi")
    assert result.out == f"{shown(terp)}{terp.cwd} is trusted as it is now.\n"
    assert "Obey the project." in said(asked.requests[0])[0][1]


def test_decisions_are_listed_and_removed_also_of_folders_that_are_gone(terp: Terp) -> None:
    terp("trust", "yes")
    listed = terp("trust", "list").out
    removed = [terp("trust", "remove", str(terp.cwd)).out, terp("trust", "remove").out]
    assert (listed, removed) == (
        f"yes  {terp.cwd}\n",
        [f"Forgot what was decided about {terp.cwd}.\n", f"Nothing was decided about {terp.cwd}.\n"],
    )


def test_the_files_are_shown_and_as_json_their_digests_are(terp: Terp) -> None:
    text, facts = terp("trust", "show").out, json.loads(terp("trust", "show", "--json").out)
    assert "── AGENTS.md\nObey the project.\n" in text
    assert (facts["state"], [part["name"] for part in facts["parts"]]) == (
        "open",
        [".terp/profile.yaml", "AGENTS.md"],
    )


def test_in_a_folder_that_says_nothing_there_is_nothing_to_trust(tmp_path: Path) -> None:
    terp = Terp(tmp_path)
    assert terp("trust", "yes").out == f"{terp.cwd} has no settings for terp: there is nothing to trust.\n"


def test_a_file_of_decisions_that_is_not_terps_is_named_and_nothing_is_trusted(terp: Terp) -> None:
    (terp.home / "trust.json").write_text("{")
    result = terp("trust", "yes")
    problem = f"{terp.home}/trust.json was not written by terp: no project is trusted."
    assert (result.code, problem in result.notes) == (1, True)


def test_the_python_of_a_project_runs_the_code_only_of_one_that_is_trusted(terp: Terp) -> None:
    (terp.cwd / ".venv/bin").mkdir(parents=True)
    (terp.cwd / ".venv/pyvenv.cfg").write_text("version = 3.9.9\n")
    (terp.cwd / ".venv/bin/python").symlink_to("/bin/false")
    before = said(terp.asked(["hello"], "hi").requests[0])[0][1]
    terp("trust", "yes")
    after = said(terp.asked(["hello"], "hi").requests[0])[0][1]
    assert ["3.9" in told for told in (before, after)] == [False, True]


def test_a_stray_colon_in_a_path_lets_nothing_of_the_directory_in(terp: Terp) -> None:
    marker = terp.cwd / "ran"
    for name in ("httpx", "yaml", "json", "asyncio", "litellm", "gc", "threading", "typing", "ctypes", "ssl"):
        (terp.cwd / f"{name}.py").write_text(f"open({str(marker)!r}, 'w').close()\n")
    result = terp.asked(["hello"], "hi", PYTHONPATH=f"{terp.environ['PYTHONPATH']}:")
    assert (result.out, marker.exists()) == ("hello\n", False)


def test_on_a_terminal_it_asks_at_once(terp: Terp) -> None:
    command = [sys.executable, "-m", "terp_cli", "trust"]
    with Teletype(command, terp.cwd, terp.environ) as teletype:
        shown = teletype.until("or say what to do instead")
        teletype.types("y\r")
        shown += teletype.over()[0]
    assert "so nothing is taken from it" not in shown
    assert "is trusted as it is now." in " ".join(shown.split())


def test_a_project_takes_a_shipped_profile_by_extends_and_is_told_so(terp: Terp) -> None:
    settings = terp.cwd / ".terp/profile.yaml"
    settings.write_text("extends: data\n")
    assert "max_output_chars: 16000 → 40000" in terp("trust").out


def test_the_environment_of_terp_itself_needs_no_trust(terp: Terp) -> None:
    (terp.cwd / ".terp/profile.yaml").unlink()
    (terp.cwd / "AGENTS.md").unlink()
    (terp.cwd / ".venv").symlink_to(sys.prefix)
    result = terp.asked(["hello"], "hi")
    assert (result.code, result.out, result.notes) == (0, "hello\n", "")
