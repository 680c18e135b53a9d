"""Run the tests that the last run of pytest in this folder failed once more, with nothing beside them.

Tests of signals, timers and processes can fail on a busy machine. A failure that stays is one; a test that
passes now is named all the same, as one to mend. More than ten failures are not of that kind: exit code 1.
"""

import json
import subprocess
import sys
from pathlib import Path

MOST = 10


def main() -> int:
    """Return the exit code of pytest, or 1 if there is nothing to run again."""
    kept = Path(".pytest_cache/v/cache/lastfailed")
    failed = sorted(json.loads(kept.read_text())) if kept.exists() else []
    print("\nFailed beside other tests:", *failed, sep="\n  ", flush=True)
    if not 0 < len(failed) <= MOST:
        return 1
    again = (sys.executable, "-m", "pytest", "-q", "--last-failed", "--last-failed-no-failures", "none")
    return subprocess.run(again, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
