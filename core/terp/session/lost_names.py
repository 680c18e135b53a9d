"""Names that code misses because the kernel in which they were is gone."""

import re

from terp.events import CodeFinished, KernelChanged, SessionResumed
from terp.events.log import EventLog
from terp.events.outputs import Error

_NAME = re.compile(r"name '(\w+)' is not defined")


def lost_name(log: EventLog, error: Error | None) -> str:
    """That a name is missed because its kernel has started anew, as a sentence; "" when that is not why."""
    found = _NAME.match(error.value) if error is not None and error.name == "NameError" else None
    if found is None:
        return ""
    gone = False
    for record in reversed(log.since(0)):
        match record.event:
            case KernelChanged(ends_variables=True):
                gone = True
            case SessionResumed(lost=True):
                gone = True
            case CodeFinished(changes=changes) if gone:
                names = {change.name: change.action for change in changes}
                if names.get(found[1], "removed") != "removed":
                    return f"{found[1]} is gone: the kernel has started anew since it was set. Set it again."
            case _:
                pass
    return "The kernel has started anew: names and imports from before are gone." if gone else ""
