"""The exceptions that terp raises on purpose.

    TerpError
    ├── SettingsError          a flag, variable or profile is wrong; `problems` has one line each
    ├── AttachmentError        a file named with -f cannot be used
    ├── UnknownRun             a session has no run of that number
    ├── NobodyThere            a question was asked and no person can answer it
    ├── ModelError             a model call failed; `stop_reason` says how
    │   ├── NoModel            no model is configured and none was found
    │   ├── AuthFailed         no key, wrong key, no permission: 401, 403
    │   ├── RequestRejected    the provider refused the request: 400, 404, 422
    │   │   └── ToolsRejected  … because this model cannot call tools
    │   ├── BudgetSpent        it would cost more than the user has allowed
    │   ├── PriceUnknown       … or its price is not known
    │   ├── ContextFull        the conversation is longer than the model can read
    │   ├── RateLimited        429 after all retries
    │   ├── Unavailable        connection, 5xx or a broken stream, after all retries
    │   └── RecordingMiss      a replay has no reply for this request
    ├── SessionError           a stored session cannot be found, opened or changed
    │   └── SessionInUse       another process has it open
    ├── TurnFailed             a turn ended without an answer (for callers of `terp.open`)
    └── KernelError            a kernel cannot do what was requested
        ├── KernelStartFailed  it did not start; the message ends with the last lines of its log
        │   ├── KernelKilled        a signal ended it while it started
        │   ├── GatewayRefused      the gateway of its machine refused access: the token is missing or wrong
        │   └── GatewayUnavailable  the gateway cannot be reached, or fails
        ├── NoSandbox          its code must run in a sandbox, and none works here
        ├── KernelBusy         it cannot be asked while its code runs
        ├── MissingVariable    it has no variable of that name; also a KeyError
        ├── CannotTransfer     a value cannot be sent to it or leave it; also a TypeError
        └── UnknownLanguage    nothing here can run that language

A message is one readable sentence; `remedy` is what the user can do, or empty.
"""

from collections.abc import Sequence
from typing import Literal

StopReason = Literal[
    "done",
    "error",
    "usage",
    "rejected",
    "context_full",
    "approval_needed",
    "declined",
    "no_sandbox",
    "max_steps",
    "max_budget",
    "repeated_failure",
    "until_failed",
    "watch_broken",
    "unavailable",
    "rate_limited",
    "auth",
    "timeout",
    "interrupted",
]
"""The ways in which a turn, or the program, can end; the names of CLI output and exit codes."""


class TerpError(Exception):
    """Base of all errors raised on purpose; shown to a person without a traceback."""

    stop_reason: StopReason = "error"

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy
        if remedy:
            # Python shows it below a traceback.
            self.add_note(remedy)


class SettingsError(TerpError):
    """One or more settings are wrong. Each problem is one line: where, and what."""

    stop_reason: StopReason = "usage"

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class AttachmentError(TerpError):
    """A file named as an attachment is missing, unreadable or of a kind that cannot be attached."""

    stop_reason: StopReason = "usage"


class UnknownRun(TerpError):
    """A session has no run of that number, or none that is over; the message lists the runs."""

    stop_reason: StopReason = "usage"


class NobodyThere(TerpError):
    """A question was asked, and no person is there to answer it."""

    stop_reason: StopReason = "approval_needed"


class ModelError(TerpError):
    """A call of the model failed.

    `status` is the HTTP status or 0; `retry_after_s` is the wait that the provider requested, or None;
    `retryable` whether the same request may succeed later.
    """

    retryable = False

    def __init__(
        self, message: str, remedy: str = "", *, status: int = 0, retry_after_s: float | None = None
    ) -> None:
        super().__init__(message, remedy)
        self.status = status
        self.retry_after_s = retry_after_s


class NoModel(ModelError):
    """No model is configured, no key is set and no local server answers."""

    stop_reason: StopReason = "auth"


class AuthFailed(ModelError):
    """There is no key, the key is wrong, or it lacks the permission (401, 403)."""

    stop_reason: StopReason = "auth"


class RequestRejected(ModelError):
    """The provider refused the request as such (400, 404, 422); sending it again changes nothing."""

    stop_reason: StopReason = "rejected"


class ToolsRejected(RequestRejected):
    """The provider says that this model cannot call tools; fenced code can be used instead."""


class ContextFull(ModelError):
    """The conversation is longer than the model can read."""

    stop_reason: StopReason = "context_full"


class BudgetSpent(ModelError):
    """The call was not made: it would exceed a cost limit."""

    stop_reason: StopReason = "max_budget"


class PriceUnknown(ModelError):
    """The call was not made: there is a cost limit, and the price of an earlier call is not known."""


class RateLimited(ModelError):
    """Too many requests or no quota (429, and 402 with a temporary cause)."""

    stop_reason: StopReason = "rate_limited"
    retryable = True


class Unavailable(ModelError):
    """The provider cannot be reached, fails (408, 409, 5xx) or broke off its answer."""

    stop_reason: StopReason = "unavailable"
    retryable = True


class RecordingMiss(ModelError):
    """A strict replay has no reply for a request; the message shows the first difference."""


class SessionError(TerpError):
    """A stored session cannot be found, opened or changed; or there is nothing to change."""

    stop_reason: StopReason = "usage"


class SessionInUse(SessionError):
    """Another process has the session open."""


class KernelError(TerpError):
    """A kernel cannot do what was requested."""


class KernelStartFailed(KernelError):
    """A kernel did not start."""


class KernelKilled(KernelStartFailed):
    """A signal ended a kernel while it started."""


class GatewayRefused(KernelStartFailed):
    """A gateway refused access: the token is missing or wrong, or does not permit the request."""

    stop_reason: StopReason = "auth"


class GatewayUnavailable(KernelStartFailed):
    """A gateway cannot be reached, the address is not a gateway's, or the request failed."""

    stop_reason: StopReason = "unavailable"


class NoSandbox(KernelError):
    """Code must run in a sandbox, and none works on this machine."""

    stop_reason: StopReason = "no_sandbox"


class KernelBusy(KernelError):
    """A kernel does not answer a request while it runs code."""


class MissingVariable(KernelError, KeyError):
    """The kernel has no variable of that name."""

    __str__ = Exception.__str__


class CannotTransfer(KernelError, TypeError):
    """A value cannot be sent to the kernel, or its type cannot leave it; the message names the type."""


class UnknownLanguage(KernelError):
    """No kernel here runs that language."""


def with_remedy(error: str, remedy: str) -> str:
    """Return an error and its remedy as text, on one line if they fit."""
    if not remedy:
        return error.rstrip()
    if "\n" in error:
        return f"{error}\n{remedy}"
    # What a provider says often has no end.
    return f"{error} {remedy}" if error.endswith((".", "!", "?", "…")) else f"{error}. {remedy}"
