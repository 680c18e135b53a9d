"""What Tab offers, in the real shells, and where the files come from."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from terp_cli.generate.shells import FILES, folder, shipped
from terp_cli.generate.shells.__main__ import generated
from terp_cli.line.command_line import read_command_line
from terp_cli.line.flags import all_flags
from terp_cli.line.subcommands import EXPORTS, SHELLS, SUBCOMMANDS, VERBS
from terp_cli.verbs.docs import page_names
from tests.cli.running import Terp
from tests.cli.shells import Shell, start

SESSIONS = {"2025-11-21-0a1b2c3d", "2025-11-22-4e5f6071"}
PROFILES = {
    "careful", "data", "default", "demo", "explain", "fast", "local", "shell", "solve", "vision"
}  # fmt: skip


@pytest.fixture(scope="module", params=SHELLS)
def shell(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shell]:
    home, cwd = tmp_path_factory.mktemp("home"), tmp_path_factory.mktemp("work")
    (home / "profiles").mkdir()
    for path in ("profiles/work.yaml", "profiles/at home.yml", "profiles/notes.txt"):
        (home / path).touch()
    for path in ("iris.csv", "my plan.md"):
        (cwd / path).touch()
    (cwd / "plots").mkdir()
    for name in SESSIONS:
        (home / "sessions" / name).mkdir(parents=True)
        (home / "sessions" / name / "events.jsonl").touch()
    (home / "sessions" / "2025-11-20-without").mkdir()
    shell = start(request.param, cwd, home)
    yield shell
    shell.close()


def offers(shell: Shell, line: str) -> set[str]:
    return {word.rstrip("/") for word in shell.offers(line)}


def test_every_flag_is_offered(shell: Shell) -> None:
    assert offers(shell, "terp -") == set(all_flags())


def test_flags_are_offered_among_the_words_of_a_prompt(shell: Shell) -> None:
    assert offers(shell, "terp plot iris.csv --output") == {"--output-format", "--output-price"}


@pytest.mark.parametrize(
    ("line", "choices"),
    [
        ("terp --output-format ", {"text", "json", "stream-json"}),
        ("terp --reasoning-effort m", {"minimal", "medium"}),
        ("terp hi --adapter=d", {"--adapter=direct"}),
        ("terp -m openai/g", {"openai/gpt-5.6"}),
        ("terp run -l ju", {"julia"}),
        ("terp -r 2025-11-21", {"2025-11-21-0a1b2c3d"}),
    ],
)
def test_the_choices_of_a_flag_are_offered(shell: Shell, line: str, choices: set[str]) -> None:
    assert offers(shell, line) == choices


def test_the_forms_of_an_emitted_variable_are_offered(shell: Shell) -> None:
    assert {form.rpartition(":")[2] for form in offers(shell, "terp --emit df:p")} == {"parquet", "png"}


@pytest.mark.parametrize("flag", ["-p", "--profile"])
def test_shipped_and_own_profiles_are_offered(shell: Shell, flag: str) -> None:
    files = {"iris.csv", "my plan.md", "plots"}
    assert offers(shell, f"terp {flag} ") - files == PROFILES | {"work", "at home"}


def test_a_profile_can_be_a_file(shell: Shell) -> None:
    assert offers(shell, "terp -p ir") == {"iris.csv"}


@pytest.mark.parametrize("line", ["terp -f ", "terp --replay ", "terp run ", "terp plot "])
def test_files_are_offered_where_one_can_stand(shell: Shell, line: str) -> None:
    assert offers(shell, line) == {"iris.csv", "my plan.md", "plots"}


@pytest.mark.parametrize(
    ("line", "directory"),
    [("terp -o ", "plots"), ("terp --cwd pl", "plots"), ("terp --out=", "--out=plots")],
)
def test_directories_alone_are_offered_where_one_must_stand(shell: Shell, line: str, directory: str) -> None:
    assert offers(shell, line) == {directory}


@pytest.mark.parametrize("line", ["terp --emit ", "terp --max-steps ", "terp -ci "])
def test_nothing_is_offered_for_free_text(shell: Shell, line: str) -> None:
    assert offers(shell, line) == set()


def test_subcommands_are_offered_first(shell: Shell) -> None:
    assert offers(shell, "terp ") >= {command.name for command in SUBCOMMANDS}
    assert offers(shell, "terp do") == {"docs", "doctor"}
    assert offers(shell, "terp plot do") == set()


def test_the_shells_are_offered_for_completions(shell: Shell) -> None:
    assert offers(shell, "terp completions ") == set(SHELLS)


@pytest.mark.parametrize(
    "line", ["terp -r ", "terp --resume ", "terp sessions show ", "terp sessions rm 2025-11-2"]
)
def test_the_ids_of_sessions_are_offered_where_one_can_stand(shell: Shell, line: str) -> None:
    assert offers(shell, line) == SESSIONS


@pytest.mark.parametrize("command", list(VERBS))
def test_what_can_be_done_is_offered(shell: Shell, command: str) -> None:
    assert offers(shell, f"terp {command} ") == set(VERBS[command])


@pytest.mark.parametrize("line", ["terp profiles show ", "terp profiles edit "])
def test_profiles_are_offered_where_one_can_stand(shell: Shell, line: str) -> None:
    assert offers(shell, line) >= PROFILES | {"work", "at home"}


def test_providers_are_offered_where_one_must_stand(shell: Shell) -> None:
    assert offers(shell, "terp keys set o") == {"openai", "openrouter"}


def test_pages_are_offered_for_docs(shell: Shell) -> None:
    assert offers(shell, "terp docs ") == set(page_names())


def test_formats_and_then_sessions_are_offered_for_an_export(shell: Shell) -> None:
    assert offers(shell, "terp export ") == set(EXPORTS)
    assert offers(shell, "terp export md ") == set(SESSIONS)
    assert set(SESSIONS) <= offers(shell, "terp replay ")


@pytest.mark.parametrize("name", SHELLS)
def test_the_files_are_those_that_the_tables_give(name: str) -> None:
    assert shipped(name) == generated(name), "write them again: python -m terp_cli.generate.shells"


def test_there_is_no_other_file() -> None:
    assert {path.name for path in folder().iterdir()} == set(FILES.values())


def test_every_subcommand_that_is_offered_is_understood() -> None:
    follows = {"run": ["code.py"], "completions": ["bash"], "export": ["md"], "replay": ["2025"]}
    called = [read_command_line([one.name, *follows.get(one.name, [])]).command for one in SUBCOMMANDS]
    assert called == [one.name for one in SUBCOMMANDS]


@pytest.mark.parametrize("name", SHELLS)
def test_the_program_prints_them(name: str, tmp_path: Path) -> None:
    result = Terp(tmp_path)("completions", name)
    assert (result.code, result.out, result.notes) == (0, shipped(name), "")


def test_the_bash_of_macos_which_is_3_2_understands_its_file() -> None:
    newer = r"\$\{\w+(,,?|\^\^?|@)|declare -A|local -[An]|mapfile|readarray|coproc|\|&|&>>|;;?&|\[-\d+\]"
    # A line that may fail is told apart by where its complaint goes.
    lines = [line for line in shipped("bash").splitlines() if "2>/dev/null" not in line]
    assert [line for line in lines if re.search(newer, line)] == []
