"""Options for the kernels of a session."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from terp.kernels.jupyter.launch import Provisioner


@dataclass(frozen=True, slots=True)
class KernelOptions:
    """Options for the start of kernels.

    `python` is the interpreter for Python code ("": the active environment's, else terp's own), `shell` a
    bash or zsh by name or path ("": bash, else the user's zsh), `env_pass` names variables that a kernel
    gets besides the harmless ones, `prelude` is code that the Python kernel runs silently at each start;
    `provisioner` starts the kernels of Python and of kernelspecs in place of terp. Of `languages` (none:
    all that terp knows) those are offered that are on this machine. A run's output past `max_output_chars`
    is counted and not kept. With `keep` kernels at a gateway outlive the session.
    """

    python: str = ""
    shell: str = ""
    env_pass: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    prelude: str = ""
    provisioner: "Provisioner | None" = None
    start_timeout_s: float = 60.0
    max_output_chars: int = 64_000_000
    keep: bool = False
