"""Which Python runs the code of a session, with real environments and real kernels."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from terp.errors import KernelStartFailed
from terp.events import Noticed
from terp.events.log import EventLog
from terp.kernels.environments.choosing import PythonChoice, PythonDecision, Remembered, wanted_python
from terp.kernels.jupyter.local import LocalKernels
from terp.models.tool import Call
from terp.person import Choice, Nobody
from terp.person.dialog import UserDialog
from terp.settings.interpreter import Interpreter, environment_name
from tests.core.kernels.running import ran


class Asked(Nobody):
    """Answers every question with one letter, and keeps the questions and what was told."""

    def __init__(self, letter: str = "") -> None:
        self.choices: list[str] = []
        self._letter = letter
        self._log = EventLog()
        self.dialog = UserDialog(self._log, self, self._drawn)

    @property
    def told(self) -> list[str]:
        events = [record.event for record in self._log.since(0)]
        return [f"{event.text} {event.remedy}" for event in events if isinstance(event, Noticed)]

    async def choose(self, choice: Choice) -> str:
        self.choices.append(choice.what)
        return self._letter

    async def _drawn(self) -> None:
        pass


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with an environment of terp's own version that holds one module and no ipykernel."""
    folder = tmp_path / "project"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / ".venv"], check=True)
    (packages,) = (folder / ".venv").glob("lib/python3*/site-packages")
    (packages / "only_here.py").write_text("VALUE = 42\n")
    return folder


def chosen(project: Path, asked: Asked, python: str = "") -> tuple[PythonChoice, LocalKernels]:
    environ = {"HOME": str(project.parent), "PATH": os.environ["PATH"]}
    kernels = LocalKernels(str(project), environ=environ)
    wanted = wanted_python(python, environ, str(project))
    state = project.parent / "state"
    return PythonChoice(wanted, kernels, asked.dialog, state, environ), kernels


async def prepared(choice: PythonChoice, kernels: LocalKernels) -> str:
    return await choice.before(Call("c1", "python", "1"), kernels.get("python"))


async def test_a_projects_environment_runs_the_code_once_the_person_says_so(project: Path) -> None:
    asked = Asked("y")
    choice, kernels = chosen(project, asked)
    told = await prepared(choice, kernels)
    run = await ran(kernels.get("python"), "import only_here, sys; print(only_here.VALUE, sys.prefix)")
    await kernels.aclose()
    version = "{}.{}".format(*sys.version_info)
    assert asked.choices == [f"Run Python code in .venv (Python {version}) of this project?"]
    assert told == ""
    assert run.stdout == f"42 {project}/.venv\n"


async def test_ipykernel_beside_an_environment_leaves_it_as_it_was(project: Path) -> None:
    before = sorted(str(path) for path in project.rglob("*"))
    choice, kernels = chosen(project, Asked("y"))
    await prepared(choice, kernels)
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'import IPython'])"
    run = await ran(kernels.get("python"), code)
    await kernels.aclose()
    after = sorted(str(path) for path in project.rglob("*") if "__pycache__" not in str(path))
    assert (after, "ModuleNotFoundError" in run.stderr) == (before, True)


async def test_packages_of_terp_that_ipykernel_does_not_need_are_not_there(project: Path) -> None:
    choice, kernels = chosen(project, Asked("y"))
    await prepared(choice, kernels)
    run = await ran(kernels.get("python"), "import litellm")
    await kernels.aclose()
    assert run.ended.status == "error"


async def test_the_answer_is_remembered_for_the_project(project: Path) -> None:
    await prepared(*chosen(project, Asked("y")))
    again = Asked()
    choice, kernels = chosen(project, again)
    await prepared(choice, kernels)
    assert (again.choices, kernels.python.path) == ([], f"{project}/.venv/bin/python")


async def test_a_refusal_is_remembered_and_terps_own_python_is_used(project: Path) -> None:
    await prepared(*chosen(project, Asked("n")))
    again = Asked()
    choice, kernels = chosen(project, again)
    await prepared(choice, kernels)
    assert (again.choices, kernels.python.path) == ([], sys.executable)


async def test_another_python_in_its_place_is_asked_about_again(project: Path) -> None:
    await prepared(*chosen(project, Asked("y")))
    python = project / ".venv/bin/python"
    python.unlink()
    python.symlink_to("/bin/sh")
    again = Asked("n")
    await prepared(*chosen(project, again))
    assert len(again.choices) == 1


async def test_without_an_answer_a_projects_environment_is_left_alone_and_that_is_said(project: Path) -> None:
    asked = Asked()
    choice, kernels = chosen(project, asked)
    await prepared(choice, kernels)
    assert kernels.python.path == sys.executable
    assert asked.told == [
        ".venv does not run the code. The question about using it was not answered. "
        f"--python {project}/.venv/bin/python uses it."
    ]


async def test_no_kernel_is_started_ahead_of_the_question(project: Path) -> None:
    choice, kernels = chosen(project, Asked("y"))
    before = choice.waits("python"), choice.waits("shell")
    await prepared(choice, kernels)
    assert (before, choice.waits("python")) == ((True, False), False)


async def test_a_configured_python_is_not_asked_about(project: Path) -> None:
    asked = Asked()
    choice, kernels = chosen(project, asked, str(project / ".venv"))
    await prepared(choice, kernels)
    assert (asked.choices, kernels.python.path) == ([], f"{project}/.venv/bin/python")


async def test_an_environment_of_another_version_without_ipykernel_offers_three_ways(tmp_path: Path) -> None:
    prefix = tmp_path / "project/.venv"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin/python").touch(mode=0o755)
    (prefix / "pyvenv.cfg").write_text("version = 3.5.1\n")
    asked = Asked("t")
    choice, kernels = chosen(tmp_path / "project", asked, str(prefix))
    await prepared(choice, kernels)
    assert asked.choices == [f"{prefix} (Python 3.5) has no ipykernel, which runs the code."]
    assert kernels.python.path == sys.executable


async def test_another_python_can_be_chosen_by_the_folder_of_its_environment(project: Path) -> None:
    choice, kernels = chosen(project, Asked())
    await choice.use(str(project / ".venv"))
    run = await ran(kernels.get("python"), "import only_here; print(only_here.VALUE)")
    await kernels.aclose()
    assert run.stdout == "42\n"


async def test_terps_own_python_can_be_chosen_by_name(project: Path) -> None:
    choice, kernels = chosen(project, Asked(), str(project / ".venv"))
    await choice.use("own")
    assert kernels.python.path == sys.executable


async def test_a_python_that_is_not_there_is_told_and_changes_nothing(project: Path) -> None:
    choice, kernels = chosen(project, Asked(), sys.executable)
    with pytest.raises(KernelStartFailed, match="There is no Python at nowhere/python"):
        await choice.use("nowhere/python")
    assert kernels.python.path == sys.executable


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/srv/shop/.venv/bin/python", ".venv of shop"),
        ("/opt/conda/envs/data/bin/python", "data"),
        ("/usr/bin/python3", "/usr/bin/python3"),
        (sys.executable, ""),
    ],
)
def test_an_environment_is_named_as_people_call_it(path: str, name: str) -> None:
    assert environment_name(Interpreter(path, "")) == name


def test_a_decision_is_kept_for_the_file_that_the_python_was(tmp_path: Path) -> None:
    file = tmp_path / "state/pythons.json"
    Remembered(file).keep("/project", "/no/python", "own")
    assert Remembered(file).about("/project", "/no/python") == PythonDecision(
        "/no/python", "/no/python", "own"
    )


@pytest.mark.parametrize("text", ["", "[]", '{"/project": "own"}', '{"/project": [1]}', '{"/project": {}}'])
def test_what_is_no_decision_is_none(tmp_path: Path, text: str) -> None:
    (tmp_path / "pythons.json").write_text(text)
    assert Remembered(tmp_path / "pythons.json").about("/project", "/no/python") is None
