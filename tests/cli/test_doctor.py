"""What the doctor says."""

import io
import sys
from pathlib import Path

import pytest

from terp.places import Places
from terp.settings import Settings
from terp_cli.doctor import Patient, report
from terp_cli.machine import image_protocol, landlock_version


def examined(tmp_path: Path, settings: Settings | None = None, **environ: str) -> tuple[int, list[str]]:
    out = io.StringIO()
    # No local server listens on this port.
    surroundings = {"OLLAMA_HOST": "127.0.0.1:9", **environ}
    patient = Patient(settings or Settings(), Places(tmp_path, tmp_path), surroundings, out)
    return report(patient), out.getvalue().splitlines()


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


def test_it_says_that_nothing_is_confined(tmp_path: Path) -> None:
    _, lines = examined(tmp_path)
    assert any(line.startswith("- sandbox") and "confines nothing" in line for line in lines)


def test_the_version_of_landlock_is_a_number() -> None:
    assert landlock_version() >= 0


@pytest.mark.parametrize(
    ("environ", "protocol"),
    [
        ({"TERM": "xterm-kitty"}, "kitty"),
        ({"TERM": "xterm-256color", "TERM_PROGRAM": "WezTerm"}, "iterm"),
        ({"TERM": "foot"}, "sixel"),
        ({"TERM": "xterm-kitty", "TMUX": "/tmp/x"}, ""),
        ({"TERM": "xterm"}, ""),
    ],
)
def test_the_way_of_images_is_read_from_the_environment(environ: dict[str, str], protocol: str) -> None:
    assert image_protocol(environ) == protocol
