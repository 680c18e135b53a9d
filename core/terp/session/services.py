"""Answers to running code: lines of input from the user, and services of terp."""

from collections.abc import Callable, Mapping
from typing import Any

from terp.errors import NobodyThere, TerpError
from terp.events.kernel import Kernel
from terp.events.outputs import BackCall, InputRequest, Service
from terp.events.run_log import RunLog
from terp.person.dialog import UserDialog
from terp.session.foreground import Interrupted
from terp.session.runs import Attended, Guard

RUN_OUTPUT = "run_output"
"""The service by which `out[N]` in a kernel finds the output of a run."""


class Services:
    """Answers code in kernels (`runs.CodeServices`)."""

    def __init__(self, dialog: UserDialog) -> None:
        self._dialog = dialog
        self._services: dict[str, Service] = {}

    def offer(self, name: str, service: Service) -> None:
        """Let code call `service` by `name`; its errors are raised in that code."""
        self._services[name] = service

    async def type_in(self, request: InputRequest, kernel: Kernel, attended: Attended) -> str:
        """Ask the user for a line of input; return a note for the model, or ""."""

        async def ask(whose: str) -> str:
            return await self._dialog.line(whose + request.prompt, secret=request.secret)

        try:
            line = await attended.asked(ask)
        except Interrupted:
            return ""
        except NobodyThere as nobody:
            await kernel.type_in(None)
            return f"{nobody.message} It got end of file; do not use input()."
        await kernel.type_in(line)
        return ""

    async def serve(self, call: BackCall, kernel: Kernel, guard: Guard) -> None:
        """Give code the answer of the service that it calls, awaited by `guard`."""
        service = self._services.get(call.service)
        if service is None:
            missing = f"terp has no service {call.service!r} here"
            await kernel.answer(None, missing if call.service else "this call names no service of terp")
            return
        try:
            await kernel.answer(await guard(service(call.arguments)))
        except Interrupted:
            return
        except TerpError as error:
            await kernel.answer(None, error.message)
        except Exception as error:  # noqa: BLE001  # any error of a service is raised in the code that called it
            await kernel.answer(None, f"{type(error).__name__}: {error}")


def run_outputs(runs: RunLog, spooled: Callable[[int], str]) -> Service:
    """Return the service that returns, to code in a kernel, the end of a run and the file of its output.

    Its argument is the `number` of the run; it raises what `RunLog.find` does. `spooled` is the file of a run
    in the session's folder, "" for none.
    """

    async def find(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
        run = runs.find(int(arguments["number"]))
        return {
            "number": run.number,
            # A fork has a copy of its own, and its code sees no other; a run that was cut off has no path.
            "path": spooled(run.number) or run.output_path,
            "status": run.fate,
            "language": run.language,
            "images": list(run.images),
        }

    return find
