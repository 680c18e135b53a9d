"""A name that ended with its kernel is named as that."""

from terp.events import CodeFinished, Event, KernelChanged, SessionResumed
from terp.events.hints import lost_name
from terp.events.outputs import Error, VariableChange
from terp.events.run_log import Names, RunLog

MISSED = Error("NameError", "name 'd' is not defined")
SET = CodeFinished("c1", "ok", 0.1, changes=(VariableChange("d", "new", "DataFrame"),))
GONE = "d is gone: the kernel has restarted since it was set. Set it again."


def names(*events: Event) -> Names:
    return RunLog.of(events).names


def test_a_name_from_before_a_restart_is_gone() -> None:
    assert lost_name(names(SET, KernelChanged("python", "restarted")), MISSED) == GONE


def test_a_name_of_a_session_that_was_resumed_is_gone() -> None:
    assert lost_name(names(SET, SessionResumed("s", 1, lost=True)), MISSED) == GONE


def test_a_name_that_was_never_set_may_be_an_import_from_before() -> None:
    hint = lost_name(
        names(SET, KernelChanged("python", "died")), Error("NameError", "name 'np' is not defined")
    )
    assert hint == "The kernel has restarted: names and imports from before are gone."


def test_without_a_restart_nothing_is_said() -> None:
    assert lost_name(names(KernelChanged("python", "ready"), SET), MISSED) == ""


def test_other_errors_are_other_things() -> None:
    assert lost_name(names(SET, KernelChanged("python", "restarted")), Error("KeyError", "'d'")) == ""
