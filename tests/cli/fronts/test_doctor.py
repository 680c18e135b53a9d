"""The report of `terp doctor`."""

import io
import sys
from pathlib import Path

import pytest

from terp.settings import Settings
from terp.settings.places import Places
from terp.settings.project.standing import standing_of
from terp_cli.fronts.doctor import Diagnosis, report, report_lines
from tests.cli.screens import Terminal


def examined(tmp_path: Path, settings: Settings | None = None, **environ: str) -> tuple[int, list[str]]:
    out = io.StringIO()
    # No local server listens on this port.
    environment = {"OLLAMA_HOST": "127.0.0.1:9", **environ}
    diagnosis = Diagnosis(settings or Settings(), Places(tmp_path, tmp_path), environment, out)
    return report(diagnosis), out.getvalue().splitlines()


def test_keys_are_told_by_name_alone(tmp_path: Path) -> None:
    _, lines = examined(tmp_path, OPENAI_API_KEY="sk-secret")
    assert "  model     keys in the environment: OPENAI_API_KEY" in lines
    assert "sk-secret" not in "".join(lines)


def test_a_python_that_does_not_run_is_wrong(tmp_path: Path) -> None:
    code, lines = examined(tmp_path, Settings(python="/no/such/python"))
    [at] = [n for n, line in enumerate(lines) if line.startswith("! kernel")]
    assert "/no/such/python (as configured) does not run" in lines[at]
    assert lines[at + 1] == "            → name a Python that runs with --python, or leave it out."
    assert code == 1


def test_the_kernel_is_that_of_this_python(tmp_path: Path) -> None:
    _, lines = examined(tmp_path)
    version = "{}.{}.{}".format(*sys.version_info)
    assert f"  kernel    Python {version}, {sys.executable} (terp's own)" in lines


def test_sessions_that_others_can_read_are_wrong(tmp_path: Path) -> None:
    (tmp_path / "sessions").mkdir(mode=0o755)
    code, lines = examined(tmp_path)
    assert f"! state     {tmp_path}/sessions (0755) can be read by other users." in lines
    assert f"            → chmod go= {tmp_path}/sessions" in lines
    assert code == 1


def test_it_says_what_confines_code(tmp_path: Path) -> None:
    _, lines = examined(tmp_path)
    assert any("the next kernel has the tier none: sandbox is auto" in line for line in lines)


def test_without_any_model_there_is_something_to_repair(tmp_path: Path) -> None:
    code, lines = examined(tmp_path)
    at = lines.index("! model     no model is configured; terp demo works without one.")
    assert lines[at + 1].strip() == "→ terp keys set openai (or another), or start a local server."
    assert (code, lines[-1]) == (1, "1 to repair, marked !")


def test_the_model_of_the_session_is_told(tmp_path: Path) -> None:
    diagnosis = Diagnosis(
        Settings(model="openai/before"),
        Places(tmp_path, tmp_path),
        {"OLLAMA_HOST": "127.0.0.1:9"},
        io.StringIO(),
        model="openai/now",
    )
    assert "  model     openai/now (this session)" in list(report_lines(diagnosis))


@pytest.mark.parametrize(
    ("environ", "way"),
    [
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"TERM": "xterm-256color"}, "blocks of colour"),
        ({"TERM": "xterm"}, "none, so pictures are shown as paths"),
    ],
)
def test_it_says_how_pictures_are_drawn(tmp_path: Path, environ: dict[str, str], way: str) -> None:
    assert f"images: {way}" in " ".join(_on_a_terminal(tmp_path, **environ).split())


def test_the_environment_of_the_project_is_named_with_what_becomes_of_it(tmp_path: Path) -> None:
    python = tmp_path / ".venv/bin/python"
    python.parent.mkdir(parents=True)
    python.touch(mode=0o755)
    out, environ = io.StringIO(), {"HOME": "/nowhere", "OLLAMA_HOST": "127.0.0.1:9"}
    places = Places(tmp_path / "home", tmp_path / "home")
    report(Diagnosis(Settings(), places, environ, out, cwd=str(tmp_path)))
    standing_of(tmp_path, environ, places).answer("yes", keep=True)
    report(Diagnosis(Settings(), places, environ, out, cwd=str(tmp_path)))
    told = [line[2:] for line in out.getvalue().splitlines() if "of this project" in line]
    assert told == [
        "kernel    .venv of this project does not run the code: the project is not trusted (terp trust).",
        "kernel    .venv of this project runs the code: the project is trusted (terp trust).",
    ]


def test_its_lines_are_broken_between_words(tmp_path: Path) -> None:
    shown = _on_a_terminal(tmp_path, TERM="xterm")
    assert "\n            code that runs unasked." in shown
    assert [line for line in shown.splitlines() if len(line) > 80] == []


def _on_a_terminal(tmp_path: Path, **environ: str) -> str:
    out = Utf8()
    environ["OLLAMA_HOST"] = "127.0.0.1:9"
    report(Diagnosis(Settings(), Places(tmp_path, tmp_path), environ, out))
    return out.getvalue()


class Utf8(Terminal):
    """A terminal that takes any character."""

    encoding = "utf-8"


def test_a_provisioner_that_is_not_installed_is_wrong(tmp_path: Path) -> None:
    code, lines = examined(tmp_path, Settings(kernel_provisioner="huge"))
    at = lines.index("! kernel    there is no kernel provisioner 'huge'.")
    assert lines[at + 1].endswith("installed: local-provisioner")
    assert code == 1


def test_a_provisioner_that_starts_kernels_is_told(tmp_path: Path) -> None:
    _, lines = examined(tmp_path, Settings(kernel_provisioner="local-provisioner"))
    told = "the provisioner local-provisioner starts kernels of Python and of kernelspecs."
    assert f"- kernel    {told} terp sandboxes none of them." in lines
