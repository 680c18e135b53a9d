"""The table of languages, in the order in which they are offered; the first is the default."""

from collections.abc import Mapping, Sequence

from terp.kernels.runtimes import deno, kernelspecs, pages, programs, python, r, shell
from terp.kernels.runtimes.runtime import Machine, Runtime


def best_runtimes(machine: Machine) -> Mapping[str, tuple[Runtime, str]]:
    """For every name of a language the first row that runs it here, and by what; else a row and ""."""
    best: dict[str, tuple[Runtime, str]] = {}
    for row, found in _all_runtimes(machine):
        for name in row.names:
            if name not in best or (found and not best[name][1]):
                best[name] = (row, found)
    return best


def _all_runtimes(machine: Machine) -> Sequence[tuple[Runtime, str]]:
    """Every way to run a language, here or not; of those with one name the better one is first."""
    ours = (
        python.runtime(),
        shell.runtime(),
        python.sql_runtime(),
        deno.runtime(),
        *programs.driven_runtimes(),
        *r.runtimes(),
        *programs.compiled_runtimes(),
        *pages.runtimes(),
    )
    rows = [(row, row.find(machine)) for row in ours]
    taken = [name for row, found in rows if found for name in row.names]
    return [*rows, *((row, row.find(machine)) for row in kernelspecs.runtimes(machine, taken))]
