"""Packages that code needs: by its imports, and by its pip commands."""

from pathlib import Path

import pytest

from terp.kernels.environments.code_needs import imported_by, named_by_pip


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("!pip install cowsay", ["cowsay"]),
        ("%pip install -q 'pandas>=2,<3' rich[all]==13.0", ["pandas>=2,<3", "rich[all]==13.0"]),
        ("import sys\n!{sys.executable} -m pip install -U cowsay 2>&1 | tail -1", ["cowsay"]),
        ("if True:\n    !pip install cowsay", ["cowsay"]),
        ("%%bash\nset -e\nuv pip install cowsay && python3 -m pip install six", ["cowsay", "six"]),
        ("!pip install --index-url http://127.0.0.1/simple cowsay", ["cowsay"]),
        ("!pip install git+https://example.org/x.git ./folder -e .", []),
        ("!pip install $NAME", []),
        ("!pip list", []),
        ("print('pip install cowsay')", []),
    ],
)
def test_a_cell_names_them_in_its_commands(code: str, named: list[str]) -> None:
    assert list(named_by_pip(code, "python", ".")) == named


@pytest.mark.parametrize(
    ("line", "upgrades"),
    [
        ("install six", False),
        ("install -U six", True),
        ("install --upgrade six", True),
        ("install six -qU", True),
    ],
)
def test_a_line_says_whether_it_upgrades(line: str, upgrades: bool) -> None:
    assert named_by_pip(f"pip {line}; pip install cowsay", "shell", ".") == {"six": upgrades, "cowsay": False}


def test_a_script_names_them(tmp_path: Path) -> None:
    assert named_by_pip("cd x; pip install cowsay six", "shell", ".") == {"cowsay": False, "six": False}


def test_a_file_of_requirements_names_them(tmp_path: Path) -> None:
    (tmp_path / "r.txt").write_text("# ours\nsix==1.16  # old\n--index-url http://127.0.0.1\ncowsay\n")
    assert named_by_pip("pip install -r r.txt", "shell", str(tmp_path)) == {
        "six==1.16": False,
        "cowsay": False,
    }


@pytest.mark.parametrize(
    ("code", "modules"),
    [
        ("import numpy as np, pandas", ("numpy", "pandas")),
        ("import os.path, sklearn.cluster", ("sklearn",)),
        ("from PIL import Image", ("PIL",)),
        ("from . import x\nfrom .y import z", ()),
        ("def f():\n    import cv2", ("cv2",)),
        ("try:\n    import ujson as json\nexcept ImportError:\n    import json", ()),
        ("try:\n    import a\nexcept ValueError:\n    pass", ("a",)),
        ("try:\n    import a\nexcept (OSError, ModuleNotFoundError):\n    import b", ("b",)),
        ("%matplotlib inline\nimport numpy\n!ls", ("numpy",)),
        ("import", ()),
    ],
)
def test_modules_are_read_from_the_code(code: str, modules: tuple[str, ...]) -> None:
    assert imported_by(code) == modules
