"""A language that terp can run: the search for its program, and its start."""

import shutil
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from terp.text.dataclasses import dataclass

if TYPE_CHECKING:
    from terp.events.kernel import Kernel
    from terp.kernels.jupyter.local import LocalKernels


@dataclass(frozen=True, slots=True)
class Machine:
    """The input of a search for programs: the environment, and the chosen Python and shell.

    Without `network` the kernels have no ports, which some need.
    """

    environ: Mapping[str, str]
    python: str = ""
    shell: str = ""
    network: bool = True

    def which(self, *programs: str) -> str:
        """Return the path of the first of these programs that is on the PATH; "" if none is."""
        path = self.environ.get("PATH", "")
        return next((found for program in programs if (found := shutil.which(program, path=path))), "")


@dataclass(frozen=True, slots=True)
class Runtime:
    """One row of the table of languages.

    `names` are offered to models, the main name first; all mean the same kernel. `find` returns the program
    that would run it here ("/usr/bin/ruby") or "", without starting a process; `remedy` says how to install
    it. A runtime without `keeps_state` forgets everything between two runs. One that is not `tested` was
    written from documentation. One without `tells_variables` does not list variables.
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
