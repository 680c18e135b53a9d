"""The parts of a session that a program supplies as objects."""

from collections.abc import AsyncGenerator, Callable, Sequence
from typing import Any

from terp.errors import NoModel
from terp.events.messages import Message
from terp.events.model import Chunk, Model
from terp.opening.given_environment import GivenEnvironment
from terp.text.dataclasses import dataclass


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
