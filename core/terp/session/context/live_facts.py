"""Facts that terp adds to a summary: the files that runs have left, and the variables in kernels.

A model that writes a summary may be wrong about both.
"""

from collections.abc import Sequence

from terp.errors import KernelBusy
from terp.events.changes import file_name
from terp.events.kernel import Kernel, Kernels, Variable
from terp.events.outputs import FileChange
from terp.events.run_log import RunLog
from terp.session.context.namespaces import Namespaces
from terp.session.context.summary import Listing


async def live_facts(kernels: Kernels, runs: RunLog) -> Sequence[Listing]:
    """Return the files that runs have left, if any, and the variables of each kernel that was started."""
    newest = [_named(change, kernels.cwd) for change in reversed(runs.files.values())]
    files = [Listing("Files that runs have left, the newest first:", newest)] if newest else []
    namespaces = Namespaces(kernels)
    held = [await _held(kernel, listable=namespaces.can_list(kernel)) for kernel in namespaces.started]
    none = [Listing("No kernel runs at this point, so there are no variables.")]
    return [*files, *(held or none)]


def _named(change: FileChange, cwd: str) -> str:
    where = f"{change.path} on {change.host}" if change.host else file_name(change.path, cwd)
    return f"{where} ({change.action})"


async def _held(kernel: Kernel, *, listable: bool) -> Listing:
    language = kernel.language
    if not listable:
        return Listing(f"The variables of {language} cannot be listed.")
    try:
        variables = await kernel.variables()
    except KernelBusy:
        return Listing(f"The variables of {language} cannot be listed while its kernel is busy.")
    if not variables:
        restarted = ": its kernel was restarted" if kernel.generation > 1 else ""
        return Listing(f"There are no variables in {language} at this point{restarted}.")
    heading = f"Variables in {language} at this point, whatever the notes say:"
    return Listing(heading, [_shown(variable) for variable in variables])


def _shown(variable: Variable) -> str:
    if len(variable.shape) == 1:
        return f"{variable.name} ({variable.type} of length {variable.shape[0]})"
    shape = f" {'×'.join(map(str, variable.shape))}" if variable.shape else ""
    return f"{variable.name} ({variable.type}{shape})"
