"""A person at a terminal who looks at an answer: more asserts, and a comment."""

from terp.checks.solve.asking import Ended
from terp.checks.solve.state import State
from terp.text.interrupts import Interrupted, Interrupts
from terp_cli.fronts.call import STDIN
from terp_cli.line.stdin import TypedLines
from terp_cli.verbs.solve_front import SolveFront

_ASSERTS = "More asserts, which always have to pass; two empty lines end them (Enter: none):\n"
_COMMENT = "A comment on the solution (Enter: none):\n"


class TypingReviewer:
    """Reads lines as the terminal gives them, so that it is as it was whenever terp ends."""

    def __init__(self, front: SolveFront) -> None:
        self._front = front
        self._lines = TypedLines(STDIN)
        self._interrupts = Interrupts()
        self._comment = ""

    def stop(self) -> None:
        """Ask no more."""
        self._interrupts.stop()

    async def look(self, state: State, complaint: str) -> tuple[str, str]:
        """What the person wants besides; what they have said is not asked again after a `complaint`.

        Raises:
            Ended: they have interrupted.
        """
        if complaint:
            self._front.ask(f"{complaint}\n")
        else:
            self._front.answer(state)
        try:
            asserts = await self._interrupts.guard(self._asserts())
            if not complaint:
                self._comment = await self._interrupts.guard(self._commented())
        except Interrupted as stopped:
            raise Ended("interrupted") from stopped
        return asserts, self._comment

    async def _asserts(self) -> str:
        lines: list[str] = []
        line = await self._line(_ASSERTS)
        while line is not None and (line.strip() or (lines and lines[-1])):
            lines.append(line.rstrip())
            line = await self._lines.next()
        return "\n".join(lines).strip()

    async def _commented(self) -> str:
        return await self._line(_COMMENT) or ""

    async def _line(self, question: str) -> str | None:
        self._front.ask(question)
        return await self._lines.next()
