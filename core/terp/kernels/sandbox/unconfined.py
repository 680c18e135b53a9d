"""No confinement: what is left are limits of resources, where a person has set some."""

from dataclasses import dataclass

from terp.kernels.sandbox.launcher import limited
from terp.kernels.sandbox.policy import Policy
from terp.kernels.sandbox.tier import NONE, Command, Confined


@dataclass(frozen=True, slots=True)
class Unconfined:
    """Implements `Tier` with nothing."""

    name: str = NONE
    cannot: tuple[str, ...] = ()
    stands_between: bool = False

    def refuses(self, command: Command, policy: Policy) -> str:
        """Nothing."""
        return ""

    def wrap(self, command: Command, policy: Policy) -> Command:
        """The same command, within the limits."""
        argv = limited(command.argv, command.directory, policy)
        return Command(argv, command.environment, command.cwd, command.directory, command.transport)

    def process_of(self, pid: int) -> int:
        """The same process."""
        return pid


def unconfined(cwd: str = "") -> Confined:
    """What holds a kernel to nothing."""
    return Confined(Unconfined(), Policy(cwd))
