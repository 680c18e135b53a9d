"""The exit codes of terp."""

from collections.abc import Mapping

from terp.errors import StopReason

EXIT_CODES: Mapping[StopReason, int] = {
    "done": 0,
    "error": 1,
    "rejected": 1,
    "context_full": 1,
    "repeated_failure": 1,
    "until_failed": 1,
    "usage": 2,
    "approval_needed": 3,
    "declined": 3,
    "no_sandbox": 3,
    "max_steps": 4,
    "max_budget": 4,
    "unavailable": 69,
    "rate_limited": 75,
    "auth": 77,
    "timeout": 124,
    "interrupted": 130,
}
HUNG_UP = 129
READER_LEFT = 141
TERMINATED = 143
