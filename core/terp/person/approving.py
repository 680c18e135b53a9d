"""A function of the program as the person who approves code."""

import asyncio
import inspect
from collections.abc import Awaitable, Callable
from typing import Any

from terp.errors import TerpError
from terp.events import CodeProposed
from terp.person import Decline, Nobody, Run

Decision = bool | str | Run | Decline
"""True, False, the reason for a refusal as text, or `Run` with other code to run."""
Approve = Callable[[CodeProposed], Decision | Awaitable[Decision]]
"""A function that decides about the `code`, `effects` and `cwd` of a proposal."""


class FunctionPerson(Nobody):
    """Lets a function decide about code. There is nobody for any other question.

    The function may be async; another one runs in a thread, where it may block. Code that it returns in a
    `Run` is proposed again, with its effects, and then runs without another call.
    """

    def __init__(self, approve: Approve) -> None:
        self._approve = approve
        self._edited = ""

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Return the decision of the function.

        Raises:
            TerpError: it returned something else. Errors of the function are raised as they are.
        """
        edited, self._edited = self._edited, ""
        if edited and proposed.code == edited:
            return Run(edited, by="approve")
        answer: object = await called(self._approve, proposed)
        if isinstance(answer, bool):
            return Run(proposed.code, by="approve") if answer else Decline("")
        if isinstance(answer, str):
            return Decline(answer)
        if not isinstance(answer, Run | Decline) or not isinstance(getattr(answer, "code", ""), str):
            remedy = "Return True, False, the reason as text, or terp.Run(code) with other code."
            raise TerpError(f"approve returned {answer!r}, and no code ran.", remedy)
        if isinstance(answer, Run) and answer.code != proposed.code:
            self._edited = answer.code
        return answer


async def called(function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Return the result of a function of the program; if it is not async, it runs in a thread."""
    if inspect.iscoroutinefunction(function):
        return await function(*args, **named)
    result = await asyncio.to_thread(function, *args, **named)
    return await result if inspect.isawaitable(result) else result
