"""What settings and a machine make of the system prompt."""

from dataclasses import replace
from pathlib import Path

import pytest

from terp.kernels.jupyter.launch import KernelOptions
from terp.kernels.jupyter.local import LocalKernels
from terp.session.context.system_prompt import SystemPrompt
from terp.settings import Settings
from terp.settings.interpreter import present_packages
from terp.settings.places import Places
from terp.settings.project.files import Project, ProjectFile
from terp.tools.files.reading import read_toolbox
from terp.tools.toolbox import Toolbox


@pytest.fixture
def python(tmp_path: Path) -> str:
    """A Python that has some packages."""
    site = tmp_path / "env/lib/python3.12/site-packages"
    for package in ("pandas", "numpy", "left_pad"):
        (site / package).mkdir(parents=True)
    (tmp_path / "env/bin").mkdir()
    return str(tmp_path / "env/bin/python")


@pytest.fixture
def system_prompt(tmp_path: Path) -> SystemPrompt:
    root = tmp_path / "shop"
    project = Project(root, root, instructions=(ProjectFile(root / "AGENTS.md", b"Use pytest."),))
    environ = {"TERP_HOME": str(tmp_path), "HOME": str(tmp_path)}
    kernels = LocalKernels(str(tmp_path), KernelOptions(languages=("python",)), environ=environ)
    return SystemPrompt(kernels, Toolbox(), environ, project)


def test_the_packages_that_matter_are_told_and_those_that_were_asked_for(
    system_prompt: SystemPrompt, python: str
) -> None:
    text = system_prompt.text(Settings(python=python, packages=("left-pad",)))
    assert "Python packages, among others: numpy, pandas, left-pad." in text


def test_packages_are_found_by_what_is_imported(python: str) -> None:
    assert present_packages(python, ("sklearn", "pandas", "left_pad")) == ["pandas", "left_pad"]


def test_what_confines_the_code_is_told(system_prompt: SystemPrompt) -> None:
    assert "There is no sandbox: the code can do what the user can." in system_prompt.text(Settings())


def test_equal_settings_give_equal_bytes_so_that_providers_can_cache(system_prompt: SystemPrompt) -> None:
    settings = Settings(instructions="In French.")
    assert system_prompt.text(settings) == system_prompt.text(replace(settings))


def test_instructions_of_a_trusted_project_are_labelled_as_such(
    system_prompt: SystemPrompt, tmp_path: Path
) -> None:
    text = system_prompt.text(Settings())
    assert text.endswith(f"Instructions of the project at {tmp_path}/shop, from AGENTS.md:\nUse pytest.")


def test_where_no_code_is_run_no_function_and_no_tool_is_told(system_prompt: SystemPrompt) -> None:
    text = system_prompt.text(Settings(code=False))
    assert ("execute(" in text, "no code is run" in text) == (False, True)


def test_a_model_is_told_that_packages_are_installed_unless_none_ever_is(system_prompt: SystemPrompt) -> None:
    told = [
        "terp installs it first" in system_prompt.text(Settings(auto_install=policy))
        for policy in ("", "ask", "never")
    ]
    assert told == [True, True, False]


def test_search_is_named_where_a_provider_is_set_alone(tmp_path: Path) -> None:
    kernels = LocalKernels(str(tmp_path))
    places = Places(tmp_path / "c", tmp_path / "s")

    def told(environ: dict[str, str]) -> bool:
        toolbox = read_toolbox(Settings(), environ, places, kernels)
        return "search_web" in SystemPrompt(kernels, toolbox, {}, Project(tmp_path, tmp_path)).text(
            Settings()
        )

    assert [told({}), told({"BRAVE_API_KEY": "k"})] == [False, True]
