import pytest

from terp.events import HistoryRewound
from terp.events.outputs import Display, Error, Text
from terp.events.run_log import LoggedRun
from terp.store.export.saving import NothingToKeep, cut_story, with_dependencies
from terp.store.export.story import Prompt
from tests.core.store.export.scripted import ran, told, turn

STORY = told(
    *turn("Load it.", *ran("c1", "import numpy as np\nx = np.arange(3)", count=1)),
    *turn("Show it.", *ran("c2", "print(x)", Text("stdout", "[0 1 2]\n"), count=2)),
    *turn("Oops.", *ran("c3", "y = z", Error("NameError", "z"), count=3, status="error")),
    *turn(
        "Double it.",
        *ran("c4", "y = x * 2", count=4),
        *ran("c5", "y", Display({"text/plain": "[0 2 4]"}), count=5),
    ),
    *turn("List.", *ran("c6", "ls", Text("stdout", "a\n"), count=6, language="shell")),
)


def test_only_the_runs_that_made_a_name_stay_each_with_its_prompt() -> None:
    cut = cut_story(STORY, ["y"])
    assert [run.number for run in cut.runs] == [1, 4]
    told_by = [
        part.text if isinstance(part, Prompt) else getattr(part, "number", 0) for part in cut.story.parts
    ]
    assert told_by == ["Load it.", 1, "Double it.", 4]
    assert ([one.names for one in cut.kept], cut.of) == ([("x",), ("y",)], 6)


def test_without_a_name_it_is_what_was_shown_last() -> None:
    cut = cut_story(
        told(*turn("", *ran("c1", "a = 1"), *ran("c2", "b = 2"), *ran("c3", "a", Text("stdout", "1")))), []
    )
    assert [run.code for run in cut.runs] == ["a = 1", "a"]


def test_a_name_that_nothing_made_is_an_error() -> None:
    with pytest.raises(NothingToKeep, match="No code of this session has made 'q'"):
        cut_story(STORY, ["q"])


def test_a_session_that_showed_nothing_has_nothing_to_keep() -> None:
    with pytest.raises(NothingToKeep, match="has shown anything yet"):
        cut_story(told(*turn("", *ran("c1", "a = 1"))), [])


def test_a_rerun_of_code_is_left_out() -> None:
    cut = cut_story(told(*ran("c1", "a = 1"), *ran("rerun-5-1", "a = 1")), ["a"])
    assert ([run.call_id for run in cut.runs], cut.of) == (["c1"], 1)


TWO_TURNS = (*turn("Load.", *ran("c1", "a = [1, 2]")), *turn("Filter.", *ran("c2", "a = a[:1]")))


def test_a_run_that_a_rewind_has_undone_is_left_out() -> None:
    rewound = told(*TWO_TURNS, HistoryRewound(1, 1, undone=True), *turn("Add.", *ran("c3", "a.append(3)")))
    assert [run.call_id for run in cut_story(rewound, ["a"]).runs] == ["c1", "c3"]


def test_a_run_of_a_turn_that_only_left_the_conversation_counts() -> None:
    cut = cut_story(told(*TWO_TURNS, HistoryRewound(1, 1)), ["a"])
    assert [run.call_id for run in cut.runs] == ["c1", "c2"]


def test_a_notebook_begins_with_what_it_needs() -> None:
    first = with_dependencies(cut_story(STORY, ["y"]).story, {"numpy": ["numpy"]}).parts[0]
    metadata = '# /// script\n# requires-python = ">=3.11"\n# dependencies = [\n#     "numpy",\n# ]\n# ///'
    assert first == LoggedRun("", "python", metadata, "ok")
