"""A name that went with its kernel is told as that."""

from terp.events import CodeFinished, KernelChanged, SessionResumed
from terp.events.log import EventLog
from terp.events.outputs import Error, VariableChange
from terp.session.lost_names import lost_name

MISSED = Error("NameError", "name 'd' is not defined")
SET = CodeFinished("c1", "ok", 0.1, changes=(VariableChange("d", "new", "DataFrame"),))
GONE = "d is gone: the kernel has started anew since it was set. Set it again."


def log(*events: CodeFinished | KernelChanged | SessionResumed) -> EventLog:
    made = EventLog()
    for event in events:
        made.append(event)
    return made


def test_a_name_from_before_a_restart_is_gone() -> None:
    assert lost_name(log(SET, KernelChanged("python", "restarted")), MISSED) == GONE


def test_a_name_of_a_session_that_was_resumed_is_gone() -> None:
    assert lost_name(log(SET, SessionResumed("s", 1, lost=True)), MISSED) == GONE


def test_a_name_that_was_never_set_may_be_an_import_from_before() -> None:
    told = lost_name(
        log(SET, KernelChanged("python", "died")), Error("NameError", "name 'np' is not defined")
    )
    assert told == "The kernel has started anew: names and imports from before are gone."


def test_without_a_restart_nothing_is_said() -> None:
    assert lost_name(log(KernelChanged("python", "ready"), SET), MISSED) == ""


def test_other_errors_are_other_things() -> None:
    assert lost_name(log(SET, KernelChanged("python", "restarted")), Error("KeyError", "'d'")) == ""
