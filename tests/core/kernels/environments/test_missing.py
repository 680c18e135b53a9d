"""Packages that code imports and that are not there: with a real installer and a real kernel."""

import asyncio
import subprocess
import sys
from collections.abc import Mapping
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import terp
from terp.errors import TerpError
from terp.events import Asked, CodeFinished, CodeProposed, Event, Noticed, Printed
from terp.events.messages import ToolCall
from terp.events.outputs import Text
from terp.person import Choice, Consent, Decline, Run
from terp.session.session import Session
from terp.testing import ScriptedModel, call, collect
from tests.core.kernels.environments.wheels import index_of, path_with, write_wheel
from tests.core.sessions import of, results


@dataclass
class Agreeable:
    """Runs all code, and answers every choice with one letter."""

    letter: str = "y"

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        return Run(proposed.code)

    async def allow(self, request: Consent) -> bool:
        return False

    async def choose(self, choice: Choice) -> str:
        return self.letter

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        raise TerpError("Nobody types.")


@dataclass
class Place:
    """A working directory, an environment without anything in it, and an index of one wheel."""

    folder: Path
    environ: Mapping[str, str]

    async def events(
        self, *code: str | ToolCall, letter: str = "y", person: Agreeable | None = None, **settings: Any
    ) -> "Heard":
        model = ScriptedModel(*([call(one) if isinstance(one, str) else one] for one in code))
        opening = terp.open(
            person=person or Agreeable(letter),
            cwd=self.folder,
            environ=self.environ,
            model="openai/scripted",
            **{"languages": ["python"], "python": str(self.folder / "env"), **settings},
        )
        async with opening as session:
            session.model = model
            return Heard(await collect(session, "go"), results(session))


@dataclass
class Heard:
    events: list[Event]
    results: list[str]

    @property
    def printed(self) -> str:
        outputs = [event.output for event in of(Printed, self.events)]
        return "".join(output.text for output in outputs if isinstance(output, Text))

    @property
    def asked(self) -> list[str]:
        return [event.what for event in of(Asked, self.events) if event.kind == "choice"]


installed = pytest.mark.parametrize("place", ["pip", "uv"], indirect=True)
"""For what is installed: with uv on the PATH, and without."""


@pytest.fixture
def place(tmp_path: Path, request: pytest.FixtureRequest) -> Place:
    write_wheel(tmp_path / "wheels", "demo_pkg", "demo_mod", "V = 41 + 1\n")
    folder = tmp_path / "project"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder / "env"], check=True)
    environ = {
        "PATH": path_with(uv=getattr(request, "param", "pip") == "uv"),
        "HOME": str(tmp_path),
        "TERP_HOME": str(tmp_path / "terp"),
        "OPENAI_API_KEY": "none",
        **index_of(tmp_path / "wheels"),
    }
    return Place(folder, environ)


@installed
async def test_a_cell_that_imports_a_missing_package_runs_once_after_consent(place: Place) -> None:
    heard = await place.events("open('log', 'a').write('x')\nimport demo_mod\nprint(demo_mod.V)")
    assert heard.asked == ["Install demo-pkg (for demo_mod)?"]
    assert (heard.printed, (place.folder / "log").read_text()) == ("42\n", "x")
    assert heard.results[0].startswith(
        "[note: demo-pkg (for demo_mod) was missing and is installed now.]\n42\n"
    )


async def test_the_question_names_the_folder_of_the_environment(place: Place) -> None:
    asked: list[Choice] = []

    class Asked(Agreeable):
        async def choose(self, choice: Choice) -> str:
            asked.append(choice)
            return "n"

    await place.events("import demo_mod", person=Asked())
    assert [choice.why for choice in asked] == [f"The code needs it; it goes into {place.folder / 'env'}."]


async def test_without_consent_nothing_is_installed_and_the_model_is_told(place: Place) -> None:
    heard = await place.events("import demo_mod", letter="n")
    assert "[note: demo_mod is not installed: no user agreed to it.]" in heard.results[0]
    assert not list(place.folder.glob("env/lib/*/site-packages/demo_mod.py"))


@installed
async def test_always_asks_once(place: Place) -> None:
    write_wheel(place.folder.parent / "wheels", "other_pkg", "other_mod", "V = 1\n")
    heard = await place.events("import demo_mod", "import other_mod; print(other_mod.V)", letter="a")
    assert (len(heard.asked), heard.printed) == (1, "1\n")


@installed
async def test_what_is_known_is_installed_unasked_where_that_is_set(place: Place) -> None:
    heard = await place.events("import demo_mod; print(demo_mod.V)", auto_install="known")
    assert (heard.asked, heard.printed) == ([], "42\n")


async def test_a_name_that_a_model_may_have_made_up_is_not_installed_unasked(place: Place) -> None:
    heard = await place.events("import definitely_not_a_pkg_zz", auto_install="known")
    (noticed,) = of(Noticed, heard.events)
    assert noticed.text == "definitely_not_a_pkg_zz is not installed: terp does not know its package."
    assert noticed.remedy == (
        "Allow it with --packages definitely-not-a-pkg-zz (in a session /install definitely-not-a-pkg-zz), "
        "or all with --auto-install always."
    )


@installed
async def test_a_package_that_is_not_to_be_had_is_tried_once_and_the_reason_told(place: Place) -> None:
    code = "import definitely_not_a_pkg_zz"
    heard = await place.events(code, code + " as z")
    assert len(heard.asked) == 1
    assert "definitely-not-a-pkg-zz could not be installed: " in heard.results[0]


async def test_a_question_that_was_interrupted_is_asked_again_for_the_next_code(place: Place) -> None:
    class Hesitant(Agreeable):
        session: Session
        asked = 0

        async def choose(self, choice: Choice) -> str:
            self.asked += 1
            if self.asked == 1:
                await self.session.interrupt()
                await asyncio.Event().wait()
            return "y"

    person = Hesitant()
    opening = terp.open(
        person=person,
        cwd=place.folder,
        environ=place.environ,
        model="openai/scripted",
        languages=["python"],
        python=str(place.folder / "env"),
    )
    async with opening as session:
        person.session = session
        session.model = ScriptedModel([call("import demo_mod")], [call("import demo_mod")])
        await collect(session, "go")
        await collect(session, "again")
    assert person.asked == 2


async def test_never_means_never(place: Place) -> None:
    heard = await place.events("import demo_mod", auto_install="never")
    assert "[note: demo_mod is not installed, and terp may not install packages.]" in heard.results[0]


@installed
async def test_a_module_that_only_the_run_asks_for_is_installed_after_it(place: Place) -> None:
    code = "import importlib; print(importlib.import_module('demo' + '_mod').V)"
    heard = await place.events(code, code)
    assert "is installed now. Run the code again.]" in heard.results[0]
    assert [event.status for event in of(CodeFinished, heard.events)] == ["error", "ok"]


@installed
async def test_configured_packages_are_there_before_the_first_code_and_named_to_the_model(
    place: Place,
) -> None:
    heard = await place.events("import demo_mod; print(demo_mod.V)", packages=["demo_pkg"])
    assert (heard.asked, heard.printed) == ([], "42\n")
    assert heard.results[0].startswith("[note: demo_pkg was installed.]")


async def test_configured_packages_that_are_there_cost_nothing(place: Place) -> None:
    await place.events("import demo_mod", packages=["demo_pkg"])
    (place.folder.parent / "wheels/demo_pkg-1.0-py3-none-any.whl").unlink()
    heard = await place.events("import demo_mod; print(demo_mod.V)", packages=["demo_pkg"])
    assert (heard.results[0], heard.printed) == ("42", "42\n")


@installed
async def test_the_first_package_for_terps_own_python_is_found_by_the_kernel_that_runs(place: Place) -> None:
    heard = await place.events("import demo_mod; print(demo_mod.V)", python=sys.executable)
    assert (heard.results[0], heard.printed) == (
        "[note: demo-pkg (for demo_mod) was missing and is installed now.]\n42",
        "42\n",
    )


@pytest.mark.parametrize("line", ["%pip install -q demo_pkg", "!pip install -q demo_pkg"])
async def test_pip_in_code_installs_into_the_environment_of_the_code(place: Place, line: str) -> None:
    code = "import demo_mod; print(demo_mod.V)"
    heard = await place.events(line, code, auto_install="never", env_pass=["PIP_*", "UV_*"])
    assert heard.printed.endswith("42\n")
    assert list(place.folder.glob("env/lib/*/site-packages/demo_mod.py"))


HELD: dict[str, Any] = {
    "sandbox": "workspace",
    "auto_install": "known",
    "languages": ["python", "shell"],
    "env_pass": ["PIP_*", "UV_*"],
}


@pytest.mark.parametrize("own", [False, True], ids=["of an environment", "terp's own"])
@pytest.mark.parametrize(
    "line",
    [
        call("!pip install -q demo_pkg"),
        call("%pip install -q demo_pkg"),
        call("pip install -q demo_pkg", "shell"),
        call("import sys\n!{sys.executable} -m pip install -q demo_pkg"),
        call("!python -m pip install -q demo_pkg"),
    ],
)
async def test_terp_installs_what_a_line_of_pip_names_in_the_sandbox(
    place: Place, line: ToolCall, own: bool
) -> None:
    settings = {**HELD, "python": sys.executable} if own else HELD
    heard = await place.events(line, "import demo_mod; print(demo_mod.V)", **settings)
    assert heard.results == [
        "[note: demo_pkg was missing and is installed now.]\n[note: The code ran; it has no output.]",
        "42",
    ]


async def test_a_command_reads_the_variables_of_the_function_that_runs_it(place: Place) -> None:
    heard = await place.events("def show(word):\n    !echo {word}\nshow('from within')")
    assert heard.printed.replace("\r", "") == "from within\n"


OWN = {**HELD, "python": sys.executable}


@pytest.mark.parametrize(
    ("settings", "told", "version"),
    [
        ({}, "demo_pkg is upgraded now, for what is not imported yet.", "43"),
        ({"auto_install": "ask"}, "demo_pkg is not upgraded: no user agreed to it.", "42"),
    ],
)
async def test_a_package_that_is_there_is_upgraded_as_far_as_the_user_agrees(
    place: Place, settings: dict[str, str], told: str, version: str
) -> None:
    await place.events("import demo_mod", **OWN)
    write_wheel(place.folder.parent / "wheels", "demo_pkg", "demo_mod", "V = 43\n", "2.0")
    code = ("!pip install -q -U demo_pkg", "import demo_mod; print(demo_mod.V)")
    heard = await place.events(*code, letter="n", **{**OWN, **settings})
    assert heard.results == [f"[note: {told}]\n[note: The code ran; it has no output.]", version]


async def test_an_upgrade_of_what_terp_does_not_write_is_refused_with_the_reason(place: Place) -> None:
    heard = await place.events("!pip install -q -U ipykernel", **OWN)
    assert heard.results[0].splitlines()[0] == (
        f"[note: ipykernel is not upgraded: it is part of {sys.prefix}, which terp does not change.]"
    )


async def test_the_user_reads_what_allows_a_package_that_terp_does_not_know(place: Place) -> None:
    heard = await place.events("!pip install -q zz_unknown\nimport zz_unknown", **HELD)
    (noticed,) = of(Noticed, heard.events)
    assert (noticed.text, noticed.remedy) == (
        "zz_unknown is not installed: terp does not know this package.",
        "Allow it with --packages zz_unknown (in a session /install zz_unknown), "
        "or all with --auto-install always.",
    )


async def test_pip_in_the_sandbox_says_in_one_line_that_it_installs_nothing(
    place: Place, tmp_path: Path
) -> None:
    # Landlock makes an environment in the working directory writable.
    env = (place.folder / "env").rename(tmp_path / "env")
    heard = await place.events("!pip install zz_unknown", **{**HELD, "python": str(env)})
    assert heard.printed.replace("\r", "") == (
        "pip: code cannot install packages in the sandbox. terp installs, before the code runs, "
        "what the code imports or names to pip, as far as the user allows it.\n"
    )


async def test_a_package_that_was_refused_can_be_asked_for_again(place: Place) -> None:
    python = str(place.folder / "env")
    person = Agreeable("n")
    opening = terp.open(
        person=person, cwd=place.folder, environ=place.environ, model=ScriptedModel(), python=python
    )
    async with opening as session:
        for person.letter in ("n", "y"):
            async with aclosing(session.install(["demo-pkg"])) as installing:
                events = [event async for event in installing]
    assert [event.text for event in of(Noticed, events)] == ["demo-pkg was missing and is installed now."]


async def asked_to_install(place: Place, letter: str, **settings: Any) -> tuple[list[str], list[str]]:
    """The questions, and what the user reads, when a client asks for a package that is not there."""
    options: Any = {"languages": ["python"], "python": str(place.folder / "env"), **settings}
    opening = terp.open(
        person=Agreeable(letter), cwd=place.folder, environ=place.environ, model=ScriptedModel(), **options
    )
    async with opening as session, aclosing(session.install(["demo-pkg"])) as installing:
        events = [event async for event in installing]
    return [event.what for event in of(Asked, events)], [event.text for event in of(Noticed, events)]


@installed
async def test_a_package_that_a_client_asks_for_is_installed_after_consent(place: Place) -> None:
    asked, noticed = await asked_to_install(place, "y")
    assert asked == ["Install demo-pkg?"]
    assert noticed[-1] == "demo-pkg was missing and is installed now."
    assert list(place.folder.glob("env/lib/*/site-packages/demo_mod.py"))


@pytest.mark.parametrize("settings", [{}, {"auto_install": "never"}])
async def test_a_package_that_a_client_asks_for_is_refused_without_consent(
    place: Place, settings: dict[str, Any]
) -> None:
    _, noticed = await asked_to_install(place, "n", **settings)
    assert noticed[-1].startswith("demo-pkg is not installed")
    assert not list(place.folder.glob("env/lib/*/site-packages/demo_mod.py"))


@installed
async def test_a_program_installs_for_its_kernel_without_a_question(place: Place) -> None:
    async with terp.kernel(
        cwd=place.folder, environ=place.environ, languages=["python"], python=str(place.folder / "env")
    ) as kernel:
        await kernel.install("demo-pkg")
        assert (await kernel.run("import demo_mod; print(demo_mod.V)")).text == "42\n"
        assert "demo_pkg" in {name.replace("-", "_") for name in await kernel.list_packages()}
