"""The person of a client's session: its user, asked through the client or on the page of `--watch`."""

import asyncio
import shlex
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

from mcp import MCPError, types

from terp.errors import NobodyThere
from terp.events import CodeProposed
from terp.person import Choice, Consent, Decline, Option, Person, Run
from terp.text.fences import fenced

T = TypeVar("T")
ANSWER_TIMEOUT_S = 600.0
"""Limit for an answer through the client."""
_RUN, _NOT = "run it", "do not run it"
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
        why = f" {proposed.asks}." if proposed.asks else ""
        where = f"in {proposed.cwd}" if proposed.cwd else "in the kernel"
        message = f"Run this code {where}?{why}\n\n{fenced(proposed.code, proposed.language)}"
        chosen = await self._chosen(message, [_RUN, _NOT], reason=True)
        if chosen is None:
            return await self._ask_watcher(lambda person: person.approve(proposed), "The code needs approval")
        return Run(proposed.code) if chosen["answer"] == _RUN else Decline(chosen["reason"])

    async def allow(self, request: Consent) -> bool:
        """Ask for consent; without anybody there is none."""
        answers = Option("y", "yes"), Option("n", "no")
        return await self.choose(Choice(request.what, answers, request.why)) == "y"

    async def choose(self, choice: Choice) -> str | Decline:
        """Ask for one of the options; without anybody there is no answer.

        Raises:
            NobodyThere: an answer is needed.
        """
        letters = {option.does: option.letter for option in choice.options}
        chosen = await self._chosen(f"{choice.what}\n{choice.why}".rstrip(), list(letters))
        if chosen is not None:
            letter = letters.get(chosen["answer"], "")
            if not letter:
                rules = "".join(f", or allow it by --allow {shlex.quote(rule)}" for rule in choice.rules)
                what = choice.what.rstrip(".")
                self.declined.append(
                    f"{what}: declined through the client. If nobody was asked: {WATCH}{rules}."
                )
            return letter
        if not (choice.needed or self.watcher()):
            return ""
        return await self._ask_watcher(lambda person: person.choose(choice), choice.what)

    async def type_in(self, prompt: str, *, secret: bool) -> str:
        """Return a line for `input()`. A secret one is never asked for through a client, which would read it.

        Raises:
            NobodyThere: nobody types one.
        """
        form = {"line": {"type": "string", "title": prompt[:200] or "input()"}}
        given = None if secret else await self._asked(prompt or "The code waits for a line.", form, "line")
        if given == {}:
            raise NobodyThere("The user typed no line.")
        if given is not None:
            return str(given.get("line", ""))
        return await self._ask_watcher(
            lambda person: person.type_in(prompt, secret=secret), "The code asked for input"
        )

    async def _chosen(
        self, message: str, options: Sequence[str], *, reason: bool = False
    ) -> Mapping[str, str] | None:
        """Return the chosen option as `answer`, and the `reason`; both are "" if the question is declined."""
        form: dict[str, Any] = {"answer": {"type": "string", "enum": list(options)}}
        if reason:
            form["reason"] = {"type": "string", "title": "reason, for the agent"}
        given = await self._asked(message, form, "answer")
        if given is None:
            return None
        return {name: str(given.get(name) or "") for name in ("answer", "reason")}

    async def _asked(self, message: str, form: Mapping[str, Any], required: str) -> Mapping[str, Any] | None:
        """Return the fields as filled in, none for a refusal; None if nobody is asked or answers."""
        if self.elicit is None or self.watcher() is not None:
            return None
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT_S):
                schema = {"type": "object", "properties": form, "required": [required]}
                result = await self.elicit(message, schema)
        except (TimeoutError, MCPError):
            # At a client that fails to ask nobody answers.
            return None
        return {"accept": result.content or {}, "decline": {}}.get(result.action)

    async def _ask_watcher(self, ask: Callable[[Person], Awaitable[T]], what: str) -> T:
        if (watcher := self.watcher()) is not None:
            return await ask(watcher)
        raise NobodyThere(f"{what.rstrip('.')}, and nobody is there to answer.", f"{WATCH.capitalize()}.")
