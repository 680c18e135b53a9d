"""The person of a client's session: its user, asked through the client or on the page of `--watch`."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextlib import suppress
from typing import Any

from mcp import MCPError, types

from terp.errors import NobodyThere
from terp.events import CodeProposed
from terp.person import Choice, Consent, Decline, Option, Person, Run
from terp.text.fences import fenced

ANSWER_TIMEOUT_S = 600.0
"""Limit for an answer through the client."""
_RUN, _NOT = "run it", "do not run it"
_REASON = {"type": "string", "title": "reason, for the agent"}
WATCH = "run terp mcp-server --watch in a terminal, to be asked there"

Elicit = Callable[[str, dict[str, Any]], Awaitable[types.ElicitResult]]
"""Asks the client's user a question, by a JSON Schema of the answer."""


class ClientPerson:
    """Implements `Person`. `elicit` is that of the client's call that runs, None if its client cannot ask.

    `watcher` returns who answers for the users that watch now, and is asked first: some clients decline
    by themselves. Without either, nothing is allowed. `declined` are the questions that a client declined.
    """

    def __init__(self) -> None:
        self.declined: list[str] = []
        self.elicit: Elicit | None = None
        self.watcher: Callable[[], Person | None] = lambda: None

    async def approve(self, proposed: CodeProposed) -> Run | Decline:
        """Ask about the code.

        Raises:
            NobodyThere: nobody answers, and nobody watches.
        """
        if (watcher := self.watcher()) is not None:
            return await watcher.approve(proposed)
        why = f" {proposed.asks}." if proposed.asks else ""
        where = f"in {proposed.cwd}" if proposed.cwd else "in the kernel"
        message = f"Run this code {where}?{why}\n\n{fenced(proposed.code, proposed.language)}"
        form = {"answer": _one_of([_RUN, _NOT]), "reason": _REASON}
        given = await self._asked(message, form, "The code needs approval")
        return Run(proposed.code) if given.get("answer") == _RUN else Decline(given.get("reason", ""))

    async def allow(self, request: Consent) -> bool:
        """Ask for consent; without anybody there is none."""
        answers = Option("y", "yes"), Option("n", "no")
        return await self.choose(Choice(request.what, answers, request.why)) == "y"

    async def choose(self, choice: Choice) -> str | Decline:
        """Ask for one of the options; without anybody there is no answer.

        Raises:
            NobodyThere: an answer is needed.
        """
        if (watcher := self.watcher()) is not None:
            return await watcher.choose(choice)
        letters, message = {one.does: one.letter for one in choice.options}, f"{choice.what}\n{choice.why}"
        try:
            given = await self._asked(message.rstrip(), {"answer": _one_of(letters)}, choice.what)
        except NobodyThere:
            if choice.needed:
                raise
            return ""
        letter = letters.get(given.get("answer", ""), "")
        if not letter:
            rules = "".join(f", or allow it by --allow {shlex.quote(rule)}" for rule in choice.rules)
            what = f"{choice.what.rstrip('.')}: declined through the client."
            self.declined.append(f"{what} If nobody was asked: {WATCH}{rules}.")
        return letter

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """Return a line for `input()`. A secret one is never asked for through a client, which would read it.

        Raises:
            NobodyThere: nobody types one.
        """
        if (watcher := self.watcher()) is not None:
            return await watcher.type_in(prompt, secret=secret)
        what = "The code asked for input"
        if secret:
            raise _nobody(what)
        form = {"line": {"type": "string", "title": prompt[:200] or "input()"}}
        given = await self._asked(prompt or "The code waits for a line.", form, what)
        if not given:
            raise NobodyThere("The user typed no line.")
        return given.get("line", "")

    async def _asked(self, message: str, form: Mapping[str, Any], what: str) -> Mapping[str, str]:
        """Return the fields as filled in, none for a refusal. The first is required.

        Raises:
            NobodyThere: nobody answers.
        """
        result = None
        # At a client that fails to ask nobody answers.
        with suppress(TimeoutError, MCPError):
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                schema = {"type": "object", "properties": form, "required": [*form][:1]}
                result = await self.elicit(message, schema) if self.elicit is not None else None
        if result is None or result.action == "cancel":
            raise _nobody(what)
        content = (result.content or {}) if result.action == "accept" else {}
        return {name: str(value or "") for name, value in content.items()}


def _one_of(options: Iterable[str]) -> Mapping[str, Any]:
    return {"type": "string", "enum": list(options)}


def _nobody(what: str) -> NobodyThere:
    return NobodyThere(f"{what.rstrip('.')}, and nobody is there to answer.", f"{WATCH.capitalize()}.")
