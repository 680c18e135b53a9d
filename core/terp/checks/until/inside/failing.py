"""Why a solution or its test has failed, as text."""

from __future__ import annotations

import traceback

SOLUTION, TEST = "solution.py", "test.py"
_FRAMES = 8


def failure(error: BaseException) -> str:
    """What was raised, with the lines of the solution and the test alone."""
    trace = traceback.TracebackException.from_exception(error)
    trace.stack = traceback.StackSummary.from_list(
        [frame for frame in trace.stack if frame.filename in (SOLUTION, TEST)][-_FRAMES:]
    )
    return "".join(trace.format(chain=False))
