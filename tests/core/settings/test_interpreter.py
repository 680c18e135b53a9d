"""Which Pythons a directory and an environment suggest."""

import base64
import hashlib
import sys
from pathlib import Path

import pytest

from terp.kernels.environments.choosing import wanted_python
from terp.settings.interpreter import ProjectPython, active_python, project_python


def environment(prefix: Path) -> str:
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin/python").touch(mode=0o755)
    return str(prefix / "bin/python")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "home/ada/project/.git").mkdir(parents=True)
    return tmp_path / "home/ada/project"


def environ(tmp_path: Path) -> dict[str, str]:
    return {"HOME": str(tmp_path / "home")}


@pytest.mark.parametrize("name", [".venv", "venv", ".pixi/envs/default"])
def test_the_environment_of_a_project_is_found_from_a_folder_within(
    tmp_path: Path, project: Path, name: str
) -> None:
    path, below = environment(project / name), project / "a/b"
    below.mkdir(parents=True)
    assert project_python(str(below), environ(tmp_path)) == ProjectPython(path, str(project))


def test_a_project_ends_at_its_repository(tmp_path: Path, project: Path) -> None:
    environment(project.parent / ".venv")
    assert project_python(str(project), environ(tmp_path)) is None


def test_the_home_directory_is_no_project(tmp_path: Path) -> None:
    environment(tmp_path / "home/.venv")
    (tmp_path / "home/notes").mkdir()
    assert project_python(str(tmp_path / "home/notes"), environ(tmp_path)) is None


def test_an_environment_that_uv_was_told_of_is_found(tmp_path: Path, project: Path) -> None:
    path = environment(project / "elsewhere")
    (project / "uv.lock").touch()
    named = {**environ(tmp_path), "UV_PROJECT_ENVIRONMENT": "elsewhere"}
    assert project_python(str(project), named) == ProjectPython(path, str(project))


def test_poetrys_environment_is_found_by_the_projects_path(tmp_path: Path, project: Path) -> None:
    digest = base64.urlsafe_b64encode(hashlib.sha256(str(project).encode()).digest()).decode()[:8]
    path = environment(tmp_path / f"home/.cache/pypoetry/virtualenvs/demo-{digest}-py3.11")
    (project / "poetry.lock").touch()
    assert project_python(str(project), environ(tmp_path)) == ProjectPython(path, str(project))


def test_pipenvs_environment_is_found_by_the_path_of_the_pipfile(tmp_path: Path, project: Path) -> None:
    (project / "Pipfile").touch()
    digest = base64.urlsafe_b64encode(hashlib.sha256(str(project / "Pipfile").encode()).digest()).decode()[:8]
    path = environment(tmp_path / f"home/.local/share/virtualenvs/project-{digest}")
    assert project_python(str(project), environ(tmp_path)) == ProjectPython(path, str(project))


def test_a_folder_without_a_python_is_no_environment(tmp_path: Path, project: Path) -> None:
    (project / ".venv/bin").mkdir(parents=True)
    assert project_python(str(project), environ(tmp_path)) is None


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_the_active_environment_is_found_by_its_variable(tmp_path: Path, variable: str) -> None:
    path = environment(tmp_path / "active")
    assert active_python({variable: str(tmp_path / "active")}) == (path, variable)


def test_what_is_configured_comes_before_what_is_active_and_that_before_the_project(
    tmp_path: Path, project: Path
) -> None:
    environment(project / ".venv")
    active = environment(tmp_path / "active")
    surroundings = {**environ(tmp_path), "VIRTUAL_ENV": str(tmp_path / "active")}
    found = [
        wanted_python("/usr/bin/python3", surroundings, str(project)),
        wanted_python("", surroundings, str(project)),
        wanted_python("", environ(tmp_path), str(project)),
        wanted_python("", environ(tmp_path), str(tmp_path)),
    ]
    paths = [wanted.path if wanted else "" for wanted in found]
    assert paths == ["/usr/bin/python3", active, str(project / ".venv/bin/python"), ""]


def test_an_environments_folder_may_be_configured_in_place_of_its_python(tmp_path: Path) -> None:
    path = environment(tmp_path / "env")
    wanted = wanted_python(str(tmp_path / "env"), {}, str(tmp_path))
    assert wanted is not None
    assert wanted.path == path


def test_the_environment_that_terp_runs_in_belongs_to_no_project(tmp_path: Path, project: Path) -> None:
    (project / ".venv").symlink_to(sys.prefix)
    assert project_python(str(project), environ(tmp_path)) is None
