"""Which modules code needs."""

import pytest

from terp.analysis.effects.cells import python_in
from terp.kernels.environments.distributions import known_distribution, needed


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
        ("import", None),
    ],
)
def test_modules_are_read_from_the_code(code: str, modules: tuple[str, ...] | None) -> None:
    tree = python_in(code)
    assert (needed(tree) if tree else None) == modules


@pytest.mark.parametrize(
    ("module", "distribution"),
    [("cv2", "opencv-python-headless"), ("sklearn", "scikit-learn"), ("numpy", "numpy"), ("my_own", "")],
)
def test_a_distribution_is_known_or_not_guessed(module: str, distribution: str) -> None:
    assert known_distribution(module) == distribution
