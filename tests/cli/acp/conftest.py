from pathlib import Path

import pytest

from tests.cli.running import Terp


@pytest.fixture
def terp(tmp_path: Path) -> Terp:
    return Terp(tmp_path)
