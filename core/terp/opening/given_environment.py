"""The execution environment of a session whose kernels the caller has made."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

from terp.session.context.system_prompt import PromptKernels
from terp.text.dataclasses import dataclass, field
from terp.tools.toolbox import Toolbox

if TYPE_CHECKING:
    from terp.session.session import Session


@dataclass(frozen=True, slots=True)
class GivenEnvironment:
    """Kernels of the caller's, without tools, sandbox or installed packages.

    `keyed` is the environment with the stored keys, for requests to providers.
    """

    kernels: PromptKernels
    keyed: Mapping[str, str]
    toolbox: Toolbox = field(default_factory=Toolbox)
    notices: tuple[str, ...] = ()
    confinement: None = None

    def connect(self, session: "Session") -> None:
        """Do nothing: code needs no preparation, and there are no tools to serve."""
