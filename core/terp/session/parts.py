"""The parts of a session that each piece of its work is done with."""

from dataclasses import dataclass

from terp.events.kernel import Kernels
from terp.events.log import EventLog
from terp.kernels.environments.readiness import Readiness
from terp.session.conversation import Conversation
from terp.session.jobs import Jobs
from terp.session.limits import Limits
from terp.session.proposals import Proposals


@dataclass(slots=True)
class Parts:
    """What a turn, typed code and whatever else a session plays have in common; `limits` can be replaced."""

    log: EventLog
    conversation: Conversation
    kernels: Kernels
    proposals: Proposals
    readiness: Readiness
    jobs: Jobs
    limits: Limits
