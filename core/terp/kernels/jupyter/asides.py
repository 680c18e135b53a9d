"""Questions to a kernel beside its runs: completions, help, variables. They run no code of a cell."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from terp.errors import KernelBusy
from terp.events.kernel import Variable, WrittenValue
from terp.kernels.jupyter.channels import Message
from terp.kernels.jupyter.reports import shape_in
from terp.kernels.jupyter.running import RunningKernel
from terp.text.plain import without_escapes

# Whoever types a line waits for completions.
_TYPING_S = 0.15
_HELP_S = 1.0
# Beside a run, and in a kernel that does nothing else.
_VARIABLES_BUSY_S, _VARIABLES_S = 0.3, 1.0
# Who takes back what a run has done can wait, and must know what came of it.
_PAST_S = 30.0
# An answer that is being shown waits for it.
_VALUE_S = 1.0


class Asides:
    """Asks the kernel that runs now, if one does; while code runs, in a subshell of it (ipykernel 7)."""

    def __init__(self, running: Callable[[], RunningKernel | None], busy: Callable[[], bool]) -> None:
        self._running = running
        self._busy = busy

    async def complete(self, code: str, cursor: int) -> Sequence[str]:
        """Completions, or none when there are none within 150 ms."""
        reply = await self._ask("complete_request", {"code": code, "cursor_pos": cursor}, _TYPING_S)
        return tuple(match for match in reply.get("matches") or () if isinstance(match, str))

    async def inspect(self, code: str, cursor: int) -> str:
        """Documentation as plain text; "" when the kernel cannot answer."""
        content = {"code": code, "cursor_pos": cursor, "detail_level": 0}
        reply = await self._ask("inspect_request", content, _HELP_S)
        return without_escapes(str((reply.get("data") or {}).get("text/plain") or ""))

    async def names(self) -> Mapping[str, str]:
        """The person's names with their types; none when they do not come within 150 ms."""
        answer = await self._ask_bootstrap("names", _TYPING_S)
        names = (answer or {}).get("names")
        return dict(names) if isinstance(names, Mapping) else {}

    async def variables(self) -> Sequence[Variable]:
        """The person's variables.

        Raises:
            KernelBusy: the code that runs lets nothing else run.
        """
        if self._running() is None:
            return ()
        answer = await self._ask_bootstrap("variables", _VARIABLES_BUSY_S if self._busy() else _VARIABLES_S)
        if answer is None:
            raise KernelBusy("The kernel is busy and does not answer beside its run.", "Ask again later.")
        return tuple(_variable(row) for row in answer.get("variables") or ())

    async def missing(self, modules: Sequence[str]) -> Sequence[str]:
        """Those of the top-level modules that code could not import; none when nobody answers."""
        answer = await self._ask_bootstrap("missing", _VARIABLES_S, modules)
        return tuple(name for name in (answer or {}).get("missing") or () if name in modules)

    async def written(self, moment: int) -> Sequence[Sequence[str]]:
        """The files that runs have written to since a moment, each with what can be done about it."""
        answer = await self._ask_bootstrap("written", _PAST_S, [moment])
        return [[str(part) for part in row] for row in (answer or {}).get("written") or ()]

    async def take_back(self, moment: int, paths: Sequence[str]) -> Mapping[str, Any] | None:
        """What came of putting all back; None when there is no kernel, or one that keeps nothing.

        Raises:
            KernelBusy: code runs in it, or it does not answer.
        """
        running = self._running()
        if running is None or not running.has_bootstrap or running.is_shared:
            return None
        if self._busy():
            raise KernelBusy("Code still runs in the kernel, so nothing was taken back.", "Stop it first.")
        answer = await self._ask_bootstrap("rewind", _PAST_S, [moment, *paths])
        if answer is None:
            raise KernelBusy("The kernel does not answer, so nothing was taken back.", "Ask again later.")
        return dict(answer.get("rewind") or {})

    async def value(self, name: str, keys: Sequence[Any], spec: str) -> WrittenValue:
        """The text of a value; why there is none, also when no kernel runs or none answers within 1 s."""
        running = self._running()
        if running is None:
            return WrittenValue(why="no code has run yet")
        if not running.has_bootstrap:
            return WrittenValue(why="this kernel does not tell values")
        answer = await self._ask_bootstrap("value", _VALUE_S, [json.dumps([name, keys, spec])])
        told = (answer or {}).get("value")
        if not isinstance(told, Mapping):
            return WrittenValue(why="the kernel did not answer")
        return WrittenValue(str(told.get("text") or ""), str(told.get("why") or ""))

    async def _ask(self, kind: str, content: Message, timeout_s: float) -> Message:
        running = self._running()
        if running is None:
            return {}
        return await running.ask(kind, content, timeout_s, busy=self._busy()) or {}

    async def _ask_bootstrap(self, what: str, timeout_s: float, about: Sequence[Any] = ()) -> Message | None:
        running = self._running()
        if running is None:
            return None
        return await running.ask_bootstrap(what, timeout_s, busy=self._busy(), about=about)


def _variable(row: Any) -> Variable:
    name, kind, shape, size, head = row
    return Variable(str(name), str(kind), shape_in(shape), size if isinstance(size, int) else None, str(head))
