"""Which distribution contains a module."""

import pytest

from terp.kernels.environments.distributions import known_distribution


@pytest.mark.parametrize(
    ("module", "distribution"),
    [("cv2", "opencv-python-headless"), ("sklearn", "scikit-learn"), ("numpy", "numpy"), ("my_own", "")],
)
def test_a_distribution_is_known_or_not_guessed(module: str, distribution: str) -> None:
    assert known_distribution(module) == distribution
