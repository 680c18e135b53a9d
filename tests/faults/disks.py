"""Disks that are full or cannot be written, as far as a program with these variables knows."""

import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Disk:
    """A library that answers in place of the system's."""

    library: Path

    def full(self, below: Path, after: int = 0) -> Mapping[str, str]:
        """What lies below a folder takes so many bytes more."""
        return {**self._on(below), "TERP_FULL_AFTER": str(after)}

    def read_only(self, below: Path) -> Mapping[str, str]:
        """Nothing can be made below a folder."""
        return {**self._on(below), "TERP_FULL_READONLY": "1"}

    def _on(self, below: Path) -> dict[str, str]:
        return {"LD_PRELOAD": str(self.library), "TERP_FULL_BELOW": str(below)}


@pytest.fixture(scope="session")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Disk:
    if sys.platform != "linux":
        pytest.skip("programs are told otherwise there")
    compiler = shutil.which("gcc") or shutil.which("cc")
    if not compiler:
        pytest.skip("no compiler for c")
    library = tmp_path_factory.mktemp("disk") / "full.so"
    source = Path(__file__).with_name("full.c")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source, "-ldl"], check=True)
    return Disk(library)
