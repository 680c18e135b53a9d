"""Two failures are the same when they differ only in what differs from run to run."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from terp.events import CodeFinished, Event, KernelChanged, SessionResumed
from terp.events.error_text import lost_name, normal, signature
from terp.events.outputs import Error, VariableChange
from terp.events.run_log import KernelNames, RunLog

MISSED = Error("NameError", "name 'd' is not defined")
SET = CodeFinished("c1", "ok", 0.1, changes=(VariableChange("d", "new", "DataFrame"),))
GONE = "d is gone: the kernel has restarted since it was set. Set it again."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("<A object at 0x7f3a>", "<A object at 0x55c0>"),
        ("1 failed in 0.12s", "1 failed in 3.40s"),
        ("took 12 ms", "took 7 ms"),
        ("2026-01-02 10:11:12,123 failed", "2026-01-02 10:11:13,456 failed"),
        ("cannot read /tmp/abc1/x", "cannot read /tmp/def2/x"),
        ("\x1b[31mred\x1b[0m  one", "red one"),
    ],
)
def test_what_passes_does_not_count(one: str, other: str) -> None:
    assert normal(one) == normal(other)


@pytest.mark.parametrize(
    ("one", "other"), [("1 failed", "2 failed"), ("line 3", "line 4"), ("a.csv", "b.csv")]
)
def test_what_says_something_counts(one: str, other: str) -> None:
    assert normal(one) != normal(other)


@example("\x9b\x85@")
@given(st.text())
def test_what_was_normal_stays_so(text: str) -> None:
    assert normal(normal(text)) == normal(text)


def test_an_error_is_told_by_type_message_and_line() -> None:
    trace = (
        "Cell In[3], line 2\n      1 import a\n----> 2 d['x']\n",
        "File lib.py:9\n---> 9 raise KeyError\n",
    )
    assert signature(Error("KeyError", "'x'", trace)) == ("KeyError", "'x'", "d['x']")


def names(*events: Event) -> KernelNames:
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
