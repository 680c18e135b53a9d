"""The table of languages, in the order in which they are offered; the first is the default."""

from collections.abc import Mapping, Sequence

from terp.kernels.runtimes import deno, driven, kernelspecs, pages, python, r, shell, sql
from terp.kernels.runtimes.runtime import Machine, Runtime


def all_runtimes(machine: Machine) -> Sequence[Runtime]:
    """Every way to run a language, here or not; of those with one name the better one is first."""
    ours = (
        python.runtime(),
        shell.runtime(),
        sql.runtime(),
        deno.runtime(),
        *driven.runtimes(),
        *r.runtimes(),
        *pages.runtimes(),
    )
    taken = [name for row in ours if row.find(machine) for name in row.names]
    return (*ours, *kernelspecs.runtimes(machine, taken))


def best_runtimes(machine: Machine) -> Mapping[str, Runtime]:
    """For every name of a language the first row that runs it here; where none does, the first row."""
    best: dict[str, Runtime] = {}
    missing: set[str] = set()
    for row in all_runtimes(machine):
        found = bool(row.find(machine))
        for name in row.names:
            if name not in best or (found and name in missing):
                best[name] = row
            if found:
                missing.discard(name)
            elif best[name] is row:
                missing.add(name)
    return best
