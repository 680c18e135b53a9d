"""The parts of a session that each piece of its work is done with."""

from dataclasses import dataclass

from terp.conversation import Conversation
from terp.kernels.protocol import Kernels
from terp.limits import Limits
from terp.log import EventLog
from terp.proposals import Proposals
from terp.readiness import Readiness
from terp.runs import Runner


@dataclass(slots=True)
class Parts:
    """What a turn, typed code and whatever else a session plays have in common; `limits` can be replaced."""

    log: EventLog
    conversation: Conversation
    kernels: Kernels
    proposals: Proposals
    readiness: Readiness
    runner: Runner
    limits: Limits
