"""Code that is kept, run once in new kernels: whether it makes and shows the same as it did."""

from collections.abc import Callable, Mapping, Sequence

from terp.comparing.difference import difference
from terp.export.settling import Displays
from terp.export.story import Run
from terp.export.words import unfinished
from terp.heard import HeardRun
from terp.kernels.protocol import Kernel, Kernels, Variable
from terp.limits import Limits
from terp.outputs import BackCall, Text

_NOT_HERE = "tools that need terp are not there while saved code is checked"


async def differences(
    runs: Sequence[Run],
    kernels: Kernels,
    held: Mapping[str, Variable],
    limits: Limits,
    *,
    as_kept: Callable[[str], str] = str,
) -> list[str]:
    """What differs when `runs` run in `kernels`, that are new: outputs, and the variables that are `held`.

    The kernels are closed. Runs that did not come to their end are left out, as a notebook leaves them out.

    Raises:
        TerpError: a kernel does not start.
    """
    displays = Displays()
    found: list[str] = []
    try:
        for run in runs:
            if unfinished(run):
                continue
            heard = HeardRun((), displays, _refuse, limits.max_output_chars)
            await heard.run(kernels.get(run.language), run.code, timeout_s=limits.run_timeout_s)
            found.append(difference(run.outputs, heard.outputs, f"run {run.count}", as_kept=as_kept))
        if held:
            now = {one.name: one for one in await kernels.get("python").variables()}
            found += [_differs(one, now.get(one.name), as_kept) for one in held.values()]
    finally:
        await kernels.aclose()
    return [told for told in found if told]


def _differs(then: Variable, now: Variable | None, as_kept: Callable[[str], str]) -> str:
    before, after = (Text("stdout", _told(one) if one else "") for one in (then, now))
    return difference([before], [after], then.name, as_kept=as_kept)


def _told(one: Variable) -> str:
    return f"{one.type} {'×'.join(map(str, one.shape))} {one.head}".strip()


async def _refuse(_: BackCall, kernel: Kernel) -> None:
    await kernel.answer(None, _NOT_HERE)
