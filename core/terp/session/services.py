"""Answers to running code: lines of input from the user, and services of terp."""

from collections.abc import Callable, Mapping
from typing import Any

from terp.analysis.edits import spelled_calls
from terp.errors import NobodyThere, TerpError
from terp.events import Answered, CodeProposed, CodeTyped
from terp.events.kernel import Kernel
from terp.events.log import EventLog
from terp.events.outputs import BackCall, InputRequest, Service
from terp.events.run_log import RunLog
from terp.person import Consent
from terp.person.dialog import UserDialog
from terp.session.foreground import Interrupted
from terp.session.runs import Attended, Guard

EDIT = "edit"
"""The service by which `edit_file` in a kernel lets the user see an edit."""
_MOST_SHOWN = 12
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


def edit_consent(log: EventLog, dialog: UserDialog) -> Service:
    """Return the service that shows an edit of `edit_file` before it is made; it returns why not, or "".

    The user is asked if they have approved the code, and its texts do not stand in it.
    """

    async def agree(edit: Mapping[str, Any]) -> str:
        if not _is_unseen(log, (edit["path"], edit["old"], edit["new"])):
            return ""
        shown = str(edit["diff"]).split("\n")
        more = len(shown) - _MOST_SHOWN
        if more > 0:
            shown = [*shown[:_MOST_SHOWN], f"… {more:,} more lines are not shown"]
        what = f"Change {edit['path']} ({edit['lines']})?"
        try:
            agreed = await dialog.allow(Consent(what, "\n".join(shown), as_code=True))
        except NobodyThere:
            agreed = False
        return "" if agreed else "The user did not agree to this change, and the file is as it was."

    return agree


def _is_unseen(log: EventLog, texts: tuple[str, str, str]) -> bool:
    for record in reversed(log.since(log.turn_at)):
        match record.event:
            case CodeTyped():
                return False
            case Answered(answer=answer, by=by) if answer.startswith("run") and by != "person":
                return False
            case CodeProposed(language=language, code=code):
                return texts not in spelled_calls(language, code)
    return True
