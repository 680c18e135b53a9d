"""The table of languages, in the order in which they are offered; the first is the default."""

from collections.abc import Sequence

from terp.kernels.runtimes import driven, pages, python, shell, sql
from terp.kernels.runtimes.runtime import Runtime


def all_runtimes() -> Sequence[Runtime]:
    """Every language that terp knows to run, here or not."""
    return (python.runtime(), shell.runtime(), sql.runtime(), *driven.runtimes(), *pages.runtimes())
