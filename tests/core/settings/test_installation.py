"""The command that adds packages to terp's own environment."""

import sys
import tomllib
from pathlib import Path

import pytest

from terp.settings.installation import EXTRAS, install_command, install_extra

ROOT = Path(__file__).resolve().parents[3]


def test_the_packages_of_each_extra_are_those_of_the_distribution() -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    del extras["optional-dependencies"]["dev"]
    assert {name: list(packages) for name, packages in EXTRAS.items()} == extras["optional-dependencies"]


def test_pip_of_the_running_python_adds_packages() -> None:
    assert install_command("pillow>=10.3") == f"{sys.executable} -m pip install 'pillow>=10.3'"
    assert install_extra("keys") == f"{sys.executable} -m pip install 'keyring>=25'"


def test_pipx_injects_them_into_its_environment(tmp_path: Path) -> None:
    place = tmp_path / "venvs" / "terp"
    place.mkdir(parents=True)
    (place / "pipx_metadata.json").touch()
    assert install_command("six", prefix=place) == "pipx inject terp six"


@pytest.mark.parametrize(
    ("requirements", "command"),
    [
        ('{ name = "terp", directory = "/src/my terp" }', "'/src/my terp' --with six"),
        ('{ name = "terp", editable = "/src/terp" }', "--editable /src/terp --with six"),
        ('{ name = "terp" }', "terp --with six"),
        (
            '{ name = "pillow", specifier = ">=10" }, { name = "terp", extras = ["mcp"], directory = "/t" }',
            "'/t[mcp]' --with 'pillow>=10' --with six",
        ),
    ],
)
def test_uv_installs_terp_again_with_what_it_had_and_the_new_package(
    requirements: str, command: str, tmp_path: Path
) -> None:
    (tmp_path / "uv-receipt.toml").write_text(f"[tool]\nrequirements = [{requirements}]\n")
    assert install_command("six", prefix=tmp_path) == f"uv tool install {command}"
