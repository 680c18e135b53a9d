"""A run whose output is kept instead of shown, as a session would keep it."""

from collections.abc import Awaitable, Callable, Iterable
from contextlib import aclosing

from terp.events.kernel import Kernel
from terp.events.outputs import BackCall, Error, InputRequest, Output, RunEnded, RunStarted, ToolWorking
from terp.events.settled import Displays, Settled
from terp.session.beside import Beside
from terp.session.flood import Flood
from terp.session.observation import Observation


class HeardRun:
    """Runs one piece of code, and gives it these lines when it asks; then its stdin is at its end.

    `displays` are those of all runs that belong together, as a later one can change what an earlier one
    shows. `observed` is what a model would be told of it; it has `failed` if it did not come to its end.
    """

    def __init__(
        self,
        answers: Iterable[str],
        displays: Displays,
        serve: Callable[[BackCall, Kernel], Awaitable[None]],
        max_chars: int,
    ) -> None:
        self.outputs = Settled(displays)
        self.observed = ""
        self.error: Error | None = None
        self.failed = False
        self._answers = iter(answers)
        self._serve = serve
        self._max_chars = max_chars
        self._flood = Flood()

    async def run(self, kernel: Kernel, code: str, *, timeout_s: float) -> int:
        """Run `code` to its end; 0 when it came to it without an error."""
        observation = Observation(self._max_chars, kernel.cwd)
        running = kernel.execute(code, run_id="run", timeout_s=timeout_s)
        async with aclosing(running) as items, aclosing(Beside()) as beside:
            while not isinstance(item := await beside.next(items), RunEnded):
                match item:
                    case BackCall():
                        beside.begin(self._called(item, kernel))
                    case RunStarted() | ToolWorking():
                        continue
                    case _:
                        observation.add(item)
                        self._take(item)
                        if isinstance(item, InputRequest):
                            beside.begin(self._type_in(kernel))
        for output in self._flood.ended():
            self.outputs.add(output)
        self.observed = observation.text(item)
        self.failed = item.status != "ok"
        return int(self.failed)

    def _take(self, output: Output) -> None:
        if isinstance(output, Error):
            self.error = output
        for passed in self._flood.passed(output):
            self.outputs.add(passed)

    async def _type_in(self, kernel: Kernel) -> None:
        line = next(self._answers, None)
        if line is not None:
            self.outputs.typed(line)
        await kernel.type_in(line)

    async def _called(self, call: BackCall, kernel: Kernel) -> None:
        await self._serve(call, kernel)
