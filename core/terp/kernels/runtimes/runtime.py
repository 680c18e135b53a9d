"""A language that terp can run: the search for its program, and its start."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from terp.events.kernel import Kernel
    from terp.kernels.jupyter.local import LocalKernels


@dataclass(frozen=True, slots=True)
class Machine:
    """The input of a search: the environment variables, and the chosen Python and shell.

    Without `network` the kernels have no ports, which some cannot do without.
    """

    environ: Mapping[str, str]
    python: str = ""
    shell: str = ""
    network: bool = True

    def which(self, *programs: str) -> str:
        """The path of the first of these programs that is on the user's PATH, or ""."""
        path = self.environ.get("PATH", "")
        return next((found for program in programs if (found := shutil.which(program, path=path))), "")


@dataclass(frozen=True, slots=True)
class Runtime:
    """One row of the table of languages.

    `names` are what models are offered, the main name first; all of them mean the same kernel. `find` says
    what would run it here ("/usr/bin/ruby"), or "" when nothing does, without starting a process; `remedy`
    is how to get it. A runtime without `keeps_state` forgets everything between two runs; one that is not
    `tested` was written from documentation; one without `tells_variables` does not list them.
    """

    names: tuple[str, ...]
    find: Callable[[Machine], str]
    remedy: str
    make: "Callable[[LocalKernels], Kernel]"
    keeps_state: bool = True
    tested: bool = True
    tells_variables: bool = True

    @property
    def language(self) -> str:
        """The main name."""
        return self.names[0]
