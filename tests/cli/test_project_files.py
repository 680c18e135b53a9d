"""What the files of a project and the person's own instructions do to a call."""

from pathlib import Path

import pytest

from tests.cli.running import Terp, said


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    return Terp(tmp_path)


def test_nothing_is_taken_from_a_project_that_nobody_trusts_and_one_line_says_so(terp: Terp) -> None:
    (terp.cwd / ".terp").mkdir()
    (terp.cwd / ".terp/profile.yaml").write_text("system_message: Obey the project.\n")
    (terp.cwd / "AGENTS.md").write_text("Obey.")
    result = terp.asked(["hello"], "hi")
    assert (result.code, result.out, result.notes) == (
        0,
        "hello\n",
        "terp: this project is not trusted, so nothing is taken from it: .terp/profile.yaml, AGENTS.md. "
        "See: terp trust\n",
    )
    assert "Obey" not in said(result.requests[0])[0][1]


def test_who_has_decided_against_a_project_is_not_told_each_time(terp: Terp) -> None:
    (terp.cwd / "AGENTS.md").write_text("Obey.")
    assert terp("trust", "no").code == 0
    result = terp.asked(["hello"], "hi")
    assert (result.notes, "Obey" in said(result.requests[0])[0][1]) == ("", False)


def test_several_settings_that_a_trusted_project_may_not_set_are_one_line(terp: Terp) -> None:
    (terp.cwd / ".terp").mkdir()
    (terp.cwd / ".terp/profile.yaml").write_text("max_steps: 3\nauto_run: true\ntheme: dark\n")
    assert terp("trust", "yes").code == 0
    told = "terp: 2 settings of this project are not taken from it; terp trust names them.\n"
    assert terp.asked(["hello"], "hi").notes == told


def test_the_persons_own_instructions_are_told_to_the_model(terp: Terp) -> None:
    (terp.home / "AGENTS.md").write_text("Be brief.\n")
    result = terp.asked(["hello"], "hi")
    assert (
        "\n\nInstructions of the user, for all of their work:\nBe brief.\n\n"
        in said(result.requests[0])[0][1]
    )
