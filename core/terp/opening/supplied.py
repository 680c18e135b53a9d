"""The parts of a session that a program supplies as objects."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from terp.errors import NoModel
from terp.events.messages import Message
from terp.events.model import Chunk, Model
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


@dataclass(frozen=True, slots=True)
class Supplied:
    """A `model` in place of the one that the settings name, `functions` as tools, and code for the kernel.

    The Python kernel runs the `prelude` at every start. An `environment` has the kernels of the caller.
    """

    model: Model | None = None
    functions: Sequence[Callable[..., Any]] = ()
    prelude: str = ""
    environment: GivenEnvironment | None = None


class WithoutModel:
    """The model of a session that only runs code."""

    name = "none"

    def stream(self, messages: Sequence[Message], tools: Sequence[Any] = ()) -> AsyncGenerator[Chunk, None]:
        """Raise.

        Raises:
            NoModel: always.
        """
        raise NoModel("terp.kernel has no model.", "terp.open has one.")

    async def aclose(self) -> None:
        """Do nothing: there is no connection."""
