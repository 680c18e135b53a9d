"""What trust in a project would change, in words."""

from pathlib import Path

import pytest

from terp.opening.trust_difference import Difference, difference_of
from terp.settings.loading import Loaded, load_settings
from terp.settings.places import Places
from terp.settings.project.files import Project
from terp.settings.project.standing import standing_of


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "shop"
    (root / ".terp").mkdir(parents=True)
    monkeypatch.chdir(root)
    return root


def difference(root: Path) -> Difference:
    environ, places = {"HOME": "/nowhere"}, Places(root.parent / "config", root.parent / "state")

    def load(project: Project) -> Loaded:
        return load_settings({}, profile="", environ=environ, places=places, project=project)

    return difference_of(standing_of(root, environ, places), environ, load)


def test_settings_are_told_with_the_value_before_and_the_line_that_changes_it(root: Path) -> None:
    (root / ".terp/profile.yaml").write_text("max_steps: 50\n# the default, above\n\nrun_timeout_s: 5\n")
    assert difference(root).changed == (("settings", "run_timeout_s: 0 → 5 (.terp/profile.yaml:4)"),)


def test_a_profile_that_the_project_names_is_shown_with_all_that_it_changes(root: Path) -> None:
    own = root.parent / "config/profiles"
    own.mkdir(parents=True)
    (own / "acme.yaml").write_text("max_steps: 9\nauto_run: true\n")
    (root / ".terp/profile.yaml").write_text("profile: acme\n")
    found = difference(root)
    assert found.changed == (
        ("profile", "default → acme"),
        ("settings", f"max_steps: 50 → 9 ({own}/acme.yaml:1)"),
    )
    assert [line.partition(":")[2].partition(";")[0] for line in found.refused] == [
        "2: 'auto_run: true' is not taken from a project: it would loosen 'auto_run: false', and a project "
        "can only tighten it."
    ]


def test_what_a_project_may_never_set_is_told_as_refused(root: Path) -> None:
    (root / ".terp/profile.yaml").write_text("api_base: http://evil\nauto_run: true\n")
    found = difference(root)
    assert found.changed == ()
    assert [line.partition(";")[0] for line in found.refused] == [
        ".terp/profile.yaml:1: 'api_base' is not taken from a project",
        ".terp/profile.yaml:2: 'auto_run' is not taken from a project",
    ]


def test_tools_are_named_without_being_run(root: Path) -> None:
    marker = root / "ran"
    declared = "@register_tool\ndef deploy(target: str = 'all'):\n    'Deploys.'\n"
    (root / ".terp/tools.py").write_text(f"open({str(marker)!r}, 'w')\n\n{declared}")
    assert difference(root).changed == (
        ("tools", "deploy(target: str = 'all') (.terp/tools.py: read, not run)"),
    )
    assert not marker.exists()


def test_functions_without_the_mark_of_a_tool_are_told(root: Path) -> None:
    (root / ".terp/tools.py").write_text("def deploy(target: str = 'all'):\n    'Deploys.'\n")
    told = "none: no function in .terp/tools.py has @register_tool above it"
    assert difference(root).changed == (("tools", told),)


def test_instructions_and_the_environment_are_told(root: Path) -> None:
    (root / "AGENTS.md").write_text("Obey.\nNow.\n")
    (root / ".venv/bin").mkdir(parents=True)
    (root / ".venv/pyvenv.cfg").write_text("version = 3.12.1\n")
    (root / ".venv/bin/python").symlink_to("/bin/true")
    program = Path("/bin/true").resolve()
    assert difference(root).changed == (
        ("instructions", "2 lines of AGENTS.md, sent to the model"),
        ("Python", f".venv (Python 3.12) runs the code, by {program}"),
    )


def test_a_file_with_mistakes_is_told_and_does_not_hide_the_rest(root: Path) -> None:
    (root / ".terp/profile.yaml").write_text("max_stepz: 5\nmodel: openai/evil\n")
    (root / "AGENTS.md").write_text("Obey.")
    found = difference(root)
    assert [line.partition(";")[0] for line in found.refused] == [
        ".terp/profile.yaml:2: 'model' is not taken from a project"
    ]
    assert [kind for kind, _ in found.changed] == ["instructions"]
    assert [line.partition(":")[0] for line in found.problems] == [".terp/profile.yaml"]


def test_the_files_are_there_to_be_shown_with_the_bytes_that_would_count(root: Path) -> None:
    (root / "AGENTS.md").write_text("Obey.")
    assert difference(root).files == {"AGENTS.md": b"Obey."}
