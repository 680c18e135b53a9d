"""What every test runs under: signals that arrive, and a limit of its time."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
# As a script does that starts `make test &`, or one under nohup.
IGNORING = ("sh", "-c", 'trap "" INT QUIT HUP; exec "$@"', "sh")
OF_SIGNALS = ("tests/core/opening/test_chat.py", "tests/cli/line/test_stopping.py")


def test_tests_of_signals_pass_where_they_are_ignored() -> None:
    quickly = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-o", "timeout=60"]
    command = [*IGNORING, *quickly, *OF_SIGNALS]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout


def test_a_test_that_hangs_fails_with_the_stack_of_each_thread(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text("import threading\ndef test_it(): threading.Event().wait()\n")
    command = [sys.executable, "-m", "pytest", "-q", "-c", str(ROOT / "pyproject.toml"), "-o", "timeout=1"]
    ended = subprocess.run(
        [*command, "-p", "no:cacheprovider", str(tmp_path)],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1
    assert "waiter.acquire()" in ended.stdout
    assert re.search(r"Failed: Timeout \(?>1\.0s\b", ended.stdout)


def test_every_test_has_a_limit(request: pytest.FixtureRequest) -> None:
    assert request.config.getini("timeout") == "240"
